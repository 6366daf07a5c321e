// SPDX-License-Identifier: GPL-2.0-only
//! Fairness and the bound on waits, in a simulation that calls the policy's own functions.

mod simulation;

use evenkeel_policy::{Mode, OrderConfig};
use proptest::prelude::*;
use simulation::{Belief, Habit, Machine, Outcome, Spec};

const MS: u64 = 1_000_000;
const SECOND: u64 = 1000 * MS;

fn belief() -> impl Strategy<Value = Belief> {
    prop_oneof![
        Just(Belief::True),
        Just(Belief::Short),
        Just(Belief::Unsure)
    ]
}

fn habit() -> impl Strategy<Value = Habit> {
    prop_oneof![
        Just(Habit::Hog),
        (10_000..20 * MS, 10_000..50 * MS).prop_map(|(run, sleep)| Habit::Sleeper(run, sleep)),
        (10_000..5 * MS).prop_map(Habit::Fork),
    ]
}

/// From nice 19 to nice -10.
fn weight() -> impl Strategy<Value = u32> {
    prop_oneof![Just(100_u32), 2_u32..1000]
}

fn spec() -> impl Strategy<Value = Spec> {
    (weight(), habit(), belief()).prop_map(|(weight, habit, belief)| Spec {
        weight,
        habit,
        belief,
    })
}

fn mode() -> impl Strategy<Value = Mode> {
    prop_oneof![3 => Just(Mode::Online), 1 => Just(Mode::Shadow)]
}

fn simulate(mode: Mode, cpus: usize, specs: &[Spec], seed: u64, seconds: u64) -> Outcome {
    let config = OrderConfig {
        mode,
        ..OrderConfig::default()
    };
    Machine::new(config, cpus, specs, seed).run(seconds * SECOND)
}

fn several(count: usize, weight: u32, habit: Habit, belief: Belief) -> Vec<Spec> {
    vec![
        Spec {
            weight,
            habit,
            belief
        };
        count
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nobody_is_overtaken_late_and_every_wait_ends_within_the_bound(
        mode in mode(), cpus in 1_usize..5, specs in prop::collection::vec(spec(), 2..24),
        seed in any::<u64>(),
    ) {
        let outcome = simulate(mode, cpus, &specs, seed, 2);
        prop_assert_eq!(outcome.overtaken_late, 0);
        prop_assert!(outcome.worst <= 1.0, "{}", outcome.worst);
    }

    #[test]
    fn hogs_share_one_cpu_by_weight_whoever_else_comes(
        weights in prop::collection::vec(50_u32..400, 2..6),
        others in prop::collection::vec((habit(), belief()), 0..4), seed in any::<u64>(),
    ) {
        let mut specs: Vec<_> = weights
            .iter()
            .map(|weight| Spec { weight: *weight, habit: Habit::Hog, belief: Belief::Unsure })
            .collect();
        specs.extend(others.iter().map(|(habit, belief)| Spec {
            weight: 100, habit: *habit, belief: *belief,
        }));
        let outcome = simulate(Mode::Online, 1, &specs, seed, 10);
        let shares: Vec<_> = weights
            .iter()
            .zip(&outcome.service)
            .map(|(weight, service)| *service as f64 / f64::from(*weight))
            .collect();
        let (least, most) = shares.iter().fold((f64::MAX, 0.0_f64), |(a, b), s| (a.min(*s), b.max(*s)));
        prop_assert!(most / least < 1.1, "{shares:?}");
    }
}

#[test]
fn hogs_of_equal_weight_share_four_cpus_evenly() {
    let outcome = simulate(
        Mode::Online,
        4,
        &several(9, 100, Habit::Hog, Belief::Unsure),
        1,
        20,
    );
    let (least, most) = (outcome.service.iter().min(), outcome.service.iter().max());
    assert!(
        *most.unwrap() as f64 <= 1.02 * *least.unwrap() as f64,
        "{:?}",
        outcome.service
    );
}

#[test]
fn forks_that_lie_do_not_starve_a_hog() {
    let mut specs = several(10, 100, Habit::Fork(MS), Belief::Short);
    specs.extend(several(1, 100, Habit::Hog, Belief::Unsure));
    let outcome = simulate(Mode::Online, 1, &specs, 2, 20);
    let share = outcome.service[10] as f64 / (20 * SECOND) as f64;
    assert!(outcome.worst <= 1.0, "{}", outcome.worst);
    assert!(share > 0.5 / 11.0, "{share}");
}

#[test]
fn sleepers_that_lie_do_not_starve_a_hog() {
    let mut specs = several(20, 100, Habit::Sleeper(4 * MS, 10 * MS), Belief::Short);
    specs.extend(several(1, 100, Habit::Hog, Belief::Unsure));
    let outcome = simulate(Mode::Online, 1, &specs, 3, 20);
    let share = outcome.service[20] as f64 / (20 * SECOND) as f64;
    assert!(outcome.worst <= 1.0, "{}", outcome.worst);
    assert!(share > 0.8 / 21.0, "{share}");
}

#[test]
fn a_nice_hog_beside_twenty_others_waits_within_the_bound() {
    let mut specs = several(20, 100, Habit::Hog, Belief::Unsure);
    specs.extend(several(1, 2, Habit::Hog, Belief::Unsure));
    let outcome = simulate(Mode::Online, 2, &specs, 4, 60);
    assert!(outcome.worst <= 1.0, "{}", outcome.worst);
    let part = outcome.service[20] as f64 / outcome.service[0] as f64;
    assert!((0.01..0.04).contains(&part), "{part}");
}

/// With a clock that counted every service in full, hogs fell behind it for ever and this sleeper
/// waited 3.7 ms on average.
#[test]
fn a_short_sleeper_is_served_before_hogs_time_after_time() {
    let mut specs = several(4, 100, Habit::Hog, Belief::Unsure);
    specs.extend(several(
        1,
        100,
        Habit::Sleeper(2 * MS, 38 * MS),
        Belief::True,
    ));
    let outcome = simulate(Mode::Online, 1, &specs, 5, 60);
    // About one burst of 1 ms each 20 ms if it never waits.
    let share = outcome.service[4] as f64 / (60 * SECOND) as f64;
    assert!(share > 0.046, "{share}");
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let specs = several(5, 100, Habit::Sleeper(3 * MS, 5 * MS), Belief::True);
    let run = || simulate(Mode::Online, 2, &specs, 9, 2);
    assert_eq!(run().service, run().service);
}
