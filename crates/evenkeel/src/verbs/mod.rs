// SPDX-License-Identifier: GPL-2.0-only
//! One file a verb.

mod check;
mod completions;
mod man;
mod model;
mod plan;
mod run;
mod status;
mod trial;
mod verify;

use std::thread;
use std::time::{Duration, Instant};

use evenkeel_scheduler::probe::sched_ext::{SchedExt, State};
use evenkeel_scheduler::probe::{self, Machine, Obstacle, Requirement};

use crate::cli::{Cli, Verb};
use crate::failure::{Failure, Status};

/// How long an attachment or a detachment may take before it counts as stuck.
const SETTLED: Duration = Duration::from_secs(3);

/// Does what the command line asks for; nothing is left to do after help or version.
pub fn dispatch(cli: Option<Cli>) -> Result<Status, Failure> {
    let Some(cli) = cli else {
        return Ok(Status::Success);
    };
    let machine = cli.machine();
    match cli.verb {
        Verb::Check(args) => check::check(&machine, &args),
        Verb::Verify(args) => verify::verify(&machine, &args),
        Verb::Plan(args) => plan::plan(&machine, &args),
        Verb::Run(args) => run::run(&machine, &args),
        Verb::Trial(args) => trial::trial(&machine, &args),
        Verb::Status(args) => status::status(&machine, &args),
        Verb::Model { tid, format } => model::model(&machine, tid, &format),
        Verb::Completions { shell } => completions::completions(shell),
        Verb::Man { verb } => man::man(verb.as_deref()),
    }
}

/// The status that a run would be refused with.
fn refusal_status(requirements: &[Requirement]) -> Status {
    probe::first_obstacle(requirements).map_or(Status::Success, |(obstacle, _)| obstacle.into())
}

/// Refuses what cannot work before anything is loaded, if `matters` says that it stops this verb.
fn refuse_obstacles(machine: &Machine, matters: fn(Obstacle) -> bool) -> Result<(), Failure> {
    settle(machine);
    let mut requirements = probe::essential(machine);
    requirements.retain(|requirement| requirement.obstacle.is_some_and(matters));
    let Some((obstacle, missing)) = probe::first_obstacle(&requirements) else {
        return Ok(());
    };
    let mend = missing.mend.as_deref().unwrap_or("see evenkeel check");
    let message = format!("{}: {}; {mend}", missing.name, missing.finding);
    Err(Failure::new(obstacle.into(), message))
}

/// Gives a scheduler that is on its way in or out a moment to get there, as after a `kill -9`.
fn settle(machine: &Machine) {
    let begun = Instant::now();
    while begun.elapsed() < SETTLED
        && SchedExt::read(machine)
            .is_ok_and(|found| matches!(found.state, State::Enabling | State::Disabling))
    {
        thread::sleep(SETTLED / 60);
    }
}
