// SPDX-License-Identifier: GPL-2.0-only
//! `man`: the manual page, of the program or of one verb.

use clap::CommandFactory;

use crate::cli::Cli;
use crate::failure::{Failure, Status};
use crate::output;

pub fn man(verb: Option<&str>) -> Result<Status, Failure> {
    let program = Cli::command();
    let page = match verb {
        None => program,
        Some(name) => {
            let known = program.find_subcommand(name);
            let verb =
                known.ok_or_else(|| Failure::usage(format!("no verb is called {name:?}")))?;
            verb.clone()
                .display_name(format!("evenkeel-{name}"))
                .bin_name(format!("evenkeel {name}"))
        }
    };
    let mut text = Vec::new();
    clap_mangen::Man::new(page)
        .render(&mut text)
        .map_err(|error| Failure::doing("manual page", error))?;
    output::print(&String::from_utf8_lossy(&text))?;
    Ok(Status::Success)
}
