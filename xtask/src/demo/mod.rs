// SPDX-License-Identifier: GPL-2.0-only

//! `cargo xtask demo`: a visible workload under the kernel's default scheduler and under
//! Evenkeel, and what each did to it.

mod blocks;
mod table;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use clap::builder::RangedU64ValueParser;

use crate::lab::{Boot, Clock};
use crate::process::{ANOTHER_SCHEDULER, Failure, NOT_PERMITTED, UNSUPPORTED};
use crate::{arm, cargo, paths, setup};

/// Show what Evenkeel does: short bursts beside CPU hogs, under the kernel's default scheduler
/// and under Evenkeel, in turns within one boot.
///
/// The machine is emulated: its figures are good for ratios only. --native runs on this machine
/// itself, where the kernel has sched_ext; that schedules the whole machine while it runs. It
/// ends with status 3 without sched_ext, 5 without root, and 4 if a scheduler is active.
///
/// Example: cargo xtask demo
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// Run on this machine rather than in a guest.
    #[arg(long)]
    native: bool,
    #[command(flatten)]
    size: Size,
}

/// How much to run.
#[derive(clap::Args, Clone, Copy)]
pub struct Size {
    /// Blocks; each runs every arm once.
    #[arg(long, default_value_t = 4, value_parser = RangedU64ValueParser::<u32>::new().range(1..=100))]
    blocks: u32,
    /// Seconds of each run.
    #[arg(long, default_value_t = 6, value_parser = RangedU64ValueParser::<u32>::new().range(1..=600))]
    seconds: u32,
}

/// Runs `cargo xtask demo`.
pub fn run(arguments: &Arguments) -> Result<u8> {
    let blocks = if arguments.native {
        natively(arguments.size)?
    } else {
        in_guest(arguments.size)?
    };
    print!("{}", table::render(&blocks, !arguments.native));
    Ok(0)
}

/// Runs the blocks and prints them as JSON: the guest's part.
pub fn run_in_guest(size: Size) -> Result<u8> {
    println!("{}", serde_json::to_string(&blocks::run(size)?)?);
    Ok(0)
}

fn in_guest(size: Size) -> Result<Vec<blocks::Block>> {
    setup::ensure()?;
    let mut programs = cargo::release_programs()?;
    let (own, name) = paths::own_program()?;
    programs.push(own);
    eprintln!("demo: booting a kernel with sched_ext (some seconds) ...");
    let command = [
        name,
        "demo-in-guest".to_owned(),
        format!("--blocks={}", size.blocks),
        format!("--seconds={}", size.seconds),
    ];
    let boot = Boot {
        cpus: 2,
        clock: Clock::Parallel,
        kernel: None,
        root_disk: None,
        memory: "2G".to_owned(),
        timeout: Duration::from_secs(
            300 + u64::from(size.blocks) * u64::from(size.seconds + 30) * 2,
        ),
        programs,
        command: command.to_vec(),
        capture: true,
    };
    let finished = boot.run()?;
    if finished.status != 0 {
        return Err(Failure::error(
            finished.status,
            "the demo failed in the guest",
        ));
    }
    serde_json::from_str(&finished.stdout).context("the guest's result cannot be read")
}

fn natively(size: Size) -> Result<Vec<blocks::Block>> {
    refuse_unfit_machine()?;
    setup::ensure_build()?;
    put_on_path(&cargo::release_programs()?);
    blocks::run(size)
}

fn refuse_unfit_machine() -> Result<()> {
    if arm::state().is_none() {
        return Err(Failure::error(
            UNSUPPORTED,
            "this kernel has no sched_ext: leave out --native",
        ));
    }
    if !rustix::process::geteuid().is_root() {
        return Err(Failure::error(
            NOT_PERMITTED,
            "--native needs root, to attach a scheduler",
        ));
    }
    if let Some(name) = arm::active() {
        let message = format!("another scheduler is active: {name}");
        return Err(Failure::error(ANOTHER_SCHEDULER, message));
    }
    Ok(())
}

/// Puts the directories of programs first on this process's PATH.
fn put_on_path(programs: &[PathBuf]) {
    let directories = programs
        .iter()
        .filter_map(|program| program.parent().map(Path::to_owned));
    let old: OsString = std::env::var_os("PATH").unwrap_or_default();
    let all: Vec<PathBuf> = directories.chain(std::env::split_paths(&old)).collect();
    if let Ok(path) = std::env::join_paths(all) {
        // SAFETY: no other thread of this process reads the environment: there is none yet.
        unsafe { std::env::set_var("PATH", path) };
    }
}
