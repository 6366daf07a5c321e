// SPDX-License-Identifier: GPL-2.0-only
//! Seeded workloads and what they measured.
//!
//! Every workload is sized by CPU time, not by iterations, so that it means the same on a slow
//! emulated machine. Arrivals stand on absolute time: a thread that is late does not push its next
//! arrival back, so that a stall is charged to every burst that it delayed.

pub mod clock;
pub mod hog;
pub mod law;
pub mod pipe;
pub mod report;
pub mod sleeper;
pub mod spin;
pub mod thread;
pub mod workload;
