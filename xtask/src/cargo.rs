// SPDX-License-Identifier: GPL-2.0-only

//! Calls of cargo, and the executables that they leave.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::{paths, process, setup};

/// An executable that cargo built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Executable {
    /// The name of its target: of a binary, or of a test's file.
    pub name: String,
    /// Whether it is a test executable.
    pub test: bool,
    /// Where cargo put it.
    pub path: PathBuf,
}

/// A cargo command in the checkout. The checkout's cargo configuration names a compiler for BPF;
/// where the machine has only another one, that is named instead.
pub fn command() -> Result<Command> {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(paths::checkout()?);
    let named = std::env::var("BPF_CLANG").unwrap_or_else(|_| "clang-19".to_owned());
    if process::find(&named).is_none()
        && let Some(clang) = setup::clang()
    {
        command.env("BPF_CLANG", clang);
    }
    Ok(command)
}

/// Builds with `arguments` (`build ...` or `test --no-run ...`) and returns what is executable.
/// Cargo's own progress goes to standard error.
pub fn executables(arguments: &[&str]) -> Result<Vec<Executable>> {
    let mut child = command()?
        .args(arguments)
        .arg("--message-format=json-render-diagnostics")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot run cargo")?;
    let stdout = child.stdout.take().context("cargo has no output")?;
    let mut found = Vec::new();
    for line in BufReader::new(stdout).lines() {
        found.extend(executable(&line?));
    }
    let status = child.wait()?;
    if !status.success() {
        bail!("`cargo {}`: {status}", arguments.join(" "));
    }
    Ok(found)
}

/// Builds the release of what the guest is given: `evenkeel` and the workloads.
pub fn release_programs() -> Result<Vec<PathBuf>> {
    let arguments = [
        "build",
        "--release",
        "--package",
        "evenkeel",
        "--package",
        "evenkeel-bench",
        "--bins",
    ];
    Ok(executables(&arguments)?
        .into_iter()
        .map(|executable| executable.path)
        .collect())
}

/// Runs cargo with inherited output; a failure is an error.
pub fn run(arguments: &[&str]) -> Result<()> {
    process::check(command()?.args(arguments))
}

#[derive(Deserialize)]
struct Message {
    reason: String,
    target: Option<Target>,
    profile: Option<Profile>,
    executable: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
}

#[derive(Deserialize)]
struct Profile {
    test: bool,
}

/// The executable that a line of cargo's JSON output reports, if it does.
fn executable(line: &str) -> Option<Executable> {
    let message: Message = serde_json::from_str(line).ok()?;
    if message.reason != "compiler-artifact" {
        return None;
    }
    Some(Executable {
        name: message.target?.name,
        test: message.profile?.test,
        path: message.executable?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_artifact_with_an_executable_is_found() {
        let line = r#"{"reason":"compiler-artifact","package_id":"x","target":{"kind":["test"],
            "name":"parallel","src_path":"/a"},"profile":{"opt_level":"0","test":true},
            "filenames":["/t/parallel-1"],"executable":"/t/parallel-1","fresh":true}"#;
        let expected = Executable {
            name: "parallel".into(),
            test: true,
            path: "/t/parallel-1".into(),
        };
        assert_eq!(executable(line), Some(expected));
    }

    #[test]
    fn a_library_and_other_lines_are_passed_over() {
        let library = r#"{"reason":"compiler-artifact","target":{"name":"a"},
            "profile":{"test":false},"executable":null}"#;
        assert_eq!(executable(library), None);
        assert_eq!(
            executable(r#"{"reason":"build-finished","success":true}"#),
            None
        );
        assert_eq!(executable("warning: text"), None);
    }
}
