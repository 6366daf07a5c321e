// SPDX-License-Identifier: GPL-2.0-only
//! Seeded traces of tasks whose law is known.

use crate::random::Random;
use crate::trace::Burst;

const MS: u64 = 1_000_000;

/// `rounds` bursts of each of ten tasks, interleaved: constants with noise, alternation, a change
/// of phase, work that grows with the sleep, work that depends on the waker, rare long bursts, and
/// bursts at random.
pub fn trace(seed: u64, rounds: u64) -> Vec<Burst> {
    let mut random = Random::new(seed);
    let mut bursts = Vec::new();
    for round in 0..rounds {
        for task in 1..=10 {
            bursts.push(burst(&mut random, task, round, rounds));
        }
    }
    bursts
}

fn burst(random: &mut Random, task: u32, round: u64, rounds: u64) -> Burst {
    let sleep_ns = random.log_uniform(MS, 16 * MS);
    let waker = 100 + random.below(2) as u32;
    let rare = random.below(20) == 0;
    let burst_ns = match task {
        1 => random.around(8_000, 0.2),
        2 => random.around(MS, 0.1),
        3 => random.around(3 * MS, 0.3),
        4 => random.around([MS, 5 * MS][round as usize % 2], 0.05),
        5 => random.around([MS, MS, 8 * MS][round as usize % 3], 0.1),
        6 => random.around(if round < rounds / 2 { 500_000 } else { 6 * MS }, 0.1),
        7 => random.around(sleep_ns / 4, 0.1),
        8 => random.around(if waker == 100 { MS } else { 6 * MS }, 0.1),
        9 => random.around(if rare { 40 * MS } else { MS }, 0.1),
        _ => random.log_uniform(MS / 10, 10 * MS),
    };
    Burst {
        task,
        sleep_ns,
        waker,
        burst_ns,
    }
}
