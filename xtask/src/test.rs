// SPDX-License-Identifier: GPL-2.0-only

//! `cargo xtask test`: every check and test, on this machine and in the guest.

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::cargo::{self, Executable};
use crate::lab::{Boot, Clock, StaleBreakpoint};
use crate::process::{self, FAILURE, Failure, INTERRUPTED};
use crate::setup;

/// Run all tests: format, lints, documentation, tests on this machine, and the correctness
/// suite on a sched_ext kernel in the lab.
///
/// Every stage runs, whatever became of the ones before; the status is 1 if any failed.
///
/// Example: cargo xtask test --guest-only --filter affinity
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// Only what runs on this machine.
    #[arg(long, conflicts_with = "guest_only")]
    host_only: bool,
    /// Only the suite in the guest.
    #[arg(long)]
    guest_only: bool,
    /// Only tests whose name contains this.
    #[arg(long, value_name = "NAME")]
    filter: Option<String>,
}

/// The crate whose tests run in the guest.
const SUITE: &str = "evenkeel-guest";
/// Time limit of one boot with a test executable.
const BOOT_LIMIT: Duration = Duration::from_secs(30 * 60);

/// Boots of one test executable, where the emulator failed the ones before.
const BOOTS_MOST: u32 = 3;

/// Runs `cargo xtask test`.
pub fn run(arguments: &Arguments) -> Result<u8> {
    let mut stages = Stages::default();
    stages.run("set-up", || {
        if arguments.host_only {
            setup::ensure_build()
        } else {
            setup::ensure()
        }
    })?;
    if !arguments.guest_only {
        host(&mut stages, arguments.filter.as_deref())?;
    }
    if !arguments.host_only {
        guest(&mut stages, arguments.filter.as_deref())?;
    }
    Ok(stages.summary())
}

fn host(stages: &mut Stages, filter: Option<&str>) -> Result<()> {
    stages.run("format", || cargo::run(&["fmt", "--all", "--check"]))?;
    stages.run("lints", || {
        cargo::run(&[
            "clippy",
            "--workspace",
            "--all-targets",
            "--",
            "--deny=warnings",
        ])
    })?;
    stages.run("documentation", || {
        let mut command = cargo::command()?;
        command
            .args(["doc", "--workspace", "--no-deps"])
            .env("RUSTDOCFLAGS", "--deny=warnings");
        process::check(&mut command)
    })?;
    stages.run("tests on this machine", || {
        let mut command = cargo::command()?;
        command
            .args(["test", "--workspace", "--exclude", SUITE])
            .args(filter);
        process::check(&mut command)?;
        // The suite's own helpers need no guest.
        process::check(
            cargo::command()?
                .args(["test", "--package", SUITE, "--lib"])
                .args(filter),
        )
    })
}

fn guest(stages: &mut Stages, filter: Option<&str>) -> Result<()> {
    let mut tests = Vec::new();
    let mut programs = Vec::new();
    stages.run("build for the guest", || {
        tests = cargo::executables(&["test", "--package", SUITE, "--test", "*", "--no-run"])?;
        tests.retain(|executable| executable.test);
        programs = cargo::release_programs()?;
        Ok(())
    })?;
    if programs.is_empty() {
        return Ok(());
    }
    for executable in tests
        .iter()
        .filter(|executable| has_tests(executable, filter))
    {
        let name = format!("guest: {}", executable.name);
        let mut boots = 1;
        stages.run(&name, || {
            unless_the_emulator_failed(&mut boots, || suite(executable, &programs, filter))
        })?;
        if boots > 1 {
            stages
                .notes
                .push(format!("{name}: {boots} boots: {StaleBreakpoint}"));
        }
    }
    Ok(())
}

/// Runs `boot` anew while it fails by the one fault that is known to be the emulator's, up to
/// [`BOOTS_MOST`] times; `boots` counts.
fn unless_the_emulator_failed(boots: &mut u32, boot: impl Fn() -> Result<()>) -> Result<()> {
    loop {
        let result = boot();
        match &result {
            Err(error) if error.is::<StaleBreakpoint>() && *boots < BOOTS_MOST => {
                *boots += 1;
                println!("{error}: boot {boots} of at most {BOOTS_MOST}");
            }
            _ => return result,
        }
    }
}

/// Whether a test executable has tests that the filter lets through; without one, it is run anyway.
fn has_tests(executable: &Executable, filter: Option<&str>) -> bool {
    let Some(filter) = filter else { return true };
    let mut list = Command::new(&executable.path);
    list.args(["--list", "--include-ignored", filter]);
    process::output(&mut list).map_or(true, |text| {
        text.lines().any(|line| line.ends_with(": test"))
    })
}

/// The lab that a test executable wants, by its name: virtual CPUs and clock.
fn lab_of(name: &str) -> (u32, Clock) {
    if name == "deterministic" || name.ends_with("_deterministic") {
        (1, Clock::Deterministic)
    } else {
        (2, Clock::Parallel)
    }
}

fn suite(executable: &Executable, programs: &[PathBuf], filter: Option<&str>) -> Result<()> {
    let (cpus, clock) = lab_of(&executable.name);
    let file = executable
        .path
        .file_name()
        .context("a test executable without a name")?;
    let mut command = vec![file.to_string_lossy().into_owned()];
    command.extend(["--include-ignored", "--test-threads=1"].map(str::to_owned));
    command.extend(filter.map(str::to_owned));
    let mut all = programs.to_vec();
    all.push(executable.path.clone());
    let boot = Boot {
        cpus,
        clock,
        kernel: None,
        root_disk: None,
        memory: "2G".to_owned(),
        timeout: BOOT_LIMIT,
        programs: all,
        command,
        capture: false,
    };
    match boot.run()?.status {
        0 => Ok(()),
        status => bail!("tests failed (status {status})"),
    }
}

/// The stages so far.
#[derive(Default)]
struct Stages {
    done: Vec<Stage>,
    /// What a reader of the summary should know besides.
    notes: Vec<String>,
}

struct Stage {
    name: String,
    took: Duration,
    failure: Option<String>,
}

impl Stages {
    /// Runs a stage and says how it went. Only an interruption by the user ends the others.
    fn run(&mut self, name: &str, stage: impl FnOnce() -> Result<()>) -> Result<()> {
        println!("==> {name}");
        let start = Instant::now();
        let result = stage();
        if let Err(error) = &result
            && error
                .downcast_ref()
                .is_some_and(|failure: &Failure| failure.status == INTERRUPTED)
        {
            return result;
        }
        let failure = result.err().map(|error| format!("{error:#}"));
        let stage = Stage {
            name: name.to_owned(),
            took: start.elapsed(),
            failure,
        };
        println!("<== {}\n", stage.line());
        self.done.push(stage);
        Ok(())
    }

    /// Prints the table of stages and returns the exit status.
    fn summary(&self) -> u8 {
        for stage in &self.done {
            println!("{}", stage.line());
        }
        for note in &self.notes {
            println!("note: {note}");
        }
        let total: f64 = self.done.iter().map(|stage| stage.took.as_secs_f64()).sum();
        let failed = self
            .done
            .iter()
            .filter(|stage| stage.failure.is_some())
            .count();
        println!(
            "{:<24}{total:>8.1} s  {failed} of {} stages failed",
            "total",
            self.done.len()
        );
        if failed == 0 { 0 } else { FAILURE }
    }
}

impl Stage {
    fn line(&self) -> String {
        let verdict = match &self.failure {
            None => "ok".to_owned(),
            Some(why) => format!("FAILED: {why}"),
        };
        format!(
            "{:<24}{:>8.1} s  {verdict}",
            self.name,
            self.took.as_secs_f64()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_chooses_the_lab() {
        assert_eq!(lab_of("deterministic"), (1, Clock::Deterministic));
        assert_eq!(lab_of("order_deterministic"), (1, Clock::Deterministic));
        assert_eq!(lab_of("parallel"), (2, Clock::Parallel));
    }

    #[test]
    fn a_failed_stage_does_not_stop_the_next_and_sets_the_status() {
        let mut stages = Stages::default();
        stages
            .run("first", || bail!("broken"))
            .expect("not an interruption");
        stages
            .run("second", || Ok(()))
            .expect("not an interruption");
        assert_eq!(stages.done.len(), 2);
        assert_eq!(stages.summary(), FAILURE);
    }

    #[test]
    fn only_the_emulators_own_fault_is_tried_again_and_not_for_ever() {
        let failing = |error: fn() -> anyhow::Error| {
            let mut boots = 1;
            let result = unless_the_emulator_failed(&mut boots, || Err(error()));
            assert!(result.is_err());
            boots
        };
        let panicked = || Failure::error(125, "the guest's kernel panicked");
        assert_eq!(failing(panicked), 1);
        assert_eq!(failing(|| anyhow::anyhow!("tests failed (status 101)")), 1);
        let stale = || Failure::error(125, "the guest's kernel panicked").context(StaleBreakpoint);
        assert_eq!(failing(stale), BOOTS_MOST);
        let left = std::cell::Cell::new(1);
        let mut boots = 1;
        unless_the_emulator_failed(&mut boots, || match left.replace(0) {
            0 => Ok(()),
            _ => Err(stale()),
        })
        .expect("the second boot is fine");
        assert_eq!(boots, 2);
    }

    #[test]
    fn an_interruption_ends_the_run() {
        let mut stages = Stages::default();
        let result = stages.run("first", || Err(Failure::error(INTERRUPTED, "interrupted")));
        assert!(result.is_err());
    }
}
