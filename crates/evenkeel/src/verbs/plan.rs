// SPDX-License-Identifier: GPL-2.0-only
//! `plan`: what `run` would do, from what any user may read.

use std::time::Duration;

use evenkeel_scheduler::options::Options;
use evenkeel_scheduler::probe::features::{self, Found};
use evenkeel_scheduler::probe::topology::Topology;
use evenkeel_scheduler::probe::{self, Machine, Requirement, Verdict};
use serde::Serialize;

use crate::cli::PlanArgs;
use crate::failure::{Failure, Status};
use crate::report::fact;
use crate::{output, report, time};

#[derive(Serialize)]
struct Plan {
    version: &'static str,
    options: Options,
    /// 0 means until stopped.
    duration_s: f64,
    interval_s: f64,
    topology: Topology,
    /// `None` where the kernel does not describe itself.
    features: Option<Vec<Found>>,
    /// Requirements that would fail, or limit the run.
    failing: Vec<Requirement>,
    /// The status that run would be refused with; 0 if it would start.
    run_status: u8,
}

pub fn plan(machine: &Machine, args: &PlanArgs) -> Result<Status, Failure> {
    let options = args.scheduling.options()?;
    let interval = args.pace.interval()?;
    let mut requirements = probe::requirements(machine);
    let run_status = super::refusal_status(&requirements).number();
    requirements.retain(|requirement| requirement.verdict != Verdict::Ok);
    let plan = Plan {
        version: env!("CARGO_PKG_VERSION"),
        options,
        duration_s: args.pace.duration.unwrap_or_default().as_secs_f64(),
        interval_s: interval.as_secs_f64(),
        topology: Topology::read(machine),
        features: features::find(machine).ok(),
        failing: requirements,
        run_status,
    };
    if args.pace.json {
        output::print_json(&plan)?;
    } else {
        output::print(&show(&plan))?;
    }
    Ok(Status::Success)
}

fn show(plan: &Plan) -> String {
    let mut text = String::from("Options\n");
    text.push_str(&options(plan));
    text.push_str("Machine\n");
    let Topology {
        cpus,
        cores,
        last_level_caches,
        nodes,
    } = plan.topology;
    for (name, count) in [
        ("CPUs online", cpus),
        ("cores", cores),
        ("last-level caches", last_level_caches),
        ("NUMA nodes", nodes),
    ] {
        text.push_str(&fact(name, count));
    }
    text.push_str("Kernel functions\n");
    match &plan.features {
        None => text.push_str("  unknown without BTF\n"),
        Some(found) => found
            .iter()
            .for_each(|found| text.push_str(&function(found))),
    }
    text.push_str("Requirements that would fail or limit it\n");
    if plan.failing.is_empty() {
        text.push_str("  none\n");
    }
    plan.failing
        .iter()
        .for_each(|failing| text.push_str(&report::requirement(failing)));
    text.push_str(&match plan.run_status {
        0 => "run would start. Nothing was built, loaded or attached.\n".to_owned(),
        status => format!("run would be refused with status {status}. Nothing was done.\n"),
    });
    text
}

fn options(plan: &Plan) -> String {
    let options = &plan.options;
    let lower = |value: &dyn std::fmt::Debug| format!("{value:?}").to_lowercase();
    let mut text = fact("mode", options.mode);
    text.push_str(&fact("predictor", lower(&options.predictor)));
    text.push_str(&fact(
        "init, updates",
        format!("{}, {}", lower(&options.init), lower(&options.updates)),
    ));
    text.push_str(&fact("warm-up", format!("{} bursts", options.warmup)));
    text.push_str(&fact("learn", &options.learn));
    for (name, value) in [
        ("slice, least", options.slice_min),
        ("slice, most", options.slice_max),
        ("fixed slice", options.fixed_slice),
        ("target latency", options.target_latency),
    ] {
        text.push_str(&fact(name, time::show(value)));
    }
    text.push_str(&fact(
        "tasks",
        if options.partial {
            "SCHED_EXT only"
        } else {
            "all normal ones"
        },
    ));
    let duration = Duration::from_secs_f64(plan.duration_s);
    let until = if duration.is_zero() {
        "until stopped".to_owned()
    } else {
        time::show(duration)
    };
    text.push_str(&fact("duration", until));
    text.push_str(&fact(
        "summary every",
        time::show(Duration::from_secs_f64(plan.interval_s)),
    ));
    text
}

fn function(found: &Found) -> String {
    let value = match (found.present, found.feature.without) {
        (true, _) => "used".to_owned(),
        (false, Some(instead)) => format!("absent before {}; {instead}", found.feature.since),
        (false, None) => "absent, and needed".to_owned(),
    };
    fact(found.feature.symbol, value)
}
