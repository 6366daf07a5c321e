// SPDX-License-Identifier: GPL-2.0-only
//! Slices end on time, not at the next tick.

use std::thread::sleep;
use std::time::Duration;

use evenkeel_guest::daemon::Daemon;
use evenkeel_guest::limit::within;
use evenkeel_guest::scene::{SETTLE, quantile};
use evenkeel_guest::team::{Place, Team};

/// How long two hogs beside each other run at a stretch, in nanoseconds.
fn stretches(args: &[&str]) -> Vec<u64> {
    let daemon = Daemon::start(args);
    let mut team = Team::new();
    team.hog(&Place::default());
    team.hog(&Place::default());
    sleep(SETTLE);
    team.reset();
    sleep(Duration::from_secs(3));
    // The first of each began before the reset.
    let stretches = team
        .gauges()
        .iter()
        .flat_map(|gauge| gauge.stretches_ns().split_off(1))
        .collect();
    drop(team);
    daemon.stop();
    stretches
}

#[test]
#[ignore = "needs a guest"]
fn a_slice_of_2_ms_beside_a_competitor_ends_within_2_5_ms() {
    within(60, || {
        let stretches = stretches(&["--mode", "fixed", "--fixed-slice", "2ms"]);
        let [p50, p95, max] = [0.5, 0.95, 1.0].map(|q| quantile(&stretches, q));
        eprintln!(
            "{} stretches: p50 {p50}, p95 {p95}, max {max} ns",
            stretches.len()
        );
        assert!(stretches.len() > 500, "{} stretches", stretches.len());
        assert!(p95 <= 2_500_000, "{p95} ns");
        // Nor are they cut short.
        assert!(p50 >= 1_700_000, "{p50} ns");
    });
}

#[test]
#[ignore = "needs a guest"]
fn hogs_in_online_mode_keep_within_the_longest_slice() {
    within(60, || {
        let stretches = stretches(&["--slice-max", "3ms"]);
        let p95 = quantile(&stretches, 0.95);
        eprintln!("{} stretches, p95 {p95} ns", stretches.len());
        assert!(p95 <= 3_500_000, "{p95} ns");
    });
}
