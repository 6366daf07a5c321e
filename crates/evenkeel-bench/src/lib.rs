//! Seeded workloads.
