// SPDX-License-Identifier: GPL-2.0-only
//! Replays recorded bursts through every expert and option, and prints a table.
//!
//! `cargo run -p evenkeel-policy --example replay -- FILE` (or `--json FILE` for JSON lines)

use std::fs::File;
use std::io::BufReader;

use anyhow::{Context, Result, bail};
use evenkeel_policy::replay::{Arm, ablation};
use evenkeel_policy::trace;

fn main() -> Result<()> {
    let mut arguments: Vec<_> = std::env::args().skip(1).collect();
    let json = arguments.first().is_some_and(|first| first == "--json");
    if json {
        arguments.remove(0);
    }
    let [path] = arguments.as_slice() else {
        bail!("usage: replay [--json] FILE");
    };
    let file = File::open(path).with_context(|| format!("cannot open {path}"))?;
    let bursts = trace::read(BufReader::new(file))?;
    let arms = ablation(&bursts);
    if json {
        for arm in &arms {
            println!("{}", serde_json::to_string(arm)?);
        }
    } else {
        print(&arms);
    }
    Ok(())
}

fn print(arms: &[Arm]) {
    if let Some(first) = arms.first() {
        println!(
            "{} bursts, {} after the warm-up\n",
            first.report.bursts, first.report.scored
        );
    }
    println!(
        "| predictor | init | updates | log2 error | us | trusted | its log2 error | in q90 |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for arm in arms {
        let report = &arm.report;
        println!(
            "| {:?} | {:?} | {:?} | {:.3} | {:.1} | {:.1} % | {:.3} | {:.1} % |",
            arm.predictor,
            arm.init,
            arm.updates,
            report.log2_error,
            report.error_us,
            100.0 * report.confident,
            report.confident_log2_error,
            100.0 * report.within_q90,
        );
    }
}
