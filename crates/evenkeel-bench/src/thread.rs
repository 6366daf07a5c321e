// SPDX-License-Identifier: GPL-2.0-only
//! What a workload sets on its threads: name, CPU, nice value, scheduling class.

use std::ffi::CString;
use std::io;
use std::num::NonZeroU64;

use rustix::process::{Pid, setpriority_process};
use rustix::thread::{self, CpuSet};

/// The calling thread's id.
pub fn id() -> i32 {
    thread::gettid().as_raw_nonzero().get()
}

/// Names the calling thread; the kernel keeps the first 15 bytes.
///
/// # Errors
/// When the name holds a NUL byte.
pub fn set_name(name: &str) -> io::Result<()> {
    let name = CString::new(name).map_err(io::Error::other)?;
    Ok(thread::set_name(&name)?)
}

/// Allows thread `tid` (0 for the calling one) to run on `cpus` only.
///
/// # Errors
/// When the thread is gone, is not ours, or no CPU of the list is there.
pub fn set_affinity(tid: i32, cpus: &[usize]) -> io::Result<()> {
    let mut set = CpuSet::new();
    for &cpu in cpus {
        set.set(cpu);
    }
    Ok(thread::sched_setaffinity(Pid::from_raw(tid), &set)?)
}

/// Sets the nice value of thread `tid` (0 for the calling one), from -20 to 19.
///
/// # Errors
/// When the thread is gone, or a lower value is not permitted.
pub fn set_nice(tid: i32, nice: i32) -> io::Result<()> {
    Ok(setpriority_process(Pid::from_raw(tid), nice)?)
}

/// Asks for timers that expire on time: the default slack of 50 us would count as latency.
pub fn set_least_timer_slack() {
    // A refusal leaves the default slack, which every arm of a comparison shares.
    let _ = thread::set_current_timer_slack(NonZeroU64::new(1));
}

/// A scheduling class, as `sched_setscheduler(2)` takes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// `SCHED_OTHER`.
    Other,
    /// `SCHED_FIFO` with this priority, 1 to 99.
    Fifo(i32),
    /// `SCHED_EXT`: what a scheduler that was loaded with `--partial` takes.
    Ext,
}

/// `SCHED_EXT` of `include/uapi/linux/sched.h`.
const SCHED_EXT: i32 = 7;

/// Moves thread `tid` (0 for the calling one) to `class`.
///
/// # Errors
/// When the thread is gone, the class is unknown to the kernel, or it is not permitted.
pub fn set_class(tid: i32, class: Class) -> io::Result<()> {
    let (policy, sched_priority) = match class {
        Class::Other => (libc::SCHED_OTHER, 0),
        Class::Fifo(priority) => (libc::SCHED_FIFO, priority),
        Class::Ext => (SCHED_EXT, 0),
    };
    let param = libc::sched_param { sched_priority };
    // SAFETY: `param` is valid for reads; the kernel checks every value.
    match unsafe { libc::sched_setscheduler(tid, policy, &raw const param) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The number of CPUs that the calling thread may use.
pub fn allowed_cpus() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
