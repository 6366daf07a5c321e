// SPDX-License-Identifier: GPL-2.0-only
//! Runs one seeded workload and prints what it measured.

use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use evenkeel_bench::report::{Percentiles, Report};
use evenkeel_bench::workload::{self, Name, Size};

/// Runs a seeded workload and prints what it measured.
///
/// Example: `ek-workload mixed --seconds 10 --burst 1ms --period 10ms --json`
#[derive(Debug, Parser)]
#[command(version)]
struct Args {
    /// The workload.
    name: Name,
    /// Length of the measured window, in seconds (0.1 to 3600).
    #[arg(long, default_value_t = 10.0, value_parser = seconds)]
    seconds: f64,
    /// Threads that burst or yield, or pairs that pass bytes [default: by the workload and the CPUs].
    #[arg(long)]
    threads: Option<usize>,
    /// CPU hogs [default: by the workload and the CPUs].
    #[arg(long)]
    hogs: Option<usize>,
    /// Mean CPU time of a burst.
    #[arg(long, default_value = "1ms", value_parser = humantime::parse_duration)]
    burst: Duration,
    /// Mean time between two intended starts of one thread.
    #[arg(long, default_value = "10ms", value_parser = humantime::parse_duration)]
    period: Duration,
    /// Seed of bursts and arrivals.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print one line of JSON.
    #[arg(long)]
    json: bool,
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if (0.1..=3600.0).contains(&value) => Ok(value),
        _ => Err("a number of seconds from 0.1 to 3600".to_owned()),
    }
}

fn main() -> ExitCode {
    let args = Args::parse();
    let size = Size {
        duration: Duration::from_secs_f64(args.seconds),
        threads: args.threads,
        hogs: args.hogs,
        burst: args.burst,
        period: args.period,
        seed: args.seed,
    };
    let printed = workload::run(args.name, &size).and_then(|report| {
        if args.json {
            print_json(&report)
        } else {
            print_table(&report)
        }
    });
    match printed {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("ek-workload: {error}");
            ExitCode::FAILURE
        }
    }
}

fn print_json(report: &Report) -> std::io::Result<()> {
    let line = serde_json::to_string(report)?;
    writeln!(std::io::stdout(), "{line}")
}

fn print_table(report: &Report) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "{:<12}{:>9}{:>12}{:>12}{:>12}",
        "ms", "count", "p50", "p99", "max"
    )?;
    for (label, found) in [
        ("completion", &report.completion),
        ("wakeup", &report.wakeup),
    ] {
        let Percentiles {
            count,
            p50_ns,
            p99_ns,
            max_ns,
            ..
        } = found;
        let [p50, p99, max] = [p50_ns, p99_ns, max_ns].map(|ns| *ns as f64 / 1e6);
        writeln!(
            out,
            "{label:<12}{count:>9}{p50:>12.3}{p99:>12.3}{max:>12.3}"
        )?;
    }
    writeln!(out, "missed {}", report.missed)?;
    for thread in &report.threads {
        let share = thread.cpu_ns as f64 / report.elapsed_ns as f64 * 100.0;
        writeln!(
            out,
            "{:<16}{:>9}{share:>10.1} % of a CPU",
            thread.name, thread.count
        )?;
    }
    Ok(())
}
