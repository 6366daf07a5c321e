// SPDX-License-Identifier: GPL-2.0-only
//! `check`: each requirement with its finding and its mend.

use evenkeel_scheduler::probe::sched_ext::SchedExt;
use evenkeel_scheduler::probe::{self, Machine, Obstacle, Requirement, Verdict};
use serde::Serialize;

use crate::cli::Format;
use crate::failure::{Failure, Status};
use crate::{output, report};

#[derive(Serialize)]
struct Report {
    version: &'static str,
    /// Whether Evenkeel can run here, now.
    able: bool,
    /// The exit status.
    status: u8,
    requirements: Vec<Requirement>,
}

pub fn check(machine: &Machine, args: &Format) -> Result<Status, Failure> {
    let mut requirements = probe::requirements(machine);
    if SchedExt::read(machine).is_ok_and(|found| found.is_ours()) {
        requirements.iter_mut().for_each(accept_ourselves);
    }
    let status = super::refusal_status(&requirements);
    let report = Report {
        version: env!("CARGO_PKG_VERSION"),
        able: status == Status::Success,
        status: status.number(),
        requirements,
    };
    if args.json {
        output::print_json(&report)?;
    } else {
        output::print(&show(&report))?;
    }
    Ok(status)
}

/// A machine that runs Evenkeel can run it.
fn accept_ourselves(requirement: &mut Requirement) {
    if requirement.obstacle == Some(Obstacle::OtherScheduler) {
        requirement.verdict = Verdict::Ok;
        requirement.obstacle = None;
        requirement.mend = None;
    }
}

fn show(report: &Report) -> String {
    let mut text: String = report
        .requirements
        .iter()
        .map(report::requirement)
        .collect();
    text.push_str(if report.able {
        "Evenkeel can run here.\n"
    } else {
        "Evenkeel cannot run here until what is missing is mended.\n"
    });
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_requirement_shows_its_mend_below_it() {
        let requirement = Requirement {
            name: "BTF",
            finding: "absent".to_owned(),
            verdict: Verdict::Missing,
            mend: Some("boot another kernel".to_owned()),
            obstacle: Some(Obstacle::Unsupported),
        };
        let report = Report {
            version: "0",
            able: false,
            status: 3,
            requirements: vec![requirement],
        };
        let text = show(&report);
        let lines: Vec<_> = text.lines().collect();
        assert!(
            lines[0].starts_with("missing  BTF") && lines[0].ends_with("absent"),
            "{text}"
        );
        assert!(
            lines[1]
                .trim_start()
                .starts_with("mend: boot another kernel"),
            "{text}"
        );
        assert!(lines[2].contains("cannot run"));
    }

    #[test]
    fn our_own_scheduler_is_no_obstacle_to_itself() {
        let mut requirement = Requirement {
            name: "active scheduler",
            finding: "evenkeel is active".to_owned(),
            verdict: Verdict::Missing,
            mend: Some("stop it".to_owned()),
            obstacle: Some(Obstacle::OtherScheduler),
        };
        accept_ourselves(&mut requirement);
        assert_eq!(
            (requirement.verdict, requirement.obstacle),
            (Verdict::Ok, None)
        );
    }
}
