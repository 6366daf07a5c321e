// SPDX-License-Identifier: GPL-2.0-only

//! The demo's table.

use std::fmt::Write as _;

use super::blocks::{Block, Counters, Latency, Run};
use crate::statistics::median;

/// A row: its name, and how to take its value from a run.
type Row = (&'static str, fn(&Run) -> f64);

const ROWS: [Row; 4] = [
    ("burst completion  p50", |run| {
        milliseconds(&run.completion, |l| l.p50_ns)
    }),
    ("                  p99", |run| {
        milliseconds(&run.completion, |l| l.p99_ns)
    }),
    ("wakeup latency    p50", |run| {
        milliseconds(&run.wakeup, |l| l.p50_ns)
    }),
    ("                  p99", |run| {
        milliseconds(&run.wakeup, |l| l.p99_ns)
    }),
];

fn milliseconds(latency: &Latency, of: fn(&Latency) -> f64) -> f64 {
    of(latency) / 1e6
}

/// Medians over the blocks, the median of the blocks' ratios, and what Evenkeel counted.
pub fn render(blocks: &[Block], emulated: bool) -> String {
    let mut text = String::new();
    let _ = writeln!(
        text,
        "\nShort bursts beside CPU hogs, {} blocks, medians of the blocks",
        blocks.len()
    );
    let _ = writeln!(
        text,
        "\n{:<22}{:>12}{:>12}{:>9}",
        "(ms)", "default", "evenkeel", "ratio"
    );
    for (name, value) in ROWS {
        let over = |of: &dyn Fn(&Block) -> f64| {
            median(&blocks.iter().map(of).collect::<Vec<_>>()).unwrap_or(f64::NAN)
        };
        let _ = writeln!(
            text,
            "{name:<22}{:>12.3}{:>12.3}{:>8.2}x",
            over(&|block| value(&block.default)),
            over(&|block| value(&block.evenkeel)),
            over(&|block| value(&block.evenkeel) / value(&block.default)),
        );
    }
    text.push_str(&counted(blocks));
    if emulated {
        text.push_str(
            "\nThe machine was emulated: compare the two columns, and take no figure by itself.\n",
        );
    }
    text
}

fn counted(blocks: &[Block]) -> String {
    let sum =
        |of: fn(&Counters) -> u64| blocks.iter().map(|block| of(&block.counters)).sum::<u64>();
    let shortest = blocks
        .iter()
        .map(|block| block.counters.slice_company_min_ns)
        .min();
    let longest = blocks
        .iter()
        .map(|block| block.counters.slice_company_max_ns)
        .max();
    let scored = sum(|c| c.scored);
    let per_burst = |sum: u64| {
        if scored == 0 {
            f64::NAN
        } else {
            sum as f64 / scored as f64
        }
    };
    format!(
        "\nslices            {} in company, {:.2} to {:.2} ms; {} alone\n\
         preemptions       {}\n\
         prediction error  {:.2} in log2, {:.0} us, over {scored} bursts\n",
        sum(|c| c.slices_company),
        shortest.unwrap_or(0) as f64 / 1e6,
        longest.unwrap_or(0) as f64 / 1e6,
        sum(|c| c.slices_alone),
        sum(|c| c.preemptions),
        per_burst(sum(|c| c.log_error_sum_q10)) / 1024.0,
        per_burst(sum(|c| c.abs_error_sum_ns)) / 1e3,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_paired_within_blocks() {
        let run = |p50_ns: f64| Run {
            completion: Latency {
                count: 1,
                p50_ns,
                p99_ns: p50_ns,
            },
            wakeup: Latency {
                count: 1,
                p50_ns,
                p99_ns: p50_ns,
            },
        };
        let counters = Counters {
            scored: 4,
            log_error_sum_q10: 2048,
            abs_error_sum_ns: 8000,
            ..Counters::default()
        };
        let block = |a, b| Block {
            default: run(a),
            evenkeel: run(b),
            counters: counters.clone(),
        };
        let blocks = [block(1e6, 2e6), block(10e6, 5e6), block(4e6, 4e6)];
        let text = render(&blocks, true);
        assert!(text.contains("4.000       4.000    1.00x"), "{text}");
        assert!(
            text.contains("0.50 in log2, 2 us, over 12 bursts"),
            "{text}"
        );
        assert!(text.contains("emulated"));
        assert!(!render(&blocks, false).contains("emulated"));
    }
}
