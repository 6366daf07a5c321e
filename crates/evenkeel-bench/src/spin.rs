// SPDX-License-Identifier: GPL-2.0-only
//! A spinner that uses a given amount of CPU time.

use std::hint::black_box;
use std::sync::OnceLock;

use crate::clock::thread_cpu_ns;

/// The longest stretch between two looks at the clock. Long enough that a slow emulated clock
/// costs little, short enough that a change of speed in mid-burst is noticed.
const STRETCH_NS: u64 = 500_000;

/// A burst may end this early: one more look at the clock would cost as much.
const TOLERANCE_NS: u64 = 3_000;

/// Burns CPU time by arithmetic, with few looks at the clock.
#[derive(Debug, Clone, Copy)]
pub struct Spinner {
    iterations_per_ms: u64,
}

impl Spinner {
    /// The spinner of this process, calibrated at the first use (about 20 ms of CPU time).
    pub fn get() -> Self {
        static SPINNER: OnceLock<Spinner> = OnceLock::new();
        *SPINNER.get_or_init(Spinner::calibrate)
    }

    fn calibrate() -> Self {
        let mut iterations = 1_000;
        loop {
            let start = thread_cpu_ns();
            work(iterations);
            let spent = thread_cpu_ns() - start;
            if spent > 10_000_000 {
                let per_ms = u128::from(iterations) * 1_000_000 / u128::from(spent);
                let iterations_per_ms = u64::try_from(per_ms).unwrap_or(u64::MAX).max(1);
                return Self { iterations_per_ms };
            }
            iterations *= 2;
        }
    }

    /// Uses `burst_ns` of the calling thread's CPU time and returns what it used.
    pub fn burn(self, burst_ns: u64) -> u64 {
        self.burn_since(thread_cpu_ns(), burst_ns)
    }

    /// Uses about `burst_ns` of CPU time without a look at the clock.
    pub fn burn_roughly(self, burst_ns: u64) {
        work((burst_ns * self.iterations_per_ms / 1_000_000).max(1));
    }

    /// Uses CPU time until the calling thread's clock reads `start_ns + burst_ns`, and returns
    /// the time used since `start_ns`.
    ///
    /// Each stretch aims at nine tenths of what is left, so that a wrong calibration is corrected
    /// before the end.
    pub fn burn_since(self, start_ns: u64, burst_ns: u64) -> u64 {
        loop {
            let used = thread_cpu_ns().saturating_sub(start_ns);
            let left = burst_ns.saturating_sub(used);
            if left <= TOLERANCE_NS {
                return used;
            }
            let stretch = (left - left / 10).min(STRETCH_NS);
            self.burn_roughly(stretch);
        }
    }
}

/// Arithmetic that the compiler can neither drop nor shorten.
fn work(iterations: u64) {
    let mut x = black_box(iterations);
    for _ in 0..iterations {
        x = black_box(x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_uses_the_cpu_time_it_was_given() {
        let spinner = Spinner::get();
        for burst in [200_000, 1_000_000, 3_000_000] {
            // The best of several: an interrupt or a hypervisor may lengthen one.
            let used = (0..10).map(|_| spinner.burn(burst)).min().unwrap();
            assert!(used + TOLERANCE_NS >= burst, "{used} of {burst}");
            assert!(used < burst + burst / 5, "{used} of {burst}");
        }
    }

    #[test]
    fn an_empty_burst_returns_at_once() {
        assert!(Spinner::get().burn(0) < 1_000_000);
    }
}
