// SPDX-License-Identifier: GPL-2.0-only
//! Storms: fork and exec, exits, yields, and what they leave in the daemon.

use std::fs;
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering::Relaxed;
use std::thread::sleep;
use std::time::Duration;

use evenkeel_guest::cpus;
use evenkeel_guest::daemon::Daemon;
use evenkeel_guest::limit::within;
use evenkeel_guest::scene::{LOST, SETTLE, expect_none_lost};
use evenkeel_guest::team::{Place, Team};

/// Resident memory of a process, in KiB.
fn resident_kib(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("the process lives");
    let line = status
        .lines()
        .find(|line| line.starts_with("VmRSS:"))
        .expect("VmRSS is there");
    line.split_whitespace()
        .nth(1)
        .expect("a value")
        .parse()
        .expect("a number")
}

/// Processes that four threads start and reap in `window`, beside hogs.
fn forks(window: Duration) -> u64 {
    let mut team = Team::new();
    for _ in 0..cpus::online() {
        team.hog(&Place::default());
    }
    let members: Vec<_> = (0..4)
        .map(|_| {
            team.spawn("forker", &Place::default(), |stop| {
                let mut count = 0;
                while !stop.load(Relaxed) {
                    let child = Command::new("/bin/true").stdin(Stdio::null()).status();
                    assert!(child.expect("a process can be started").success());
                    count += 1;
                }
                count
            })
        })
        .collect();
    sleep(SETTLE);
    team.reset();
    sleep(window);
    team.stop();
    let count = members.into_iter().map(|member| member.join()).sum();
    expect_none_lost(&team);
    count
}

#[test]
#[ignore = "needs a guest"]
fn a_fork_and_exec_storm_goes_on_and_leaves_the_daemon_as_it_was() {
    within(60, || {
        let window = Duration::from_secs(5);
        let default = forks(window);
        let daemon = Daemon::start(&[]);
        let before = resident_kib(daemon.pid());
        let ours = forks(window);
        let after = resident_kib(daemon.pid());
        daemon.stop();
        eprintln!("{ours} processes, by default {default}; {before} KiB, then {after} KiB");
        assert!(2 * ours > default, "{ours} processes, by default {default}");
        assert!(after < before + 1024, "{before} KiB, then {after} KiB");
    });
}

#[test]
#[ignore = "needs a guest"]
fn tasks_that_die_while_queued_leave_nothing_behind() {
    within(60, || {
        let daemon = Daemon::start(&[]);
        let mut team = Team::new();
        for _ in 0..4 {
            team.hog(&Place::on(0));
        }
        sleep(SETTLE);
        team.reset();
        let mut rng = fastrand::Rng::with_seed(4);
        for _ in 0..150 {
            // On the crowded CPU the child is queued most of the time, also when it is killed.
            let mut spin = Command::new("taskset");
            spin.args(["-c", "0", "sh", "-c", "while :; do :; done"]);
            let mut child = spin.spawn().expect("a process can be started");
            sleep(Duration::from_micros(rng.u64(0..30_000)));
            child.kill().expect("our child can be killed");
            child.wait().expect("our child can be reaped");
        }
        expect_none_lost(&team);
        drop(team);
        daemon.stop();
    });
}

#[test]
#[ignore = "needs a guest"]
fn threads_that_start_and_end_by_the_hundred_are_all_scheduled() {
    within(60, || {
        let daemon = Daemon::start(&[]);
        let mut team = Team::new();
        team.hog(&Place::default());
        for _ in 0..10 {
            let threads: Vec<_> = (0..100)
                .map(|n| {
                    std::thread::spawn(move || {
                        if n % 3 == 0 {
                            sleep(Duration::from_micros(100));
                        }
                        evenkeel_bench::spin::Spinner::get().burn(50_000)
                    })
                })
                .collect();
            assert!(threads.into_iter().all(|thread| thread.join().is_ok()));
        }
        expect_none_lost(&team);
        drop(team);
        daemon.stop();
    });
}

#[test]
#[ignore = "needs a guest"]
fn neither_yielders_nor_spinners_starve_in_a_yield_storm() {
    within(60, || {
        let window = Duration::from_secs(4);
        let measure = || {
            let mut team = Team::new();
            for _ in 0..4 {
                team.yielder(&Place::on(0));
            }
            for _ in 0..2 {
                team.hog(&Place::on(0));
            }
            sleep(SETTLE);
            team.reset();
            let shares = team.shares(window);
            let yields: Vec<_> = team.gauges()[..4]
                .iter()
                .map(|gauge| gauge.looks())
                .collect();
            (shares, yields, team.longest_gap())
        };
        let default = measure();
        let daemon = Daemon::start(&[]);
        let (shares, yields, gap) = measure();
        daemon.stop();
        eprintln!("shares {shares:.3?}, yields {yields:?}, gap {gap:?}; by default {default:.3?}");
        // A spinner has at least half of an equal share, whatever the others do.
        assert!(
            shares[4..].iter().all(|share| *share >= 0.5 / 6.0),
            "{shares:.3?}"
        );
        // A yielder gives way but comes back.
        assert!(yields.iter().all(|count| *count >= 20), "{yields:?}");
        assert!(gap < LOST, "{gap:?}");
    });
}
