// SPDX-License-Identifier: GPL-2.0-only
//! Real-time tasks, which come before every task of this scheduler; and audio-like deadlines.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread::sleep;
use std::time::Duration;

use evenkeel_bench::clock::monotonic_ns;
use evenkeel_bench::hog::{self, Kind};
use evenkeel_bench::law::BurstLaw;
use evenkeel_bench::thread::Class;
use evenkeel_guest::crowd;
use evenkeel_guest::daemon::Daemon;
use evenkeel_guest::limit::within;
use evenkeel_guest::scene::{SETTLE, jittered};
use evenkeel_guest::team::{Member, Place, Team};
use evenkeel_guest::{servers, sysfs};

/// A real-time hog on CPU 1 that ends after `seconds` even if nothing else of the test runs.
fn real_time_hog(team: &mut Team, seconds: u64) -> Member<()> {
    let end = monotonic_ns() + seconds * 1_000_000_000;
    let place = Place::on(1).class(Class::Fifo(20));
    team.spawn("rt-hog", &place, move |stop: Arc<AtomicBool>| {
        hog::run(Kind::Spinner, "rt-hog", end, &stop);
    })
}

#[test]
#[ignore = "needs a guest"]
fn tasks_queued_where_a_real_time_hog_arrives_run_elsewhere() {
    within(60, || {
        let daemon = Daemon::start(&[]);
        let mut team = Team::new();
        team.hog(&Place::default());
        team.hog(&Place::default());
        let burst = BurstLaw::Constant(Duration::from_millis(1));
        let sleepers: Vec<_> = (0..4)
            .map(|n| jittered(&format!("sleeper-{n}"), burst, Duration::from_millis(20), n))
            .map(|sleeper| team.sleeper(&Place::default(), sleeper))
            .collect();
        sleep(SETTLE);
        team.reset();
        for _ in 0..3 {
            real_time_hog(&mut team, 1).join();
            sleep(Duration::from_millis(200));
        }
        let gap = team.longest_gap();
        team.stop();
        let worst = sleepers
            .into_iter()
            .map(|sleeper| sleeper.join().wakeup.percentiles().max_ns);
        let worst = Duration::from_nanos(worst.max().unwrap_or_default());
        eprintln!("longest gap of a hog {gap:?}, longest wakeup {worst:?}");
        // Whoever is stuck waits until the real-time hog ends.
        let stuck = Duration::from_millis(900);
        assert!(gap < stuck, "{gap:?}");
        assert!(worst < stuck, "{worst:?}");
        daemon.stop();
    });
}

#[test]
#[ignore = "needs a guest"]
fn a_real_time_hog_that_starves_a_task_is_what_the_diagnosis_names() {
    within(110, || {
        // The kernel's deadline server would feed the starved task: there, nothing is to diagnose.
        if !servers::switch_off(1) {
            eprintln!("this kernel's deadline server cannot be switched off: not tested");
            return;
        }
        let daemon = Daemon::start(&[]);
        let mut team = Team::new();
        team.hog(&Place::on(1));
        sleep(SETTLE);
        let rt = real_time_hog(&mut team, 60);
        let finished = daemon.finish(Duration::from_secs(60));
        sysfs::expect_state("disabled", Duration::from_secs(10));
        team.stop();
        rt.join();
        assert_eq!(finished.code, Some(6), "{finished:?}");
        assert!(finished.stderr.contains("real-time"), "{finished:?}");
    });
}

#[test]
#[ignore = "needs a guest"]
fn a_periodic_task_beside_hogs_misses_no_more_deadlines_than_by_default() {
    // A stall of the host only ever adds misses, so one round of three without one is enough; the
    // deterministic lab has the same test in exact time.
    within(270, || {
        assert!(
            (0..3).any(|_| misses_no_more_than_by_default()),
            "in no round of three"
        );
    });
}

fn misses_no_more_than_by_default() -> bool {
    // Hogs of its own weight, and a build that was niced out of the way.
    let nices = [0, 10];
    let default = nices.map(crowd::missed_deadlines);
    let daemon = Daemon::start(&[]);
    let ours = nices.map(crowd::missed_deadlines);
    daemon.stop();
    eprintln!("missed {ours:.3?}, by default {default:.3?}");
    // The host's own noise is up to 5 % of them, from one run to the next.
    ours.iter()
        .zip(default)
        .all(|(ours, default)| *ours <= default + 0.05)
}
