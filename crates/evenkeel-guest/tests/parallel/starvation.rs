// SPDX-License-Identifier: GPL-2.0-only
//! The bounds on waiting, on two CPUs.

use std::thread::sleep;
use std::time::Duration;

use evenkeel_guest::crowd::hogs;
use evenkeel_guest::daemon::Daemon;
use evenkeel_guest::limit::within;
use evenkeel_guest::scene::SETTLE;
use evenkeel_guest::starvation;
use evenkeel_guest::team::Place;

#[test]
#[ignore = "needs a guest"]
fn nothing_waits_beyond_the_bound_under_twentyfold_oversubscription() {
    within(90, || {
        starvation::oversubscription_keeps_the_bound(Duration::from_secs(10));
    });
}

#[test]
#[ignore = "needs a guest"]
fn a_build_step_on_a_crowded_machine_is_not_stretched_beyond_its_share() {
    within(90, || starvation::a_build_step_is_stretched_at_most(1.25));
}

#[test]
#[ignore = "needs a guest"]
fn a_flood_of_short_bursts_does_not_starve_a_hog() {
    within(60, starvation::a_flood_keeps_the_bound);
}

#[test]
#[ignore = "needs a guest"]
fn a_nap_between_long_bursts_earns_no_more_than_a_share() {
    within(60, || starvation::a_napper_gets_less_than(0.55));
}

#[test]
#[ignore = "needs a guest"]
fn the_least_task_runs_beside_the_greatest() {
    within(60, || {
        let daemon = Daemon::start(&[]);
        let mut team = hogs(3, &Place::on(0).nice(-20));
        let least = team.hog(&Place::on(0).nice(19));
        sleep(SETTLE);
        team.reset();
        sleep(Duration::from_secs(12));
        let gauge = &team.gauges()[least];
        let (gaps, gap) = (gauge.gaps(), Duration::from_nanos(gauge.longest_gap_ns()));
        eprintln!("ran {gaps} times, longest gap {gap:?}");
        // The age rescue, and not a weight of 1 in 26,000, decides here.
        assert!(gaps > 4, "ran {gaps} times");
        assert!(gap < Duration::from_secs(3), "{gap:?}");
        drop(team);
        daemon.stop();
    });
}
