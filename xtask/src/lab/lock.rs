// SPDX-License-Identifier: GPL-2.0-only

//! One lab at a time on a machine: two would disturb each other's timing.

use std::fs::{File, OpenOptions, TryLockError};

use anyhow::{Context, Result};

use crate::paths;

/// Waits for the machine's lab lock. It is released when the file is closed.
pub fn acquire() -> Result<File> {
    let path = paths::lab_lock();
    let shown = path.display();
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&path)
        // A lock file of another user may be read-only for us: a lock needs no write access.
        .or_else(|_| File::open(&path))
        .with_context(|| format!("cannot open the lab's lock {shown}"))?;
    match file.try_lock() {
        Ok(()) => return Ok(file),
        Err(TryLockError::WouldBlock) => eprintln!("lab: waiting for another lab ({shown})"),
        Err(TryLockError::Error(error)) => {
            return Err(error).with_context(|| format!("cannot lock {shown}"));
        }
    }
    file.lock()
        .with_context(|| format!("cannot lock {shown}"))?;
    Ok(file)
}
