// SPDX-License-Identifier: GPL-2.0-only
//! `verify`: the BPF programs through the verifier, nothing attached.

use std::mem::MaybeUninit;

use evenkeel_scheduler::probe::{Machine, Obstacle};
use evenkeel_scheduler::{Opened, VerifiedProgram};
use serde::Serialize;

use crate::cli::VerifyArgs;
use crate::failure::{Failure, Status};
use crate::output;

#[derive(Serialize)]
struct Report {
    version: &'static str,
    programs: Vec<VerifiedProgram>,
}

pub fn verify(machine: &Machine, args: &VerifyArgs) -> Result<Status, Failure> {
    let options = args.scheduling.options()?;
    // Loading beside an active scheduler disturbs nobody.
    super::refuse_obstacles(machine, |obstacle| obstacle != Obstacle::OtherScheduler)?;
    let mut storage = MaybeUninit::uninit();
    let mut opened = Opened::open(&options, &mut storage)?;
    if args.inject_rejection {
        opened = opened.with_rejected_program();
    }
    let programs = opened.load()?.programs();
    let report = Report {
        version: env!("CARGO_PKG_VERSION"),
        programs,
    };
    if args.format.json {
        output::print_json(&report)?;
    } else {
        output::print(&show(&report.programs))?;
    }
    Ok(Status::Success)
}

fn show(programs: &[VerifiedProgram]) -> String {
    let widest = programs
        .iter()
        .map(|program| program.name.len())
        .max()
        .unwrap_or(0)
        .max(7);
    let mut text = format!(
        "{:<widest$} {:>12} {:>12}\n",
        "program", "instructions", "verified"
    );
    for VerifiedProgram {
        name,
        instructions,
        verified_instructions,
    } in programs
    {
        text.push_str(&format!(
            "{name:<widest$} {instructions:>12} {verified_instructions:>12}\n"
        ));
    }
    text.push_str(&format!(
        "{} programs accepted, none attached\n",
        programs.len()
    ));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_program_has_its_line_and_columns_stay_aligned() {
        let program = |name: &str| VerifiedProgram {
            name: name.to_owned(),
            verified_instructions: 123_456,
            instructions: 789,
        };
        let text = show(&[program("a"), program("a_much_longer_name")]);
        let widths: Vec<_> = text.lines().take(3).map(str::len).collect();
        assert!(widths.windows(2).all(|pair| pair[0] == pair[1]), "{text}");
        assert!(text.ends_with("2 programs accepted, none attached\n"));
    }
}
