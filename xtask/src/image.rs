// SPDX-License-Identifier: GPL-2.0-only

//! `cargo xtask image`: a minimal Debian with systemd on a disk, for `lab --root-disk`.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

use crate::process::{self, Failure, UNSUPPORTED};
use crate::{paths, setup};

/// Make a disk image with a minimal Debian and systemd, for `lab --root-disk`.
///
/// Needs root, to give the files their owners.
///
/// Example: cargo xtask image && cargo xtask lab --root-disk .lab/trixie.img -- systemctl is-system-running
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// The image [default: .lab/SUITE.img].
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Debian's suite.
    #[arg(long, default_value = "trixie")]
    suite: String,
    /// The image's size, as mkfs.ext4 writes it.
    #[arg(long, default_value = "1500M")]
    size: String,
}

/// What the system has beside Debian's minimum: an init, and what `evenkeel` is linked with.
/// Without udev, systemd waits 90 s for the console's device.
const PACKAGES: &str = "systemd-sysv,udev,kmod,procps,libelf1t64,zlib1g";

/// Runs `cargo xtask image`.
pub fn run(arguments: &Arguments) -> Result<u8> {
    setup::image_tools()?;
    let Some(mirror) = setup::mirror()? else {
        return Err(Failure::error(
            UNSUPPORTED,
            "images are made on Debian only",
        ));
    };
    let cache = paths::cache()?;
    let out = arguments
        .out
        .clone()
        .unwrap_or_else(|| cache.join(format!("{}.img", arguments.suite)));
    let tree = cache.join(format!("{}.tree", arguments.suite));
    let _ = fs::remove_dir_all(&tree);
    eprintln!(
        "image: installing a minimal {} (about half a minute) ...",
        arguments.suite
    );
    process::output(
        Command::new("mmdebstrap")
            .args(["--variant=minbase", &format!("--include={PACKAGES}")])
            .arg(&arguments.suite)
            .arg(&tree)
            .arg(&mirror),
    )?;
    let partial = out.with_added_extension("partial");
    let _ = fs::remove_file(&partial);
    let mkfs = process::find("mkfs.ext4").context("there is no mkfs.ext4")?;
    process::output(
        Command::new(mkfs)
            .args(["-q", "-F", "-d"])
            .arg(&tree)
            .arg(&partial)
            .arg(&arguments.size),
    )?;
    fs::rename(&partial, &out)?;
    let _ = fs::remove_dir_all(&tree);
    println!("image: {}", out.display());
    Ok(0)
}
