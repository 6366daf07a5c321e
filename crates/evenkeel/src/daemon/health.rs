// SPDX-License-Identifier: GPL-2.0-only
//! The first health check: registered, and dispatching.

use std::thread;
use std::time::{Duration, Instant};

use evenkeel_scheduler::Running;
use evenkeel_scheduler::probe::Machine;
use evenkeel_scheduler::probe::sched_ext::{SchedExt, State};

/// How long a scheduler has to show that it works. This daemon's own sleeps are work enough.
const PATIENCE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(5);

/// What the check found.
#[derive(Debug, PartialEq, Eq)]
pub enum Health {
    /// Active under this name.
    Good(String),
    /// The kernel ended it already; its exit says why.
    Ended,
    /// What is missing, on one line.
    Bad(String),
}

/// Waits until the kernel names us and tasks run through us; with `partial` there may be no task to wait for.
pub fn check(machine: &Machine, running: &Running<'_>, partial: bool) -> Health {
    let begun = Instant::now();
    loop {
        if running.exit().is_some() {
            return Health::Ended;
        }
        let health = look(machine, partial || running.statistics().running > 0);
        if matches!(health, Health::Good(_)) || begun.elapsed() > PATIENCE {
            return health;
        }
        thread::sleep(PAUSE);
    }
}

fn look(machine: &Machine, dispatching: bool) -> Health {
    let found = match SchedExt::read(machine) {
        Ok(found) => found,
        Err(error) => return Health::Bad(format!("sched_ext cannot be read: {error}")),
    };
    let ours = found.is_ours();
    match found {
        SchedExt {
            state: State::Enabled,
            ops: Some(ops),
            ..
        } if ours && dispatching => Health::Good(ops),
        SchedExt {
            state: State::Enabled,
            ..
        } if ours => Health::Bad("registered, but no task was dispatched".to_owned()),
        SchedExt { state, ops, .. } => {
            let ops = ops.unwrap_or_else(|| "no scheduler".to_owned());
            Health::Bad(format!("attached, but the kernel says {state} with {ops}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(state: &str, ops: &str) -> (tempfile::TempDir, Machine) {
        let dir = tempfile::tempdir().unwrap();
        let sched_ext = dir.path().join("sys/kernel/sched_ext");
        std::fs::create_dir_all(sched_ext.join("root")).unwrap();
        std::fs::write(sched_ext.join("state"), state).unwrap();
        std::fs::write(sched_ext.join("root/ops"), ops).unwrap();
        let machine = Machine::at(dir.path());
        (dir, machine)
    }

    #[test]
    fn only_our_own_enabled_scheduler_with_moving_counters_is_good() {
        let (_dir, ours) = machine("enabled\n", "evenkeel_0.1.0\n");
        assert_eq!(look(&ours, true), Health::Good("evenkeel_0.1.0".to_owned()));
        assert!(matches!(look(&ours, false), Health::Bad(_)));
        for (state, ops) in [("enabling", "evenkeel_0.1.0"), ("enabled", "other")] {
            let (_dir, machine) = machine(state, ops);
            assert!(
                matches!(look(&machine, true), Health::Bad(_)),
                "{state} {ops}"
            );
        }
    }
}
