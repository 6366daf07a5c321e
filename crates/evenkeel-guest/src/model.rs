// SPDX-License-Identifier: GPL-2.0-only
//! What the scheduler has learned about one thread: `evenkeel model TID --json`.

use serde::Deserialize;

use crate::command;

/// A thread's model.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Model {
    /// Estimate of the burst that runs, or of the last one while the thread sleeps, in
    /// nanoseconds. Made when the burst first competes with another task.
    pub estimate_ns: u64,
    /// Whether the estimate may decide anything.
    pub confident: bool,
    /// Bursts that it was trained on; saturates at 255.
    pub bursts: u64,
    /// The last of them, in nanoseconds.
    pub last_burst_ns: u64,
    /// Rank of the burst that runs, in nanoseconds; 0 while the thread sleeps, or has not competed
    /// since it woke.
    pub rank_ns: u64,
}

impl Model {
    /// Reads the model of thread `tid`; `None` if it has none.
    ///
    /// # Panics
    /// When the verb fails in another way.
    pub fn read(tid: i32) -> Option<Self> {
        let finished = command::run(&["model", &tid.to_string(), "--json"]);
        match finished.code {
            Some(1) => None,
            Some(0) => {
                let json = finished.json();
                Some(serde_json::from_value(json).unwrap_or_else(|error| panic!("{error}")))
            }
            _ => panic!("{finished:?}"),
        }
    }

    /// Reads the model of thread `tid`, which must have one.
    ///
    /// # Panics
    /// When it has none, or the verb fails.
    pub fn of(tid: i32) -> Self {
        Self::read(tid).unwrap_or_else(|| panic!("thread {tid} has no model"))
    }
}
