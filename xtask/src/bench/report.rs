// SPDX-License-Identifier: GPL-2.0-only

//! The benchmark's table, in Markdown.

use std::fmt::Write as _;

use super::Size;
use super::judge::{self, Against, Outcome, Verdict};
use super::measure::PROGRAMS;
use super::record::{Lab, Metric, Record};
use crate::statistics::Ratio;

const COMPARED: [&str; 4] = ["evenkeel", "scx_bpfland", "scx_cosmos", "default-again"];

/// The whole page.
pub fn render(records: &[Record], verdicts: &[Verdict], size: Size, setting: &str) -> String {
    let mut text = format!(
        "# Overhead\n\n\
         `cargo xtask bench overhead --blocks {} --seed {} --out DIR`, {} measurements, {} of them \
         failed. {setting}\n\n\
         Randomised blocks within one boot of each lab. Ratios: Hodges-Lehmann estimate of the \
         paired log ratio with its 95 % signed-rank interval; below 1 is better than the other. \
         The machine is emulated, so that absolute figures mean nothing. The ratio of the default \
         to itself (`default-again`) is the noise floor. Raw data: `overhead.jsonl`.\n",
        size.blocks,
        size.seed,
        records.len(),
        records
            .iter()
            .filter(|record| record.value.is_none())
            .count(),
    );
    for lab in [Lab::Deterministic, Lab::Parallel] {
        if records.iter().any(|record| record.lab == lab) {
            lab_tables(&mut text, records, lab);
        }
    }
    limits(&mut text, verdicts);
    text
}

fn lab_tables(text: &mut String, records: &[Record], lab: Lab) {
    let title = match lab {
        Lab::Deterministic => "One CPU, time counts instructions",
        Lab::Parallel => "Two CPUs, wall-clock time",
    };
    let _ = writeln!(
        text,
        "\n## {title}\n\nRatio to the kernel's default scheduler:\n"
    );
    let _ = writeln!(text, "| | {} |", COMPARED.join(" | "));
    let _ = writeln!(text, "|---|{}", "---|".repeat(COMPARED.len()));
    for metric in PROGRAMS {
        let _ = write!(text, "| {} |", title_of(metric));
        for arm in COMPARED {
            let ratio = judge::ratio(records, lab, metric, arm, "default");
            let _ = write!(
                text,
                " {} |",
                ratio.map_or("none".to_owned(), |ratio| shown(&ratio))
            );
        }
        text.push('\n');
    }
    let _ = writeln!(text, "\nThe scheduler's own process, medians:\n");
    let _ = writeln!(
        text,
        "| | evenkeel | scx_bpfland | scx_cosmos |\n|---|---|---|---|"
    );
    for (metric, scale, unit) in [
        (Metric::Attach, 1e3, "ms"),
        (Metric::Resident, 1.0, "KiB"),
        (Metric::IdleCpu, 100.0, "% of a CPU"),
    ] {
        let cell = |arm: &str| {
            let value = judge::middle(records, lab, metric, arm);
            value.map_or("not measured".to_owned(), |value| {
                format!("{:.3} {unit}", value * scale)
            })
        };
        let [ours, bpfland, cosmos] = ["evenkeel", "scx_bpfland", "scx_cosmos"].map(cell);
        let _ = writeln!(
            text,
            "| {} | {ours} | {bpfland} | {cosmos} |",
            title_of(metric)
        );
    }
}

fn limits(text: &mut String, verdicts: &[Verdict]) {
    let _ = writeln!(
        text,
        "\n## Limits\n\n\
         Kept: the interval's upper bound times the noise floor is within the limit. Exceeded: \
         its lower bound divided by the noise floor is beyond it. Otherwise undecided. The noise \
         floor is the half-width of the wider of the two A/A intervals.\n\n\
         | lab | | against | ratio | noise | at most | |\n|---|---|---|---|---|---|---|"
    );
    for verdict in verdicts {
        let against = match verdict.limit.against {
            Against::BestPeer => format!("{}, the better peer", verdict.arm),
            _ => verdict.arm.to_owned(),
        };
        let outcome = match verdict.outcome {
            Outcome::Kept => "kept",
            Outcome::Exceeded => "**exceeded**",
            Outcome::Undecided => "undecided",
        };
        let _ = writeln!(
            text,
            "| {} | {} | {against} | {} | x {:.3} | {:.2} | {outcome} |",
            verdict.lab.name(),
            title_of(verdict.limit.metric),
            shown(&verdict.ratio),
            verdict.noise.exp(),
            verdict.limit.most,
        );
    }
}

fn shown(ratio: &Ratio) -> String {
    match ratio.interval {
        Some((low, high)) => format!("{:.3} ({low:.3} to {high:.3})", ratio.estimate),
        None => format!("{:.3} ({} pairs)", ratio.estimate, ratio.pairs),
    }
}

fn title_of(metric: Metric) -> &'static str {
    match metric {
        Metric::HackbenchThreads => "hackbench, threads and sockets",
        Metric::HackbenchPipes => "hackbench, processes and pipes",
        Metric::PerfPipe => "perf bench sched pipe",
        Metric::WakeupP99 => "wakeup p99 beside CPU hogs",
        Metric::Attach => "start to attached",
        Metric::Resident => "resident memory",
        Metric::IdleCpu => "CPU while idle",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_trial_is_counted_on_the_page() {
        let record = |arm: &str, value| Record {
            lab: Lab::Deterministic,
            block: 0,
            position: 0,
            arm: arm.to_owned(),
            metric: Metric::PerfPipe,
            value,
            failure: None,
        };
        let records = [record("default", Some(1.0)), record("evenkeel", None)];
        let text = render(&records, &[], Size { blocks: 1, seed: 1 }, "Kernel 7.");
        assert!(text.contains("2 measurements, 1 of them failed"), "{text}");
        assert!(text.contains("| perf bench sched pipe | none |"), "{text}");
        assert!(!text.contains("Two CPUs"), "{text}");
    }
}
