// SPDX-License-Identifier: GPL-2.0-only
//! Learned bursts against the truth.

use std::thread::sleep;
use std::time::Duration;

use evenkeel_bench::law::BurstLaw;
use evenkeel_bench::sleeper::{Sleeper, Slept};
use evenkeel_bench::thread::set_nice;
use evenkeel_guest::daemon::Daemon;
use evenkeel_guest::learning::{Changed, changed_in_mid_burst};
use evenkeel_guest::limit::within;
use evenkeel_guest::model::Model;
use evenkeel_guest::scene::{jittered, median, periodic};
use evenkeel_guest::statistics::Statistics;
use evenkeel_guest::team::{Place, Team};

const MS: Duration = Duration::from_millis(1);
const WINDOW: Duration = Duration::from_secs(3);
/// What `--fixed-slice` is set to where ranks are read.
const FIXED_SLICE_NS: u64 = 2_000_000;

/// What was learned of a sleeper beside hogs, and the truth.
struct Learned {
    /// Its model, read at different points.
    models: Vec<Model>,
    /// The counters of its bursts after warm-up.
    statistics: Statistics,
    truth: Slept,
}

fn learn(sleeper: Sleeper, hogs: usize) -> Learned {
    let daemon = Daemon::start(&["--learn", "prefix:learner"]);
    let mut team = Team::new();
    for _ in 0..hogs {
        team.hog(&Place::default());
    }
    let member = team.sleeper(&Place::default(), sleeper);
    sleep(WINDOW / 2);
    let warm = Statistics::read();
    sleep(WINDOW);
    let models = (0..6)
        .map(|n| {
            sleep(Duration::from_millis(7 * n));
            Model::of(member.tid)
        })
        .collect();
    let statistics = Statistics::read().since(&warm);
    team.stop();
    let truth = member.join();
    daemon.stop();
    eprintln!("{models:?}, {statistics:?}");
    Learned {
        models,
        statistics,
        truth,
    }
}

/// An estimate within a fifth of the truth.
fn is_near(estimate: u64, truth: u64) -> bool {
    estimate.abs_diff(truth) * 5 <= truth
}

fn learns_a_constant_burst(burst: Duration, hogs: usize) {
    within(60, || {
        let law = BurstLaw::Constant(burst);
        let learned = learn(periodic("learner", law, 5 * burst), hogs);
        let truth = median(&learned.truth.burst_ns);
        assert!(
            is_near(truth, burst.as_nanos() as u64),
            "the workload itself ran {truth} ns"
        );
        assert!(learned.statistics.scored > 50, "{:?}", learned.statistics);
        assert!(
            learned.statistics.relative_error() < 0.2,
            "{:?}",
            learned.statistics
        );
        for model in learned.models {
            // Not always the median: a burst that is late runs on into the next one.
            let mut bursts = learned.truth.burst_ns.iter();
            let known = bursts.any(|burst| is_near(model.last_burst_ns, *burst));
            assert!(known, "{model:?} for {truth} ns");
            // Alone, there is no decision to estimate for.
            if hogs > 0 {
                assert!(model.confident, "{model:?}");
                assert!(
                    is_near(model.estimate_ns, truth),
                    "{model:?} for {truth} ns"
                );
            }
        }
    });
}

#[test]
#[ignore = "needs a guest"]
fn bursts_of_1_ms_are_learned() {
    learns_a_constant_burst(MS, 0);
}

#[test]
#[ignore = "needs a guest"]
fn bursts_of_3_ms_are_learned() {
    learns_a_constant_burst(3 * MS, 0);
}

#[test]
#[ignore = "needs a guest"]
fn bursts_of_1_ms_are_learned_beside_hogs_that_preempt() {
    learns_a_constant_burst(MS, 2);
}

#[test]
#[ignore = "needs a guest"]
fn bursts_of_3_ms_are_learned_beside_hogs_that_preempt() {
    learns_a_constant_burst(3 * MS, 2);
}

#[test]
#[ignore = "needs a guest"]
fn renice_in_mid_burst_leaves_labels_unchanged() {
    within(60, || {
        let Changed { truth, labels } = changed_in_mid_burst(1, 15 * MS, WINDOW, |tid, rng| {
            set_nice(tid, rng.i32(-5..=5)).expect("root may renice");
        });
        // Had a change closed a label, there would be more of them, and shorter ones.
        let bursts = truth.len() as u64;
        assert!(
            labels.bursts.abs_diff(bursts) <= 3,
            "{bursts} bursts, {labels:?}"
        );
        assert!(labels.relative_error() < 0.1, "{labels:?}");
    });
}

fn learns_alternation(hogs: usize) {
    within(60, || {
        let law = BurstLaw::Alternating(MS, 5 * MS);
        let learned = learn(periodic("learner", law, 15 * MS), hogs);
        let (short, long): (Vec<u64>, Vec<u64>) = learned
            .truth
            .burst_ns
            .iter()
            .partition(|burst| **burst < 3_000_000);
        let (short, long) = (median(&short), median(&long));
        // Whoever expects the mean, or the last burst again, is off by half and more.
        assert!(learned.statistics.scored > 50, "{:?}", learned.statistics);
        assert!(
            learned.statistics.relative_error() < 0.2,
            "{:?}",
            learned.statistics
        );
        assert!(
            learned.statistics.mean_log_error() < 0.26,
            "{:?}",
            learned.statistics
        );
        for model in learned.models.iter().filter(|_| hogs > 0) {
            let is_short = (model.last_burst_ns < 3_000_000) == (model.rank_ns == 0);
            let burst = if is_short { short } else { long };
            assert!(
                is_near(model.estimate_ns, burst),
                "{model:?} for {burst} ns"
            );
        }
    });
}

#[test]
#[ignore = "needs a guest"]
fn alternating_bursts_of_1_ms_and_5_ms_are_learned() {
    learns_alternation(0);
}

#[test]
#[ignore = "needs a guest"]
fn alternating_bursts_are_learned_beside_a_hog_that_preempts() {
    learns_alternation(1);
}

#[test]
#[ignore = "needs a guest"]
fn random_bursts_do_not_outrank_predictable_ones() {
    within(60, || {
        let daemon = Daemon::start(&["--fixed-slice", "2ms"]);
        let mut team = Team::new();
        team.hog(&Place::default());
        let steady = jittered("steady", BurstLaw::Constant(MS), 20 * MS, 1);
        let wild = jittered("wild", BurstLaw::LogUniform(MS / 4, 16 * MS), 20 * MS, 2);
        let steady = team.sleeper(&Place::default(), steady);
        let wild = team.sleeper(&Place::default(), wild);
        sleep(WINDOW);
        let mut trusted = 0;
        let reads = 20;
        for _ in 0..reads {
            sleep(33 * MS);
            let (steady, wild) = (Model::of(steady.tid), Model::of(wild.tid));
            assert!(steady.confident, "{steady:?}");
            assert!(steady.rank_ns < FIXED_SLICE_NS, "{steady:?}");
            trusted += u32::from(wild.confident);
            // A rank below the fixed slice needs a prediction that may be trusted.
            let ranked = wild.rank_ns > 0 && !wild.confident;
            assert!(!ranked || wild.rank_ns >= FIXED_SLICE_NS, "{wild:?}");
        }
        team.stop();
        let (steady, wild) = (steady.join(), wild.join());
        daemon.stop();
        let [steady, wild] = [steady, wild].map(|slept| slept.wakeup.percentiles());
        eprintln!("trusted {trusted} times of {reads}; wakeups: {steady:?} and {wild:?}");
        assert!(
            trusted * 10 <= reads,
            "random bursts were trusted {trusted} times of {reads}"
        );
        // Neither the usual wakeup nor the slow ones; beyond are those of the warm-up.
        assert!(
            steady.p50_ns <= wild.p50_ns * 11 / 10,
            "{steady:?} against {wild:?}"
        );
        // The steady one may find the wild one's longer burst on the CPU, and waits for the gap
        // between two preemptions.
        let gap = 1_000_000;
        assert!(
            steady.p90_ns <= wild.p90_ns + gap,
            "{steady:?} against {wild:?}"
        );
    });
}
