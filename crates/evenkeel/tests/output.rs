// SPDX-License-Identifier: GPL-2.0-only
//! Help, version and pages come out whole, and a reader that is gone is an error and no panic.

mod support;

use std::fs::File;
use std::process::Stdio;

use support::{evenkeel, run, stderr, stdout};

const VERBS: [&str; 6] = ["check", "verify", "plan", "run", "trial", "status"];

#[test]
fn every_verb_has_help_with_an_example() {
    for verb in VERBS {
        for flag in ["--help", "-h"] {
            let output = run(&[verb, flag]);
            assert_eq!(output.status.code(), Some(0));
            assert!(stdout(&output).contains("Example"), "{verb} {flag}");
            assert_eq!(stderr(&output), "");
        }
        assert!(stdout(&run(&[verb, "--help"])).contains("--json"), "{verb}");
    }
}

#[test]
fn the_programs_help_lists_its_verbs_and_statuses() {
    let help = stdout(&run(&["--help"]));
    for word in VERBS.into_iter().chain(["Exit status", "  6  "]) {
        assert!(help.contains(word), "{word}: {help}");
    }
    assert!(!help.contains("machine-root"));
}

#[test]
fn the_version_is_one_line() {
    let output = run(&["-V"]);
    assert_eq!(
        stdout(&output),
        format!("evenkeel {}\n", env!("CARGO_PKG_VERSION"))
    );
}

#[test]
fn completions_and_pages_are_printed_for_every_shell_and_verb() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(
            stdout(&run(&["completions", shell])).contains("slice-min"),
            "{shell}"
        );
    }
    assert!(stdout(&run(&["man"])).contains(".TH evenkeel"));
    for verb in VERBS {
        let page = stdout(&run(&["man", verb]));
        assert!(page.contains(&format!(".TH evenkeel-{verb}")), "{page}");
    }
}

#[test]
fn the_counters_are_described_without_a_scheduler() {
    let output = run(&["run", "--help-stats"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(stdout(&output).contains("preemptions"));
}

#[test]
fn the_counters_are_described_as_json_for_programs() {
    let output = run(&["run", "--help-stats", "--json"]);
    assert_eq!(output.status.code(), Some(0));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["name"], "Statistics");
    let preemptions = &json["fields"]["preemptions"];
    assert_eq!(preemptions["desc"], "Wakeup preemptions", "{json}");
    assert_eq!(preemptions["datum"], "u64", "{json}");
}

#[test]
fn a_full_disk_is_one_line_and_status_1() {
    for args in [&["plan"][..], &["status", "--json"], &["--help"], &["man"]] {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let output = evenkeel(args).stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        assert_eq!(stderr(&output).lines().count(), 1, "{}", stderr(&output));
    }
}

#[test]
fn a_closed_pipe_is_one_line_and_status_1() {
    for args in [&["plan"][..], &["completions", "bash"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let child = evenkeel(args)
            .stdout(writer)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        assert_eq!(
            stderr(&output),
            "evenkeel: standard output: closed by its reader\n"
        );
    }
}

#[test]
fn monitoring_nobody_is_one_line_and_status_1() {
    let empty = tempfile::tempdir().unwrap();
    let output = evenkeel(&["run", "--monitor", "1", "--machine-root"])
        .arg(empty.path())
        .output();
    let output = output.unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(stderr(&output).lines().count(), 1);
}
