// SPDX-License-Identifier: GPL-2.0-only

//! `cargo xtask lab`: a command in a virtual machine with a stock sched_ext kernel.
//!
//! The guest sees the host's files read-only, has no network, and works in memory. It is
//! emulated, because hardware virtualisation cannot be taken for granted: its two clocks are
//! described in `docs/lab.md`.

mod boot;
mod console;
mod disk;
mod guest;
mod job;
mod libraries;
mod lock;
mod machine;
mod running;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use clap::builder::RangedU64ValueParser;

pub use boot::{Boot, Clock};
pub use console::StaleBreakpoint;

use crate::{cargo, setup};

/// Run a command in a virtual machine with a sched_ext kernel.
///
/// `evenkeel` and `ek-workload` are built first and are on the guest's PATH. The command's output and exit status
/// come back as they are. A guest that panics, hangs or does not boot ends with status 125, one
/// that outlives the time limit with 124, and an interrupted one with 6; the last lines of its
/// console are shown.
///
/// Example: cargo xtask lab --cpus 2 -- evenkeel check
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// Virtual CPUs.
    #[arg(long, default_value_t = 2, value_parser = RangedU64ValueParser::<u32>::new().range(1..=64))]
    cpus: u32,
    /// Guest time counts instructions: repeatable to about a per cent, on one CPU best.
    #[arg(long)]
    deterministic: bool,
    /// Boot this kernel image rather than the one that set-up fetched. Its modules are looked
    /// for beside it.
    #[arg(long, value_name = "PATH")]
    kernel: Option<PathBuf>,
    /// Boot this disk with a whole system (systemd; raw or qcow2), which stays unchanged, instead
    /// of the host's file system. `cargo xtask image` makes one.
    #[arg(long, value_name = "IMAGE")]
    root_disk: Option<PathBuf>,
    /// The guest's memory, as QEMU writes it.
    #[arg(long, default_value = "2G", value_name = "SIZE")]
    memory: String,
    /// Seconds after which the guest is ended.
    #[arg(long, default_value_t = 600, value_name = "S", value_parser = RangedU64ValueParser::<u64>::new().range(1..))]
    timeout: u64,
    /// Build nothing, and leave the guest's PATH without `evenkeel`.
    #[arg(long)]
    bare: bool,
    /// The command and its arguments.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// Runs `cargo xtask lab`.
pub fn run(arguments: &Arguments) -> Result<u8> {
    if arguments.kernel.is_some() {
        setup::ensure_without_kernel()?;
    } else {
        setup::ensure()?;
    }
    let programs = if arguments.bare {
        Vec::new()
    } else {
        cargo::release_programs()?
    };
    let boot = Boot {
        cpus: arguments.cpus,
        clock: if arguments.deterministic {
            Clock::Deterministic
        } else {
            Clock::Parallel
        },
        kernel: arguments.kernel.clone(),
        root_disk: arguments.root_disk.clone(),
        memory: arguments.memory.clone(),
        timeout: Duration::from_secs(arguments.timeout),
        programs,
        command: arguments.command.clone(),
        capture: false,
    };
    Ok(boot.run()?.status)
}
