// SPDX-License-Identifier: GPL-2.0-only

//! Where things are: the checkout, and the cache in which the lab keeps what it fetched.

use std::path::PathBuf;

use anyhow::{Context, Result};

/// The checkout's root directory, absolute.
///
/// Cargo tells it at run time: two checkouts that share a target directory share this program,
/// so what it was compiled with may name the other one.
pub fn checkout() -> Result<PathBuf> {
    let manifest = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    let root = manifest
        .parent()
        .context("xtask lies outside a workspace")?;
    root.canonicalize()
        .context("the checkout that built this xtask is gone")
}

/// The lab's cache: `.lab` in the checkout unless `EVENKEEL_LAB` names another directory.
/// It is created if missing.
pub fn cache() -> Result<PathBuf> {
    let directory = match std::env::var_os("EVENKEEL_LAB") {
        Some(directory) if !directory.is_empty() => PathBuf::from(directory),
        _ => checkout()?.join(".lab"),
    };
    std::fs::create_dir_all(&directory)
        .with_context(|| format!("cannot create {}", directory.display()))?;
    Ok(directory.canonicalize()?)
}

/// The lock that keeps two labs on one machine from disturbing each other's timing:
/// a file in the temporary directory unless `EVENKEEL_LAB_LOCK` names another.
pub fn lab_lock() -> PathBuf {
    match std::env::var_os("EVENKEEL_LAB_LOCK") {
        Some(file) if !file.is_empty() => PathBuf::from(file),
        _ => std::env::temp_dir().join("evenkeel-lab.lock"),
    }
}

/// This program, and the name under which the guest finds it.
pub fn own_program() -> Result<(PathBuf, String)> {
    let path = std::env::current_exe()?;
    let name = path
        .file_name()
        .context("this program has no name")?
        .to_string_lossy()
        .into_owned();
    Ok((path, name))
}
