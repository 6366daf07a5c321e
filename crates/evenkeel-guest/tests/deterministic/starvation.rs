// SPDX-License-Identifier: GPL-2.0-only
//! The bounds on waiting, in exact time.

use std::time::Duration;

use evenkeel_guest::limit::within;
use evenkeel_guest::starvation;

#[test]
#[ignore = "needs a guest"]
fn nothing_waits_beyond_the_bound_under_twentyfold_oversubscription() {
    within(60, || {
        starvation::oversubscription_keeps_the_bound(Duration::from_secs(5));
    });
}

#[test]
#[ignore = "needs a guest"]
fn a_build_step_in_a_crowd_takes_no_longer_than_by_default() {
    within(60, || starvation::a_build_step_is_stretched_at_most(1.1));
}

#[test]
#[ignore = "needs a guest"]
fn a_flood_of_short_bursts_does_not_starve_a_hog() {
    within(60, starvation::a_flood_keeps_the_bound);
}

#[test]
#[ignore = "needs a guest"]
fn a_nap_between_long_bursts_earns_no_more_than_a_share() {
    within(60, || starvation::a_napper_gets_less_than(0.53));
}
