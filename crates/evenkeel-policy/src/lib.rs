//! The policy headers, on the host.
