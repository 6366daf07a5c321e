// SPDX-License-Identifier: GPL-2.0-only

//! The measured programs, and the value in what they print.

use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use super::record::{Lab, Metric};
use crate::process;

/// The metrics that a program measures, in the order in which they run.
pub const PROGRAMS: [Metric; 4] = [
    Metric::HackbenchThreads,
    Metric::HackbenchPipes,
    Metric::PerfPipe,
    Metric::WakeupP99,
];

/// Runs the metric's program and returns its value.
pub fn run(metric: Metric, lab: Lab, block: u32) -> Result<f64> {
    // Sized for some two to ten seconds of real time.
    let (loops, exchanges, seconds) = match lab {
        Lab::Deterministic => ("120", "15000", "4"),
        Lab::Parallel => ("150", "15000", "5"),
    };
    let seed = block.to_string();
    let words: Vec<&str> = match metric {
        Metric::HackbenchThreads => vec!["hackbench", "-T", "-g", "2", "-l", loops],
        Metric::HackbenchPipes => vec!["hackbench", "-p", "-g", "2", "-l", loops],
        Metric::PerfPipe => vec![
            "perf", "bench", "-f", "simple", "sched", "pipe", "-l", exchanges,
        ],
        _ => vec![
            "ek-workload",
            "mixed",
            "--json",
            "--threads",
            "4",
            "--burst",
            "500us",
            "--period",
            "10ms",
            "--seconds",
            seconds,
            "--seed",
            &seed,
        ],
    };
    let output = process::output(Command::new(words[0]).args(&words[1..]))?;
    match metric {
        Metric::HackbenchThreads | Metric::HackbenchPipes => hackbench(&output),
        Metric::PerfPipe => output
            .trim()
            .parse()
            .context("perf's output cannot be read"),
        _ => wakeup_p99(&output),
    }
}

fn hackbench(output: &str) -> Result<f64> {
    let time = output.lines().find_map(|line| line.strip_prefix("Time:"));
    time.and_then(|time| time.trim().parse().ok())
        .context("hackbench printed no time")
}

#[derive(Deserialize)]
struct Report {
    wakeup: Latency,
}

#[derive(Deserialize)]
struct Latency {
    count: u64,
    p99_ns: f64,
}

/// Samples below which a 99th percentile says nothing.
const FEWEST_SAMPLES: u64 = 1000;

fn wakeup_p99(output: &str) -> Result<f64> {
    let report: Report = serde_json::from_str(output).context("the workload's output")?;
    let count = report.wakeup.count;
    ensure!(
        count >= FEWEST_SAMPLES,
        "{count} wakeups are too few for a 99th percentile"
    );
    Ok(report.wakeup.p99_ns / 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_hackbench_is_read() {
        let output = "Running in threaded mode with 2 groups\nTime: 0.489\n";
        assert!((hackbench(output).expect("a time") - 0.489).abs() < 1e-9);
        assert!(hackbench("Running\n").is_err());
    }

    #[test]
    fn a_percentile_of_few_samples_is_refused() {
        let output = |count| format!("{{\"wakeup\":{{\"count\":{count},\"p99_ns\":2000000}}}}");
        assert!((wakeup_p99(&output(5000)).expect("enough") - 0.002).abs() < 1e-9);
        assert!(wakeup_p99(&output(10)).is_err());
    }
}
