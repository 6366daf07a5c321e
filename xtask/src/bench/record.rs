// SPDX-License-Identifier: GPL-2.0-only

//! A measurement, as it is kept.

use serde::{Deserialize, Serialize};

/// Which lab measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Lab {
    /// One CPU whose time counts instructions.
    Deterministic,
    /// Two CPUs in wall-clock time.
    Parallel,
}

impl Lab {
    /// Its name on the command line and in records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Deterministic => "deterministic",
            Self::Parallel => "parallel",
        }
    }
}

/// What was measured. Smaller is better in each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// `hackbench` with threads and sockets, in seconds.
    HackbenchThreads,
    /// `hackbench` with processes and pipes, in seconds.
    HackbenchPipes,
    /// `perf bench sched pipe`, in seconds.
    PerfPipe,
    /// Wakeup latency beside CPU hogs, 99th percentile, in seconds.
    WakeupP99,
    /// From the start of the scheduler's program to its registration, in seconds.
    Attach,
    /// The scheduler's resident memory at the end of its trial, in KiB.
    Resident,
    /// CPU time of the scheduler's process on an idle machine, as a fraction of one CPU.
    IdleCpu,
}

/// One line of the raw data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Which lab.
    pub lab: Lab,
    /// The block, from 0.
    pub block: u32,
    /// The trial's place in its block, from 0.
    pub position: u32,
    /// The arm's name.
    pub arm: String,
    /// What was measured.
    pub metric: Metric,
    /// The value; nothing where the measurement failed.
    pub value: Option<f64>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub failure: Option<String>,
}
