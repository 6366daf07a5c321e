// SPDX-License-Identifier: GPL-2.0-only
//! Faults of the daemon: the kernel must be back on its default scheduler, or still scheduled.

use std::fs;
use std::thread::sleep;
use std::time::Duration;

use evenkeel_bench::law::BurstLaw;
use evenkeel_guest::command::{self, evenkeel};
use evenkeel_guest::cpus;
use evenkeel_guest::daemon::Daemon;
use evenkeel_guest::limit::within;
use evenkeel_guest::scene::{LOST, SETTLE, expect_none_lost, periodic};
use evenkeel_guest::sysfs;
use evenkeel_guest::team::{Place, Team};
use rustix::process::Signal;

const LEAVE: Duration = Duration::from_secs(15);
/// Where runs are recorded.
const RECORDS: &str = "/run/evenkeel";
/// A control group that allows few threads.
const FEW_THREADS: &str = "/sys/fs/cgroup/few-threads";

/// Holds `status` to knowing that the default scheduler is back, and why.
fn status_says_why(how: &str) {
    let status = command::run(&["status", "--json"]);
    assert_eq!(status.code, Some(0), "{status:?}");
    assert_eq!(status.json()["state"], "disabled", "{status:?}");
    assert_eq!(status.json()["last_exit"]["how"], how, "{status:?}");
}

fn busy() -> Team {
    let mut team = Team::new();
    for _ in 0..2 * cpus::online() {
        team.hog(&Place::default());
    }
    team
}

#[test]
#[ignore = "needs a guest"]
fn kill_9_gives_every_task_back_to_the_default_scheduler() {
    within(60, || {
        let team = busy();
        let daemon = Daemon::start(&[]);
        daemon.signal(Signal::KILL);
        daemon.finish(LEAVE);
        sysfs::expect_state("disabled", Duration::from_secs(5));
        status_says_why("died");
        team.reset();
        sleep(Duration::from_secs(1));
        assert!(team.gauges().iter().all(|gauge| gauge.looks() > 10));
        // And nothing was left behind that a new start would trip over.
        Daemon::start(&[]).stop();
    });
}

#[test]
#[ignore = "needs a guest"]
fn a_daemon_stopped_for_a_minute_goes_on_scheduling() {
    within(120, || {
        let daemon = Daemon::start(&[]);
        let mut team = busy();
        sleep(SETTLE);
        daemon.signal(Signal::STOP);
        team.reset();
        let burst = BurstLaw::Constant(Duration::from_millis(1));
        let sleeper = periodic("sleeper", burst, Duration::from_millis(20));
        let member = team.sleeper(&Place::default(), sleeper);
        let status = command::run(&["status", "--json"]);
        assert_eq!(status.code, Some(0), "{status:?}");
        assert_eq!(status.json()["state"], "enabled", "{status:?}");
        for _ in 0..60 {
            sleep(Duration::from_secs(1));
            assert!(sysfs::evenkeel_is_attached());
        }
        let gap = team.longest_gap();
        team.stop();
        let wakeup = member.join().wakeup.percentiles();
        assert!(wakeup.count > 2_000, "{wakeup:?}");
        assert!(gap < LOST, "{gap:?}");
        daemon.signal(Signal::CONT);
        daemon.stop();
    });
}

#[test]
#[ignore = "needs a guest"]
fn a_closed_stdout_is_no_crash() {
    within(60, || {
        let run = evenkeel(&["run", "--duration", "0", "--interval", "1s"]);
        let (mut daemon, stdout) = Daemon::spawn_with_stdout(run);
        sysfs::expect_state("enabled", Duration::from_secs(30));
        sleep(Duration::from_secs(1));
        drop(stdout);
        sleep(Duration::from_secs(4));
        if sysfs::evenkeel_is_attached() {
            let finished = daemon.stop();
            assert!(!finished.stderr.contains("panicked"), "{finished:?}");
        } else {
            daemon.wait(Duration::from_secs(1));
            let finished = daemon.finish(LEAVE);
            assert_eq!(finished.code, Some(1), "{finished:?}");
            assert_eq!(finished.stderr.lines().count(), 1, "{finished:?}");
            status_says_why("stdout-closed");
        }
    });
}

#[test]
#[ignore = "needs a guest"]
fn a_full_disk_loses_lines_whose_number_is_told_at_the_end() {
    within(60, || {
        let full = ["sh", "-c", "exec \"$@\" >/dev/full", "sh"];
        let args = ["run", "--duration", "2s", "--interval", "500ms"];
        let run = Daemon::spawn(command::started_by(&full, &args));
        let finished = run.finish(LEAVE * 3);
        assert_eq!(finished.code, Some(0), "{finished:?}");
        let lost = finished.stderr.trim();
        let number = lost.strip_prefix("evenkeel: lines lost on standard output: ");
        let number = number.and_then(|rest| rest.split(' ').next()?.parse::<u32>().ok());
        // Readiness, at least two intervals and the end.
        assert!(number.is_some_and(|number| number >= 4), "{finished:?}");
        assert_eq!(lost.lines().count(), 1, "{finished:?}");
    });
}

#[test]
#[ignore = "needs a guest"]
fn a_run_that_cannot_be_recorded_is_told_and_status_does_not_deny_it() {
    within(60, || {
        let _ = fs::remove_dir_all(RECORDS);
        fs::write(RECORDS, "").expect("a file is in the directory's place");
        let daemon = Daemon::start(&[]);
        let live = command::run(&["status"]);
        let said = daemon.stop().stderr;
        let dead = command::run(&["status"]);
        fs::remove_file(RECORDS).expect("the file is ours");
        let gone = command::run(&["status"]);
        assert!(said.contains("this run cannot be recorded"), "{said}");
        for status in [live, dead, gone] {
            assert_eq!(status.code, Some(0), "{status:?}");
            assert!(!status.stdout.contains("none since boot"), "{status:?}");
            assert!(status.stdout.contains("unknown: "), "{status:?}");
        }
    });
}

#[test]
#[ignore = "needs a guest"]
fn tiny_limits_are_a_line_and_a_status_or_a_run_like_any_other() {
    within(240, || {
        for limit in [
            "--nofile=8",
            "--nofile=36",
            "--as=30000000",
            "--as=90000000",
            "--as=200000000",
            "--memlock=0",
        ] {
            answers_or_complains(&["prlimit", limit]);
        }
        // The kernel does not hold root to RLIMIT_NPROC, so a control group limits the threads.
        fs::write("/sys/fs/cgroup/cgroup.subtree_control", "+pids").expect("cgroup v2 has pids");
        fs::create_dir_all(FEW_THREADS).expect("root may make a group");
        for threads in ["1", "2", "3"] {
            fs::write(format!("{FEW_THREADS}/pids.max"), threads).expect("the group is ours");
            let join = format!("echo $$ >{FEW_THREADS}/cgroup.procs; exec \"$@\"");
            answers_or_complains(&["sh", "-c", &join, "sh"]);
            if threads == "1" {
                let starter = ["sh", "-c", &join, "sh"];
                let run = command::finish(command::started_by(&starter, &["run"]));
                assert_eq!(run.code, Some(1), "a run needs threads: {run:?}");
            }
        }
        fs::remove_dir(FEW_THREADS).expect("nobody is in the group");
    });
}

/// Holds each verb that `starter` starts to status 0, or to a documented one and a line that says
/// why.
fn answers_or_complains(starter: &[&str]) {
    for args in [&["check"][..], &["plan"], &["run", "--duration", "1s"]] {
        let finished = command::finish(command::started_by(starter, args));
        eprintln!(
            "{starter:?} {args:?}: {:?} {}",
            finished.code, finished.stderr
        );
        assert!(
            matches!(finished.code, Some(0..=6)),
            "{starter:?} {args:?}: {finished:?}"
        );
        let said = finished.stderr.trim();
        assert!(!said.contains("internal error"), "{starter:?}: {said}");
        if finished.code != Some(0) {
            assert_eq!(said.lines().count(), 1, "{starter:?} {args:?}: {said}");
        }
    }
}

#[test]
#[ignore = "needs a guest"]
fn a_panic_in_the_daemon_is_one_line_and_the_default_scheduler() {
    within(60, || {
        let _team = busy();
        let daemon = Daemon::start(&["--fault", "panic-after=1"]);
        let finished = daemon.finish(LEAVE);
        assert_eq!(finished.code, Some(1), "{finished:?}");
        assert_eq!(finished.stderr.trim().lines().count(), 1, "{finished:?}");
        sysfs::expect_state("disabled", Duration::from_secs(5));
        status_says_why("panic");
    });
}

#[test]
#[ignore = "needs a guest"]
fn a_scheduler_that_the_kernel_ejects_is_reported_with_6() {
    within(60, || {
        let daemon = Daemon::start(&[]);
        // SysRq-S: the operator's way back to the default scheduler.
        fs::write("/proc/sysrq-trigger", "S").expect("SysRq is there");
        let finished = daemon.finish(LEAVE);
        assert_eq!(finished.code, Some(6), "{finished:?}");
        assert!(
            finished.stderr.to_lowercase().contains("sysrq"),
            "{finished:?}"
        );
        sysfs::expect_state("disabled", Duration::from_secs(5));
    });
}

#[test]
#[ignore = "needs a guest"]
fn freezing_and_thawing_as_for_a_suspend_keeps_the_scheduler() {
    within(90, || {
        let before = fs::read_to_string("/sys/power/pm_test");
        if before.is_err() {
            eprintln!("this kernel cannot test a suspend: not tested");
            return;
        }
        // As far as the frozen tasks: the devices of a virtual machine may not survive their part.
        // One second instead of five.
        fs::write("/sys/power/pm_test", "freezer").expect("pm_test is writable");
        let _ = fs::write("/sys/module/suspend/parameters/pm_test_delay", "1");
        let daemon = Daemon::start(&[]);
        let team = busy();
        for _ in 0..2 {
            let suspended = fs::write("/sys/power/state", "mem");
            assert!(suspended.is_ok(), "{suspended:?}");
            team.reset();
            sleep(Duration::from_secs(2));
            expect_none_lost(&team);
        }
        fs::write("/sys/power/pm_test", "none").expect("pm_test is writable");
        drop(team);
        daemon.stop();
    });
}
