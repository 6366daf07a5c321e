// SPDX-License-Identifier: GPL-2.0-only
//! A hog that watches the clock: how long it ran, how long it was kept waiting, and where.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use evenkeel_bench::clock::monotonic_ns;
use evenkeel_bench::spin::Spinner;

/// CPU time between two looks at the clock.
const LOOK_NS: u64 = 20_000;
/// A longer gap between two looks means that another task ran. Interrupts stay well below.
const GAP_NS: u64 = 400_000;

/// What a watching hog has seen so far.
#[derive(Debug, Default)]
pub struct Gauge {
    longest_gap_ns: AtomicU64,
    gaps: AtomicU64,
    looks: AtomicU64,
    stretches_ns: Mutex<Vec<u64>>,
}

impl Gauge {
    /// The longest time between two looks at the clock, in nanoseconds: an upper bound of the
    /// longest wait for a CPU.
    pub fn longest_gap_ns(&self) -> u64 {
        self.longest_gap_ns.load(Relaxed)
    }

    /// How often another task ran in between.
    pub fn gaps(&self) -> u64 {
        self.gaps.load(Relaxed)
    }

    /// How often it looked, or yielded: a measure of progress.
    pub fn looks(&self) -> u64 {
        self.looks.load(Relaxed)
    }

    /// How long it ran between two gaps, in nanoseconds, in order.
    pub fn stretches_ns(&self) -> Vec<u64> {
        self.stretches_ns
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Forgets what was seen, e.g. while the other threads were still being created.
    pub fn reset(&self) {
        self.stretches_ns
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
        for counter in [&self.longest_gap_ns, &self.gaps, &self.looks] {
            counter.store(0, Relaxed);
        }
    }

    /// Spins on the calling thread, watching the clock, until `stop`.
    pub fn spin(&self, stop: &AtomicBool) {
        let spinner = Spinner::get();
        self.watch(stop, || {
            spinner.burn_roughly(LOOK_NS);
        });
    }

    /// Yields over and over on the calling thread until `stop`.
    pub fn yield_on(&self, stop: &AtomicBool) {
        self.watch(stop, rustix::thread::sched_yield);
    }

    fn watch<F: Fn()>(&self, stop: &AtomicBool, between: F) {
        let mut last = monotonic_ns();
        let mut began = last;
        while !stop.load(Relaxed) {
            between();
            let now = monotonic_ns();
            self.looks.fetch_add(1, Relaxed);
            self.longest_gap_ns.fetch_max(now - last, Relaxed);
            if now - last > GAP_NS {
                self.gaps.fetch_add(1, Relaxed);
                let mut stretches = self
                    .stretches_ns
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner);
                stretches.push(last - began);
                began = now;
            }
            last = now;
        }
    }
}
