// SPDX-License-Identifier: GPL-2.0-only

//! The published sched_ext schedulers that the benchmark compares with.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use super::{Steps, clang};
use crate::{paths, process};

/// The peers with the versions that are compared with.
pub const PEERS: [(&str, &str); 2] = [("scx_bpfland", "1.1.4"), ("scx_cosmos", "1.1.7")];

/// Makes sure that the peers are in the cache, and returns their programs. Compiling them takes
/// some minutes, once.
pub fn ensure() -> Result<Vec<PathBuf>> {
    let steps = Steps { quiet: true };
    let peers = paths::cache()?.join("peers");
    let mut programs = Vec::new();
    for (name, version) in PEERS {
        let root = peers.join(version);
        let program = root.join("bin").join(name);
        if !program.is_file() {
            steps.doing("peers", &format!("building {name} {version}"));
            let mut command =
                Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
            if let Some(clang) = clang::find() {
                command.env("BPF_CLANG", clang);
            }
            command
                .args(["install", "--locked", "--quiet", "--root"])
                .arg(&root)
                .arg(format!("{name}@{version}"));
            process::check(command.env("CARGO_TARGET_DIR", peers.join("target")))?;
        }
        programs.push(program);
    }
    Ok(programs)
}
