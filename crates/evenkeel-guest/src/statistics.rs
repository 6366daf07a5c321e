// SPDX-License-Identifier: GPL-2.0-only
//! The daemon's counters, as `evenkeel status --json` prints them.

use serde::Deserialize;

use crate::command;

/// The counters that the suite asserts on, all since attach.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Statistics {
    /// Bursts whose label was closed by a sleep.
    pub bursts: u64,
    /// Bursts that were held against an estimate, after warm-up.
    pub scored: u64,
    /// Sum of the absolute errors in log2, in units of 1/1024.
    pub log_error_sum_q10: u64,
    /// Sum of the absolute errors, in nanoseconds.
    pub abs_error_sum_ns: u64,
    /// Sum of the scored bursts, in nanoseconds.
    pub burst_sum_ns: u64,
    /// Wakeup preemptions.
    pub preemptions: u64,
    /// Slices assigned with a waiter present.
    pub slices_company: u64,
    /// The shortest of them, in nanoseconds.
    pub slice_company_min_ns: u64,
    /// The longest of them, in nanoseconds.
    pub slice_company_max_ns: u64,
    /// Slices assigned with nobody waiting.
    pub slices_alone: u64,
    /// The longest of them, in nanoseconds.
    pub slice_alone_max_ns: u64,
    /// The longest time a task waited in the scheduler's queues, in nanoseconds.
    pub wait_max_ns: u64,
    /// The bound that applied to it, in nanoseconds.
    pub wait_max_bound_ns: u64,
    /// Waits that exceeded their own bound.
    pub wait_over_bound: u64,
}

impl Statistics {
    /// Reads the counters of the daemon that is running.
    ///
    /// # Panics
    /// When `status` fails or has no counters.
    pub fn read() -> Self {
        let finished = command::run(&["status", "--json"]);
        assert_eq!(finished.code, Some(0), "{finished:?}");
        let statistics = finished.json()["statistics"].take();
        serde_json::from_value(statistics.clone())
            .unwrap_or_else(|error| panic!("{error}: {statistics}"))
    }

    /// What was learned since `earlier`, for the sums over bursts; the rest stays.
    #[must_use]
    pub fn since(mut self, earlier: &Self) -> Self {
        self.bursts -= earlier.bursts;
        self.scored -= earlier.scored;
        self.log_error_sum_q10 -= earlier.log_error_sum_q10;
        self.abs_error_sum_ns -= earlier.abs_error_sum_ns;
        self.burst_sum_ns -= earlier.burst_sum_ns;
        self
    }

    /// Mean absolute error of the estimates, as a fraction of the mean burst.
    pub fn relative_error(&self) -> f64 {
        self.abs_error_sum_ns as f64 / self.burst_sum_ns.max(1) as f64
    }

    /// Mean absolute error of the estimates, in log2: 1.0 is a factor of two.
    pub fn mean_log_error(&self) -> f64 {
        self.log_error_sum_q10 as f64 / 1024.0 / self.scored.max(1) as f64
    }
}
