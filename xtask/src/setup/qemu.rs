// SPDX-License-Identifier: GPL-2.0-only

//! QEMU 10 or later. Version 7.2, Debian 12's own, crashes the guest when a scheduler attaches
//! under multi-threaded emulation (`Oops: int3` in `__schedule`).

use std::process::Command;

use anyhow::{Result, bail};

use super::apt::{self, State, Suite};
use super::{Steps, system};
use crate::paths;
use crate::process::{self, Failure, UNSUPPORTED};

const PROGRAM: &str = "qemu-system-x86_64";
const PACKAGE: &str = "qemu-system-x86";
const OLDEST: u32 = 10;

/// Makes sure of a QEMU that is new enough: from the machine's own sources if they have it, or
/// from its release's backports.
pub fn ensure(steps: &Steps) -> Result<()> {
    let installed = version();
    if let Some((major, text)) = &installed
        && *major >= OLDEST
    {
        steps.found("qemu", text);
        return Ok(());
    }
    let found = installed.map_or("none".to_owned(), |(_, text)| text);
    let Some(codename) = system::debian_codename() else {
        let message = format!(
            "the lab needs QEMU {OLDEST} or later ({PROGRAM}; found: {found}): install it by hand"
        );
        return Err(Failure::error(UNSUPPORTED, message));
    };
    if apt::candidate(PACKAGE)
        .as_deref()
        .and_then(upstream_major)
        .is_some_and(|m| m >= OLDEST)
    {
        steps.doing("qemu", &format!("found {found}; installing {PACKAGE}"));
        apt::install(&[PACKAGE.to_owned()])?;
    } else {
        let backports = format!("{codename}-backports");
        steps.doing(
            "qemu",
            &format!("found {found}; installing {PACKAGE} from {backports}"),
        );
        let suites = [
            Suite {
                name: &codename,
                rolling: false,
            },
            Suite {
                name: &backports,
                rolling: false,
            },
        ];
        let directory = paths::cache()?.join("apt").join(&backports);
        let state = State::fetch(directory, &apt::mirror(&codename)?, &suites)?;
        state.install(&backports, &[PACKAGE])?;
    }
    match version() {
        Some((major, _)) if major >= OLDEST => Ok(()),
        other => bail!("{PACKAGE} was installed, but {PROGRAM} is {other:?}"),
    }
}

/// The installed version: its major number, and how it names itself.
fn version() -> Option<(u32, String)> {
    let text = process::output(Command::new(process::find(PROGRAM)?).arg("--version")).ok()?;
    let version = text.split("version ").nth(1)?.split_whitespace().next()?;
    Some((upstream_major(version)?, version.to_owned()))
}

/// The major number of a version, of QEMU's own or of Debian's (`1:10.0.2+ds-2`).
fn upstream_major(version: &str) -> Option<u32> {
    let upstream = version
        .split_once(':')
        .map_or(version, |(_, upstream)| upstream);
    upstream.split('.').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_qemu_and_of_debian_are_read() {
        assert_eq!(upstream_major("10.0.2"), Some(10));
        assert_eq!(upstream_major("1:7.2+dfsg-7+deb12u18+b3"), Some(7));
        assert_eq!(upstream_major("1:10.0.2+ds-2+deb13u1~bpo12+1"), Some(10));
        assert_eq!(upstream_major("unknown"), None);
    }
}
