// SPDX-License-Identifier: GPL-2.0-only
//! The bounds on waiting, in exact time.

use std::time::Duration;

use evenkeel_guest::crowd::{self, fluid_bound};
use evenkeel_guest::daemon::Daemon;
use evenkeel_guest::limit::within;

#[test]
#[ignore = "needs a guest"]
fn nothing_waits_beyond_the_bound_under_twentyfold_oversubscription() {
    within(60, || {
        let daemon = Daemon::start(&[]);
        let waited = crowd::oversubscribed(20, Duration::from_secs(5));
        daemon.stop();
        let bound = fluid_bound(25, 1);
        eprintln!("bound {bound:?}, {waited:?}");
        assert!(waited.gap <= bound, "{:?} of {bound:?}", waited.gap);
        assert_eq!(waited.statistics.wait_over_bound, 0, "{waited:?}");
    });
}

#[test]
#[ignore = "needs a guest"]
fn a_build_step_in_a_crowd_takes_no_longer_than_by_default() {
    within(60, || {
        let default = crowd::build_step();
        let daemon = Daemon::start(&[]);
        let ours = crowd::build_step();
        daemon.stop();
        eprintln!("{ours:?}, by default {default:?}");
        let usual = default.max(Duration::from_millis(2_100));
        assert!(
            ours <= usual.mul_f64(1.1),
            "{ours:?}, by default {default:?}"
        );
    });
}

#[test]
#[ignore = "needs a guest"]
fn a_flood_of_short_bursts_does_not_starve_a_hog() {
    within(60, || {
        let daemon = Daemon::start(&[]);
        let waited = crowd::flooded(Duration::from_secs(5));
        daemon.stop();
        let bound = fluid_bound(13, 3);
        eprintln!("bound {bound:?}, {waited:?}");
        assert!(waited.gap <= bound, "{:?} of {bound:?}", waited.gap);
        assert_eq!(waited.statistics.wait_over_bound, 0, "{waited:?}");
    });
}

#[test]
#[ignore = "needs a guest"]
fn a_nap_between_long_bursts_earns_no_more_than_a_share() {
    within(60, || {
        let daemon = Daemon::start(&[]);
        let share = crowd::share_of_a_napper(Duration::from_secs(5));
        daemon.stop();
        eprintln!("share of the napper {share:.3}");
        assert!(share < 0.53, "{share:.3}");
    });
}
