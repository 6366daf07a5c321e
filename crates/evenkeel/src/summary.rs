// SPDX-License-Identifier: GPL-2.0-only
//! What the counters say, in a line or in a few.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::time::Duration;

use evenkeel_scheduler::Statistics;
use serde_json::{Value, json};

use crate::report::fact;

/// The counters that moved in a period, on one line.
pub fn moved(period: Duration, change: &Statistics, json: bool) -> String {
    if json {
        return json!({ "event": "stats", "seconds": period.as_secs_f64(), "statistics": change })
            .to_string();
    }
    let counters: BTreeMap<String, Value> = serde_json::to_value(change)
        .and_then(serde_json::from_value)
        .unwrap_or_default();
    let moved = counters
        .iter()
        .filter(|(_, value)| value.as_u64().is_some_and(|n| n > 0));
    let moved: Vec<_> = moved
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    format!("{:.1}s: {}", period.as_secs_f64(), moved.join(" "))
}

/// Shows an average that may not exist yet.
fn average(value: Option<f64>, digits: usize) -> impl Display {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.digits$}"))
}

/// The compact summary of a period: counts and averages, neither names nor process numbers.
pub fn summary_line(period: Duration, change: &Statistics) -> String {
    format!("{:.0}s: {}", period.as_secs_f64(), counts(change))
}

/// What happened, in a dozen words.
pub fn counts(change: &Statistics) -> String {
    format!(
        "{} runs, {} bursts, {} scored, error {} log2 or {} us, {} slices, {} preemptions, \
         {} fallbacks",
        change.running,
        change.bursts,
        change.scored,
        average(change.mean_log2_error(), 2),
        average(change.mean_error_us(), 0),
        change.slices(),
        change.preemptions,
        change.fallbacks,
    )
}

/// The closing summary of a trial.
pub fn summary(lasted: Duration, total: &Statistics) -> String {
    let us = |ns: u64| format!("{:.0} us", ns as f64 / 1000.0);
    let mut text = format!(
        "Summary of {:.1} s in mode {}\n",
        lasted.as_secs_f64(),
        total.mode
    );
    let averages = format!(
        "{} log2, {} us",
        average(total.mean_log2_error(), 2),
        average(total.mean_error_us(), 0)
    );
    let company = match total.slices_company {
        0 => "0".to_owned(),
        count => format!(
            "{count}, from {} to {}",
            us(total.slice_company_min_ns),
            us(total.slice_company_max_ns)
        ),
    };
    let waits = format!(
        "{}, {} beyond the bound",
        us(total.wait_max_ns),
        total.wait_over_bound
    );
    text.push_str(&fact("runs", total.running));
    text.push_str(&fact("waited in a queue", total.enqueued));
    text.push_str(&fact("straight to an idle CPU", total.direct_dispatches));
    text.push_str(&fact(
        "bursts, of them scored",
        format!("{}, {}", total.bursts, total.scored),
    ));
    text.push_str(&fact("mean absolute error", averages));
    text.push_str(&fact("slices in company", company));
    text.push_str(&fact("slices alone", total.slices_alone));
    text.push_str(&fact("preemptions", total.preemptions));
    text.push_str(&fact("longest wait", waits));
    text.push_str(&fact("fallbacks", total.fallbacks));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some() -> Statistics {
        Statistics {
            mode: "online".to_owned(),
            running: 7,
            scored: 2,
            log_error_sum_q10: 1024,
            abs_error_sum_ns: 30_000,
            slice_late_us: vec![0; 64],
            ..Statistics::default()
        }
    }

    #[test]
    fn only_what_moved_is_printed() {
        let line = moved(Duration::from_secs(1), &some(), false);
        assert!(
            line.starts_with("1.0s: ") && line.contains("running=7"),
            "{line}"
        );
        assert!(
            !line.contains("preemptions") && !line.contains("slice_late"),
            "{line}"
        );
    }

    #[test]
    fn errors_are_given_in_both_units_and_absent_before_the_first() {
        let line = summary_line(Duration::from_secs(60), &some());
        assert!(
            line.starts_with("60s: 7 runs") && line.contains("0.50 log2 or 15 us"),
            "{line}"
        );
        let line = summary_line(Duration::from_secs(60), &Statistics::default());
        assert!(line.contains("error - log2 or - us"), "{line}");
    }

    #[test]
    fn a_json_line_is_small_enough_to_be_written_whole() {
        let most = Statistics {
            slice_late_us: vec![u64::MAX; 64],
            ..some()
        };
        assert!(moved(Duration::from_secs(1), &most, true).len() < 4096);
    }
}
