// SPDX-License-Identifier: GPL-2.0-only
//! What both labs do to a learner in mid-burst, and what became of its labels.

use std::thread::sleep;
use std::time::{Duration, Instant};

use evenkeel_bench::law::BurstLaw;

use crate::daemon::Daemon;
use crate::scene::{median, periodic};
use crate::statistics::Statistics;
use crate::team::{Place, Team};

/// The bursts that the changed thread is made to run.
const BURST: Duration = Duration::from_millis(3);

/// What a thread that was changed in mid-burst ran, and what the scheduler learned of it.
#[derive(Debug)]
pub struct Changed {
    /// Its bursts by its own clock, in nanoseconds.
    pub truth: Vec<u64>,
    /// The scheduler's counters at the end.
    pub labels: Statistics,
}

/// Runs bursts of 3 ms in every `period` beside `hogs` hogs for `window`, and calls `change` with
/// the thread's number several times a burst, never in step with it.
///
/// # Panics
/// When there were fewer changes than bursts.
pub fn changed_in_mid_burst(
    hogs: usize,
    period: Duration,
    window: Duration,
    mut change: impl FnMut(i32, &mut fastrand::Rng),
) -> Changed {
    let daemon = Daemon::start(&["--learn", "prefix:learner"]);
    let mut team = Team::new();
    for _ in 0..hogs {
        team.hog(&Place::default());
    }
    let learner = periodic("learner", BurstLaw::Constant(BURST), period);
    let member = team.sleeper(&Place::default(), learner);
    let mut rng = fastrand::Rng::with_seed(2);
    let mut changes = 0;
    let start = Instant::now();
    while start.elapsed() < window {
        change(member.tid, &mut rng);
        changes += 1;
        sleep(Duration::from_micros(rng.u64(300..1_500)));
    }
    team.stop();
    let truth = member.join().burst_ns;
    let labels = Statistics::read();
    daemon.stop();
    let (bursts, middle) = (truth.len(), median(&truth));
    eprintln!("{changes} changes, {bursts} bursts of {middle} ns, {labels:?}");
    assert!(changes > bursts, "{changes} changes in {bursts} bursts");
    Changed { truth, labels }
}
