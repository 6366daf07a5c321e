// SPDX-License-Identifier: GPL-2.0-only
//! Evenkeel, a CPU scheduler for Linux that learns, yields and proves.

mod args;
mod cli;
mod daemon;
mod failure;
mod output;
mod process;
mod record;
mod report;
mod statistics;
mod summary;
mod time;
mod verbs;

use std::panic;
use std::process::ExitCode;

fn main() -> ExitCode {
    failure::panic_on_one_line();
    let ended = panic::catch_unwind(|| verbs::dispatch(cli::parse()?));
    match ended {
        Ok(Ok(status)) => status.into(),
        Ok(Err(failure)) => failure.tell(),
        // The hook has told it, and unwinding has dropped the link.
        Err(_) => failure::Status::Failure.into(),
    }
}
