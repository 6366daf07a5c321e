// SPDX-License-Identifier: GPL-2.0-only
//! `model`: what the running scheduler has learned of one thread.

use evenkeel_scheduler::model;
use evenkeel_scheduler::probe::{Machine, Obstacle};

use crate::cli::Format;
use crate::failure::{Failure, Status};
use crate::output;
use crate::report::fact;

pub fn model(machine: &Machine, tid: u32, args: &Format) -> Result<Status, Failure> {
    super::refuse_obstacles(machine, |obstacle| obstacle != Obstacle::OtherScheduler)?;
    let Some(model) = model::read(tid)? else {
        return Err(Failure::new(
            Status::Failure,
            "the scheduler knows no such thread",
        ));
    };
    if args.json {
        output::print_json(&model)?;
    } else {
        let us = |ns: u64| format!("{:.1} us", ns as f64 / 1000.0);
        let confidence = if model.confident {
            "confident"
        } else {
            "not confident"
        };
        let mut text = fact(
            "estimate",
            format!("{}, {confidence}", us(model.estimate_ns)),
        );
        text.push_str(&fact("90th percentile", us(model.q90_ns)));
        text.push_str(&fact("expert", model.expert));
        text.push_str(&fact("bursts learned", model.bursts));
        text.push_str(&fact("last burst", us(model.last_burst_ns)));
        text.push_str(&fact("last slice", us(model.slice_ns)));
        output::print(&text)?;
    }
    Ok(Status::Success)
}
