// SPDX-License-Identifier: GPL-2.0-only
//! The deadline servers that keep 5 % of each CPU from real-time tasks (for `SCHED_EXT`: Linux 7.0
//! and later), in debugfs.

use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;

/// What was changed, to be written back.
static CHANGED: Mutex<Vec<(PathBuf, String)>> = Mutex::new(Vec::new());

/// Switches the servers of `cpu` off until the test ends.
///
/// Returns whether the kernel has any and let them be changed.
pub fn switch_off(cpu: usize) -> bool {
    let mut found = false;
    for server in ["fair_server", "ext_server"] {
        let path = PathBuf::from(format!("/sys/kernel/debug/sched/{server}/cpu{cpu}/runtime"));
        let Ok(before) = fs::read_to_string(&path) else {
            continue;
        };
        if fs::write(&path, "0").is_ok() {
            found = true;
            lock().push((path, before));
        }
    }
    found
}

/// Puts every server back as it was.
pub fn restore() {
    for (path, before) in lock().drain(..) {
        // The next test that needs a server would notice.
        let _ = fs::write(path, before.trim());
    }
}

fn lock() -> std::sync::MutexGuard<'static, Vec<(PathBuf, String)>> {
    CHANGED
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}
