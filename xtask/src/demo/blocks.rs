// SPDX-License-Identifier: GPL-2.0-only

//! The demo's runs: each block has every arm once, the first arm alternating.

use std::process::Command;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use super::Size;
use crate::arm::{Arm, DEFAULT, EVENKEEL};
use crate::process;

/// Percentiles of a latency, in nanoseconds, as `ek-workload` reports them.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct Latency {
    /// Number of samples.
    pub count: u64,
    /// Median.
    pub p50_ns: f64,
    /// 99th percentile.
    pub p99_ns: f64,
}

/// What the workload measured.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Run {
    /// Intended start to the end of a burst.
    pub completion: Latency,
    /// Wakeup to running.
    pub wakeup: Latency,
}

/// What the scheduler counted meanwhile; the names are those of `evenkeel status --json`.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Counters {
    /// Slices assigned while someone waited.
    pub slices_company: u64,
    /// Slices assigned while nobody waited.
    pub slices_alone: u64,
    /// The shortest slice in company, in nanoseconds.
    pub slice_company_min_ns: u64,
    /// The longest.
    pub slice_company_max_ns: u64,
    /// Wakeup preemptions.
    pub preemptions: u64,
    /// Bursts with a prediction after warm-up.
    pub scored: u64,
    /// Sum of |log2(predicted/actual)| x 1024 over them.
    pub log_error_sum_q10: u64,
    /// Sum of |predicted - actual| over them, in nanoseconds.
    pub abs_error_sum_ns: u64,
}

/// One block.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Block {
    /// Under the kernel's default scheduler.
    pub default: Run,
    /// Under Evenkeel.
    pub evenkeel: Run,
    /// Evenkeel's counters at the end of its run.
    pub counters: Counters,
}

#[derive(Deserialize)]
struct Status {
    statistics: Option<Counters>,
}

/// Runs the blocks, with a line of progress for each run.
pub fn run(size: Size) -> Result<Vec<Block>> {
    (0..size.blocks).map(|number| block(size, number)).collect()
}

fn block(size: Size, number: u32) -> Result<Block> {
    let mut block = Block::default();
    let mut arms = [DEFAULT, EVENKEEL];
    if number % 2 == 1 {
        arms.reverse();
    }
    for arm in arms {
        eprintln!(
            "demo: block {} of {}: {} for {} s",
            number + 1,
            size.blocks,
            arm.name,
            size.seconds
        );
        let run = measure(arm, size, number, &mut block.counters)?;
        if arm == DEFAULT {
            block.default = run;
        } else {
            block.evenkeel = run;
        }
    }
    Ok(block)
}

fn measure(arm: Arm, size: Size, number: u32, counters: &mut Counters) -> Result<Run> {
    let in_force = arm.start()?;
    let mut workload = Command::new("ek-workload");
    // Both arms of a block get the same bursts.
    workload
        .args(["mixed", "--json", "--seconds", &size.seconds.to_string()])
        .args(["--seed", &number.to_string()]);
    let output = process::output(&mut workload)?;
    if arm != DEFAULT {
        let status = process::output(Command::new("evenkeel").args(["status", "--json"]))?;
        let status: Status = serde_json::from_str(&status).context("evenkeel's status")?;
        *counters = status
            .statistics
            .context("evenkeel's status has no counters")?;
    }
    in_force.stop()?;
    serde_json::from_str(&output).context("the workload's output cannot be read")
}
