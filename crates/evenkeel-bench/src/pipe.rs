// SPDX-License-Identifier: GPL-2.0-only
//! Two threads that hand a byte to and fro: nothing but wakeups.

use std::io;
use std::thread::scope;

use rustix::pipe::pipe;

use crate::clock::{monotonic_ns, thread_cpu_ns};
use crate::report::{Samples, ThreadReport};
use crate::thread;

/// What a pair measured.
#[derive(Debug, Clone, Default)]
pub struct Passed {
    /// Time of a round trip.
    pub round_trip: Samples,
    /// Both ends.
    pub threads: Vec<ThreadReport>,
}

/// Passes a byte between the calling thread and another until `end_ns` (`CLOCK_MONOTONIC`).
///
/// # Errors
/// When a pipe cannot be made or breaks.
pub fn run(name: &str, end_ns: u64) -> io::Result<Passed> {
    let (ping_out, ping_in) = pipe()?;
    let (pong_out, pong_in) = pipe()?;
    let echo_name = format!("{name}-echo");
    scope(|scope| {
        let echo = scope.spawn(|| -> io::Result<ThreadReport> {
            // Owned by this thread, so that its end closes them and the other side sees it.
            let (ping_out, pong_in) = (ping_out, pong_in);
            let _ = thread::set_name(&echo_name);
            let start = thread_cpu_ns();
            let mut byte = [0];
            let mut count = 0;
            while rustix::io::read(&ping_out, &mut byte)? == 1 {
                rustix::io::write(&pong_in, &byte)?;
                count += 1;
            }
            let cpu_ns = thread_cpu_ns() - start;
            Ok(ThreadReport {
                name: echo_name.clone(),
                cpu_ns,
                count,
            })
        });
        let _ = thread::set_name(name);
        let start = thread_cpu_ns();
        let mut passed = Passed::default();
        let mut now = monotonic_ns();
        let mut byte = [1];
        while now < end_ns {
            rustix::io::write(&ping_in, &byte)?;
            if rustix::io::read(&pong_out, &mut byte)? == 0 {
                break;
            }
            let back = monotonic_ns();
            passed.round_trip.record(back - now);
            now = back;
        }
        drop(ping_in);
        let cpu_ns = thread_cpu_ns() - start;
        let count = passed.round_trip.percentiles().count;
        passed.threads.push(ThreadReport {
            name: name.to_owned(),
            cpu_ns,
            count,
        });
        let echo = echo
            .join()
            .map_err(|_| io::Error::other("the echo thread panicked"))??;
        passed.threads.push(echo);
        Ok(passed)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_passes_bytes_until_its_end() {
        let passed = run("pair", monotonic_ns() + 20_000_000).unwrap();
        assert!(passed.round_trip.percentiles().count > 0);
        assert_eq!(passed.threads[0].count, passed.threads[1].count);
    }
}
