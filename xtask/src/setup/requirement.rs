// SPDX-License-Identifier: GPL-2.0-only

//! What must be on the machine, how to see that it is, and the Debian package that brings it.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::{Steps, apt, clang, system};
use crate::process::{self, Failure, UNSUPPORTED};

/// How to see that a requirement is met.
enum Probe {
    /// A program on the PATH or in a system directory.
    Program(&'static str),
    /// A C header.
    Header(&'static str),
    /// A busybox without shared libraries, for the guest's initial file system.
    StaticBusybox,
    /// A clang that can build BPF.
    Clang,
}

struct Requirement {
    package: &'static str,
    probe: Probe,
}

const fn program(package: &'static str, name: &'static str) -> Requirement {
    Requirement {
        package,
        probe: Probe::Program(name),
    }
}

const REQUIREMENTS: [Requirement; 15] = [
    program("gcc", "cc"),
    program("make", "make"),
    program("pkg-config", "pkg-config"),
    Requirement {
        package: "clang",
        probe: Probe::Clang,
    },
    Requirement {
        package: "libelf-dev",
        probe: Probe::Header("libelf.h"),
    },
    Requirement {
        package: "zlib1g-dev",
        probe: Probe::Header("zlib.h"),
    },
    program("kmod", "depmod"),
    // virtme's guest needs it: without it the virtio ports have no names.
    program("udev", "udevadm"),
    Requirement {
        package: "busybox-static",
        probe: Probe::StaticBusybox,
    },
    // virtme asks it whether that busybox is static.
    program("file", "file"),
    program("xz-utils", "xz"),
    program("procps", "ps"),
    program("util-linux", "taskset"),
    program("rt-tests", "hackbench"),
    program("linux-perf", "perf"),
];

/// What makes a disk image.
const IMAGE_TOOLS: [Requirement; 2] = [
    program("mmdebstrap", "mmdebstrap"),
    program("e2fsprogs", "mkfs.ext4"),
];

impl Requirement {
    fn met(&self) -> bool {
        match self.probe {
            Probe::Program(name) => process::find(name).is_some(),
            Probe::Header(name) => Path::new("/usr/include").join(name).exists(),
            Probe::StaticBusybox => ["/bin/busybox", "/usr/bin/busybox"]
                .iter()
                .find_map(|path| fs::read(path).ok())
                .is_some_and(|program| is_static(&program)),
            Probe::Clang => clang::find().is_some(),
        }
    }

    fn shown(&self) -> &'static str {
        match self.probe {
            Probe::Clang => "clang (18 or later)",
            _ => self.package,
        }
    }

    fn package(&self) -> Result<String> {
        match self.probe {
            Probe::Clang => clang::package().context("apt offers no clang of version 18 or later"),
            _ => Ok(self.package.to_owned()),
        }
    }
}

/// Whether an ELF executable names no program interpreter.
fn is_static(program: &[u8]) -> bool {
    let head = &program[..program.len().min(4096)];
    !head.windows(4).any(|window| window == b"/ld-")
}

/// Installs the packages of what is missing, or says what to install by hand.
pub fn ensure(steps: &Steps) -> Result<()> {
    ensure_all(steps, &REQUIREMENTS)
}

/// The same for what makes a disk image.
pub fn ensure_image_tools(steps: &Steps) -> Result<()> {
    ensure_all(steps, &IMAGE_TOOLS)
}

fn ensure_all(steps: &Steps, requirements: &[Requirement]) -> Result<()> {
    let missing: Vec<&Requirement> = requirements
        .iter()
        .filter(|requirement| !requirement.met())
        .collect();
    if missing.is_empty() {
        steps.found("packages", &format!("all {} present", requirements.len()));
        return Ok(());
    }
    let names: Vec<&str> = missing
        .iter()
        .map(|requirement| requirement.shown())
        .collect();
    if system::debian_codename().is_none() {
        let message = format!(
            "this machine is not Debian: install by hand what these Debian packages bring, then \
             run this again: {}",
            names.join(", ")
        );
        return Err(Failure::error(UNSUPPORTED, message));
    }
    steps.doing("packages", &format!("installing {}", names.join(", ")));
    if missing
        .iter()
        .any(|requirement| matches!(requirement.probe, Probe::Clang))
        && clang::package().is_none()
    {
        apt::update()?;
    }
    let packages: Vec<String> = missing
        .iter()
        .map(|requirement| requirement.package())
        .collect::<Result<_>>()?;
    apt::install(&packages)?;
    match missing.iter().find(|requirement| !requirement.met()) {
        Some(requirement) => anyhow::bail!("{} is installed but not found", requirement.package),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_with_an_interpreter_is_not_static() {
        let own = fs::read("/proc/self/exe").expect("the test can read itself");
        assert!(!is_static(&own));
        assert!(is_static(b"\x7fELF and nothing more"));
    }
}
