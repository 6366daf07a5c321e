// SPDX-License-Identifier: GPL-2.0-only
//! What a workload measured.

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

/// Durations counted to three significant digits, up to an hour.
#[derive(Debug, Clone)]
pub struct Samples(Histogram<u64>);

/// One hour in nanoseconds: what is longer is counted as an hour.
const LONGEST_NS: u64 = 3_600_000_000_000;

impl Default for Samples {
    fn default() -> Self {
        Self(Histogram::new_with_max(LONGEST_NS, 3).expect("the bounds are valid constants"))
    }
}

impl Samples {
    /// Counts one duration, in nanoseconds.
    pub fn record(&mut self, ns: u64) {
        self.0.saturating_record(ns);
    }

    /// Adds all of another set.
    pub fn add(&mut self, other: &Self) {
        self.0
            .add(&other.0)
            .expect("both sets have the same bounds");
    }

    /// Percentiles of what was counted.
    pub fn percentiles(&self) -> Percentiles {
        let quantile = |q| {
            if self.0.is_empty() {
                0
            } else {
                self.0.value_at_quantile(q)
            }
        };
        Percentiles {
            count: self.0.len(),
            mean_ns: self.0.mean(),
            p50_ns: quantile(0.50),
            p90_ns: quantile(0.90),
            p99_ns: quantile(0.99),
            max_ns: self.0.max(),
        }
    }
}

/// Percentiles of a set of durations, in nanoseconds; all 0 for an empty set.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Percentiles {
    /// How many durations were counted.
    pub count: u64,
    /// Their mean.
    pub mean_ns: f64,
    /// Median.
    pub p50_ns: u64,
    /// 90th percentile.
    pub p90_ns: u64,
    /// 99th percentile. From fewer than 1,000 samples it is no more than a hint.
    pub p99_ns: u64,
    /// The longest.
    pub max_ns: u64,
}

/// What one thread did.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ThreadReport {
    /// Its name, at most 15 bytes.
    pub name: String,
    /// CPU time that it used, in nanoseconds.
    pub cpu_ns: u64,
    /// Bursts, round trips or yields that it completed.
    pub count: u64,
}

/// What a workload measured, over all of its threads.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The workload's name.
    pub workload: String,
    /// The seed of its bursts and arrivals.
    pub seed: u64,
    /// Wall-clock time of the measured window, in nanoseconds.
    pub elapsed_ns: u64,
    /// Intended start to the end of the burst, service included. For `pipe`: one round trip.
    pub completion: Percentiles,
    /// Timer expiry to running, for bursts whose thread was asleep when they were due.
    pub wakeup: Percentiles,
    /// Bursts that ended after the next one was due.
    pub missed: u64,
    /// Each thread, in the order of creation.
    pub threads: Vec<ThreadReport>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_within_the_digits_kept() {
        let mut samples = Samples::default();
        for us in 1..=1_000_u64 {
            samples.record(us * 1_000);
        }
        let found = samples.percentiles();
        assert_eq!(found.count, 1_000);
        assert!(found.p50_ns.abs_diff(500_000) <= 1_000, "{found:?}");
        assert!(found.p99_ns.abs_diff(990_000) <= 1_000, "{found:?}");
        assert!(found.max_ns.abs_diff(1_000_000) <= 1_000, "{found:?}");
    }

    #[test]
    fn an_empty_set_and_an_endless_duration_are_no_failure() {
        let mut samples = Samples::default();
        assert_eq!(samples.percentiles(), Percentiles::default());
        samples.record(u64::MAX);
        assert_eq!(samples.percentiles().count, 1);
    }
}
