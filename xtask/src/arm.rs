// SPDX-License-Identifier: GPL-2.0-only

//! Arms of a comparison: what schedules the machine while something is measured.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};

const STATE: &str = "/sys/kernel/sched_ext/state";
const OPS: &str = "/sys/kernel/sched_ext/root/ops";
/// How long a scheduler may take to load and attach on an emulated machine.
const ATTACH_LIMIT: Duration = Duration::from_secs(60);
/// How long it may take to leave.
const LEAVE_LIMIT: Duration = Duration::from_secs(30);
/// Time given to tasks and models to settle under a new scheduler.
const SETTLE: Duration = Duration::from_millis(500);

/// What schedules the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arm {
    /// Its name in tables.
    pub name: &'static str,
    /// The command line of its scheduler; empty for the kernel's default.
    pub command: &'static [&'static str],
}

/// The kernel's default scheduler.
pub const DEFAULT: Arm = Arm {
    name: "default",
    command: &[],
};
/// Evenkeel as it is run by default.
pub const EVENKEEL: Arm = Arm {
    name: "evenkeel",
    command: &["evenkeel", "run"],
};

/// The state of sched_ext (`enabled`, `disabled`), or nothing if the kernel has none.
pub fn state() -> Option<String> {
    fs::read_to_string(STATE)
        .ok()
        .map(|state| state.trim().to_owned())
}

/// The name of the active sched_ext scheduler.
pub fn active() -> Option<String> {
    (state()? != "disabled").then(|| {
        fs::read_to_string(OPS).map_or("unknown".to_owned(), |name| name.trim().to_owned())
    })
}

/// An arm in force. Dropped, it gives the machine back to the kernel's default.
pub struct InForce {
    arm: Arm,
    daemon: Option<Child>,
    /// From the start of its program to the registration.
    pub attached_after: Duration,
}

impl Arm {
    /// Puts the arm in force and lets it settle.
    ///
    /// # Errors
    /// A scheduler that ends or does not attach in time, with the end of what it wrote.
    pub fn start(self) -> Result<InForce> {
        let mut in_force = InForce {
            arm: self,
            daemon: None,
            attached_after: Duration::ZERO,
        };
        if let [program, arguments @ ..] = self.command {
            let log = File::create(self.log()).context("cannot create a log")?;
            let start = Instant::now();
            let daemon = Command::new(program)
                .args(arguments)
                .stdin(Stdio::null())
                .stdout(log.try_clone()?)
                .stderr(log)
                .spawn()
                .with_context(|| format!("cannot start {program}"))?;
            in_force.daemon = Some(daemon);
            in_force.wait_for_attachment(start)?;
        }
        std::thread::sleep(SETTLE);
        Ok(in_force)
    }

    fn log(self) -> PathBuf {
        std::env::temp_dir().join(format!(
            "evenkeel-arm-{}-{}.log",
            self.name,
            std::process::id()
        ))
    }

    fn log_tail(self) -> String {
        let text = fs::read_to_string(self.log()).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(5)..].join(" / ")
    }
}

impl InForce {
    fn wait_for_attachment(&mut self, start: Instant) -> Result<()> {
        loop {
            if state().as_deref() == Some("enabled") {
                self.attached_after = start.elapsed();
                return Ok(());
            }
            self.check()?;
            if start.elapsed() > ATTACH_LIMIT {
                bail!("{} did not attach: {}", self.arm.name, self.arm.log_tail());
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// The scheduler's process, if the arm has one.
    pub fn pid(&self) -> Option<u32> {
        self.daemon.as_ref().map(Child::id)
    }

    /// Makes sure that the arm is still in force.
    ///
    /// # Errors
    /// A scheduler that has ended, with the end of what it wrote.
    pub fn check(&mut self) -> Result<()> {
        if let Some(daemon) = &mut self.daemon
            && let Some(status) = daemon.try_wait()?
        {
            bail!(
                "{} ended ({status}): {}",
                self.arm.name,
                self.arm.log_tail()
            );
        }
        Ok(())
    }

    /// Ends the arm and waits until the kernel's default is back.
    ///
    /// # Errors
    /// A scheduler that had ended by itself, or does not leave.
    pub fn stop(mut self) -> Result<()> {
        self.check()?;
        self.leave()
    }

    fn leave(&mut self) -> Result<()> {
        let Some(mut daemon) = self.daemon.take() else {
            return Ok(());
        };
        signal(&daemon, Signal::INT);
        let start = Instant::now();
        while daemon.try_wait()?.is_none() || state().as_deref() == Some("enabled") {
            if start.elapsed() > LEAVE_LIMIT {
                signal(&daemon, Signal::KILL);
                daemon.wait()?;
                bail!("{} did not leave", self.arm.name);
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        let _ = fs::remove_file(self.arm.log());
        Ok(())
    }
}

impl Drop for InForce {
    fn drop(&mut self) {
        let _ = self.leave();
    }
}

fn signal(process: &Child, signal: Signal) {
    if let Some(pid) = Pid::from_raw(process.id().cast_signed()) {
        // It may have ended by itself.
        let _ = kill_process(pid, signal);
    }
}
