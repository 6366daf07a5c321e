// SPDX-License-Identifier: GPL-2.0-only
//! The records and functions of the C headers, as the compiler sees them.
//!
//! Every record is made of integers without padding, so any bytes are a valid value of it and
//! every function is total: it takes whatever integers it is given.

/// `struct ek_predictor_config`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PredictorConfig {
    pub predictor: u32,
    pub init: u32,
    pub updates: u32,
    pub warmup: u32,
    pub prior_ns: u64,
}

/// `struct ek_deadline_config`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct DeadlineConfig {
    pub rank_max_ns: u64,
    pub lag_ns: u64,
    pub slice_min_ns: u64,
    pub slice_max_ns: u64,
    pub fixed_slice_ns: u64,
    pub slice_alone_ns: u64,
    pub target_latency_ns: u64,
    pub preempt_margin_ns: u64,
    pub preempt_min_run_ns: u64,
    pub preempt_remaining_ns: u64,
    pub preempt_gap_ns: u64,
    pub mode: u32,
    pub pad: u32,
}

/// `struct ek_model`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Model {
    pub ewma: u32,
    pub last: u16,
    pub floor: u16,
    pub table: [u16; 8],
    pub bias: [u16; 4],
    pub error: [u16; 4],
    pub sleep: u16,
    pub sleep_mean: u16,
    pub slope: i16,
    pub margin: u16,
    pub count: u8,
    pub history: u8,
    pub waker: u8,
    pub pad: [u8; 13],
}

/// `struct ek_estimate`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Estimate {
    pub burst_ns: u64,
    pub q90_ns: u64,
    pub confident: u32,
    pub expert: u32,
}

/// `struct ek_training`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Training {
    pub predicted_ns: u64,
    pub error_ns: u64,
    pub log_error: u32,
    pub scored: u32,
}

/// `struct ek_contender`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Contender {
    pub key: u64,
    pub ran_ns: u64,
    pub attained_ns: u64,
    pub estimate_ns: u64,
    pub confident: u32,
    pub pad: u32,
}

/// `struct ek_vector`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Vector {
    pub op: u32,
    pub pad: u32,
    pub predictor: PredictorConfig,
    pub deadline: DeadlineConfig,
    pub model: Model,
    pub parent: Model,
    pub estimate: Estimate,
    pub training: Training,
    pub newcomer: Contender,
    pub victim: Contender,
    pub input: [u64; 4],
    pub out: u64,
}

/// `EK_NO_HURRY` of `deadline.h`.
pub(crate) const NO_HURRY: u64 = u64::MAX;

const _: () = assert!(size_of::<Model>() == 64);
const _: () = assert!(size_of::<Vector>() == 424);

// SAFETY: csrc/policy.c defines these functions with these types. They read and write only what
// their pointers refer to, keep no pointer, and are total over the integers they take.
unsafe extern "C" {
    pub(crate) safe fn ek_host_predictor_defaults(out: &mut PredictorConfig);
    pub(crate) safe fn ek_host_deadline_defaults(out: &mut DeadlineConfig);
    pub(crate) safe fn ek_host_log2(ns: u64) -> u32;
    pub(crate) safe fn ek_host_exp2(log: u32) -> u64;
    pub(crate) safe fn ek_host_inherit(child: &mut Model, parent: &Model);
    pub(crate) safe fn ek_host_wake(model: &mut Model, sleep_ns: u64, waker: u32);
    pub(crate) safe fn ek_host_estimate(m: &Model, c: &PredictorConfig, out: &mut Estimate);
    pub(crate) safe fn ek_host_overrun(m: &mut Model, c: &PredictorConfig, attained_ns: u64);
    pub(crate) safe fn ek_host_train(
        model: &mut Model,
        config: &PredictorConfig,
        burst_ns: u64,
        out: &mut Training,
    );
    pub(crate) safe fn ek_host_charge(service_ns: u64, weight: u32) -> u64;
    pub(crate) safe fn ek_host_clock_advance(v: u64, clock: u64, service: u64, total: u64) -> u64;
    pub(crate) safe fn ek_host_clamp_wakeup(c: &DeadlineConfig, v: u64, clock: u64) -> u64;
    pub(crate) safe fn ek_host_clamp_lag(c: &DeadlineConfig, v: u64, clock: u64, w: u32) -> u64;
    pub(crate) safe fn ek_host_rebase(v: u64, from_clock: u64, to_clock: u64) -> u64;
    pub(crate) safe fn ek_host_rank_initial(c: &DeadlineConfig, e: &Estimate) -> u64;
    pub(crate) safe fn ek_host_rank_overrun(c: &DeadlineConfig, rank: u64, attained: u64) -> u64;
    pub(crate) safe fn ek_host_key(v: u64, rank: u64, weight: u32) -> u64;
    pub(crate) safe fn ek_host_overtake_limit(
        config: &DeadlineConfig,
        v: u64,
        rank: u64,
        weight: u32,
    ) -> u64;
    pub(crate) safe fn ek_host_overtake_service(
        config: &DeadlineConfig,
        key: u64,
        clock: u64,
        total_weight: u64,
    ) -> u64;
    pub(crate) safe fn ek_host_owed_service(c: &DeadlineConfig, total_weight: u64) -> u64;
    pub(crate) safe fn ek_host_slice(c: &DeadlineConfig, e: &Estimate, waiting: u32) -> u64;
    pub(crate) safe fn ek_host_make_way(
        config: &DeadlineConfig,
        newcomer: &Contender,
        victim: &Contender,
        since_preempt_ns: u64,
    ) -> u64;
    pub(crate) safe fn ek_host_vector_run(vector: &mut Vector);
}
