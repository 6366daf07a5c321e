// SPDX-License-Identifier: GPL-2.0-only
//! The clocks of a workload, in nanoseconds.

use rustix::thread::{ClockId as SleepClock, clock_nanosleep_absolute};
use rustix::time::{ClockId, Timespec, clock_gettime};

const NANOS: u64 = 1_000_000_000;

/// Time on `CLOCK_MONOTONIC`, in nanoseconds.
pub fn monotonic_ns() -> u64 {
    nanos(clock_gettime(ClockId::Monotonic))
}

/// CPU time that the calling thread has used, in nanoseconds.
pub fn thread_cpu_ns() -> u64 {
    nanos(clock_gettime(ClockId::ThreadCPUTime))
}

/// CPU time that thread `tid` of this process has used, in nanoseconds, or `None` once it is gone.
///
/// A thread's CPU clock is named by `(~tid << 3) | CPUCLOCK_PERTHREAD_MASK | CPUCLOCK_SCHED`, see
/// the kernel's `include/linux/posix-timers_types.h`.
pub fn cpu_ns_of(tid: i32) -> Option<u64> {
    let clock: libc::clockid_t = (!tid << 3) | 4 | 2;
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is valid for writes; an unknown clock is reported, not dereferenced.
    let result = unsafe { libc::clock_gettime(clock, &raw mut time) };
    (result == 0).then(|| {
        time.tv_sec.unsigned_abs() * NANOS + u64::try_from(time.tv_nsec).unwrap_or_default()
    })
}

/// Sleeps until `CLOCK_MONOTONIC` reads `deadline_ns`; returns at once if that is past.
pub fn sleep_until(deadline_ns: u64) {
    let request = Timespec {
        tv_sec: i64::try_from(deadline_ns / NANOS).unwrap_or(i64::MAX),
        tv_nsec: i64::try_from(deadline_ns % NANOS).unwrap_or_default(),
    };
    // Interrupted by a signal: sleep on, the deadline is absolute.
    while clock_nanosleep_absolute(SleepClock::Monotonic, &request).is_err() {}
}

fn nanos(time: Timespec) -> u64 {
    time.tv_sec.unsigned_abs() * NANOS + u64::try_from(time.tv_nsec).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_reads_the_same_cpu_clock_by_its_id() {
        let tid = crate::thread::id();
        let before = thread_cpu_ns();
        let by_id = cpu_ns_of(tid).unwrap();
        let after = thread_cpu_ns();
        assert!((before..=after).contains(&by_id));
    }

    #[test]
    fn a_thread_of_nobody_has_no_clock() {
        assert_eq!(cpu_ns_of(0x3fff_ffff / 8), None);
    }

    #[test]
    fn a_sleep_ends_after_its_deadline() {
        let deadline = monotonic_ns() + 2_000_000;
        sleep_until(deadline);
        assert!(monotonic_ns() >= deadline);
        sleep_until(deadline);
    }
}
