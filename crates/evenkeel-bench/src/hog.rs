// SPDX-License-Identifier: GPL-2.0-only
//! Threads that never sleep: spinners and yielders.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::clock::{monotonic_ns, thread_cpu_ns};
use crate::spin::Spinner;
use crate::thread;

/// CPU time between two looks at the stop flag.
const CHUNK_NS: u64 = 1_000_000;

/// What a thread that never sleeps does between two looks at the stop flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Spins.
    Spinner,
    /// Calls `sched_yield` over and over.
    Yielder,
}

/// What such a thread did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spun {
    /// CPU time used, in nanoseconds.
    pub cpu_ns: u64,
    /// Yields made, or chunks of about 1 ms spun.
    pub count: u64,
}

/// Runs on the calling thread until `end_ns` (`CLOCK_MONOTONIC`) or `stop`.
pub fn run(kind: Kind, name: &str, end_ns: u64, stop: &Arc<AtomicBool>) -> Spun {
    let spinner = Spinner::get();
    // A refused name would only lose the label in a listing.
    let _ = thread::set_name(name);
    let start = thread_cpu_ns();
    let mut count = 0;
    while monotonic_ns() < end_ns && !stop.load(Ordering::Relaxed) {
        match kind {
            Kind::Spinner => {
                spinner.burn(CHUNK_NS);
            }
            Kind::Yielder => rustix::thread::sched_yield(),
        }
        count += 1;
    }
    Spun {
        cpu_ns: thread_cpu_ns() - start,
        count,
    }
}
