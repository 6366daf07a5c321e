// SPDX-License-Identifier: GPL-2.0-only
//! Recorded bursts: JSON lines, one burst a line in the order in which they ended.

use std::io::{self, BufRead};

use serde::{Deserialize, Serialize};

/// One burst of one task. Tasks are numbered within their trace; no name is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Burst {
    /// Whose burst.
    pub task: u32,
    /// The sleep before it, ns.
    pub sleep_ns: u64,
    /// The task that ended the sleep; 0 is an interrupt on an idle CPU.
    pub waker: u32,
    /// CPU time until the next sleep, ns.
    pub burst_ns: u64,
}

/// Why a trace cannot be read.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum TraceError {
    #[error("cannot read the trace: {0}")]
    Read(#[from] io::Error),
    #[error("line {line} of the trace is no burst: {source}")]
    Line {
        line: usize,
        source: serde_json::Error,
    },
}

/// Reads a trace. Empty lines and lines that begin with `#` are skipped.
///
/// # Errors
/// The input cannot be read, or the first line that is no burst.
pub fn read(input: impl BufRead) -> Result<Vec<Burst>, TraceError> {
    let mut bursts = Vec::new();
    for (index, line) in input.lines().enumerate() {
        let line = line?;
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let burst = serde_json::from_str(&line).map_err(|source| TraceError::Line {
            line: index + 1,
            source,
        })?;
        bursts.push(burst);
    }
    Ok(bursts)
}
