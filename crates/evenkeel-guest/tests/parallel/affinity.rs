// SPDX-License-Identifier: GPL-2.0-only
//! Affinity: pinned tasks, changing masks, and tasks that must not move for a while.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::sleep;
use std::time::{Duration, Instant};

use evenkeel_bench::spin::Spinner;
use evenkeel_bench::thread::set_affinity;
use evenkeel_guest::bpf::Idle;
use evenkeel_guest::cpus;
use evenkeel_guest::daemon::Daemon;
use evenkeel_guest::limit::within;
use evenkeel_guest::scene::{LOST, SETTLE, expect_none_lost, quantile};
use evenkeel_guest::team::{Place, Team};

fn hogs(count: usize) -> Team {
    let mut team = Team::new();
    for _ in 0..count {
        team.hog(&Place::default());
    }
    team
}

/// Writes to `vm.stat_refresh`, which waits for a kernel worker on every CPU, for `window`, and
/// returns the time that each write took, in nanoseconds.
fn refreshes(window: Duration) -> Vec<u64> {
    let _team = hogs(2 * cpus::online());
    sleep(SETTLE);
    let start = Instant::now();
    let mut took = Vec::new();
    while start.elapsed() < window {
        let before = Instant::now();
        fs::write("/proc/sys/vm/stat_refresh", "1").expect("root may refresh");
        took.push(u64::try_from(before.elapsed().as_nanos()).unwrap_or(u64::MAX));
        sleep(Duration::from_millis(50));
    }
    took
}

#[test]
#[ignore = "needs a guest"]
fn a_pinned_kernel_worker_beside_hogs_is_not_stalled() {
    within(90, || {
        let default = refreshes(Duration::from_secs(3));
        let daemon = Daemon::start(&[]);
        let ours = refreshes(Duration::from_secs(15));
        daemon.stop();
        let report = |took: &[u64]| [0.5, 0.99, 1.0].map(|q| quantile(took, q) as f64 / 1e6);
        eprintln!(
            "ms {:.2?}, by default {:.2?}",
            report(&ours),
            report(&default)
        );
        assert!(ours.len() > 50, "{} writes", ours.len());
        assert!(
            quantile(&ours, 1.0) < 1_000_000_000,
            "{:.2?}",
            report(&ours)
        );
        let usual = quantile(&default, 0.5).max(20_000_000);
        assert!(quantile(&ours, 0.5) <= usual, "{:.2?}", report(&ours));
    });
}

#[test]
#[ignore = "needs a guest"]
fn a_pinned_hog_gets_its_share_beside_hogs_that_may_roam() {
    within(60, || {
        let share = || {
            let mut team = hogs(4);
            let pinned = team.hog(&Place::on(1));
            sleep(SETTLE);
            (
                team.shares(Duration::from_secs(4))[pinned],
                team.longest_gap(),
            )
        };
        let default = share();
        let daemon = Daemon::start(&[]);
        let ours = share();
        daemon.stop();
        eprintln!("{ours:.3?}, by default {default:.3?}");
        // Five equal tasks on two CPUs: a fifth each, if the roaming ones make room.
        assert!(
            ours.0 >= 0.8 * default.0.min(0.2),
            "{ours:.3?} against {default:.3?}"
        );
        assert!(ours.1 < LOST, "{ours:?}");
    });
}

#[test]
#[ignore = "needs a guest"]
fn threads_that_change_their_mask_run_only_where_it_allows() {
    within(60, || {
        let daemon = Daemon::start(&[]);
        let mut team = hogs(2);
        let cpus = cpus::online();
        let members: Vec<_> = (0..8)
            .map(|seed| {
                team.spawn("churn", &Place::default(), move |stop| {
                    let mut rng = fastrand::Rng::with_seed(seed);
                    let spinner = Spinner::get();
                    let (mut changes, mut strays) = (0, 0);
                    while !stop.load(Relaxed) {
                        let cpu = rng.usize(0..cpus);
                        set_affinity(0, &[cpu]).expect("the CPU is there");
                        strays += usize::from(rustix::thread::sched_getcpu() != cpu);
                        spinner.burn(rng.u64(0..300_000));
                        strays += usize::from(rustix::thread::sched_getcpu() != cpu);
                        if rng.bool() {
                            sleep(Duration::from_micros(rng.u64(0..500)));
                        }
                        changes += 1;
                    }
                    (changes, strays)
                })
            })
            .collect();
        sleep(Duration::from_secs(5));
        team.stop();
        for member in members {
            let (changes, strays) = member.join();
            assert_eq!(strays, 0, "in {changes} changes");
            assert!(changes > 20, "{changes} changes");
        }
        expect_none_lost(&team);
        drop(team);
        daemon.stop();
    });
}

#[test]
#[ignore = "needs a guest"]
fn masks_changed_from_outside_never_lose_a_task() {
    within(60, || {
        let daemon = Daemon::start(&[]);
        let mut team = hogs(6);
        for _ in 0..4 {
            team.yielder(&Place::default());
        }
        sleep(SETTLE);
        team.reset();
        let mut rng = fastrand::Rng::with_seed(11);
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(5) {
            let masks: [&[usize]; 3] = [&[0], &[1], &[0, 1]];
            set_affinity(team.tids()[rng.usize(0..10)], masks[rng.usize(0..3)])
                .expect("the thread lives");
            sleep(Duration::from_micros(rng.u64(0..2_000)));
        }
        expect_none_lost(&team);
        drop(team);
        daemon.stop();
    });
}

#[test]
#[ignore = "needs a guest"]
fn tasks_preempted_with_migration_disabled_stay_and_go_on() {
    within(60, || {
        let daemon = Daemon::start(&[]);
        let mut team = hogs(4);
        let idle = Arc::new(Idle::load().expect("the kernel takes a trivial program"));
        let members: Vec<_> = (0..4)
            .map(|_| {
                let idle = Arc::clone(&idle);
                team.spawn("stays", &Place::default(), move |stop| {
                    let mut runs = 0;
                    while !stop.load(Relaxed) {
                        idle.run(100_000).expect("the kernel runs the program");
                        runs += 1;
                    }
                    runs
                })
            })
            .collect();
        // From outside, the masks change under threads that must not move.
        let start = Instant::now();
        let mut rng = fastrand::Rng::with_seed(5);
        while start.elapsed() < Duration::from_secs(6) {
            let masks: [&[usize]; 3] = [&[0], &[1], &[0, 1]];
            set_affinity(members[rng.usize(0..4)].tid, masks[rng.usize(0..3)])
                .expect("the thread lives");
            sleep(Duration::from_millis(3));
        }
        team.stop();
        let runs: Vec<u32> = members.into_iter().map(|member| member.join()).collect();
        assert!(runs.iter().all(|runs| *runs > 2), "{runs:?}");
        expect_none_lost(&team);
        drop(team);
        daemon.stop();
    });
}
