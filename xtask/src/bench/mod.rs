// SPDX-License-Identifier: GPL-2.0-only

//! `cargo xtask bench`: Evenkeel's cost and latency beside the kernel's default scheduler and
//! published sched_ext schedulers, in the lab.

mod daemon;
mod judge;
mod measure;
mod record;
mod report;
mod status;
mod trials;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::builder::RangedU64ValueParser;

use crate::lab::{Boot, Clock};
use crate::process::{self, FAILURE, Failure};
use crate::{cargo, paths, setup};
use record::{Lab, Record};

/// Measure in the lab.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(clap::Subcommand)]
enum What {
    Overhead(Overhead),
}

/// Messaging cost, wakeup latency beside CPU hogs, memory, start and idle cost, against the
/// kernel's default scheduler, scx_bpfland and scx_cosmos.
///
/// Every arm runs once in each block, in random order, in one boot of each lab. The default and
/// Evenkeel run twice: their difference from themselves is the noise floor. The peers are built
/// at the first use.
///
/// Exit status: 0 if every limit is kept; 7 if one is exceeded; 1 if one is undecided, as all are
/// with fewer than six blocks, or if a trial failed.
///
/// Example: cargo xtask bench overhead --out docs/evidence
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Overhead {
    /// Directory for overhead.md (the table) and overhead.jsonl (every measurement).
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    #[command(flatten)]
    size: Size,
    /// Only this lab.
    #[arg(long, value_enum)]
    lab: Option<Lab>,
}

/// How much to measure.
#[derive(clap::Args, Clone, Copy)]
pub struct Size {
    /// Blocks; intervals need six.
    #[arg(long, default_value_t = 10, value_parser = RangedU64ValueParser::<u32>::new().range(1..=100))]
    blocks: u32,
    /// Seed of the order within blocks.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// The guest's part: runs the trials of one lab and prints the records.
#[derive(clap::Args)]
pub struct InGuest {
    #[command(flatten)]
    size: Size,
    #[arg(long, value_enum)]
    lab: Lab,
}

/// Runs `cargo xtask bench`.
pub fn run(arguments: &Arguments) -> Result<u8> {
    let What::Overhead(overhead) = &arguments.what;
    setup::ensure()?;
    let mut programs = cargo::release_programs()?;
    programs.extend(setup::peers()?);
    programs.push(paths::own_program()?.0);
    programs.extend(["hackbench", "perf"].into_iter().filter_map(process::find));
    fs::create_dir_all(&overhead.out)
        .with_context(|| format!("cannot create {}", overhead.out.display()))?;
    let mut records = Vec::new();
    for lab in [Lab::Deterministic, Lab::Parallel] {
        if overhead.lab.is_none_or(|only| only == lab) {
            records.extend(boot(lab, overhead.size, &programs)?);
        }
    }
    let verdicts = judge::all(&records);
    let page = report::render(&records, &verdicts, overhead.size, &setting()?);
    write(&overhead.out, &records, &page)?;
    Ok(status::of(&records, &verdicts))
}

/// What was compared on what, for the page.
fn setting() -> Result<String> {
    let kernel = setup::kernel_image()?;
    let release = kernel
        .parent()
        .and_then(Path::file_name)
        .unwrap_or_default();
    let mut git = Command::new("git");
    git.args(["describe", "--always", "--dirty"])
        .current_dir(paths::checkout()?);
    let commit = process::output(&mut git).unwrap_or_else(|_| "unknown".to_owned());
    let peers = setup::PEERS
        .map(|(name, version)| format!("{name} {version}"))
        .join(", ");
    let release = release.to_string_lossy();
    Ok(format!(
        "Evenkeel at {}, {peers}, kernel {release}.",
        commit.trim()
    ))
}

/// Runs the trials of one lab in the guest, and prints them.
pub fn run_in_guest(arguments: &InGuest) -> Result<u8> {
    let records = trials::run(arguments.lab, arguments.size)?;
    for record in records {
        println!("{}", serde_json::to_string(&record)?);
    }
    Ok(0)
}

fn boot(lab: Lab, size: Size, programs: &[PathBuf]) -> Result<Vec<Record>> {
    eprintln!("bench: the {} lab, {} blocks", lab.name(), size.blocks);
    let command = [
        paths::own_program()?.1,
        "bench-in-guest".to_owned(),
        format!("--lab={}", lab.name()),
        format!("--blocks={}", size.blocks),
        format!("--seed={}", size.seed),
    ];
    let (cpus, clock) = match lab {
        Lab::Deterministic => (1, Clock::Deterministic),
        Lab::Parallel => (2, Clock::Parallel),
    };
    let boot = Boot {
        cpus,
        clock,
        kernel: None,
        root_disk: None,
        memory: "2G".to_owned(),
        timeout: Duration::from_secs(3600 + 600 * u64::from(size.blocks)),
        programs: programs.to_vec(),
        command: command.to_vec(),
        capture: true,
    };
    let finished = boot.run()?;
    if finished.status != 0 {
        return Err(Failure::error(
            FAILURE,
            format!("the {} lab failed", lab.name()),
        ));
    }
    finished
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).context("the guest's output cannot be read"))
        .collect()
}

fn write(directory: &Path, records: &[Record], table: &str) -> Result<()> {
    let mut lines = String::new();
    for record in records {
        lines.push_str(&serde_json::to_string(record)?);
        lines.push('\n');
    }
    fs::write(directory.join("overhead.jsonl"), lines)?;
    fs::write(directory.join("overhead.md"), table)?;
    println!("{table}");
    Ok(())
}
