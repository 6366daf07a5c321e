// SPDX-License-Identifier: GPL-2.0-only
//! Scenes that several tests share: the threads that they need, and what those measured.

use std::thread::sleep;
use std::time::Duration;

use evenkeel_bench::law::{Arrivals, BurstLaw};
use evenkeel_bench::report::Percentiles;
use evenkeel_bench::sleeper::{Sleeper, Slept};

use crate::team::{Place, Team};

/// Time for new threads to settle before something is measured.
pub const SETTLE: Duration = Duration::from_millis(300);

/// A runnable thread that waited this long was lost or starved. Half of it has been seen on a host
/// that emulates several guests at once, also under the default scheduler.
pub const LOST: Duration = Duration::from_secs(2);

/// Holds a team to no thread of it having been kept waiting for [`LOST`].
///
/// # Panics
/// When one was.
pub fn expect_none_lost(team: &Team) {
    let gap = team.longest_gap();
    assert!(gap < LOST, "a thread waited for {gap:?}");
}

/// A strictly periodic sleeper.
pub fn periodic(name: &str, bursts: BurstLaw, period: Duration) -> Sleeper {
    Sleeper {
        name: name.to_owned(),
        bursts,
        arrivals: Arrivals::periodic(period),
        seed: 1,
    }
}

/// A sleeper with jittered arrivals.
pub fn jittered(name: &str, bursts: BurstLaw, period: Duration, seed: u64) -> Sleeper {
    Sleeper {
        name: name.to_owned(),
        bursts,
        arrivals: Arrivals {
            period,
            jitter: 0.5,
        },
        seed,
    }
}

/// Runs one sleeper beside `hogs` hogs in the same place for `window`.
pub fn beside_hogs(hogs: usize, place: &Place, sleeper: Sleeper, window: Duration) -> Slept {
    let mut team = Team::new();
    for _ in 0..hogs {
        team.hog(place);
    }
    sleep(SETTLE);
    let member = team.sleeper(place, sleeper);
    sleep(window);
    team.stop();
    member.join()
}

/// The shares of hogs with these nice values on CPU 0, over `window`.
pub fn shares_on_one_cpu(nices: &[i32], window: Duration) -> Vec<f64> {
    let mut team = Team::new();
    for nice in nices {
        team.hog(&Place::on(0).nice(*nice));
    }
    sleep(SETTLE);
    team.shares(window)
}

/// The median of a list.
///
/// # Panics
/// When it is empty.
pub fn median(values: &[u64]) -> u64 {
    quantile(values, 0.5)
}

/// The `q` quantile of a list, by the nearest rank.
///
/// # Panics
/// When it is empty.
pub fn quantile(values: &[u64], q: f64) -> u64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let rank = (q * sorted.len() as f64).ceil() as usize;
    sorted[rank.clamp(1, sorted.len()) - 1]
}

/// The percentiles that a sleeper's wakeups had, in milliseconds: median and 99th.
pub fn wakeup_ms(slept: &Slept) -> (f64, f64) {
    let Percentiles { p50_ns, p99_ns, .. } = slept.wakeup.percentiles();
    (p50_ns as f64 / 1e6, p99_ns as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_a_value_of_the_list() {
        let values: Vec<u64> = (1..=100).rev().collect();
        assert_eq!(quantile(&values, 0.95), 95);
        assert_eq!(median(&values), 50);
        assert_eq!(quantile(&[7], 0.0), 7);
    }
}
