// SPDX-License-Identifier: GPL-2.0-only
//! CPUs that come and go under load.

use std::thread::sleep;
use std::time::Duration;

use evenkeel_bench::law::BurstLaw;
use evenkeel_guest::command;
use evenkeel_guest::cpus::set_online;
use evenkeel_guest::daemon::Daemon;
use evenkeel_guest::limit::within;
use evenkeel_guest::scene::{SETTLE, expect_none_lost, jittered};
use evenkeel_guest::sysfs;
use evenkeel_guest::team::{Place, Team};

fn load() -> Team {
    let mut team = Team::new();
    for _ in 0..4 {
        team.hog(&Place::default());
    }
    team.yielder(&Place::default());
    team
}

#[test]
#[ignore = "needs a guest"]
fn a_cpu_taken_offline_and_online_under_load_is_survived() {
    within(120, || {
        let daemon = Daemon::start(&[]);
        let seq = sysfs::enable_seq();
        let mut team = load();
        // The kernel lets go of its mask when its only CPU goes.
        team.hog(&Place::on(1));
        let burst = BurstLaw::Constant(Duration::from_micros(500));
        let sleepers: Vec<_> = (0..4)
            .map(|n| jittered(&format!("sleeper-{n}"), burst, Duration::from_millis(10), n))
            .map(|sleeper| team.sleeper(&Place::default(), sleeper))
            .collect();
        sleep(SETTLE);
        team.reset();
        for _ in 0..8 {
            set_online(1, false).expect("CPU 1 can go");
            sleep(Duration::from_millis(300));
            set_online(1, true).expect("CPU 1 can come back");
            sleep(Duration::from_millis(300));
            assert!(sysfs::evenkeel_is_attached(), "{}", daemon.stderr());
        }
        assert_eq!(sysfs::enable_seq(), seq);
        assert!(team.gauges().iter().all(|gauge| gauge.looks() > 10));
        expect_none_lost(&team);
        team.stop();
        for sleeper in sleepers {
            assert!(sleeper.join().completion.percentiles().count > 100);
        }
        daemon.stop();
    });
}

#[test]
#[ignore = "needs a guest"]
fn a_cpu_that_goes_while_the_scheduler_starts_makes_it_start_again() {
    within(120, || {
        let mut daemon = Daemon::launch(&[]);
        // What is loaded for one set of CPUs is thrown out by a kernel with another.
        while !daemon.stdout().contains("restarting") && !daemon.stdout().contains("ready") {
            set_online(1, false).expect("CPU 1 can go");
            set_online(1, true).expect("CPU 1 can come back");
        }
        daemon.expect_ready();
        assert!(
            daemon.stdout().contains("restarting"),
            "{}",
            daemon.stdout()
        );
        let status = command::run(&["status", "--json"]);
        assert_eq!(status.json()["mode"], "online", "{status:?}");
        let finished = daemon.stop();
        assert_eq!(finished.stderr, "", "{finished:?}");
    });
}

#[test]
#[ignore = "needs a guest"]
fn a_cpu_that_was_offline_at_the_start_is_used_once_it_is_there() {
    within(60, || {
        set_online(1, false).expect("CPU 1 can go");
        let daemon = Daemon::start(&[]);
        let mut team = load();
        sleep(SETTLE);
        set_online(1, true).expect("CPU 1 can come back");
        sleep(SETTLE);
        let window = Duration::from_secs(2);
        let used: u64 = team.cpu_times(window).iter().sum();
        // Two CPUs' worth, less what the emulation and the test itself take.
        assert!(
            used > 3 * window.as_nanos() as u64 / 2,
            "{used} ns in {window:?}"
        );
        let pinned = team.hog(&Place::on(1));
        sleep(SETTLE);
        assert!(team.gauges()[pinned].looks() > 10);
        drop(team);
        daemon.stop();
    });
}
