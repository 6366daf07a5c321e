// SPDX-License-Identifier: GPL-2.0-only
//! Bad input is one line on standard error and status 2, whatever the machine.

mod support;

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use support::{Fixture, assert_refused, evenkeel, run, stderr};

#[test]
fn unknown_verbs_and_options_are_usage_errors() {
    for args in [
        &[][..],
        &["fly"],
        &["--fly"],
        &["run", "--fly"],
        &["run", "surplus"],
        &["run", "--mode"],
        &["check", "--mode", "online"],
        &["status", "--duration", "1s"],
        &["trial", "--monitor", "1"],
        &["completions"],
        &["completions", "csh"],
        &["man", "fly"],
        &["run", "--json", "--json"],
    ] {
        assert_refused(&run(args), 2, args);
    }
}

#[test]
fn values_outside_their_range_are_usage_errors() {
    for verb in ["run", "trial", "plan"] {
        for option in [
            &["--mode", "fast"][..],
            &["--mode", ""],
            &["--predictor", "oracle"],
            &["--init", "0"],
            &["--updates", "some"],
            &["--warmup", "0"],
            &["--warmup", "256"],
            &["--warmup", "-1"],
            &["--warmup", "8.5"],
            &["--warmup", "99999999999999999999999"],
            &["--learn", ""],
            &["--learn", "some"],
            &["--learn", "prefix:"],
            &["--learn", "prefix:abcdefghijklmnop"],
            &[
                "--learn",
                "prefix:\u{20ac}\u{20ac}\u{20ac}\u{20ac}\u{20ac}\u{20ac}",
            ],
            &["--slice-min", "0"],
            &["--slice-min", "0us"],
            &["--slice-min", "99us"],
            &["--slice-max", "21ms"],
            &["--slice-min", "3ms", "--slice-max", "2ms"],
            &["--slice-min", "5ms", "--target-latency", "4ms"],
            &["--fixed-slice", "0ms"],
            &["--fixed-slice", "1h"],
            &["--target-latency", "101ms"],
            &["--exit-dump-len", "1048577"],
            &["--exit-dump-len", "-5"],
            &["--force-estimate", "mean"],
            &["--interval", "0"],
            &["--interval", "99ms"],
            &["--interval", "2days"],
            &["--stats", "0"],
            &["--stats", "-1"],
            &["--stats", "nan"],
            &["--stats", "inf"],
            &["--stats", "1e99"],
            &["--inject", "hang"],
        ] {
            let args = [&[verb], option].concat();
            assert_refused(&run(&args), 2, &args);
        }
    }
}

#[test]
fn garbage_durations_are_usage_errors() {
    for option in [
        "--duration",
        "--interval",
        "--slice-min",
        "--slice-max",
        "--fixed-slice",
    ] {
        for value in [
            "",
            " ",
            "5",
            "ms",
            "5 parsecs",
            "1e3s",
            "-1s",
            "0x5s",
            "\u{0665}ms",
            "1s1s1",
            "99999999999999999999s",
            "18446744073709551615s",
            "584542046091y",
            "2years",
            "nan",
            "\u{1b}[31m5ms",
        ] {
            let joined = format!("{option}={value}");
            let args = ["run", joined.as_str()];
            assert_refused(&run(&args), 2, &args);
        }
    }
}

#[test]
fn contradictory_options_are_usage_errors() {
    for options in [
        &["--mode", "fixed", "--predictor", "lms"][..],
        &["--mode", "fixed", "--init", "bias"],
        &["--mode", "fixed", "--updates", "trunc"],
        &["--mode", "fixed", "--warmup", "4"],
        &["--mode", "fixed", "--learn", "all"],
        &["--mode", "fixed", "--slice-min", "1ms"],
        &["--mode", "fixed", "--target-latency", "9ms"],
        &["--mode", "fixed", "--force-estimate", "max"],
        &["--mode", "shadow", "--slice-max", "4ms"],
        &["--stats", "1", "--monitor", "1"],
        &["--monitor", "1", "--duration", "1s"],
        &["--monitor", "1", "--mode", "online"],
        &["--monitor", "1", "--partial"],
        &["--monitor", "1", "--help-stats"],
        &["--help-stats", "--stats", "1"],
    ] {
        let args = [&["run"], options].concat();
        assert_refused(&run(&args), 2, &args);
    }
}

#[test]
fn an_argument_that_is_no_text_is_a_usage_error() {
    let output = evenkeel(&["run", "--learn"])
        .arg(OsStr::from_bytes(b"prefix:\xff"))
        .output();
    assert_refused(&output.unwrap(), 2, &["run", "--learn", "bytes"]);
}

#[test]
fn control_characters_do_not_reach_the_terminal() {
    let output = run(&["run", "--mode", "a\nb\u{1b}[2Jc\u{7}"]);
    assert_refused(&output, 2, &["run", "--mode", "escapes"]);
    assert!(!stderr(&output).trim_end().chars().any(char::is_control));
}

#[test]
fn usage_comes_before_everything_the_machine_could_object_to() {
    let machine = Fixture::capable();
    machine.no_privileges();
    machine.active("bpfland_1.1.4");
    machine.remove("sys/kernel/btf/vmlinux");
    for verb in ["run", "trial", "verify"] {
        let args = [verb, "--slice-min", "0"];
        assert_refused(&machine.run(&args), 2, &args);
    }
}
