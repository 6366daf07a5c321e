// SPDX-License-Identifier: GPL-2.0-only
//! Registration, readiness and clean exits.

use std::mem::MaybeUninit;
use std::thread::sleep;
use std::time::Duration;

use evenkeel_bench::thread::Class;
use evenkeel_guest::command;
use evenkeel_guest::daemon::Daemon;
use evenkeel_guest::limit::within;
use evenkeel_guest::sysfs;
use evenkeel_guest::team::{Place, Team};
use evenkeel_policy::vectors;
use evenkeel_scheduler::Opened;
use evenkeel_scheduler::options::Options;
use rustix::process::Signal;

const LEAVE: Duration = Duration::from_secs(15);

fn registers_and_leaves(mode: &str) {
    within(60, || {
        let (seq, rejected) = (sysfs::enable_seq(), sysfs::nr_rejected());
        let mut team = Team::new();
        team.hog(&Place::default());
        team.hog(&Place::default());
        let daemon = Daemon::start(&["--mode", mode]);
        assert_eq!(sysfs::enable_seq(), seq + 1);
        assert!(sysfs::switches_all());
        team.reset();
        sleep(Duration::from_secs(1));
        daemon.stop();
        assert_eq!(sysfs::ops(), None);
        assert_eq!(sysfs::nr_rejected(), rejected);
        assert!(team.gauges().iter().all(|gauge| gauge.looks() > 0));
    });
}

#[test]
#[ignore = "needs a guest"]
fn online_mode_registers_and_leaves_cleanly() {
    registers_and_leaves("online");
}

#[test]
#[ignore = "needs a guest"]
fn shadow_mode_registers_and_leaves_cleanly() {
    registers_and_leaves("shadow");
}

#[test]
#[ignore = "needs a guest"]
fn fixed_mode_registers_and_leaves_cleanly() {
    registers_and_leaves("fixed");
}

#[test]
#[ignore = "needs a guest"]
fn verify_and_plan_attach_nothing() {
    within(60, || {
        let seq = sysfs::enable_seq();
        for verb in ["verify", "plan"] {
            let finished = command::run(&[verb]);
            assert_eq!(finished.code, Some(0), "{finished:?}");
            assert!(!finished.stdout.is_empty(), "{finished:?}");
        }
        assert_eq!(sysfs::enable_seq(), seq);
        assert_eq!(sysfs::state(), "disabled");
    });
}

#[test]
#[ignore = "needs a guest"]
fn a_rejection_by_the_verifier_names_the_program_and_says_why() {
    within(60, || {
        let seq = sysfs::enable_seq();
        let finished = command::run(&["verify", "--inject-rejection"]);
        assert_eq!(finished.code, Some(1), "{finished:?}");
        assert!(finished.stderr.contains("program rejected"), "{finished:?}");
        // The verifier's last words, on every kernel.
        let last = "processed 2 insns";
        assert!(finished.stderr.contains(last), "{finished:?}");
        assert_eq!(sysfs::enable_seq(), seq);
    });
}

#[test]
#[ignore = "needs a guest"]
fn counters_can_be_read_from_beside_the_daemon() {
    within(60, || {
        let described = command::run(&["run", "--help-stats"]);
        assert_eq!(described.code, Some(0), "{described:?}");
        assert!(described.stdout.contains("preemptions"), "{described:?}");
        let daemon = Daemon::start(&[]);
        let monitor = Daemon::spawn(command::evenkeel(&["run", "--monitor", "0.5"]));
        sleep(Duration::from_secs(4));
        monitor.signal(Signal::INT);
        let finished = monitor.finish(LEAVE);
        assert_eq!(finished.code, Some(0), "{finished:?}");
        assert!(finished.stdout.lines().count() >= 3, "{finished:?}");
        daemon.stop();
    });
}

#[test]
#[ignore = "needs a guest"]
fn check_finds_this_kernel_fit() {
    within(60, || {
        let finished = command::run(&["check"]);
        assert_eq!(finished.code, Some(0), "{finished:?}");
        assert_eq!(command::run(&["check", "--json"]).code, Some(0));
    });
}

#[test]
#[ignore = "needs a guest"]
fn a_bounded_run_ends_by_itself_with_0() {
    within(60, || {
        let run = Daemon::spawn(command::evenkeel(&["run", "--duration", "2s"]));
        let finished = run.finish(Duration::from_secs(40));
        assert_eq!(finished.code, Some(0), "{finished:?}");
        assert_eq!(sysfs::state(), "disabled");
    });
}

#[test]
#[ignore = "needs a guest"]
fn a_bounded_run_that_is_stopped_early_exits_with_6() {
    within(60, || {
        let mut run = Daemon::spawn(command::evenkeel(&["run", "--duration", "50s"]));
        run.expect_ready();
        run.signal(Signal::INT);
        let finished = run.finish(LEAVE);
        assert_eq!(finished.code, Some(6), "{finished:?}");
        assert_eq!(sysfs::state(), "disabled");
    });
}

#[test]
#[ignore = "needs a guest"]
fn sigterm_ends_an_endless_run_with_0() {
    within(60, || {
        let daemon = Daemon::start(&[]);
        daemon.signal(Signal::TERM);
        let finished = daemon.finish(LEAVE);
        assert_eq!(finished.code, Some(0), "{finished:?}");
        assert_eq!(sysfs::state(), "disabled");
    });
}

#[test]
#[ignore = "needs a guest"]
fn trial_prints_a_summary_at_its_end() {
    within(60, || {
        let trial = Daemon::spawn(command::evenkeel(&["trial", "--duration", "3s"]));
        let finished = trial.finish(Duration::from_secs(40));
        assert_eq!(finished.code, Some(0), "{finished:?}");
        assert!(finished.stdout.lines().count() > 1, "{finished:?}");
        assert_eq!(sysfs::state(), "disabled");
    });
}

#[test]
#[ignore = "needs a guest"]
fn status_tells_a_live_scheduler_from_a_dead_one() {
    within(60, || {
        let daemon = Daemon::start(&["--mode", "shadow"]);
        let live = command::run(&["status", "--json"]);
        assert_eq!(live.code, Some(0), "{live:?}");
        let json = live.json();
        assert_eq!(json["state"], "enabled", "{live:?}");
        assert!(
            json["ops"]
                .as_str()
                .is_some_and(|ops| ops.starts_with("evenkeel")),
            "{live:?}"
        );
        assert!(json["statistics"].is_object(), "{live:?}");
        assert!(live.stdout.contains("shadow"), "{live:?}");

        daemon.signal(Signal::KILL);
        daemon.finish(LEAVE);
        sysfs::expect_state("disabled", Duration::from_secs(5));
        let dead = command::run(&["status", "--json"]);
        assert_eq!(dead.code, Some(0), "{dead:?}");
        assert_eq!(dead.json()["state"], "disabled", "{dead:?}");
        assert!(dead.json()["statistics"].is_null(), "{dead:?}");
    });
}

#[test]
#[ignore = "needs a guest"]
fn partial_takes_only_tasks_of_the_class() {
    within(60, || {
        let daemon = Daemon::start(&["--partial"]);
        assert!(!sysfs::switches_all());
        let mut team = Team::new();
        team.hog(&Place::on(0));
        team.hog(&Place::on(1).class(Class::Ext));
        sleep(Duration::from_secs(2));
        assert!(team.gauges().iter().all(|gauge| gauge.looks() > 10));
        let classes: Vec<_> = team.tids().iter().map(|tid| policy(*tid)).collect();
        assert_eq!(classes, [0, 7]);
        drop(team);
        daemon.stop();
    });
}

/// The scheduling policy of a thread, field 41 of `/proc/TID/stat`.
fn policy(tid: i32) -> u32 {
    let stat = std::fs::read_to_string(format!("/proc/{tid}/stat")).expect("the thread lives");
    let (_, after_name) = stat.rsplit_once(')').expect("a name in brackets");
    after_name
        .split_whitespace()
        .nth(38)
        .expect("41 fields")
        .parse()
        .expect("a number")
}

#[test]
#[ignore = "needs a guest"]
fn summaries_name_no_task_and_no_process() {
    within(60, || {
        let mut team = Team::new();
        let secret = team.spawn("confidential", &Place::default(), |stop| {
            evenkeel_guest::gauge::Gauge::default().spin(&stop);
        });
        let daemon = Daemon::start(&["--interval", "1s"]);
        sleep(Duration::from_secs(4));
        let said = daemon.stop();
        let words = said.stdout + &said.stderr;
        assert!(words.lines().count() >= 3, "{words}");
        assert!(!words.contains("confidential"), "{words}");
        let numbers = words.split(|letter: char| !letter.is_ascii_digit());
        let pid = std::process::id().to_string();
        assert!(
            !numbers.clone().any(|number| number == pid),
            "{pid} in {words}"
        );
        assert!(
            !numbers
                .clone()
                .any(|number| number == secret.tid.to_string()),
            "{words}"
        );
    });
}

#[test]
#[ignore = "needs a guest"]
fn a_scheduler_can_be_attached_again_and_again() {
    within(90, || {
        let mut team = Team::new();
        team.hog(&Place::default());
        team.yielder(&Place::default());
        for _ in 0..5 {
            Daemon::start(&[]).stop();
        }
    });
}

#[test]
#[ignore = "needs a guest"]
fn the_kernel_computes_the_vectors_as_the_host_does() {
    within(60, || {
        let mut storage = MaybeUninit::uninit();
        let mut loaded = Opened::open(&Options::default(), &mut storage)
            .expect("the BPF object opens")
            .with_vectors()
            .load()
            .expect("the verifier accepts it");
        let cases = vectors::vectors();
        assert!(cases.len() > 1_000, "{} vectors", cases.len());
        for (number, case) in cases.iter().enumerate() {
            let mut bytes = *case.input.as_bytes();
            loaded.run_vector(&mut bytes).expect("the kernel runs it");
            let expected = case.expected.as_bytes();
            assert!(
                bytes == *expected,
                "vector {number}, {:?}: {bytes:?} in the kernel, {expected:?} on the host",
                case.op
            );
        }
        assert_eq!(sysfs::state(), "disabled");
    });
}
