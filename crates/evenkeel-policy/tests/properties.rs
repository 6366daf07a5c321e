// SPDX-License-Identifier: GPL-2.0-only
//! What holds of the policy for every input.

use evenkeel_policy::order::{self, CLOCK_START, Contender, Mode, OrderConfig};
use evenkeel_policy::predictor::{exp2, log2};
use evenkeel_policy::vectors::{Op, Vector};
use evenkeel_policy::{Estimate, Init, Model, Predictor, PredictorConfig, Updates};
use proptest::prelude::*;

const MS: u64 = 1_000_000;

/// Lengths of every magnitude, as likely small as large.
fn length() -> impl Strategy<Value = u64> {
    (any::<u64>(), 0_u32..64).prop_map(|(bits, shift)| bits >> shift)
}

fn weight() -> impl Strategy<Value = u32> {
    1_u32..=10_000
}

fn estimate() -> impl Strategy<Value = Estimate> {
    (length(), length(), any::<bool>()).prop_map(|(a, b, c)| Estimate::new(a.min(b), a.max(b), c))
}

fn mode() -> impl Strategy<Value = Mode> {
    prop_oneof![Just(Mode::Online), Just(Mode::Shadow), Just(Mode::Fixed)]
}

/// Any options that a user may choose.
fn order_config() -> impl Strategy<Value = OrderConfig> {
    (
        100_000..20 * MS,
        100_000..20 * MS,
        100_000..20 * MS,
        100_000..100 * MS,
        mode(),
    )
        .prop_map(|(a, b, fixed_slice_ns, target, mode)| OrderConfig {
            slice_min_ns: a.min(b).min(target),
            slice_max_ns: a.max(b),
            fixed_slice_ns,
            target_latency_ns: target,
            mode,
            ..OrderConfig::default()
        })
}

fn predictor_config() -> impl Strategy<Value = PredictorConfig> {
    (
        0_usize..5,
        any::<bool>(),
        any::<bool>(),
        1_u32..=255,
        length(),
    )
        .prop_map(
            |(predictor, bias, trunc, warmup, prior_ns)| PredictorConfig {
                predictor: Predictor::ALL[predictor],
                init: if bias { Init::Bias } else { Init::Ewma },
                updates: if trunc {
                    Updates::Trunc
                } else {
                    Updates::Fractional
                },
                warmup,
                prior_ns,
            },
        )
}

/// A model after any life: sleeps, wakers, overruns and bursts of any length.
fn model() -> impl Strategy<Value = (Model, PredictorConfig)> {
    let step = (
        length(),
        any::<u32>(),
        length(),
        proptest::option::of(length()),
    );
    (predictor_config(), prop::collection::vec(step, 0..40)).prop_map(|(config, steps)| {
        let mut model = Model::default();
        for (sleep, waker, burst, overrun) in steps {
            model.wake(sleep, waker);
            if let Some(attained) = overrun {
                model.overrun(&config, attained);
            }
            model.train(&config, burst);
        }
        (model, config)
    })
}

fn shape(key: u64, ran: u64, attained: u64, estimate: u64, confident: bool) -> Contender {
    Contender {
        key,
        ran_ns: ran,
        attained_ns: attained,
        estimate_ns: estimate,
        confident,
    }
}

#[test]
fn logarithms_are_near_the_true_ones() {
    for power in 0..64_u32 {
        for part in 0..256_u64 {
            let ns = (1_u64 << power) + ((u128::from(part) << power) >> 8) as u64;
            let off = f64::from(log2(ns)) / 1024.0 - (ns as f64).log2();
            assert!(off.abs() < 0.004, "{ns}: {off}");
        }
    }
}

#[test]
fn logarithms_of_consecutive_lengths_never_fall() {
    let mut before = 0;
    for ns in 0..2_000_000 {
        let log = log2(ns);
        assert!(log >= before, "{ns}");
        before = log;
    }
}

#[test]
fn powers_never_fall_and_saturate() {
    let mut before = 0;
    for log in 0..=65_536 {
        let ns = exp2(log);
        assert!(ns >= before, "{log}");
        before = ns;
    }
    assert_eq!(before, u64::MAX);
}

#[test]
fn a_logarithm_and_its_power_agree_within_two_units() {
    for log in 10_240..65_536 {
        assert!(
            log2(exp2(log)).abs_diff(log) <= 2,
            "{log}: {}",
            log2(exp2(log))
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_function_traps_whatever_its_bits(
        op in 0..Op::ALL.len(),
        words in prop::array::uniform32(any::<u64>()),
        more in prop::array::uniform32(length()),
    ) {
        let mut all = [0; Vector::WORDS];
        for (slot, word) in all.iter_mut().zip(words.iter().chain(&more)) {
            *slot = *word;
        }
        let _ = Vector::from_words(Op::ALL[op], all).run();
    }

    #[test]
    fn longer_lengths_have_no_smaller_logarithm(a in length(), b in length()) {
        prop_assert!(log2(a.min(b)) <= log2(a.max(b)));
    }

    #[test]
    fn a_length_survives_its_logarithm_within_a_quarter_per_cent(ns in length()) {
        prop_assume!(ns >= 1024);
        let there_and_back = exp2(log2(ns)) as f64;
        prop_assert!((there_and_back / ns as f64 - 1.0).abs() < 0.0025);
    }

    #[test]
    fn an_estimate_is_ordered_and_within_what_was_seen((model, config) in model()) {
        let estimate = model.estimate(&config);
        prop_assert!(estimate.burst_ns <= estimate.q90_ns);
    }

    #[test]
    fn an_estimate_stays_between_the_shortest_and_the_longest_burst(
        bursts in prop::collection::vec(1_000_u64..1_000_000_000, 1..60),
        predictor in 0_usize..4,
    ) {
        // Of every expert but the one that extrapolates over sleep lengths.
        let config = PredictorConfig { predictor: Predictor::ALL[predictor], ..PredictorConfig::default() };
        let mut model = Model::default();
        for burst in &bursts {
            model.wake(MS, 1);
            model.train(&config, *burst);
        }
        let estimate = model.estimate(&config).burst_ns as f64;
        let (least, most) = (bursts.iter().min().unwrap(), bursts.iter().max().unwrap());
        prop_assert!(estimate >= 0.995 * *least as f64 && estimate <= 1.005 * *most as f64);
    }

    #[test]
    fn what_a_burst_has_outrun_is_the_least_estimate(
        (mut model, config) in model(), attained in length(),
    ) {
        // Below a microsecond the rounding to whole nanoseconds shows.
        prop_assume!(attained >= 1024);
        model.overrun(&config, attained);
        prop_assert!(log2(model.estimate(&config).burst_ns) + 2 >= log2(attained));
    }

    #[test]
    fn a_score_is_never_beyond_the_clip_once_learned((model, config) in model(), burst in length()) {
        let mut model = model;
        let training = model.train(&config, burst);
        prop_assert_eq!(training.error_ns, training.predicted_ns.abs_diff(burst));
        prop_assert!(training.log_error <= 65_535);
    }

    #[test]
    fn a_charge_is_service_over_weight(service in 0..10_000_000_000_u64, weight in weight()) {
        prop_assert_eq!(order::charge(service, weight), service * 100 / u64::from(weight));
    }

    #[test]
    fn an_absurd_service_costs_ten_seconds(service in 10_000_000_000_u64.., weight in weight()) {
        prop_assert_eq!(order::charge(service, weight), order::charge(10_000_000_000, weight));
    }

    #[test]
    fn a_weight_of_zero_is_the_least(service in length()) {
        prop_assert_eq!(order::charge(service, 0), order::charge(service, 1));
    }

    #[test]
    fn the_clock_moves_by_half_the_share_at_least(
        lag in -100 * MS as i64..100 * MS as i64, service in 0..10_000_000_000_u64,
        total in 1_u64..1_000_000,
    ) {
        let v = CLOCK_START.saturating_add_signed(lag);
        let share = service * 100 / total;
        let advance = order::clock_advance(v, CLOCK_START, service, total);
        prop_assert!(advance >= share / 2);
        prop_assert!(advance <= share + service);
        if lag < 0 {
            prop_assert!(advance <= share);
        } else {
            prop_assert!(advance >= share);
        }
    }

    #[test]
    fn a_sleeper_comes_back_with_the_lag_at_most(
        config in order_config(), v in any::<u64>(), clock in CLOCK_START..,
    ) {
        let clamped = order::clamp_wakeup(&config, v, clock);
        prop_assert!(clamped >= clock - config.lag_ns && clamped >= v);
        prop_assert!(clamped == v || clamped == clock - config.lag_ns);
    }

    #[test]
    fn whoever_queues_has_a_limited_lag_in_service_both_ways(
        config in order_config(), v in any::<u64>(), clock in CLOCK_START..1 << 60, weight in weight(),
    ) {
        let most = (config.rank_max_ns + config.lag_ns) * 100 / u64::from(weight);
        let clamped = order::clamp_lag(&config, v, clock, weight);
        prop_assert_eq!(clamped, v.clamp(clock.saturating_sub(most), clock + most));
    }

    #[test]
    fn a_move_between_clocks_keeps_the_lag(
        from in CLOCK_START..1 << 60, to in CLOCK_START..1 << 60, lag in -1_000_000_000_i64..1_000_000_000,
    ) {
        let v = from.saturating_add_signed(lag);
        let there = order::rebase(v, from, to);
        prop_assert_eq!(there, to.saturating_add_signed(lag));
        prop_assert_eq!(order::rebase(there, to, from), v);
    }

    #[test]
    fn a_rank_is_between_one_and_its_limit(
        config in order_config(), estimate in estimate(), attained in length(),
    ) {
        let rank = order::rank_initial(&config, &estimate);
        prop_assert!(rank >= 1 && rank <= config.rank_max_ns);
        let later = order::rank_overrun(&config, rank, attained);
        prop_assert!(later >= rank && later <= config.rank_max_ns);
    }

    #[test]
    fn an_overrun_doubles_to_a_power_of_two(attained in 1_u64..10 * MS) {
        let config = OrderConfig::default();
        let rank = order::rank_overrun(&config, attained - 1, attained);
        prop_assert!(rank == config.rank_max_ns || rank.is_power_of_two());
        prop_assert!(rank >= (2 * attained).min(config.rank_max_ns) && rank < 4 * attained);
        prop_assert_eq!(order::rank_overrun(&config, attained, attained), attained);
    }

    #[test]
    fn a_key_is_never_before_its_account(v in length(), rank in length(), weight in any::<u32>()) {
        prop_assert!(order::key(v, rank, weight) >= v);
    }

    #[test]
    fn a_later_account_a_longer_rank_or_less_weight_never_wins(
        v in CLOCK_START..1 << 60, rank in 0..100 * MS, weight in 2_u32..10_000,
        more in 0..100 * MS,
    ) {
        let key = order::key(v, rank, weight);
        prop_assert!(order::key(v + more, rank, weight) >= key);
        prop_assert!(order::key(v, rank + more, weight) >= key);
        prop_assert!(order::key(v, rank, weight - 1) >= key);
    }

    #[test]
    fn an_unpredictable_task_never_outranks_a_confident_short_one(
        unsure in estimate(), burst in 1..2 * MS, weight in weight(), v in CLOCK_START..1 << 60,
    ) {
        let config = OrderConfig::default();
        let unsure = order::rank_initial(&config, &Estimate { confident: false, ..unsure });
        let short = order::rank_initial(&config, &Estimate::new(burst, burst, true));
        prop_assert!(order::key(v, short, weight) <= order::key(v, unsure, weight));
    }

    #[test]
    fn shadow_and_fixed_never_look_at_an_estimate(
        config in order_config(), one in estimate(), other in estimate(),
        waiting in any::<u32>(), attained in length(), rank in length(),
        keys in (length(), length()), ran in length(), since in length(),
    ) {
        for mode in [Mode::Shadow, Mode::Fixed] {
            let config = OrderConfig { mode, ..config };
            prop_assert_eq!(order::rank_initial(&config, &one), order::rank_initial(&config, &other));
            prop_assert_eq!(order::slice(&config, &one, waiting), order::slice(&config, &other, waiting));
            prop_assert_eq!(order::rank_overrun(&config, rank, attained), rank);
            let newcomer = shape(keys.0, 0, 0, one.burst_ns, one.confident);
            let victim = shape(keys.1, ran, attained, other.burst_ns, other.confident);
            prop_assert_eq!(order::make_way(&config, &newcomer, &victim, since), None);
        }
    }

    #[test]
    fn a_slice_in_company_is_within_its_bounds_and_never_shorter_than_the_fixed_one(
        config in order_config(), estimate in estimate(), waiting in 1_u32..,
    ) {
        let slice = order::slice(&config, &estimate, waiting);
        if config.mode != Mode::Online {
            prop_assert_eq!(slice, config.fixed_slice_ns);
            return Ok(());
        }
        let fixed = config.fixed_slice_ns.clamp(config.slice_min_ns, config.slice_max_ns);
        prop_assert!(slice >= config.slice_min_ns && slice <= config.slice_max_ns);
        if estimate.confident {
            let shared = config.target_latency_ns / u64::from(waiting);
            prop_assert!(slice >= fixed && slice <= shared.max(fixed));
        } else {
            prop_assert_eq!(slice, fixed);
        }
    }

    #[test]
    fn a_slice_alone_is_the_longest_and_not_infinite(config in order_config(), estimate in estimate()) {
        prop_assert_eq!(order::slice(&config, &estimate, 0), 20 * MS);
    }

    #[test]
    fn more_company_and_shorter_bursts_never_lengthen_a_slice(
        config in order_config(), estimate in estimate(), waiting in 1_u32..1000,
    ) {
        let slice = order::slice(&config, &estimate, waiting);
        prop_assert!(order::slice(&config, &estimate, waiting + 1) <= slice);
        let shorter = Estimate { q90_ns: estimate.q90_ns / 2, ..estimate };
        prop_assert!(order::slice(&config, &shorter, waiting) <= slice);
    }

    #[test]
    fn nobody_makes_way_for_an_unsure_burst_or_a_small_gain(
        newcomer in (length(), any::<bool>()), victim in (length(), length(), length(), length(), any::<bool>()),
        since in length(),
    ) {
        let config = OrderConfig::default();
        let newcomer = shape(newcomer.0, 0, 0, MS, newcomer.1);
        let victim = shape(victim.0, victim.1, victim.2, victim.3, victim.4);
        let gains = newcomer.confident && newcomer.key + config.preempt_margin_ns < victim.key;
        prop_assert_eq!(order::make_way(&config, &newcomer, &victim, since).is_some(), gains);
    }

    #[test]
    fn whoever_makes_way_goes_on_for_just_as_long_as_a_condition_lasts(
        key in 0_u64..1 << 60, ran in length(), attained in length(), estimate in length(),
        confident in any::<bool>(), since in length(),
    ) {
        let config = OrderConfig::default();
        let newcomer = shape(key, 0, 0, MS, true);
        let victim = shape(key + MS, ran, attained, estimate, confident);
        let wait = order::make_way(&config, &newcomer, &victim, since);
        let left = estimate.saturating_sub(attained);
        let ends_soon = confident && (1..=config.preempt_remaining_ns).contains(&left);
        let longest = [
            config.preempt_gap_ns.saturating_sub(since),
            config.preempt_min_run_ns.saturating_sub(ran),
            if ends_soon { config.preempt_remaining_ns } else { 0 },
        ];
        prop_assert_eq!(wait, longest.into_iter().max());
    }

    #[test]
    fn a_clear_win_over_a_long_victim_preempts_and_over_one_that_ends_soon_waits(key in 0_u64..1 << 60) {
        let config = OrderConfig::default();
        let newcomer = shape(key, 0, 0, MS, true);
        let victim = shape(key + MS, MS, MS, 10 * MS, true);
        prop_assert_eq!(order::make_way(&config, &newcomer, &victim, MS), Some(0));
        let nearly_done = Contender { estimate_ns: MS + 50_000, ..victim };
        prop_assert_eq!(order::make_way(&config, &newcomer, &nearly_done, MS), Some(100_000));
    }
}
