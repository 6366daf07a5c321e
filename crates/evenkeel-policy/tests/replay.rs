// SPDX-License-Identifier: GPL-2.0-only
//! Replay over traces.

use std::fs::{self, File};
use std::io::BufReader;
use std::path::PathBuf;

use evenkeel_policy::generate;
use evenkeel_policy::predictor::{Predictor, PredictorConfig};
use evenkeel_policy::replay::{Report, ablation, replay};
use evenkeel_policy::trace::{self, Burst};

/// The traces of the repository with their names, generated and recorded.
fn traces() -> anyhow::Result<Vec<(String, Vec<Burst>)>> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("traces");
    let mut traces = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|end| end == "jsonl") {
            let bursts = trace::read(BufReader::new(File::open(&path)?))?;
            traces.push((path.display().to_string(), bursts));
        }
    }
    Ok(traces)
}

fn report(bursts: &[Burst], predictor: Predictor) -> Report {
    replay(
        bursts,
        &PredictorConfig {
            predictor,
            ..PredictorConfig::default()
        },
    )
}

#[test]
fn the_generated_trace_in_the_repository_is_what_its_seed_gives() {
    let mut stored = traces().unwrap();
    stored.retain(|(name, _)| name.ends_with("/generated.jsonl"));
    assert_eq!(stored.len(), 1);
    assert_eq!(stored[0].1, generate::trace(1, 200));
}

#[test]
fn the_tournament_is_within_a_fifth_of_its_best_expert_on_every_trace() {
    for (name, bursts) in traces().unwrap() {
        let tournament = report(&bursts, Predictor::Tournament).log2_error;
        let best = Predictor::ALL[1..]
            .iter()
            .map(|expert| report(&bursts, *expert).log2_error)
            .fold(f64::MAX, f64::min);
        assert!(
            tournament < 1.2 * best,
            "{name}: {tournament} against {best}"
        );
    }
}

#[test]
fn trusted_estimates_are_better_than_the_others_on_every_trace() {
    for (name, bursts) in traces().unwrap() {
        let report = report(&bursts, Predictor::Tournament);
        assert!(report.confident > 0.0, "{name}");
        assert!(
            report.confident_log2_error < 0.8 * report.log2_error,
            "{name}: {report:?}"
        );
    }
}

#[test]
fn trusted_bursts_mostly_stay_within_their_margin_on_every_trace() {
    for (name, bursts) in traces().unwrap() {
        let report = report(&bursts, Predictor::Tournament);
        assert!(report.within_q90 > 0.8, "{name}: {report:?}");
    }
}

#[test]
fn an_ablation_has_every_combination_once() {
    let arms = ablation(&generate::trace(3, 20));
    assert_eq!(arms.len(), 5 * 2 * 2);
    for (i, arm) in arms.iter().enumerate() {
        assert!(arms[i + 1..].iter().all(|other| {
            (arm.predictor, arm.init, arm.updates) != (other.predictor, other.init, other.updates)
        }));
    }
}

#[test]
fn a_line_that_is_no_burst_is_named() {
    let text = "# a comment\n\n{\"task\":1,\"sleep_ns\":2,\"waker\":3,\"burst_ns\":4}\nnonsense\n";
    let error = trace::read(text.as_bytes()).unwrap_err().to_string();
    assert!(
        error.starts_with("line 4 of the trace is no burst"),
        "{error}"
    );
}

#[test]
fn an_empty_trace_gives_an_empty_report() {
    assert_eq!(replay(&[], &PredictorConfig::default()), Report::default());
}
