// SPDX-License-Identifier: GPL-2.0-only

//! One boot of a guest, from the lock to the exit status.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};

use super::guest::{Output, Script};
use super::job::Job;
use super::running::Running;
use super::{disk, libraries, lock, machine};
use crate::{paths, setup};

/// How the guest's time passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clock {
    /// Wall-clock time, a host thread for each virtual CPU.
    Parallel,
    /// Time counts instructions; all virtual CPUs share one host thread.
    Deterministic,
}

/// What to boot and what to run in it.
pub struct Boot {
    /// Virtual CPUs.
    pub cpus: u32,
    /// How time passes.
    pub clock: Clock,
    /// Another kernel image than the one that set-up fetched.
    pub kernel: Option<PathBuf>,
    /// A disk with a whole system to boot, instead of the host's file system.
    pub root_disk: Option<PathBuf>,
    /// Memory, as QEMU writes it.
    pub memory: String,
    /// Time limit of the whole boot.
    pub timeout: Duration,
    /// Programs copied into the guest's memory and put on its PATH.
    pub programs: Vec<PathBuf>,
    /// The command and its arguments.
    pub command: Vec<String>,
    /// Whether standard output is returned instead of passed on.
    pub capture: bool,
}

/// How the command in the guest ended.
pub struct Finished {
    /// Its exit status.
    pub status: u8,
    /// Its standard output, if captured.
    pub stdout: String,
}

impl Boot {
    /// Boots the guest, runs the command, and waits for the end of both.
    ///
    /// # Errors
    /// A guest that panics, hangs, does not boot or exceeds the time limit, with the last lines
    /// of its console; an interruption by the user.
    pub fn run(&self) -> Result<Finished> {
        self.warn_about_cpus();
        let cache = paths::cache()?;
        let kernel = match &self.kernel {
            Some(kernel) => kernel
                .canonicalize()
                .with_context(|| format!("cannot find the kernel {}", kernel.display()))?,
            None => setup::kernel_image()?,
        };
        let _lock = lock::acquire()?;
        let job = Job::create(&cache)?;
        if let Some(config) = kernel_config(&kernel) {
            fs::copy(config, job.path.join("config"))?;
        }
        let command = match &self.root_disk {
            Some(image) => disk::command(self, image, &kernel, &job.path)?,
            None => self.on_host_files(&kernel, &job, &cache)?,
        };
        let running = Running::start(command, self.capture)?;
        let result = running.watch(&job, self.timeout);
        // Kept for the reader of a surprising run, until the next one.
        let _ = fs::copy(job.path.join("console"), cache.join("console.log"));
        result
    }

    /// Prepares a guest that runs on the host's file system.
    fn on_host_files(&self, kernel: &Path, job: &Job, cache: &Path) -> Result<Command> {
        let checkout = paths::checkout()?;
        let mut visible = vec![checkout.clone(), cache.to_owned()];
        visible.extend(
            self.programs
                .iter()
                .filter_map(|path| Some(path.parent()?.to_owned())),
        );
        let script = Script {
            output: Output::Virtme,
            programs: &self.programs,
            libraries: &libraries::of(&self.programs),
            command: &self.command,
            checkout: Some(&checkout),
            visible: &visible,
        };
        fs::write(job.path.join("run.sh"), script.text())?;
        Ok(machine::command(
            self,
            &setup::virtme_run()?,
            kernel,
            &job.path,
            &visible,
        ))
    }

    fn warn_about_cpus(&self) {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        if self.clock == Clock::Parallel && self.cpus as usize > cores {
            eprintln!(
                "lab: {} virtual CPUs on {cores} cores: timing means nothing here",
                self.cpus
            );
        }
    }
}

/// The configuration of a kernel image: beside it, as Debian's packages and `/boot` have it.
fn kernel_config(kernel: &Path) -> Option<PathBuf> {
    let directory = kernel.parent()?;
    let release = kernel
        .file_name()?
        .to_str()?
        .strip_prefix("vmlinuz-")
        .map(str::to_owned);
    let named = release.map(|release| directory.join(format!("config-{release}")));
    let build = directory
        .ancestors()
        .nth(3)
        .map(|tree| tree.join(".config"));
    [named, Some(directory.join("config")), build]
        .into_iter()
        .flatten()
        .find(|path| path.is_file())
}
