// SPDX-License-Identifier: GPL-2.0-only
//! What can go wrong between opening the BPF object and having the kernel scheduled by it.

use std::io;

/// A failure to open, load or attach the scheduler, in the user's wording and on one line.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The BPF object could not be opened or its options set.
    #[error("the BPF programs could not be opened: {0}")]
    Open(String),
    /// The verifier refused a program.
    #[error("the kernel's verifier rejected program {program}")]
    Verifier {
        /// The program's name.
        program: String,
        /// The verifier's last lines, which say why.
        log_tail: Vec<String>,
    },
    /// The load failed for another reason.
    #[error("the BPF programs could not be loaded: {0}")]
    Load(String),
    /// Another scheduler holds the kernel's one slot.
    #[error("another scheduler is active: {0}")]
    AnotherScheduler(String),
    /// The kernel refused the registration.
    #[error("the kernel refused to register the scheduler: {0}")]
    Attach(String),
    /// The machine has more CPUs or nodes than the scheduler's tables hold.
    #[error("this machine has {found} {what}, more than the {most} that are supported")]
    TooLarge {
        /// What there are too many of.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many are supported.
        most: usize,
    },
    /// The CPU topology could not be read.
    #[error("the CPU topology could not be read: {0}")]
    Topology(String),
    /// A record of the kernel or of the scheduler could not be read.
    #[error("{what} could not be read: {error}")]
    Read {
        /// What was to be read.
        what: &'static str,
        /// Why it was not.
        error: io::Error,
    },
}

/// Folds an error chain into one line.
pub(crate) fn one_line(error: impl std::fmt::Display) -> String {
    let text = format!("{error:#}");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
