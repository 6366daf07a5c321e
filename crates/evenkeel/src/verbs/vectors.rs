// SPDX-License-Identifier: GPL-2.0-only
//! `vectors`: the policy's results in the kernel, bit for bit as on the host.

use std::mem::MaybeUninit;

use evenkeel_policy::vectors;
use evenkeel_scheduler::Opened;
use evenkeel_scheduler::options::Options;
use evenkeel_scheduler::probe::{Machine, Obstacle};
use serde::Serialize;

use crate::failure::{Failure, Status};
use crate::output;

#[derive(Serialize)]
struct Report {
    vectors: usize,
    mismatches: usize,
    first: Option<Mismatch>,
}

/// A vector on which kernel and host disagree.
#[derive(Serialize)]
struct Mismatch {
    number: usize,
    function: String,
    /// The bytes that differ, from the start of the vector.
    offsets: Vec<usize>,
}

pub fn vectors(machine: &Machine) -> Result<Status, Failure> {
    super::refuse_obstacles(machine, |obstacle| obstacle != Obstacle::OtherScheduler)?;
    let mut storage = MaybeUninit::uninit();
    let mut loaded = Opened::open(&Options::default(), &mut storage)?
        .with_vectors()
        .load()?;
    let cases = vectors::vectors();
    let mut report = Report {
        vectors: cases.len(),
        mismatches: 0,
        first: None,
    };
    for (number, case) in cases.iter().enumerate() {
        let mut bytes = *case.input.as_bytes();
        loaded.run_vector(&mut bytes)?;
        let pairs = bytes.iter().zip(case.expected.as_bytes()).enumerate();
        let offsets: Vec<_> = pairs
            .filter(|(_, (a, b))| a != b)
            .map(|(at, _)| at)
            .collect();
        if !offsets.is_empty() {
            report.mismatches += 1;
            let function = format!("{:?}", case.op);
            report.first.get_or_insert(Mismatch {
                number,
                function,
                offsets,
            });
        }
    }
    output::print_json(&report)?;
    Ok(if report.mismatches == 0 {
        Status::Success
    } else {
        Status::Failure
    })
}
