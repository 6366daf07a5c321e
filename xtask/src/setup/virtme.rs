// SPDX-License-Identifier: GPL-2.0-only

//! virtme-ng, which boots a kernel on the host's file system, in a Python environment of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::{Steps, apt, system};
use crate::paths;
use crate::process::{self, Failure, UNSUPPORTED};

/// The tested version.
const VERSION: &str = "1.42";

/// virtme's launcher in the cache.
pub fn program() -> Result<PathBuf> {
    Ok(environment()?.join("bin/virtme-run"))
}

fn environment() -> Result<PathBuf> {
    Ok(paths::cache()?.join(format!("virtme-ng-{VERSION}")))
}

/// Makes sure that virtme-ng is in the cache.
pub fn ensure(steps: &Steps) -> Result<()> {
    let environment = environment()?;
    // A moved cache leaves launchers that name a Python which is gone.
    if program()?.is_file()
        && process::succeeds(Command::new(environment.join("bin/python3")).arg("--version"))
    {
        steps.found("virtme-ng", VERSION);
        return Ok(());
    }
    steps.doing(
        "virtme-ng",
        &format!("installing {VERSION} from the Python package index"),
    );
    let _ = fs::remove_dir_all(&environment);
    let result = create(&environment);
    if result.is_err() {
        let _ = fs::remove_dir_all(&environment);
    }
    result
}

fn create(environment: &Path) -> Result<()> {
    let python = python()?;
    process::output(Command::new(&python).args(["-m", "venv"]).arg(environment))
        .context("cannot create a Python environment")?;
    process::output(
        Command::new(environment.join("bin/python3"))
            .args([
                "-m",
                "pip",
                "install",
                "--quiet",
                "--disable-pip-version-check",
            ])
            .arg(format!("virtme-ng=={VERSION}")),
    )
    .context("cannot install virtme-ng")?;
    Ok(())
}

/// A Python that can create environments with pip in them; Debian's needs a package for it.
fn python() -> Result<PathBuf> {
    let usable = || {
        [process::find("python3"), Some("/usr/bin/python3".into())]
            .into_iter()
            .flatten()
            .find(|python| {
                process::succeeds(Command::new(python).args(["-c", "import venv, ensurepip"]))
            })
    };
    if let Some(python) = usable() {
        return Ok(python);
    }
    if system::debian_codename().is_none() {
        let message = "no python3 with the modules venv and ensurepip: install it by hand";
        return Err(Failure::error(UNSUPPORTED, message));
    }
    apt::install(&["python3-venv".to_owned()])?;
    usable().context("python3-venv is installed, but python3 cannot create environments")
}
