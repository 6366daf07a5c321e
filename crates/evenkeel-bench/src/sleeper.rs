// SPDX-License-Identifier: GPL-2.0-only
//! A thread that sleeps until an intended start, uses a burst of CPU time and sleeps again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use fastrand::Rng;

use crate::clock::{monotonic_ns, sleep_until, thread_cpu_ns};
use crate::law::{Arrivals, BurstLaw};
use crate::report::Samples;
use crate::spin::Spinner;
use crate::thread;

/// What a sleeper does.
#[derive(Debug, Clone)]
pub struct Sleeper {
    /// Its thread's name.
    pub name: String,
    /// How long its bursts are.
    pub bursts: BurstLaw,
    /// When they are due.
    pub arrivals: Arrivals,
    /// Seed of both.
    pub seed: u64,
}

/// What a sleeper measured.
#[derive(Debug, Clone, Default)]
pub struct Slept {
    /// Intended start to the end of the burst.
    pub completion: Samples,
    /// Timer expiry to running.
    pub wakeup: Samples,
    /// CPU time from wakeup to the next sleep, in nanoseconds, in order: the truth that a
    /// scheduler's estimate is held against.
    pub burst_ns: Vec<u64>,
    /// Bursts that ended after the next one was due. Such a burst runs on into the next.
    pub missed: u64,
    /// CPU time used, in nanoseconds.
    pub cpu_ns: u64,
}

impl Sleeper {
    /// Runs on the calling thread from `start_ns` to `end_ns` (`CLOCK_MONOTONIC`), or until `stop`.
    pub fn run(&self, start_ns: u64, end_ns: u64, stop: &Arc<AtomicBool>) -> Slept {
        let spinner = Spinner::get();
        // A refused name would only lose the label in a listing.
        let _ = thread::set_name(&self.name);
        thread::set_least_timer_slack();
        let mut rng = Rng::with_seed(self.seed);
        let mut slept = Slept::default();
        // Threads of one workload start at different points of their period.
        let period = self.arrivals.gap(&mut rng);
        let mut due = start_ns + rng.u64(0..period.max(1));
        let mut asleep_at = thread_cpu_ns();
        let cpu_start = asleep_at;
        for n in 0.. {
            if due >= end_ns || stop.load(Ordering::Relaxed) {
                break;
            }
            let burst = self.bursts.draw(n, &mut rng);
            let next = due + self.arrivals.gap(&mut rng);
            if monotonic_ns() < due {
                let cpu = thread_cpu_ns();
                if n > 0 {
                    slept.burst_ns.push(cpu - asleep_at);
                }
                asleep_at = cpu;
                sleep_until(due);
                slept.wakeup.record(monotonic_ns().saturating_sub(due));
            }
            spinner.burn(burst);
            let done = monotonic_ns();
            slept.completion.record(done.saturating_sub(due));
            slept.missed += u64::from(done > next);
            due = next;
        }
        slept.cpu_ns = thread_cpu_ns() - cpu_start;
        slept
    }
}
