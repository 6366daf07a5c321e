// SPDX-License-Identifier: GPL-2.0-only

//! The files of one boot: what the guest is given, and what it leaves.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use super::guest::Report;

/// The directory of one boot, removed with it.
pub struct Job {
    /// The directory.
    pub path: PathBuf,
}

impl Job {
    /// Makes the directory, in the cache, and removes those of runs that were killed.
    ///
    /// # Errors
    /// A cache that cannot be written, or whose path virtme cannot take.
    pub fn create(cache: &Path) -> Result<Self> {
        let shown = cache.display();
        ensure!(
            !cache.to_string_lossy().contains(','),
            "virtme takes no path with a comma ({shown}): name another cache with EVENKEEL_LAB"
        );
        let jobs = cache.join("jobs");
        for entry in fs::read_dir(&jobs).into_iter().flatten().flatten() {
            if !Path::new("/proc").join(entry.file_name()).exists() {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
        let path = jobs.join(std::process::id().to_string());
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
