// SPDX-License-Identifier: GPL-2.0-only

//! What a benchmark's measurements mean for its exit status.

use super::judge::{LIMITS, Outcome, Verdict};
use super::record::{Lab, Record};
use crate::process::{FAILURE, THRESHOLD};

/// The exit status of a benchmark: [`THRESHOLD`] if a limit is exceeded, [`FAILURE`] if one is
/// undecided or not measured or a trial failed, 0 only if every limit is kept.
pub fn of(records: &[Record], verdicts: &[Verdict]) -> u8 {
    let has = |outcome| verdicts.iter().any(|verdict| verdict.outcome == outcome);
    let measured = |lab| records.iter().any(|record| record.lab == lab);
    let labs = [Lab::Deterministic, Lab::Parallel].map(measured);
    let due = LIMITS.len() * labs.into_iter().filter(|measured| *measured).count();
    if has(Outcome::Exceeded) {
        THRESHOLD
    } else if has(Outcome::Undecided)
        || verdicts.len() < due
        || records.iter().any(|record| record.value.is_none())
    {
        FAILURE
    } else {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::super::judge;
    use super::super::record::Metric;
    use super::super::trials::ARMS;
    use super::*;

    /// A whole benchmark of one lab in which Evenkeel needs `ratio` of what every other arm needs.
    fn benchmark(blocks: u32, ratio: f64) -> Vec<Record> {
        let metrics = LIMITS.map(|limit| limit.metric);
        (0..blocks)
            .flat_map(|block| ARMS.map(|arm| (block, arm.name)))
            .flat_map(|(block, arm)| {
                let value = if arm.starts_with("evenkeel") {
                    ratio
                } else {
                    1.0
                };
                metrics.map(|metric| Record {
                    lab: Lab::Deterministic,
                    block,
                    position: 0,
                    arm: arm.to_owned(),
                    metric,
                    value: Some(value),
                    failure: None,
                })
            })
            .collect()
    }

    fn status_of(records: &[Record]) -> u8 {
        of(records, &judge::all(records))
    }

    #[test]
    fn the_status_is_0_only_if_every_limit_is_kept_and_7_if_one_is_exceeded() {
        assert_eq!(status_of(&benchmark(8, 0.9)), 0);
        assert_eq!(status_of(&benchmark(8, 1.5)), THRESHOLD);
    }

    #[test]
    fn an_undecided_or_unmeasured_limit_or_a_failed_trial_is_status_1() {
        assert_eq!(status_of(&benchmark(3, 0.9)), FAILURE);
        let mut unmeasured = benchmark(8, 0.9);
        unmeasured.retain(|record| record.metric != Metric::Attach);
        assert_eq!(status_of(&unmeasured), FAILURE);
        let mut failed = benchmark(8, 0.9);
        failed[0].value = None;
        assert_eq!(status_of(&failed), FAILURE);
    }

    #[test]
    fn an_exceeded_limit_outweighs_a_failed_trial() {
        let mut records = benchmark(8, 1.5);
        records[0].value = None;
        assert_eq!(status_of(&records), THRESHOLD);
    }
}
