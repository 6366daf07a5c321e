// SPDX-License-Identifier: GPL-2.0-only
//! What the predictor would have said of recorded bursts.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::order::{self, OrderConfig};
use crate::predictor::{Init, LOG_ONE, Model, Predictor, PredictorConfig, Updates};
use crate::trace::Burst;

/// How well one configuration predicts one trace. Means are over bursts after the warm-up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Report {
    /// Bursts of the trace.
    pub bursts: u64,
    /// Those after their task's warm-up.
    pub scored: u64,
    /// Mean of |log2(predicted / actual)|.
    pub log2_error: f64,
    /// Mean of |predicted - actual|, microseconds.
    pub error_us: f64,
    /// Share of the scored bursts whose estimate was trusted.
    pub confident: f64,
    /// Mean of |log2(predicted / actual)| over those.
    pub confident_log2_error: f64,
    /// Share of those that stayed within the 90th percentile.
    pub within_q90: f64,
    /// Share of those that ended within the slice they would get beside one waiter.
    pub within_slice: f64,
}

/// Replays a trace through one model a task.
pub fn replay(trace: &[Burst], config: &PredictorConfig) -> Report {
    let order = OrderConfig::default();
    let mut models: BTreeMap<u32, Model> = BTreeMap::new();
    let mut report = Report::default();
    let (mut confident, mut within_q90, mut within_slice) = (0_u64, 0_u64, 0_u64);
    for burst in trace {
        let model = models.entry(burst.task).or_default();
        model.wake(burst.sleep_ns, burst.waker);
        let estimate = model.estimate(config);
        let training = model.train(config, burst.burst_ns);
        report.bursts += 1;
        if !training.scored {
            continue;
        }
        let log2_error = f64::from(training.log_error) / f64::from(LOG_ONE);
        report.scored += 1;
        report.log2_error += log2_error;
        report.error_us += training.error_ns as f64 / 1000.0;
        if estimate.confident {
            confident += 1;
            report.confident_log2_error += log2_error;
            within_q90 += u64::from(burst.burst_ns <= estimate.q90_ns);
            let slice = order::slice(&order, &estimate, 1);
            within_slice += u64::from(burst.burst_ns <= slice);
        }
    }
    report.log2_error = mean(report.log2_error, report.scored);
    report.error_us = mean(report.error_us, report.scored);
    report.confident = mean(confident as f64, report.scored);
    report.confident_log2_error = mean(report.confident_log2_error, confident);
    report.within_q90 = mean(within_q90 as f64, confident);
    report.within_slice = mean(within_slice as f64, confident);
    report
}

/// A configuration with its report.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Arm {
    /// Who estimates.
    pub predictor: Predictor,
    /// Where the average starts.
    pub init: Init,
    /// How it is rounded.
    pub updates: Updates,
    /// What came of it.
    #[serde(flatten)]
    pub report: Report,
}

/// Every predictor with every start and every rounding, over one trace.
pub fn ablation(trace: &[Burst]) -> Vec<Arm> {
    let mut arms = Vec::new();
    for predictor in Predictor::ALL {
        for init in [Init::Ewma, Init::Bias] {
            for updates in [Updates::Fractional, Updates::Trunc] {
                let config = PredictorConfig {
                    predictor,
                    init,
                    updates,
                    ..PredictorConfig::default()
                };
                arms.push(Arm {
                    predictor,
                    init,
                    updates,
                    report: replay(trace, &config),
                });
            }
        }
    }
    arms
}

fn mean(sum: f64, count: u64) -> f64 {
    if count == 0 { 0.0 } else { sum / count as f64 }
}
