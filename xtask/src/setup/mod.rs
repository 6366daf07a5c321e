// SPDX-License-Identifier: GPL-2.0-only

//! `cargo xtask setup`: what the build and the lab need, installed where it is missing.
//!
//! Everything that is not a package of the machine's distribution goes to the cache
//! ([`paths::cache`](crate::paths::cache)). Each step first looks at what is there, so that a
//! second run has nothing to do.

mod apt;
mod clang;
mod index;
mod kernel;
mod peers;
mod qemu;
mod requirement;
mod system;
mod virtme;

use std::time::Instant;

use anyhow::Result;

pub use clang::find as clang;
pub use kernel::image as kernel_image;
pub use peers::{PEERS, ensure as peers};
pub use virtme::program as virtme_run;

use crate::process::{Failure, UNSUPPORTED};

/// Install what the build and the lab need, and say what was found.
///
/// Packages come from apt (as root, or through sudo); virtme-ng and a kernel with sched_ext go
/// to the cache: `.lab` in the checkout, or the directory that EVENKEEL_LAB names. On a machine
/// that is not Debian it says what to install by hand and ends with status 3.
///
/// Example: cargo xtask setup
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// Look for a newer kernel than the one in the cache.
    #[arg(long)]
    refresh: bool,
}

/// Runs `cargo xtask setup`.
pub fn run(arguments: &Arguments) -> Result<u8> {
    let start = Instant::now();
    let steps = Steps { quiet: false };
    build_needs(&steps)?;
    lab_needs(&steps)?;
    kernel::ensure(&steps, arguments.refresh)?;
    steps.found(
        "ready",
        &format!("in {:.1} s", start.elapsed().as_secs_f64()),
    );
    Ok(0)
}

/// Makes sure that the build can run; prints only what it has to do.
pub fn ensure_build() -> Result<()> {
    build_needs(&Steps { quiet: true })
}

/// Makes sure that the build and the lab can run; prints only what it has to do.
pub fn ensure() -> Result<()> {
    ensure_without_kernel()?;
    kernel::ensure(&Steps { quiet: true }, false)
}

/// The same where the user has a kernel.
pub fn ensure_without_kernel() -> Result<()> {
    let steps = Steps { quiet: true };
    build_needs(&steps)?;
    lab_needs(&steps)
}

/// Makes sure of the programs that make a disk image.
pub fn image_tools() -> Result<()> {
    requirement::ensure_image_tools(&Steps { quiet: true })
}

/// The machine's Debian mirror, or nothing on another distribution.
pub fn mirror() -> Result<Option<String>> {
    system::debian_codename()
        .map(|codename| apt::mirror(&codename))
        .transpose()
}

fn build_needs(steps: &Steps) -> Result<()> {
    requirement::ensure(steps)
}

fn lab_needs(steps: &Steps) -> Result<()> {
    if std::env::consts::ARCH != "x86_64" {
        let message = "the lab needs an x86-64 machine; everything else builds here";
        return Err(Failure::error(UNSUPPORTED, message));
    }
    qemu::ensure(steps)?;
    virtme::ensure(steps)
}

/// The steps' output: what was found, and what takes time.
pub struct Steps {
    quiet: bool,
}

impl Steps {
    /// Something that needs no work.
    fn found(&self, what: &str, detail: &str) {
        if !self.quiet {
            println!("setup: {what:<10} {detail}");
        }
    }

    /// Something that will take a while. Goes to standard error where the step is a means to
    /// another command's end.
    fn doing(&self, what: &str, detail: &str) {
        if self.quiet {
            eprintln!("setup: {what:<10} {detail} ...");
        } else {
            println!("setup: {what:<10} {detail} ...");
        }
    }
}
