// SPDX-License-Identifier: GPL-2.0-only
//! Shadow mode trains, but never uses an estimate for order or slice.

use std::fs;
use std::process::Command;
use std::time::Duration;

use evenkeel_guest::daemon::Daemon;
use evenkeel_guest::limit::within;

/// The order in which the learned tasks ran, with the slice that each was given: lines of
/// `NAME SLICE`.
fn trace(forced: &str) -> Vec<String> {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let file = directory.path().join("trace");
    let path = file.to_str().expect("a path in ASCII");
    let mode = [
        "--mode",
        "shadow",
        "--learn",
        "prefix:ek-",
        "--force-estimate",
        forced,
    ];
    let daemon = Daemon::start(&[&mode[..], &["--trace", path]].concat());
    // A process of its own, so that both runs start from the same state.
    let mut workload = Command::new(workload());
    workload.args("mixed --seconds 3 --threads 3 --hogs 2 --burst 2ms --seed 5 --json".split(' '));
    let workload = Daemon::spawn(workload).finish(Duration::from_secs(40));
    assert_eq!(workload.code, Some(0), "{workload:?}");
    daemon.stop();
    let text = fs::read_to_string(&file).expect("the daemon wrote its trace");
    assert!(
        text.lines().last().is_some_and(|line| line == "lost 0"),
        "records were lost"
    );
    text.lines().filter_map(name_and_slice).collect()
}

/// The workload command: beside the tests' caller, or on the `PATH`.
fn workload() -> std::ffi::OsString {
    std::env::var_os("EK_WORKLOAD").unwrap_or_else(|| "ek-workload".into())
}

/// Reads `seq comm tid slice_ns key`, without what differs between two runs.
fn name_and_slice(line: &str) -> Option<String> {
    let fields: Vec<_> = line.split_whitespace().collect();
    (fields.len() >= 4).then(|| format!("{} {}", fields[1], fields[3]))
}

#[test]
#[ignore = "needs a guest"]
fn an_estimate_forced_to_its_extremes_leaves_the_trace_of_shadow_unchanged() {
    within(120, || {
        let [least, greatest] = ["min", "max"].map(trace);
        assert!(least.len() > 500, "{} records", least.len());
        let differ = least
            .iter()
            .zip(&greatest)
            .position(|(least, greatest)| least != greatest);
        if let Some(at) = differ {
            let from = at.saturating_sub(3);
            let [least, greatest] =
                [&least, &greatest].map(|trace| &trace[from..trace.len().min(at + 5)]);
            panic!("record {at} differs:\n{least:?}\n{greatest:?}");
        }
        // The window's end may cut one of the runs a record short.
        assert!(
            least.len().abs_diff(greatest.len()) <= 1,
            "{} and {}",
            least.len(),
            greatest.len()
        );
    });
}
