// SPDX-License-Identifier: GPL-2.0-only
//! Order and preemption, against the kernel's default where it sets the mark.

use std::time::Duration;

use evenkeel_bench::law::BurstLaw;
use evenkeel_guest::crowd::missed_deadlines;
use evenkeel_guest::daemon::Daemon;
use evenkeel_guest::limit::within;
use evenkeel_guest::scene::{beside_hogs, jittered, shares_on_one_cpu, wakeup_ms};
use evenkeel_guest::team::Place;

const MS: Duration = Duration::from_millis(1);

#[test]
#[ignore = "needs a guest"]
fn nice_values_share_the_cpu_as_under_the_default_scheduler() {
    within(60, || {
        let pairs = [[0, 10], [-5, 5]];
        let window = Duration::from_secs(4);
        let default = pairs.map(|pair| shares_on_one_cpu(&pair, window));
        for mode in ["online", "shadow"] {
            let daemon = Daemon::start(&["--mode", mode]);
            let ours = pairs.map(|pair| shares_on_one_cpu(&pair, window));
            daemon.stop();
            for (ours, default) in ours.iter().flatten().zip(default.iter().flatten()) {
                eprintln!("{mode}: share {ours:.3}, by default {default:.3}");
                assert!(
                    (ours / default - 1.0).abs() <= 0.10,
                    "{ours:.3}, by default {default:.3}"
                );
            }
        }
    });
}

#[test]
#[ignore = "needs a guest"]
fn a_short_predictable_burst_wakes_beside_a_hog_as_fast_as_by_default() {
    within(60, || {
        let measure = || {
            let burst = jittered("sleeper", BurstLaw::Jittered(MS, 0.2), 10 * MS, 1);
            wakeup_ms(&beside_hogs(
                1,
                &Place::default(),
                burst,
                Duration::from_secs(10),
            ))
        };
        let default = measure();
        let daemon = Daemon::start(&[]);
        let ours = measure();
        daemon.stop();
        eprintln!("wakeup p50, p99 {ours:.3?} ms, by default {default:.3?} ms");
        assert!(
            ours.1 <= 1.2 * default.1 + 0.1,
            "{ours:.3?} ms, by default {default:.3?} ms"
        );
    });
}

#[test]
#[ignore = "needs a guest"]
fn a_periodic_task_beside_hogs_misses_no_more_deadlines_than_by_default() {
    within(60, || {
        // Hogs of its own weight, and a build that was niced out of the way.
        let nices = [0, 10];
        let default = nices.map(missed_deadlines);
        let daemon = Daemon::start(&[]);
        let ours = nices.map(missed_deadlines);
        daemon.stop();
        eprintln!("missed {ours:.3?}, by default {default:.3?}");
        for (ours, default) in ours.iter().zip(default) {
            assert!(*ours <= default + 0.002, "{ours:.3} against {default:.3}");
        }
    });
}
