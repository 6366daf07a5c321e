// SPDX-License-Identifier: GPL-2.0-only
//! Bad input: one line, the documented exit status, nothing attached.

use std::mem::MaybeUninit;
use std::os::unix::process::CommandExt;
use std::time::Duration;

use evenkeel_guest::command::{self, Finished, evenkeel};
use evenkeel_guest::daemon::Daemon;
use evenkeel_guest::limit::within;
use evenkeel_guest::sysfs;
use evenkeel_scheduler::Opened;
use evenkeel_scheduler::options::Options;

/// Holds a command to a status, to one line of complaint and to having attached nothing.
fn refused(finished: &Finished, code: i32) {
    assert_eq!(finished.code, Some(code), "{finished:?}");
    assert_eq!(finished.stderr.trim().lines().count(), 1, "{finished:?}");
    assert!(!finished.stderr.contains("panicked"), "{finished:?}");
}

#[test]
#[ignore = "needs a guest"]
fn bad_options_are_refused_in_one_line() {
    within(90, || {
        let seq = sysfs::enable_seq();
        let wrong: [&[&str]; 10] = [
            &["--no-such-option"],
            &["--mode", "clever"],
            &["--slice-min", "0"],
            &["--slice-max", "0ms"],
            &["--slice-min", "4ms", "--slice-max", "2ms"],
            &["--fixed-slice", "soon"],
            &["--duration", "-3s"],
            &["--learn", "prefix:a-name-longer-than-15"],
            &["--learn", "prefix:"],
            &["--warmup", "1e9"],
        ];
        for args in wrong {
            refused(&command::run(&[&["run"], args].concat()), 2);
        }
        assert_eq!(sysfs::enable_seq(), seq);
    });
}

#[test]
#[ignore = "needs a guest"]
fn a_user_without_privileges_is_refused_with_5() {
    within(60, || {
        let seq = sysfs::enable_seq();
        let mut run = evenkeel(&["run"]);
        run.uid(65534).gid(65534);
        refused(&command::finish(run), 5);
        assert_eq!(sysfs::enable_seq(), seq);
    });
}

#[test]
#[ignore = "needs a guest"]
fn a_second_evenkeel_is_refused_and_the_first_survives() {
    within(60, || {
        let daemon = Daemon::start(&[]);
        let seq = sysfs::enable_seq();
        let name = sysfs::ops().expect("a scheduler is attached");
        for verb in ["run", "trial"] {
            let second = command::run(&[verb]);
            refused(&second, 4);
            assert!(second.stderr.contains(&name), "{name}: {second:?}");
        }
        assert_eq!(sysfs::enable_seq(), seq);
        daemon.stop();
    });
}

#[test]
#[ignore = "needs a guest"]
fn another_scheduler_is_named_and_survives() {
    within(60, || {
        // Any scheduler with a name that is not ours will do, and this one is always at hand.
        let mut storage = MaybeUninit::uninit();
        let opened = Opened::open(&Options::default(), &mut storage).expect("opened");
        let stranger = opened.named("stranger").load().expect("loaded").attach();
        let stranger = stranger.expect("attached");
        sysfs::expect_state("enabled", Duration::from_secs(30));
        let name = sysfs::ops().expect("a scheduler is attached");
        assert!(!name.starts_with("evenkeel"), "{name}");
        let run = command::run(&["run"]);
        refused(&run, 4);
        assert!(run.stderr.contains(&name), "{name}: {run:?}");
        let status = command::run(&["status", "--json"]);
        assert_eq!(status.code, Some(0), "{status:?}");
        assert_eq!(status.json()["ops"], name.as_str(), "{status:?}");
        assert_eq!(sysfs::ops(), Some(name));
        assert_eq!(stranger.exit(), None);
        stranger.detach();
    });
}
