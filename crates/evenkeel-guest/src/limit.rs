// SPDX-License-Identifier: GPL-2.0-only
//! A time limit for each test, kept even when the scheduler under test does not schedule.

use std::panic::{self, AssertUnwindSafe};
use std::sync::Mutex;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use evenkeel_bench::thread::{Class, set_class};

use crate::{cpus, servers, sysfs};

/// Processes to kill when a limit is reached.
static STARTED: Mutex<Vec<u32>> = Mutex::new(Vec::new());

/// How long a test may take to unwind once its processes were killed.
const GRACE: Duration = Duration::from_secs(30);

/// Runs a test with the default scheduler before and after it, within `seconds`.
///
/// The watcher is a real-time thread: it wakes even if the scheduler under test starves everything,
/// and killing that scheduler gives the CPUs back to the test.
///
/// # Panics
/// When the test does, when the limit is reached, or when it leaves a scheduler attached.
pub fn within<F: FnOnce()>(seconds: u64, test: F) {
    sysfs::expect_state("disabled", Duration::from_secs(10));
    let (done, watch) = channel::<()>();
    let watcher = thread::spawn(move || {
        // Without the class the limit still holds on a machine that schedules.
        let _ = set_class(0, Class::Fifo(50));
        if watch.recv_timeout(Duration::from_secs(seconds)) != Err(RecvTimeoutError::Timeout) {
            return false;
        }
        kill_started();
        if watch.recv_timeout(GRACE) == Err(RecvTimeoutError::Timeout) {
            eprintln!("the test did not unwind {GRACE:?} after its limit of {seconds} s");
            std::process::abort();
        }
        true
    });
    let result = panic::catch_unwind(AssertUnwindSafe(test));
    drop(done);
    let late = watcher.join().unwrap_or(true);
    cpus::restore();
    servers::restore();
    if let Err(payload) = result {
        if late {
            eprintln!("the limit of {seconds} s was reached");
        }
        panic::resume_unwind(payload);
    }
    assert!(!late, "the limit of {seconds} s was reached");
    sysfs::expect_state("disabled", Duration::from_secs(10));
}

/// Has `pid` killed should the limit be reached.
pub(crate) fn register(pid: u32) {
    lock().push(pid);
}

/// Takes `pid` off the list, before it is reaped and its number is used again.
pub(crate) fn forget(pid: u32) {
    lock().retain(|started| *started != pid);
}

fn kill_started() {
    for pid in lock().drain(..) {
        // SAFETY: no memory is passed, and the process is a child of ours that was not reaped yet.
        unsafe { libc::kill(pid.cast_signed(), libc::SIGKILL) };
    }
}

fn lock() -> std::sync::MutexGuard<'static, Vec<u32>> {
    STARTED
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}
