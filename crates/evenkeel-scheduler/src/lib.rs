// SPDX-License-Identifier: GPL-2.0-only
//! The sched_ext scheduler: its BPF programs, how they are loaded and attached, what they
//! count, and what a kernel must offer to run them.

mod error;
mod exit;
mod load_log;
pub mod machine;
pub mod model;
pub mod options;
pub mod probe;
mod scheduler;
mod skeleton;
mod statistics;
mod trace;

pub use error::Error;
pub use exit::Exit;
pub use scheduler::{Loaded, Opened, Running, VerifiedProgram, active_scheduler};
pub use statistics::Statistics;
pub use trace::{Trace, TraceRecord};
