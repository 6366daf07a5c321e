// SPDX-License-Identifier: GPL-2.0-only

//! The published sched_ext schedulers that the benchmark compares with.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use super::{Steps, clang};
use crate::{paths, process};

/// Makes sure that the peers are in the cache, and returns their programs. Compiling them takes
/// some minutes, once.
pub fn ensure() -> Result<Vec<PathBuf>> {
    let steps = Steps { quiet: true };
    let root = paths::cache()?.join("peers");
    let mut programs = Vec::new();
    for name in ["scx_bpfland", "scx_cosmos"] {
        let program = root.join("bin").join(name);
        if !program.is_file() {
            steps.doing("peers", &format!("building {name}"));
            let mut command =
                Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
            if let Some(clang) = clang::find() {
                command.env("BPF_CLANG", clang);
            }
            command
                .args(["install", "--locked", "--quiet", name, "--root"])
                .arg(&root);
            process::check(command.env("CARGO_TARGET_DIR", root.join("target")))?;
        }
        programs.push(program);
    }
    Ok(programs)
}
