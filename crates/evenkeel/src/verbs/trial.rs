// SPDX-License-Identifier: GPL-2.0-only
//! `trial`: a run of 30 s with a summary.

use std::time::Duration;

use evenkeel_scheduler::probe::Machine;

use crate::cli::TrialArgs;
use crate::daemon::{self, Job};
use crate::failure::{Failure, Status};

const USUAL: Duration = Duration::from_secs(30);

pub fn trial(machine: &Machine, args: &TrialArgs) -> Result<Status, Failure> {
    let duration = args.pace.duration.unwrap_or(USUAL);
    let job = Job {
        summary: true,
        ..Job::new(&args.scheduling, &args.pace, duration)?
    };
    super::refuse_obstacles(machine, |_| true)?;
    daemon::run(machine, &job)
}
