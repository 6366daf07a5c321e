// SPDX-License-Identifier: GPL-2.0-only
//! `run`: the daemon in the foreground, or a look at one that runs already.

use evenkeel_scheduler::probe::Machine;

use crate::cli::RunArgs;
use crate::daemon::{self, Job};
use crate::failure::{Failure, Status};
use crate::statistics;

pub fn run(machine: &Machine, args: &RunArgs) -> Result<Status, Failure> {
    let job = Job::new(
        &args.scheduling,
        &args.pace,
        args.pace.duration.unwrap_or_default(),
    )?;
    refuse_contradictions(args)?;
    if args.help_stats {
        statistics::print_description(args.pace.json)?;
        return Ok(Status::Success);
    }
    if let Some(every) = args.monitor {
        return statistics::monitor(machine, every, args.pace.json);
    }
    super::refuse_obstacles(machine, |_| true)?;
    daemon::run(machine, &job)
}

/// Looking and scheduling are two things.
fn refuse_contradictions(args: &RunArgs) -> Result<(), Failure> {
    let looking = match (args.monitor, args.help_stats) {
        (Some(_), true) => return Err(Failure::usage("--monitor contradicts --help-stats")),
        (Some(_), false) => "--monitor",
        (None, true) => "--help-stats",
        (None, false) => return Ok(()),
    };
    let with = if args.pace.stats.is_some() {
        "--stats"
    } else if args.pace.duration.is_some() {
        "--duration"
    } else if args.scheduling.is_given() {
        "options of scheduling"
    } else {
        return Ok(());
    };
    Err(Failure::usage(format!(
        "{looking} schedules nothing, which contradicts {with}"
    )))
}
