// SPDX-License-Identifier: GPL-2.0-only

//! Running other programs, and errors that carry an exit status.

use std::ffi::OsStr;
use std::fmt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// Something failed.
pub const FAILURE: u8 = 1;
/// A kernel or a machine that this command does not support.
pub const UNSUPPORTED: u8 = 3;
/// Another scheduler is active.
pub const ANOTHER_SCHEDULER: u8 = 4;
/// The user may not do this.
pub const NOT_PERMITTED: u8 = 5;
/// A bounded run was interrupted.
pub const INTERRUPTED: u8 = 6;
/// A limit that was set beforehand was exceeded.
pub const THRESHOLD: u8 = 7;

/// An error with the exit status that it leads to.
#[derive(Debug)]
pub struct Failure {
    /// The exit status of the whole command.
    pub status: u8,
    message: String,
}

impl Failure {
    /// An error that ends the command with `status`.
    pub fn error(status: u8, message: impl Into<String>) -> anyhow::Error {
        anyhow::Error::new(Self {
            status,
            message: message.into(),
        })
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

/// Runs a command with inherited output; anything but success is an error.
pub fn check(command: &mut Command) -> Result<()> {
    let name = describe(command);
    let status = command
        .stdin(Stdio::null())
        .status()
        .with_context(|| format!("cannot run {name}"))?;
    if !status.success() {
        bail!("{name}: {status}");
    }
    Ok(())
}

/// Runs a command and returns its standard output; anything but success is an error that ends
/// with the last lines of its standard error.
pub fn output(command: &mut Command) -> Result<String> {
    let name = describe(command);
    let output = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot run {name}"))?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        let tail: Vec<&str> = stderr.trim_end().lines().rev().take(3).collect();
        let tail: Vec<&str> = tail.into_iter().rev().collect();
        bail!("{name}: {}: {}", output.status, tail.join(" / "));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Whether the command ran and succeeded; its output is dropped.
pub fn succeeds(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Where a program is: in a directory of `PATH` or a system directory, or at its own path.
pub fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain(["/usr/sbin", "/usr/bin", "/sbin", "/bin"].map(PathBuf::from))
        .map(|directory| directory.join(program))
        .find(|candidate| candidate.is_file())
}

fn describe(command: &Command) -> String {
    let program = command.get_program().to_string_lossy().into_owned();
    let first = command.get_args().next().map(OsStr::to_string_lossy);
    match first {
        Some(first) if first.len() < 40 => format!("`{program} {first}`"),
        _ => format!("`{program}`"),
    }
}
