// SPDX-License-Identifier: GPL-2.0-only
//! What the predictor learns of traces whose truth is known.

use evenkeel_policy::random::Random;
use evenkeel_policy::{Estimate, Expert, Init, Model, Predictor, PredictorConfig, Updates};

const MS: u64 = 1_000_000;
const WARMUP: usize = 8;

/// A task under observation.
#[derive(Default)]
struct Task {
    model: Model,
    config: PredictorConfig,
}

impl Task {
    fn with(config: PredictorConfig) -> Self {
        Self {
            model: Model::default(),
            config,
        }
    }

    fn burst(&mut self, burst: u64) -> Estimate {
        self.woken(MS, 7, burst)
    }

    /// Sleeps, is woken and runs; returns what had been expected of the burst.
    fn woken(&mut self, sleep: u64, waker: u32, burst: u64) -> Estimate {
        self.model.wake(sleep, waker);
        let estimate = self.model.estimate(&self.config);
        self.model.train(&self.config, burst);
        estimate
    }

    fn bursts(&mut self, bursts: impl IntoIterator<Item = u64>) -> Vec<(Estimate, u64)> {
        bursts
            .into_iter()
            .map(|burst| (self.burst(burst), burst))
            .collect()
    }
}

fn within(part: f64, estimate: Estimate, truth: u64) -> bool {
    let (estimate, truth) = (estimate.burst_ns as f64, truth as f64);
    (estimate - truth).abs() <= part * truth
}

/// The share of outcomes for which `holds`.
fn share(outcomes: &[(Estimate, u64)], holds: impl Fn(&Estimate, u64) -> bool) -> f64 {
    let count = outcomes
        .iter()
        .filter(|(estimate, truth)| holds(estimate, *truth))
        .count();
    count as f64 / outcomes.len() as f64
}

fn confidence(outcomes: &[(Estimate, u64)]) -> f64 {
    share(outcomes, |estimate, _| estimate.confident)
}

fn assert_learned(outcomes: &[(Estimate, u64)]) {
    for (i, (estimate, truth)) in outcomes.iter().enumerate() {
        assert!(
            within(0.2, *estimate, *truth),
            "burst {i}: {estimate:?} of {truth}"
        );
        assert!(estimate.confident, "burst {i}: {estimate:?} of {truth}");
    }
}

fn every_config() -> impl Iterator<Item = PredictorConfig> {
    Predictor::ALL.into_iter().flat_map(|predictor| {
        [Init::Ewma, Init::Bias].into_iter().flat_map(move |init| {
            [Updates::Fractional, Updates::Trunc]
                .into_iter()
                .map(move |updates| PredictorConfig {
                    predictor,
                    init,
                    updates,
                    ..PredictorConfig::default()
                })
        })
    })
}

#[test]
fn constant_bursts_are_learned_within_the_warm_up() {
    for burst in [5_000, MS, 3 * MS, 700 * MS] {
        let outcomes = Task::default().bursts([burst; 100]);
        assert_learned(&outcomes[WARMUP..]);
    }
}

#[test]
fn nothing_is_trusted_before_the_warm_up() {
    let outcomes = Task::default().bursts([MS; WARMUP]);
    assert!(confidence(&outcomes) == 0.0);
}

#[test]
fn every_expert_and_option_learns_a_constant_in_the_end() {
    for config in every_config() {
        let outcomes = Task::with(config).bursts([3 * MS; 100]);
        assert_learned(&outcomes[40..]);
    }
}

#[test]
fn alternating_bursts_are_learned_within_thirty() {
    let outcomes = Task::default().bursts((0..200).map(|i| if i % 2 == 0 { MS } else { 5 * MS }));
    assert_learned(&outcomes[30..]);
    assert_eq!(outcomes[100].0.expert, Expert::History);
}

#[test]
fn alternating_bursts_with_some_noise_are_learned() {
    let mut random = Random::new(2);
    let outcomes = Task::default()
        .bursts((0..400).map(|i| random.around(if i % 2 == 0 { MS } else { 5 * MS }, 0.1)));
    let late = &outcomes[40..];
    assert!(share(late, |estimate, truth| within(0.2, *estimate, truth)) > 0.95);
    assert!(confidence(late) > 0.99);
}

#[test]
fn a_period_of_three_is_learned() {
    let outcomes = Task::default().bursts((0..300).map(|i| if i % 3 == 0 { 8 * MS } else { MS }));
    assert_learned(&outcomes[60..]);
}

#[test]
fn a_new_phase_is_learned_in_twelve_bursts() {
    for (before, after) in [(MS, 10 * MS), (10 * MS, MS), (20_000, 5 * MS)] {
        let mut task = Task::default();
        task.bursts([before; 100]);
        let outcomes = task.bursts([after; 60]);
        assert!(
            !outcomes[1].0.confident,
            "the miss must cost its confidence"
        );
        assert_learned(&outcomes[12..]);
    }
}

#[test]
fn random_bursts_are_hardly_ever_trusted() {
    let mut random = Random::new(3);
    let outcomes = Task::default().bursts((0..5000).map(|_| random.log_uniform(MS / 10, 10 * MS)));
    let confident = confidence(&outcomes);
    assert!(confident < 0.01, "{confident}");
}

#[test]
fn noisy_constants_are_trusted() {
    let mut random = Random::new(4);
    let outcomes = Task::default().bursts((0..2000).map(|_| random.around(3 * MS, 0.2)));
    let late = &outcomes[2 * WARMUP..];
    assert!(confidence(late) > 0.999, "{}", confidence(late));
    let close = share(late, |estimate, _| within(0.2, *estimate, 3 * MS));
    assert!(close > 0.98, "{close}");
}

#[test]
fn nine_of_ten_noisy_bursts_stay_within_the_margin() {
    for noise in [0.1, 0.2, 0.3] {
        let mut random = Random::new(5);
        let outcomes = Task::default().bursts((0..5000).map(|_| random.around(2 * MS, noise)));
        let covered = share(&outcomes[100..], |estimate, truth| truth <= estimate.q90_ns);
        assert!((0.85..=0.95).contains(&covered), "noise {noise}: {covered}");
    }
}

#[test]
fn one_outlier_leaves_the_estimate_where_it_was() {
    let mut task = Task::default();
    task.bursts([MS; 100]);
    task.burst(200 * MS);
    let outcomes = task.bursts([MS; 30]);
    for (estimate, truth) in &outcomes[1..] {
        assert!(within(0.2, *estimate, *truth), "{estimate:?}");
    }
    assert!(outcomes[10].0.confident);
}

#[test]
fn the_sleep_before_a_burst_tells_its_length() {
    let mut random = Random::new(6);
    let mut task = Task::default();
    let mut outcomes = Vec::new();
    for _ in 0..600 {
        let sleep = random.log_uniform(MS, 16 * MS);
        let burst = sleep / 4;
        outcomes.push((task.woken(sleep, 7, burst), burst));
    }
    let late = &outcomes[150..];
    assert!(confidence(late) > 0.95, "{}", confidence(late));
    assert!(share(late, |estimate, _| estimate.expert == Expert::Lms) > 0.95);
    let close = share(late, |estimate, truth| within(0.35, *estimate, truth));
    assert!(close > 0.9, "{close}");
}

#[test]
fn the_waker_tells_the_length_of_a_burst() {
    let mut random = Random::new(7);
    let mut task = Task::default();
    let mut outcomes = Vec::new();
    for _ in 0..400 {
        let (waker, burst) = if random.below(2) == 0 {
            (1000, MS)
        } else {
            (1001, 6 * MS)
        };
        outcomes.push((task.woken(MS, waker, burst), burst));
    }
    assert_learned(&outcomes[60..]);
}

#[test]
fn an_empty_model_gives_the_prior_without_confidence() {
    let estimate = Model::default().estimate(&PredictorConfig::default());
    assert_eq!(
        (estimate.burst_ns, estimate.q90_ns, estimate.confident),
        (MS, MS, false)
    );
}

#[test]
fn a_fork_starts_with_what_its_parent_knows() {
    let mut task = Task::default();
    task.bursts([3 * MS; 50]);
    let child = task.model.fork().estimate(&task.config);
    assert!(within(0.05, child, 3 * MS));
    assert!(child.confident);
}

#[test]
fn the_first_miss_of_a_fork_costs_its_confidence() {
    let mut parent = Task::default();
    parent.bursts([3 * MS; 50]);
    let mut child = Task {
        model: parent.model.fork(),
        config: parent.config,
    };
    child.burst(12 * MS);
    assert!(!child.burst(12 * MS).confident);
}

#[test]
fn a_fork_of_an_empty_model_is_empty() {
    assert_eq!(Model::default().fork(), Model::default());
}

#[test]
fn a_burst_that_goes_on_raises_its_estimate_and_is_not_trusted() {
    let mut task = Task::default();
    task.bursts([MS; 50]);
    task.model.wake(MS, 7);
    task.model.overrun(&task.config, 8 * MS);
    let estimate = task.model.estimate(&task.config);
    assert!(within(0.02, estimate, 8 * MS), "{estimate:?}");
    assert!(!estimate.confident);
    task.model.train(&task.config, 9 * MS);
    assert!(task.burst(MS).burst_ns < 10 * MS);
}

#[test]
fn a_task_that_never_sleeps_has_an_estimate_that_grows() {
    let mut task = Task::default();
    let mut before = 0;
    for attained in [2 * MS, 20 * MS, 200 * MS, 2000 * MS] {
        task.model.overrun(&task.config, attained);
        let estimate = task.model.estimate(&task.config).burst_ns;
        assert!(estimate > before && estimate > attained / 100 * 99);
        before = estimate;
    }
}

#[test]
fn errors_are_reported_in_octaves_and_in_time() {
    let mut task = Task::default();
    task.bursts([MS; 50]);
    let training = task.model.train(&task.config, 4 * MS);
    assert!(training.scored);
    assert!(training.log_error.abs_diff(2 * 1024) < 10, "{training:?}");
    assert!(
        training.error_ns.abs_diff(3 * MS) < MS / 100,
        "{training:?}"
    );
}

#[test]
fn a_prior_slows_the_average_and_a_first_sample_does_not() {
    let estimate = |init| {
        let config = PredictorConfig {
            predictor: Predictor::Ewma,
            init,
            ..PredictorConfig::default()
        };
        Task::with(config).bursts([100 * MS; 3])[2].0.burst_ns
    };
    assert!(estimate(Init::Bias) < 5 * MS);
    assert!(estimate(Init::Ewma) > 95 * MS);
}
