// SPDX-License-Identifier: GPL-2.0-only
//! Standard output: facts for people or as JSON, and nothing else.

use std::io::{self, ErrorKind, Write};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use serde::Serialize;

use crate::failure::{Failure, Status};

/// Largest line that a daemon offers: a pipe that is ready takes this much without blocking
/// (`PIPE_BUF`, pipe(7)).
const ATOMIC_BYTES: usize = 4096;

/// Writes text that a one-shot verb owes its reader.
///
/// # Errors
/// A failure of status 1, on one line, if it cannot be written.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
        .map_err(|error| Failure::doing("standard output", reason(&error)))
}

/// Writes a value as indented JSON with a newline.
///
/// # Errors
/// As [`print()`].
pub fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    let mut text = serde_json::to_string_pretty(value)
        .map_err(|error| Failure::new(Status::Failure, error))?;
    text.push('\n');
    print(&text)
}

fn reason(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::BrokenPipe => "closed by its reader".to_owned(),
        _ => error.to_string(),
    }
}

/// What became of a line that a daemon offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offered {
    Written,
    /// Its reader is slow or its disk is full. Scheduling does not wait for either.
    Dropped,
    /// Its reader is gone.
    Closed,
}

/// Writes a line only if that cannot block: a daemon must not hang on its reader.
pub fn offer(line: &str) -> Offered {
    match readiness() {
        Offered::Written => {}
        not_ready => return not_ready,
    }
    let mut text = line.to_owned();
    text.push('\n');
    debug_assert!(
        text.len() <= ATOMIC_BYTES,
        "{} bytes could block",
        text.len()
    );
    // Unbuffered: a line that failed must not come back before a later one.
    match rustix::io::write(io::stdout(), text.as_bytes()) {
        Ok(written) if written == text.len() => Offered::Written,
        Err(Errno::PIPE) => Offered::Closed,
        Ok(_) | Err(_) => Offered::Dropped,
    }
}

/// Whether standard output's reader has gone.
pub fn is_closed() -> bool {
    readiness() == Offered::Closed
}

fn readiness() -> Offered {
    let stdout = io::stdout();
    let mut fds = [PollFd::new(&stdout, PollFlags::OUT)];
    let now = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    if poll(&mut fds, Some(&now)).is_err() {
        return Offered::Dropped;
    }
    let events = fds[0].revents();
    if events.intersects(PollFlags::ERR | PollFlags::HUP | PollFlags::NVAL) {
        Offered::Closed
    } else if events.contains(PollFlags::OUT) {
        Offered::Written
    } else {
        Offered::Dropped
    }
}
