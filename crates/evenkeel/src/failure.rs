// SPDX-License-Identifier: GPL-2.0-only
//! Exit statuses, and how a failure is told: on one line, on standard error.

use std::fmt::Display;
use std::io::{self, Write};
use std::panic::{self, PanicHookInfo};
use std::path::Path;
use std::process::ExitCode;

use evenkeel_scheduler::options::OptionError;
use evenkeel_scheduler::probe::Obstacle;

/// The documented exit statuses. Where several hold, the first of 2, 3, 5, 4 is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Status {
    Success = 0,
    Failure = 1,
    Usage = 2,
    Unsupported = 3,
    OtherScheduler = 4,
    NotPermitted = 5,
    StoppedEarly = 6,
}

impl Status {
    pub fn number(self) -> u8 {
        self as u8
    }
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        Self::from(status.number())
    }
}

impl From<Obstacle> for Status {
    fn from(obstacle: Obstacle) -> Self {
        match obstacle {
            Obstacle::Unsupported => Self::Unsupported,
            Obstacle::NotPermitted => Self::NotPermitted,
            Obstacle::OtherScheduler => Self::OtherScheduler,
        }
    }
}

/// Why a verb could not do what it was asked, in the user's wording.
#[derive(Debug)]
pub struct Failure {
    pub status: Status,
    message: String,
    /// Lines that follow only where they are the point, as a verifier's last words are.
    detail: Vec<String>,
}

impl Failure {
    pub fn new(status: Status, message: impl Display) -> Self {
        Self {
            status,
            message: one_line(&message.to_string()),
            detail: Vec::new(),
        }
    }

    pub fn usage(message: impl Display) -> Self {
        Self::new(Status::Usage, message)
    }

    /// An ordinary failure while doing `what`.
    pub fn doing(what: impl Display, error: impl Display) -> Self {
        Self::new(Status::Failure, format!("{what}: {error}"))
    }

    #[cfg(test)]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Writes it to standard error and gives the status to exit with.
    pub fn tell(&self) -> ExitCode {
        complain(&self.message);
        let mut stderr = io::stderr().lock();
        for line in &self.detail {
            let _ = writeln!(stderr, "  {line}");
        }
        self.status.into()
    }
}

impl From<OptionError> for Failure {
    fn from(error: OptionError) -> Self {
        Self::usage(error)
    }
}

impl From<evenkeel_scheduler::Error> for Failure {
    fn from(error: evenkeel_scheduler::Error) -> Self {
        use evenkeel_scheduler::Error;
        let status = match &error {
            Error::AnotherScheduler(_) => Status::OtherScheduler,
            Error::TooLarge { .. } => Status::Unsupported,
            _ => Status::Failure,
        };
        let mut failure = Self::new(status, &error);
        if let Error::Verifier { log_tail, .. } = error {
            failure.detail = log_tail;
        }
        failure
    }
}

/// Writes one line to standard error. That nobody reads it is no reason to end.
pub fn complain(message: &str) {
    let _ = writeln!(io::stderr().lock(), "evenkeel: {message}");
}

/// Folds white space and shows control characters, so that a message stays one harmless line.
pub fn one_line(text: &str) -> String {
    let folded = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let shown = |c: char| {
        if c.is_control() {
            c.escape_default().to_string()
        } else {
            c.into()
        }
    };
    folded.chars().map(shown).collect()
}

/// Tells a panic in one line instead of a backtrace.
pub fn panic_on_one_line() {
    panic::set_hook(Box::new(|panic| complain(&panic_line(panic))));
}

fn panic_line(panic: &PanicHookInfo<'_>) -> String {
    let place = panic.location().map_or_else(String::new, |at| {
        let file = Path::new(at.file()).file_name().unwrap_or_default();
        format!(" ({}:{})", file.to_string_lossy(), at.line())
    });
    let message = panic.payload_as_str().unwrap_or("no reason given");
    format!("internal error: {}{place}", one_line(message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_one_line_without_control_characters() {
        assert_eq!(one_line("a\n  b\t c\u{1b}[31m"), "a b c\\u{1b}[31m");
    }

    #[test]
    fn statuses_are_the_documented_numbers() {
        let all = [
            Status::Success,
            Status::Failure,
            Status::Usage,
            Status::Unsupported,
            Status::OtherScheduler,
            Status::NotPermitted,
            Status::StoppedEarly,
        ];
        assert!(all.iter().map(|status| status.number()).eq(0..7));
    }
}
