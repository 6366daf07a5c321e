// SPDX-License-Identifier: GPL-2.0-only

//! The files of one boot: what the guest is given, and what it leaves.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::guest::Report;

/// The directory of one boot, removed with it.
pub struct Job {
    /// The directory.
    pub path: PathBuf,
}

impl Job {
    /// Makes the directory, in the cache.
    pub fn create(cache: &Path) -> Result<Self> {
        let path = cache.join("jobs").join(std::process::id().to_string());
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).with_context(|| format!("cannot create {}", path.display()))?;
        Ok(Self { path })
    }

    /// What the guest has reported so far.
    pub fn report(&self) -> Report {
        let text = fs::read(self.path.join("status")).unwrap_or_default();
        Report::parse(&String::from_utf8_lossy(&text))
    }

    /// What its console shows.
    pub fn console(&self) -> Vec<u8> {
        fs::read(self.path.join("console")).unwrap_or_default()
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}
