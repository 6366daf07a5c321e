// SPDX-License-Identifier: GPL-2.0-only
//! Runs the `evenkeel` command to its end.

use std::env;
use std::ffi::OsString;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use crate::daemon::Daemon;

/// How long a verb that only prints may take on an emulated machine.
const PROMPT: Duration = Duration::from_secs(30);

/// What a finished command left behind.
#[derive(Debug)]
pub struct Finished {
    /// Its exit status; `None` if a signal ended it.
    pub code: Option<i32>,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
}

impl Finished {
    /// Standard output as JSON.
    ///
    /// # Panics
    /// When it is not.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// The `evenkeel` command under test: `$EVENKEEL`, or the one on the `PATH`.
pub fn evenkeel(args: &[&str]) -> Command {
    let program = env::var_os("EVENKEEL").unwrap_or_else(|| OsString::from("evenkeel"));
    let mut command = Command::new(program);
    command
        .args(args)
        .stdin(Stdio::null())
        .env_remove("RUST_BACKTRACE");
    command
}

/// The `evenkeel` command as the last arguments of another, such as `prlimit --nofile=8`.
pub fn started_by(starter: &[&str], args: &[&str]) -> Command {
    let evenkeel = evenkeel(args);
    let mut command = Command::new(starter[0]);
    command
        .args(&starter[1..])
        .arg(evenkeel.get_program())
        .args(evenkeel.get_args())
        .env_remove("RUST_BACKTRACE");
    command
}

/// Runs `evenkeel` with `args` to its end.
///
/// # Panics
/// When it cannot be started or does not end within 30 s.
pub fn run(args: &[&str]) -> Finished {
    finish(evenkeel(args))
}

/// Runs a prepared command to its end.
///
/// # Panics
/// When it cannot be started or does not end within 30 s.
pub fn finish(command: Command) -> Finished {
    Daemon::spawn(command).finish(PROMPT)
}

/// Runs a command of the system and returns what it printed.
///
/// # Panics
/// When it cannot be started.
pub fn system(program: &str, args: &[&str]) -> Output {
    Command::new(program)
        .args(args)
        .stdin(Stdio::null())
        .output()
        .unwrap_or_else(|error| panic!("{program}: {error}"))
}
