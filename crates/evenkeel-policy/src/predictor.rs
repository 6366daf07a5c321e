// SPDX-License-Identifier: GPL-2.0-only
//! The predictor of `predictor.h`: burst history in, estimate and confidence out.

pub use evenkeel_scheduler::options::{Init, Predictor, Updates};
use serde::Serialize;

use crate::raw;

/// One octave, a factor of two, in the logarithms of the predictor.
pub const LOG_ONE: u32 = 1024;

/// log2 of `ns` in units of 1/[`LOG_ONE`]; 0 for 0.
pub fn log2(ns: u64) -> u32 {
    raw::ek_host_log2(ns)
}

/// 2 to the power of `log`/[`LOG_ONE`], saturating at `u64::MAX`.
pub fn exp2(log: u32) -> u64 {
    raw::ek_host_exp2(log)
}

/// An expert of the tournament.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Expert {
    /// Exponentially weighted average.
    Ewma,
    /// The last burst.
    Last,
    /// History table.
    History,
    /// Sign-LMS on sleep length, and the waker.
    Lms,
}

/// Options of the predictor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PredictorConfig {
    /// Who estimates.
    pub predictor: Predictor,
    /// Where the average starts.
    pub init: Init,
    /// How the average is rounded.
    pub updates: Updates,
    /// Bursts before an estimate counts, up to 255.
    pub warmup: u32,
    /// Estimate without any burst seen, and the start of [`Init::Bias`].
    pub prior_ns: u64,
}

impl Default for PredictorConfig {
    /// The scheduler's defaults.
    fn default() -> Self {
        let mut raw = raw::PredictorConfig::default();
        raw::ek_host_predictor_defaults(&mut raw);
        Self {
            predictor: Predictor::default(),
            init: Init::default(),
            updates: Updates::default(),
            warmup: raw.warmup,
            prior_ns: raw.prior_ns,
        }
    }
}

impl From<&PredictorConfig> for raw::PredictorConfig {
    fn from(config: &PredictorConfig) -> Self {
        Self {
            predictor: config.predictor as u32,
            init: config.init as u32,
            updates: config.updates as u32,
            warmup: config.warmup,
            prior_ns: config.prior_ns,
        }
    }
}

/// What the model says of the burst under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Estimate {
    /// The expected length.
    pub burst_ns: u64,
    /// The length that nine of ten such bursts stay within; at least `burst_ns`.
    pub q90_ns: u64,
    /// Whether the estimate may decide order and slice.
    pub confident: bool,
    /// Whose estimate it is.
    pub expert: Expert,
}

impl Estimate {
    /// An estimate of a test or a simulation.
    pub fn new(burst_ns: u64, q90_ns: u64, confident: bool) -> Self {
        Self {
            burst_ns,
            q90_ns,
            confident,
            expert: Expert::Ewma,
        }
    }
}

impl From<raw::Estimate> for Estimate {
    fn from(estimate: raw::Estimate) -> Self {
        Self {
            burst_ns: estimate.burst_ns,
            q90_ns: estimate.q90_ns,
            confident: estimate.confident != 0,
            expert: match estimate.expert {
                0 => Expert::Ewma,
                1 => Expert::Last,
                2 => Expert::History,
                _ => Expert::Lms,
            },
        }
    }
}

impl From<&Estimate> for raw::Estimate {
    fn from(estimate: &Estimate) -> Self {
        Self {
            burst_ns: estimate.burst_ns,
            q90_ns: estimate.q90_ns,
            confident: u32::from(estimate.confident),
            expert: estimate.expert as u32,
        }
    }
}

/// How well a burst had been predicted when it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Training {
    /// What had been predicted.
    pub predicted_ns: u64,
    /// |predicted - actual|.
    pub error_ns: u64,
    /// |log2(predicted / actual)| in units of 1/[`LOG_ONE`].
    pub log_error: u32,
    /// Whether it counts: false during warm-up.
    pub scored: bool,
}

/// What is known of one task, the 64 bytes that the scheduler keeps of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Model(pub(crate) raw::Model);

impl Model {
    /// The model of a task that this one has just forked.
    pub fn fork(&self) -> Self {
        let mut child = Self::default();
        raw::ek_host_inherit(&mut child.0, &self.0);
        child
    }

    /// The task wakes after `sleep_ns`, by the task with the id `waker`.
    pub fn wake(&mut self, sleep_ns: u64, waker: u32) {
        raw::ek_host_wake(&mut self.0, sleep_ns, waker);
    }

    /// The estimate for the burst under way.
    pub fn estimate(&self, config: &PredictorConfig) -> Estimate {
        let mut out = raw::Estimate::default();
        raw::ek_host_estimate(&self.0, &config.into(), &mut out);
        out.into()
    }

    /// The burst under way has had `attained_ns` and goes on.
    pub fn overrun(&mut self, config: &PredictorConfig, attained_ns: u64) {
        raw::ek_host_overrun(&mut self.0, &config.into(), attained_ns);
    }

    /// The burst is over, after `burst_ns`.
    pub fn train(&mut self, config: &PredictorConfig, burst_ns: u64) -> Training {
        let mut out = raw::Training::default();
        raw::ek_host_train(&mut self.0, &config.into(), burst_ns, &mut out);
        Training {
            predicted_ns: out.predicted_ns,
            error_ns: out.error_ns,
            log_error: out.log_error,
            scored: out.scored != 0,
        }
    }
}
