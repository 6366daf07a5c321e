// SPDX-License-Identifier: GPL-2.0-only
//! Writes the seeded trace of known laws.
//!
//! `cargo run -p evenkeel-policy --example generate -- SEED ROUNDS > FILE`

use anyhow::{Result, bail};
use evenkeel_policy::generate;

fn main() -> Result<()> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [seed, rounds] = arguments.as_slice() else {
        bail!("usage: generate SEED ROUNDS");
    };
    println!("# generated: seed {seed}, {rounds} rounds");
    for burst in generate::trace(seed.parse()?, rounds.parse()?) {
        println!("{}", serde_json::to_string(&burst)?);
    }
    Ok(())
}
