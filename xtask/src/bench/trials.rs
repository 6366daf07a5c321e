// SPDX-License-Identifier: GPL-2.0-only

//! The trials of one boot: randomised complete blocks, every arm once in each.

use std::time::Duration;

use anyhow::Result;

use super::record::{Lab, Metric, Record};
use super::{Size, daemon, measure};
use crate::arm::{Arm, DEFAULT, EVENKEEL, InForce};

/// The arms. The `-again` ones are the same as those before them: their ratio is the noise.
pub const ARMS: [Arm; 6] = [
    DEFAULT,
    Arm {
        name: "default-again",
        command: &[],
    },
    EVENKEEL,
    Arm {
        name: "evenkeel-again",
        command: EVENKEEL.command,
    },
    Arm {
        name: "scx_bpfland",
        command: &["scx_bpfland"],
    },
    Arm {
        name: "scx_cosmos",
        command: &["scx_cosmos"],
    },
];

/// How long the idle machine is watched for the cost of a scheduler's process.
const IDLE: Duration = Duration::from_secs(20);

/// Runs the blocks. A failed trial stays in the record, with its reason.
pub fn run(lab: Lab, size: Size) -> Result<Vec<Record>> {
    let mut random = Random(size.seed);
    let mut records = Vec::new();
    warm_up(lab);
    for block in 0..size.blocks {
        let mut arms = ARMS;
        random.shuffle(&mut arms);
        for (position, arm) in (0..).zip(arms) {
            eprintln!(
                "bench: block {} of {}: {}",
                block + 1,
                size.blocks,
                arm.name
            );
            let place = Place {
                lab,
                block,
                position,
                arm,
            };
            trial(&place, &mut records);
        }
    }
    for (position, arm) in (0..).zip([EVENKEEL, ARMS[4]]) {
        eprintln!("bench: {} on an idle machine", arm.name);
        let place = Place {
            lab,
            block: size.blocks,
            position,
            arm,
        };
        let value = idle(arm);
        records.push(place.record(Metric::IdleCpu, value));
    }
    Ok(records)
}

/// Brings the programs' pages in before anything is measured.
fn warm_up(lab: Lab) {
    for metric in measure::PROGRAMS {
        let _ = measure::run(metric, lab, 0);
    }
    for arm in &ARMS[2..] {
        if let Err(error) = arm.start().and_then(InForce::stop) {
            eprintln!("bench: {error:#}");
        }
    }
}

struct Place {
    lab: Lab,
    block: u32,
    position: u32,
    arm: Arm,
}

impl Place {
    fn record(&self, metric: Metric, value: Result<f64>) -> Record {
        let failure = value.as_ref().err().map(|error| format!("{error:#}"));
        if let Some(why) = &failure {
            eprintln!("bench: {}: {why}", self.arm.name);
        }
        Record {
            lab: self.lab,
            block: self.block,
            position: self.position,
            arm: self.arm.name.to_owned(),
            metric,
            value: value.ok(),
            failure,
        }
    }
}

fn trial(place: &Place, records: &mut Vec<Record>) {
    let mut in_force = match place.arm.start() {
        Ok(in_force) => in_force,
        Err(error) => {
            records.push(place.record(Metric::Attach, Err(error)));
            return;
        }
    };
    for metric in measure::PROGRAMS {
        let value = measure::run(metric, place.lab, place.block);
        // What ran under another scheduler than the arm's does not count.
        let value = in_force.check().and(value);
        records.push(place.record(metric, value));
    }
    if let Some(pid) = in_force.pid() {
        let attached = in_force.attached_after.as_secs_f64();
        records.push(place.record(Metric::Attach, Ok(attached)));
        records.push(place.record(Metric::Resident, daemon::resident_kib(pid)));
    }
    if let Err(error) = in_force.stop() {
        eprintln!("bench: {error:#}");
    }
}

fn idle(arm: Arm) -> Result<f64> {
    let in_force = arm.start()?;
    let pid = in_force.pid().unwrap_or_default();
    let used = daemon::idle_cpu(pid, IDLE)?;
    in_force.stop()?;
    Ok(used)
}

/// SplitMix64 (Steele, Lea, Flood, 2014): enough to shuffle six arms.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Fisher and Yates's shuffle. The modulo's bias is below 2^-60 for so few items.
    fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = (self.next() % (last as u64 + 1)) as usize;
            items.swap(last, other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shuffle_keeps_every_item_and_depends_on_the_seed_alone() {
        let shuffled = |seed| {
            let mut items: Vec<u32> = (0..20).collect();
            Random(seed).shuffle(&mut items);
            items
        };
        assert_eq!(shuffled(7), shuffled(7));
        assert_ne!(shuffled(7), shuffled(8));
        let mut sorted = shuffled(7);
        sorted.sort_unstable();
        assert_eq!(sorted, (0..20).collect::<Vec<u32>>());
    }
}
