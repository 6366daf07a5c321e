// SPDX-License-Identifier: GPL-2.0-only
//! Learned bursts against the truth.

use std::thread::sleep;
use std::time::Duration;

use evenkeel_bench::law::BurstLaw;
use evenkeel_bench::sleeper::{Sleeper, Slept};
use evenkeel_guest::daemon::Daemon;
use evenkeel_guest::limit::within;
use evenkeel_guest::model::Model;
use evenkeel_guest::scene::{jittered, median, periodic};
use evenkeel_guest::team::{Place, Team};

const MS: Duration = Duration::from_millis(1);
const WINDOW: Duration = Duration::from_secs(3);

/// Runs a sleeper beside `hogs` hogs and reads its model several times, at different points.
fn learn(sleeper: Sleeper, hogs: usize) -> (Vec<Model>, Slept) {
    let mut team = Team::new();
    for _ in 0..hogs {
        team.hog(&Place::default());
    }
    let member = team.sleeper(&Place::default(), sleeper);
    sleep(WINDOW);
    let models = (0..4)
        .map(|n| {
            sleep(Duration::from_millis(7 * n));
            Model::of(member.tid)
        })
        .collect();
    team.stop();
    (models, member.join())
}

/// An estimate within a fifth of the truth.
fn is_near(estimate: u64, truth: u64) -> bool {
    estimate.abs_diff(truth) * 5 <= truth
}

fn learns_a_constant_burst(burst: Duration, hogs: usize) {
    within(60, || {
        let daemon = Daemon::start(&[]);
        let law = BurstLaw::Constant(burst);
        let (models, slept) = learn(periodic("learner", law, 5 * burst), hogs);
        daemon.stop();
        let truth = median(&slept.burst_ns);
        eprintln!("truth {truth} ns, {models:?}");
        assert!(
            is_near(truth, burst.as_nanos() as u64),
            "the workload itself ran {truth} ns"
        );
        for model in models {
            assert!(model.confident, "{model:?}");
            assert!(
                is_near(model.estimate_ns, truth),
                "{model:?} for {truth} ns"
            );
            assert!(
                is_near(model.last_burst_ns, truth),
                "{model:?} for {truth} ns"
            );
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

fn learns_alternation(hogs: usize) {
    within(60, || {
        let daemon = Daemon::start(&[]);
        let law = BurstLaw::Alternating(MS, 5 * MS);
        let (models, slept) = learn(periodic("learner", law, 15 * MS), hogs);
        daemon.stop();
        let (short, long): (Vec<u64>, Vec<u64>) =
            slept.burst_ns.iter().partition(|burst| **burst < 3_000_000);
        let (short, long) = (median(&short), median(&long));
        eprintln!("truth {short} ns and {long} ns, {models:?}");
        for model in models {
            let next = if model.last_burst_ns < 3_000_000 {
                long
            } else {
                short
            };
            assert!(
                is_near(model.estimate_ns, next),
                "{model:?} before {next} ns"
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
        let daemon = Daemon::start(&[]);
        let mut team = Team::new();
        team.hog(&Place::default());
        let steady = jittered("steady", BurstLaw::Constant(MS), 20 * MS, 1);
        let wild = jittered("wild", BurstLaw::LogUniform(MS / 4, 16 * MS), 20 * MS, 2);
        let steady = team.sleeper(&Place::default(), steady);
        let wild = team.sleeper(&Place::default(), wild);
        sleep(WINDOW);
        let mut confident = 0;
        for _ in 0..6 {
            sleep(33 * MS);
            let (steady, wild) = (Model::of(steady.tid), Model::of(wild.tid));
            eprintln!("steady {steady:?}\nwild {wild:?}");
            assert!(steady.confident, "{steady:?}");
            confident += u32::from(wild.confident);
            // A rank below the fixed slice needs a prediction that may be trusted.
            assert!(
                wild.rank_ns >= steady.rank_ns,
                "{wild:?} against {steady:?}"
            );
        }
        team.stop();
        let (steady, wild) = (steady.join(), wild.join());
        daemon.stop();
        let [steady, wild] = [steady, wild].map(|slept| slept.wakeup.percentiles());
        eprintln!("wakeups: steady {steady:?}, wild {wild:?}");
        assert!(
            confident <= 1,
            "random bursts were trusted {confident} times of 6"
        );
        assert!(
            steady.mean_ns <= 1.1 * wild.mean_ns,
            "{steady:?} against {wild:?}"
        );
    });
}
