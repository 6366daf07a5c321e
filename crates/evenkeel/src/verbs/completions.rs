// SPDX-License-Identifier: GPL-2.0-only
//! `completions`: what a shell needs to complete the command line.

use clap::CommandFactory;
use clap_complete::Shell;

use crate::cli::Cli;
use crate::failure::{Failure, Status};
use crate::output;

pub fn completions(shell: Shell) -> Result<Status, Failure> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "evenkeel", &mut text);
    output::print(&String::from_utf8_lossy(&text))?;
    Ok(Status::Success)
}
