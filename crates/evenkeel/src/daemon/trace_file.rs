// SPDX-License-Identifier: GPL-2.0-only
//! The decision trace as a file: a JSON object for each stretch on a CPU, and how many were lost at the end.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use evenkeel_scheduler::TraceRecord;

use crate::failure::Failure;

/// A trace being written.
#[derive(Debug)]
pub struct TraceFile {
    file: BufWriter<File>,
}

impl TraceFile {
    /// Creates the file, before anything is loaded.
    ///
    /// # Errors
    /// Status 1 if it cannot be created.
    pub fn create(path: &Path) -> Result<Self, Failure> {
        let file = File::create(path).map_err(failed)?;
        Ok(Self {
            file: BufWriter::new(file),
        })
    }

    /// Adds records.
    ///
    /// # Errors
    /// Status 1: a trace with holes is of no use.
    pub fn add(&mut self, records: &[TraceRecord]) -> Result<(), Failure> {
        for record in records {
            serde_json::to_writer(&mut self.file, record).map_err(failed)?;
            self.file.write_all(b"\n").map_err(failed)?;
        }
        Ok(())
    }

    /// Closes it with the number of records that the kernel had no room for.
    ///
    /// # Errors
    /// As [`TraceFile::add`].
    pub fn finish(&mut self, lost: u64) -> Result<(), Failure> {
        writeln!(self.file, "{{\"lost\":{lost}}}")
            .and_then(|()| self.file.flush())
            .map_err(failed)
    }
}

fn failed(error: impl std::fmt::Display) -> Failure {
    Failure::doing("the trace cannot be written", error)
}
