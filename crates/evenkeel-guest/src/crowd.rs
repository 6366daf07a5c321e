// SPDX-License-Identifier: GPL-2.0-only
//! Crowds: more work than CPUs, and how long its threads are kept waiting.

use std::thread::sleep;
use std::time::{Duration, Instant};

use evenkeel_bench::law::BurstLaw;
use evenkeel_bench::spin::Spinner;

use crate::cpus;
use crate::scene::{SETTLE, jittered, periodic};
use crate::statistics::Statistics;
use crate::team::{Place, Team};

/// R + L of the stated bound (`docs/order.md`), in milliseconds.
const OVERTAKE_MS: u64 = 40;
/// A slice that was just handed out, and its end, in milliseconds.
const SLICE_MS: u64 = 6;

/// (R + L) W / w and one slice: how long a waiter waits at most where nobody comes with credit.
/// The stated bound has three times the first term.
pub fn fluid_bound(tasks: u64, factor: u64) -> Duration {
    Duration::from_millis(factor * OVERTAKE_MS * tasks + SLICE_MS)
}

/// Hogs and yielders of a test.
pub fn hogs(count: usize, place: &Place) -> Team {
    let mut team = Team::new();
    for _ in 0..count {
        team.hog(place);
    }
    team
}

/// What a crowd's hogs saw, and what the scheduler counted.
#[derive(Debug)]
pub struct Waited {
    /// The longest gap of any hog.
    pub gap: Duration,
    /// The scheduler's counters at the end.
    pub statistics: Statistics,
}

fn watch(team: &Team, window: Duration) -> Waited {
    sleep(4 * SETTLE);
    team.reset();
    sleep(window);
    Waited {
        gap: team.longest_gap(),
        statistics: Statistics::read(),
    }
}

/// `each` hogs for every CPU and four sleepers with random bursts.
pub fn oversubscribed(each: usize, window: Duration) -> Waited {
    let mut team = hogs(each * cpus::online(), &Place::default());
    let law = BurstLaw::LogUniform(Duration::from_micros(200), Duration::from_millis(10));
    for n in 0..4 {
        let sleeper = jittered(&format!("sleeper-{n}"), law, Duration::from_millis(50), n);
        team.sleeper(&Place::default(), sleeper);
    }
    watch(&team, window)
}

/// One hog on CPU 0 beside twelve threads that want twelve tenths of it in short, predictable
/// bursts.
pub fn flooded(window: Duration) -> Waited {
    let mut team = hogs(1, &Place::on(0));
    let burst = BurstLaw::Constant(Duration::from_millis(1));
    for n in 0..12 {
        let sleeper = jittered(&format!("sleeper-{n}"), burst, Duration::from_millis(10), n);
        team.sleeper(&Place::on(0), sleeper);
    }
    watch(&team, window)
}

/// The time that 100 ms of CPU time take after a sleep, like a linker between compilers, among
/// 20 hogs for every CPU. The longer of two.
pub fn build_step() -> Duration {
    let mut team = hogs(20 * cpus::online(), &Place::default());
    sleep(2 * SETTLE);
    let member = team.spawn("linker", &Place::default(), |_| {
        let steps = (0..2).map(|_| {
            sleep(Duration::from_millis(300));
            let start = Instant::now();
            Spinner::get().burn(100_000_000);
            start.elapsed()
        });
        steps.max().unwrap_or_default()
    });
    member.join()
}

/// The share that a thread gets beside a hog on CPU 0 if it naps for 0.1 ms after every 4 ms.
pub fn share_of_a_napper(window: Duration) -> f64 {
    use std::sync::atomic::Ordering::Relaxed;

    let mut team = hogs(1, &Place::on(0));
    let napper = team.spawn("napper", &Place::on(0), |stop| {
        while !stop.load(Relaxed) {
            Spinner::get().burn(4_000_000);
            sleep(Duration::from_micros(100));
        }
        evenkeel_bench::clock::thread_cpu_ns()
    });
    sleep(window);
    let hog = evenkeel_bench::clock::cpu_ns_of(team.tids()[0]).unwrap_or_default();
    team.stop();
    let napper = napper.join();
    napper as f64 / (napper + hog) as f64
}

/// The part of its deadlines that an audio-like thread, 1 ms each 10 ms, misses beside two hogs of
/// this nice value for every CPU.
pub fn missed_deadlines(nice: i32) -> f64 {
    let mut team = hogs(2 * cpus::online(), &Place::default().nice(nice));
    sleep(SETTLE);
    let burst = BurstLaw::Constant(Duration::from_millis(1));
    let audio = periodic("audio", burst, Duration::from_millis(10));
    let member = team.sleeper(&Place::default(), audio);
    sleep(Duration::from_secs(5));
    team.stop();
    let slept = member.join();
    slept.missed as f64 / slept.completion.percentiles().count as f64
}
