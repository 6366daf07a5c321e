// SPDX-License-Identifier: GPL-2.0-only
//! The arithmetic of `deadline.h`: accounts and clock, rank and key, slice and preemption.
//!
//! Weights are sched_ext's, 1 to 10000 and 100 at nice 0. Accounts (`v`), clocks, ranks and keys
//! are in nanoseconds of a nice-0 task.

pub use evenkeel_scheduler::options::Mode;

use crate::predictor::Estimate;
use crate::raw;

/// Where clocks start.
pub const CLOCK_START: u64 = 1 << 40;

/// Options of order, slice and preemption; times in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OrderConfig {
    /// R: the highest rank.
    pub rank_max_ns: u64,
    /// L: the most credit with which a sleeper comes back.
    pub lag_ns: u64,
    /// Shortest slice in company.
    pub slice_min_ns: u64,
    /// Longest slice in company.
    pub slice_max_ns: u64,
    /// Slice without a confident estimate, and of the modes that do not use estimates.
    pub fixed_slice_ns: u64,
    /// Slice of a task that runs alone.
    pub slice_alone_ns: u64,
    /// Shared among the waiters.
    pub target_latency_ns: u64,
    /// By how much a newcomer's key must win.
    pub preempt_margin_ns: u64,
    /// What the victim must have run.
    pub preempt_min_run_ns: u64,
    /// A victim with less than this to go keeps its CPU.
    pub preempt_remaining_ns: u64,
    /// Between two preemptions of one CPU.
    pub preempt_gap_ns: u64,
    /// What is done with estimates.
    pub mode: Mode,
}

impl Default for OrderConfig {
    /// The scheduler's defaults.
    fn default() -> Self {
        let mut raw = raw::DeadlineConfig::default();
        raw::ek_host_deadline_defaults(&mut raw);
        Self {
            rank_max_ns: raw.rank_max_ns,
            lag_ns: raw.lag_ns,
            slice_min_ns: raw.slice_min_ns,
            slice_max_ns: raw.slice_max_ns,
            fixed_slice_ns: raw.fixed_slice_ns,
            slice_alone_ns: raw.slice_alone_ns,
            target_latency_ns: raw.target_latency_ns,
            preempt_margin_ns: raw.preempt_margin_ns,
            preempt_min_run_ns: raw.preempt_min_run_ns,
            preempt_remaining_ns: raw.preempt_remaining_ns,
            preempt_gap_ns: raw.preempt_gap_ns,
            mode: Mode::default(),
        }
    }
}

impl From<&OrderConfig> for raw::DeadlineConfig {
    fn from(config: &OrderConfig) -> Self {
        Self {
            rank_max_ns: config.rank_max_ns,
            lag_ns: config.lag_ns,
            slice_min_ns: config.slice_min_ns,
            slice_max_ns: config.slice_max_ns,
            fixed_slice_ns: config.fixed_slice_ns,
            slice_alone_ns: config.slice_alone_ns,
            target_latency_ns: config.target_latency_ns,
            preempt_margin_ns: config.preempt_margin_ns,
            preempt_min_run_ns: config.preempt_min_run_ns,
            preempt_remaining_ns: config.preempt_remaining_ns,
            preempt_gap_ns: config.preempt_gap_ns,
            mode: config.mode as u32,
            pad: 0,
        }
    }
}

/// One side of a preemption: who waits, or who runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Contender {
    /// Its key, or that which it would have if it were queued now.
    pub key: u64,
    /// Since it was given the CPU.
    pub ran_ns: u64,
    /// Service of its burst.
    pub attained_ns: u64,
    /// Estimate of its burst.
    pub estimate_ns: u64,
    /// Whether that estimate is trusted.
    pub confident: bool,
}

impl From<&Contender> for raw::Contender {
    fn from(contender: &Contender) -> Self {
        Self {
            key: contender.key,
            ran_ns: contender.ran_ns,
            attained_ns: contender.attained_ns,
            estimate_ns: contender.estimate_ns,
            confident: u32::from(contender.confident),
            pad: 0,
        }
    }
}

/// What `service_ns` costs a task of `weight`.
pub fn charge(service_ns: u64, weight: u32) -> u64 {
    raw::ek_host_charge(service_ns, weight)
}

/// How far a queue's `clock` moves when a task whose account stood at `v` is served.
pub fn clock_advance(v: u64, clock: u64, service_ns: u64, total_weight: u64) -> u64 {
    raw::ek_host_clock_advance(v, clock, service_ns, total_weight)
}

/// The account of a task that wakes: at most L behind the clock.
pub fn clamp_wakeup(config: &OrderConfig, v: u64, clock: u64) -> u64 {
    raw::ek_host_clamp_wakeup(&config.into(), v, clock)
}

/// The account of a task that queues: at most R + L of service from the clock, either way.
pub fn clamp_lag(config: &OrderConfig, v: u64, clock: u64, weight: u32) -> u64 {
    raw::ek_host_clamp_lag(&config.into(), v, clock, weight)
}

/// The account of a task that moves from one clock to another, with its lag.
pub fn rebase(v: u64, from_clock: u64, to_clock: u64) -> u64 {
    raw::ek_host_rebase(v, from_clock, to_clock)
}

/// The rank with which a burst begins, 1 to R.
pub fn rank_initial(config: &OrderConfig, estimate: &Estimate) -> u64 {
    raw::ek_host_rank_initial(&config.into(), &estimate.into())
}

/// The rank of a burst that has had `attained_ns`.
pub fn rank_overrun(config: &OrderConfig, rank: u64, attained_ns: u64) -> u64 {
    raw::ek_host_rank_overrun(&config.into(), rank, attained_ns)
}

/// Where a task waits: the lowest key is served first.
pub fn key(v: u64, rank: u64, weight: u32) -> u64 {
    raw::ek_host_key(v, rank, weight)
}

/// The clock beyond which nobody who comes can overtake the waiter.
pub fn overtake_limit(config: &OrderConfig, v: u64, rank: u64, weight: u32) -> u64 {
    raw::ek_host_overtake_limit(&config.into(), v, rank, weight)
}

/// The bound on the service, in nanoseconds, that others get while the waiter waits.
pub fn overtake_service(config: &OrderConfig, key: u64, clock: u64, total_weight: u64) -> u64 {
    raw::ek_host_overtake_service(&config.into(), key, clock, total_weight)
}

/// The service, in nanoseconds, that those who queue before a waiter may be owed together.
pub fn owed_service(config: &OrderConfig, total_weight: u64) -> u64 {
    raw::ek_host_owed_service(&config.into(), total_weight)
}

/// The slice of a task beside `waiting` others.
pub fn slice(config: &OrderConfig, estimate: &Estimate, waiting: u32) -> u64 {
    raw::ek_host_slice(&config.into(), &estimate.into(), waiting)
}

/// How soon, in nanoseconds from now, `victim` has to make way for `newcomer`: 0 is to be
/// preempted, none is to use its slice up.
pub fn make_way(
    config: &OrderConfig,
    newcomer: &Contender,
    victim: &Contender,
    since_preempt_ns: u64,
) -> Option<u64> {
    let wait = raw::ek_host_make_way(
        &config.into(),
        &newcomer.into(),
        &victim.into(),
        since_preempt_ns,
    );
    (wait != raw::NO_HURRY).then_some(wait)
}
