// SPDX-License-Identifier: GPL-2.0-only

//! What a scheduler's own process costs: memory and CPU time.

use std::fs;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

/// Resident memory of a process, in KiB (proc_pid_status(5), `VmRSS`).
pub fn resident_kib(pid: u32) -> Result<f64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    vm_rss(&status).context("the process has no VmRSS")
}

fn vm_rss(status: &str) -> Option<f64> {
    let value = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    value.trim().strip_suffix("kB")?.trim().parse().ok()
}

/// The fraction of a CPU that a process uses while nothing else happens for `window`.
pub fn idle_cpu(pid: u32, window: Duration) -> Result<f64> {
    let (before, start) = (cpu_ns(pid)?, Instant::now());
    std::thread::sleep(window);
    let used = cpu_ns(pid)?.saturating_sub(before);
    Ok(used as f64 / start.elapsed().as_nanos() as f64)
}

/// CPU time of a process's threads in nanoseconds: the first field of their schedstat.
fn cpu_ns(pid: u32) -> Result<u64> {
    let mut sum = 0;
    for thread in fs::read_dir(format!("/proc/{pid}/task"))? {
        // A thread may end meanwhile; its time is lost, as its memory is.
        let text = fs::read_to_string(thread?.path().join("schedstat")).unwrap_or_default();
        sum += text
            .split_whitespace()
            .next()
            .and_then(|ns| ns.parse::<u64>().ok())
            .unwrap_or(0);
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resident_memory_is_read_in_kib() {
        assert_eq!(
            vm_rss("VmPeak:\t  100 kB\nVmRSS:\t   11024 kB\n"),
            Some(11024.0)
        );
        assert_eq!(vm_rss("Name:\tx\n"), None);
    }

    #[test]
    fn a_process_sees_its_own_cost() {
        assert!(resident_kib(std::process::id()).expect("its memory") > 100.0);
        assert!(idle_cpu(std::process::id(), Duration::from_millis(10)).expect("its time") >= 0.0);
    }
}
