// SPDX-License-Identifier: GPL-2.0-only
//! Weights: nice values give the shares that the kernel's own scheduler gives.

use std::thread::sleep;
use std::time::Duration;

use evenkeel_bench::thread::set_nice;
use evenkeel_guest::daemon::Daemon;
use evenkeel_guest::limit::within;
use evenkeel_guest::scene::{SETTLE, shares_on_one_cpu};
use evenkeel_guest::team::{Place, Team};

const WINDOW: Duration = Duration::from_secs(5);

/// Every share within a tenth of what it is under the default scheduler.
fn as_by_default(ours: &[f64], default: &[f64]) {
    let near = |(ours, default): (&f64, &f64)| (ours / default - 1.0).abs() <= 0.10;
    assert!(
        ours.iter().zip(default).all(near),
        "{ours:.3?} against {default:.3?}"
    );
}

#[test]
#[ignore = "needs a guest"]
fn nice_values_share_a_cpu_as_under_the_default_scheduler() {
    within(90, || {
        let pairs = [[0, 10], [-5, 5]];
        let default = pairs.map(|pair| shares_on_one_cpu(&pair, WINDOW));
        let daemon = Daemon::start(&[]);
        let ours = pairs.map(|pair| shares_on_one_cpu(&pair, WINDOW));
        daemon.stop();
        for (ours, default) in ours.iter().zip(&default) {
            eprintln!("shares {ours:.3?}, by default {default:.3?}");
            as_by_default(ours, default);
        }
    });
}

#[test]
#[ignore = "needs a guest"]
fn a_new_nice_value_counts_from_then_on() {
    within(60, || {
        let measure = || {
            let mut team = Team::new();
            team.hog(&Place::on(0));
            team.hog(&Place::on(0));
            sleep(SETTLE);
            let before = team.shares(Duration::from_secs(2));
            set_nice(team.tids()[1], 10).expect("root may renice");
            sleep(SETTLE);
            (before, team.shares(WINDOW))
        };
        let default = measure();
        let daemon = Daemon::start(&[]);
        let ours = measure();
        daemon.stop();
        eprintln!("shares {ours:.3?}, by default {default:.3?}");
        as_by_default(&ours.0, &[0.5, 0.5]);
        as_by_default(&ours.1, &default.1);
    });
}

#[test]
#[ignore = "needs a guest"]
fn three_hogs_share_two_cpus_no_worse_than_by_default() {
    within(60, || {
        let spread = || {
            let mut team = Team::new();
            for _ in 0..3 {
                team.hog(&Place::default());
            }
            sleep(SETTLE);
            let shares = team.shares(WINDOW);
            shares
                .iter()
                .map(|share| (share * 3.0 - 1.0).abs())
                .fold(0.0, f64::max)
        };
        let default = spread();
        let daemon = Daemon::start(&[]);
        let ours = spread();
        daemon.stop();
        eprintln!("largest deviation {ours:.3}, by default {default:.3}");
        assert!(ours <= default + 0.10, "{ours:.3} against {default:.3}");
    });
}
