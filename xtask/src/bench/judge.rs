// SPDX-License-Identifier: GPL-2.0-only

//! Limits on the benchmark's ratios, and what the measurements say about them.

use super::record::{Lab, Metric, Record};
use crate::statistics::{Ratio, median};

/// What Evenkeel is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Against {
    /// The kernel's default scheduler.
    Default,
    /// The better of the peers.
    BestPeer,
    /// scx_bpfland.
    Bpfland,
}

/// A limit: Evenkeel's metric is at most `most` times the other's.
#[derive(Debug, Clone, Copy)]
pub struct Limit {
    /// Which metric.
    pub metric: Metric,
    /// Compared with what.
    pub against: Against,
    /// The largest ratio allowed.
    pub most: f64,
}

/// Every limit.
pub const LIMITS: [Limit; 6] = [
    Limit {
        metric: Metric::HackbenchThreads,
        against: Against::BestPeer,
        most: 1.05,
    },
    Limit {
        metric: Metric::HackbenchPipes,
        against: Against::BestPeer,
        most: 1.05,
    },
    Limit {
        metric: Metric::PerfPipe,
        against: Against::BestPeer,
        most: 1.05,
    },
    Limit {
        metric: Metric::WakeupP99,
        against: Against::Default,
        most: 1.2,
    },
    Limit {
        metric: Metric::Attach,
        against: Against::Bpfland,
        most: 1.0,
    },
    Limit {
        metric: Metric::Resident,
        against: Against::Bpfland,
        most: 1.0,
    },
];

/// What the measurements say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The interval's upper bound, widened by the noise floor, keeps the limit.
    Kept,
    /// The interval's lower bound, lowered by the noise floor, is beyond it.
    Exceeded,
    /// Neither.
    Undecided,
}

/// A limit with the measurements' answer.
#[derive(Debug, Clone)]
pub struct Verdict {
    /// In which lab.
    pub lab: Lab,
    /// Which limit.
    pub limit: Limit,
    /// The arm that Evenkeel was compared with.
    pub arm: &'static str,
    /// Evenkeel's ratio to it.
    pub ratio: Ratio,
    /// Half-width of the default's or Evenkeel's ratio to itself in log units, the wider.
    pub noise: f64,
    /// The answer.
    pub outcome: Outcome,
}

/// All limits in all labs that measured them.
pub fn all(records: &[Record]) -> Vec<Verdict> {
    [Lab::Deterministic, Lab::Parallel]
        .into_iter()
        .flat_map(|lab| LIMITS.map(|limit| verdict(records, lab, limit)))
        .flatten()
        .collect()
}

/// One arm's ratio to another's, paired by block.
pub fn ratio(records: &[Record], lab: Lab, metric: Metric, arm: &str, to: &str) -> Option<Ratio> {
    let value = |block: u32, arm: &str| {
        records
            .iter()
            .find(|record| {
                record.lab == lab
                    && record.metric == metric
                    && record.block == block
                    && record.arm == arm
            })?
            .value
    };
    let blocks = records.iter().map(|record| record.block).max()? + 1;
    let (numerators, denominators): (Vec<f64>, Vec<f64>) = (0..blocks)
        .filter_map(|block| Some((value(block, arm)?, value(block, to)?)))
        .unzip();
    Ratio::of(&numerators, &denominators)
}

/// The median of an arm's values.
pub fn middle(records: &[Record], lab: Lab, metric: Metric, arm: &str) -> Option<f64> {
    let values: Vec<f64> = records
        .iter()
        .filter(|record| record.lab == lab && record.metric == metric && record.arm == arm)
        .filter_map(|record| record.value)
        .collect();
    median(&values)
}

/// The noise floor: how wide the interval of a ratio between equal arms is, in log units.
pub fn noise(records: &[Record], lab: Lab, metric: Metric) -> Option<f64> {
    ["default", "evenkeel"]
        .into_iter()
        .filter_map(|arm| ratio(records, lab, metric, &format!("{arm}-again"), arm)?.half_width())
        .reduce(f64::max)
}

fn verdict(records: &[Record], lab: Lab, limit: Limit) -> Option<Verdict> {
    let metric = limit.metric;
    let arm = match limit.against {
        Against::Default => "default",
        Against::Bpfland => "scx_bpfland",
        Against::BestPeer => {
            ["scx_bpfland", "scx_cosmos"]
                .into_iter()
                .filter_map(|peer| {
                    Some((ratio(records, lab, metric, peer, "default")?.estimate, peer))
                })
                .min_by(|a, b| a.0.total_cmp(&b.0))?
                .1
        }
    };
    let ratio = ratio(records, lab, metric, "evenkeel", arm)?;
    let noise = noise(records, lab, metric).unwrap_or(0.0);
    Some(Verdict {
        lab,
        limit,
        arm,
        ratio,
        noise,
        outcome: outcome(&ratio, noise, limit.most),
    })
}

fn outcome(ratio: &Ratio, noise: f64, most: f64) -> Outcome {
    match ratio.interval {
        Some((_, high)) if high * noise.exp() <= most => Outcome::Kept,
        Some((low, _)) if low / noise.exp() > most => Outcome::Exceeded,
        _ => Outcome::Undecided,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(arms: &[(&str, f64)]) -> Vec<Record> {
        (0..8)
            .flat_map(|block| {
                arms.iter().map(move |(arm, value)| Record {
                    lab: Lab::Parallel,
                    block,
                    position: 0,
                    arm: (*arm).to_owned(),
                    metric: Metric::PerfPipe,
                    value: Some(*value),
                    failure: None,
                })
            })
            .collect()
    }

    #[test]
    fn the_better_peer_is_the_one_to_match() {
        let records = records(&[
            ("default", 1.0),
            ("evenkeel", 1.15),
            ("scx_bpfland", 1.2),
            ("scx_cosmos", 1.1),
        ]);
        let verdicts = all(&records);
        let [verdict] = verdicts.as_slice() else {
            panic!("one limit applies")
        };
        assert_eq!(verdict.arm, "scx_cosmos");
        assert_eq!(verdict.outcome, Outcome::Kept);
    }

    #[test]
    fn noise_widens_the_interval_on_both_sides() {
        let ratio = Ratio {
            estimate: 1.0,
            interval: Some((0.9, 1.04)),
            pairs: 8,
        };
        assert_eq!(outcome(&ratio, 0.0, 1.05), Outcome::Kept);
        assert_eq!(outcome(&ratio, 0.05, 1.05), Outcome::Undecided);
        let ratio = Ratio {
            estimate: 1.2,
            interval: Some((1.1, 1.3)),
            pairs: 8,
        };
        assert_eq!(outcome(&ratio, 0.01, 1.05), Outcome::Exceeded);
        assert_eq!(outcome(&ratio, 0.1, 1.05), Outcome::Undecided);
    }

    #[test]
    fn without_an_interval_nothing_is_decided() {
        let ratio = Ratio {
            estimate: 0.1,
            interval: None,
            pairs: 3,
        };
        assert_eq!(outcome(&ratio, 0.0, 1.05), Outcome::Undecided);
    }

    #[test]
    fn a_failed_trial_is_left_out_of_the_pairs() {
        let mut records = records(&[("default", 1.0), ("evenkeel", 2.0)]);
        records[1].value = None;
        let ratio = ratio(
            &records,
            Lab::Parallel,
            Metric::PerfPipe,
            "evenkeel",
            "default",
        );
        assert_eq!(ratio.expect("pairs remain").pairs, 7);
    }
}
