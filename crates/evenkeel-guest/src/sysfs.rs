// SPDX-License-Identifier: GPL-2.0-only
//! What the kernel says about sched_ext: `/sys/kernel/sched_ext`.

use std::fs;
use std::thread::sleep;
use std::time::{Duration, Instant};

const ROOT: &str = "/sys/kernel/sched_ext";

/// The state of sched_ext: `enabled`, `disabled`, or a step between them.
pub fn state() -> String {
    read("state")
}

/// The name of the scheduler that is attached, if any.
pub fn ops() -> Option<String> {
    fs::read_to_string(format!("{ROOT}/root/ops"))
        .ok()
        .map(|name| name.trim().to_owned())
}

/// How often a scheduler was enabled since boot.
pub fn enable_seq() -> u64 {
    number("enable_seq")
}

/// How many tasks were refused the class since boot.
pub fn nr_rejected() -> u64 {
    number("nr_rejected")
}

/// Whether a scheduler takes all tasks, not only those of `SCHED_EXT`.
pub fn switches_all() -> bool {
    number("switch_all") == 1
}

/// Whether Evenkeel is attached.
pub fn evenkeel_is_attached() -> bool {
    state() == "enabled" && ops().is_some_and(|name| name.starts_with("evenkeel"))
}

/// Waits until the state reads `wanted`.
///
/// # Panics
/// When it does not within `limit`.
pub fn expect_state(wanted: &str, limit: Duration) {
    let start = Instant::now();
    while state() != wanted {
        assert!(
            start.elapsed() < limit,
            "sched_ext is {} ({:?}), not {wanted}, {limit:?} later",
            state(),
            ops()
        );
        sleep(Duration::from_millis(20));
    }
}

fn number(name: &str) -> u64 {
    read(name)
        .parse()
        .unwrap_or_else(|_| panic!("{ROOT}/{name} is no number"))
}

fn read(name: &str) -> String {
    let path = format!("{ROOT}/{name}");
    fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{path}: {error}"))
        .trim()
        .to_owned()
}
