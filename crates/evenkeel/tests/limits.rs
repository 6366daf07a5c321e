// SPDX-License-Identifier: GPL-2.0-only
//! Too little of a resource is told on one line with a documented status, and never a panic.

mod support;

use std::path::Path;
use std::process::{Command, Output, Stdio};

use support::{Fixture, assert_refused, stderr, stdout};

/// Limits as prlimit(1) sets them: open files, bytes of address space and of locked memory, processes.
const LIMITS: [&str; 5] = [
    "--nofile=8",
    "--nofile=4",
    "--as=200000000",
    "--memlock=0",
    "--nproc=1",
];

/// Runs the binary under a limit on the machine below `root`.
fn limited(limit: &str, args: &[&str], root: &Path) -> Output {
    Command::new("prlimit")
        .arg(limit)
        .arg(env!("CARGO_BIN_EXE_evenkeel"))
        .args(args)
        .arg("--machine-root")
        .arg(root)
        .stdin(Stdio::null())
        .output()
        .expect("prlimit(1) is there")
}

#[test]
fn check_and_plan_answer_or_fail_on_one_line_under_tiny_limits() {
    let machine = Fixture::capable();
    for limit in LIMITS {
        for (args, usual) in [(["check", "--json"], 3), (["plan", "--json"], 0)] {
            let output = limited(limit, &args, machine.root());
            let said = stderr(&output);
            let code = output.status.code();
            assert!(
                code == Some(usual) || code.is_some_and(|code| (1..=5).contains(&code)),
                "{limit} {args:?}: {code:?} {said}"
            );
            assert!(said.lines().count() <= 1, "{limit} {args:?}: {said}");
            assert!(!said.contains("internal error"), "{limit} {args:?}: {said}");
            assert!(
                !said.is_empty() || stdout(&output).ends_with("}\n"),
                "{limit} {args:?}: neither an answer nor a complaint"
            );
        }
    }
}

#[test]
fn run_is_refused_on_one_line_under_tiny_limits() {
    let machine = Fixture::capable();
    machine.no_privileges();
    for limit in LIMITS {
        for verb in ["run", "trial"] {
            let output = limited(limit, &[verb], machine.root());
            let code = output.status.code().unwrap();
            assert!([3, 5].contains(&code), "{limit} {verb}: {code}");
            assert_refused(&output, code, &[limit, verb]);
        }
    }
}
