// SPDX-License-Identifier: GPL-2.0-only

//! The machine: its distribution, and how to become root on it.

use std::process::Command;

use anyhow::Result;

use crate::process::{self, Failure, NOT_PERMITTED};

/// The Debian release's code name ("bookworm"), or nothing on another distribution.
pub fn debian_codename() -> Option<String> {
    process::find("apt-get")?;
    codename(&std::fs::read_to_string("/etc/os-release").ok()?)
}

fn codename(os_release: &str) -> Option<String> {
    let value = |key: &str| {
        os_release
            .lines()
            .find_map(|line| line.strip_prefix(key)?.strip_prefix('='))
            .map(|value| value.trim_matches('"').to_owned())
    };
    (value("ID")? == "debian").then(|| value("VERSION_CODENAME"))?
}

/// A command that runs as root: as it is, or through sudo.
pub fn as_root(program: &str) -> Result<Command> {
    if rustix::process::geteuid().is_root() {
        return Ok(Command::new(program));
    }
    if process::find("sudo").is_none() {
        let message = format!("`{program}` needs root and there is no sudo: run this as root once");
        return Err(Failure::error(NOT_PERMITTED, message));
    }
    let mut command = Command::new("sudo");
    command.args(["--", program]);
    Ok(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debian_is_known_by_its_code_name() {
        let text = "PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nVERSION_CODENAME=bookworm\nID=debian\n";
        assert_eq!(codename(text).as_deref(), Some("bookworm"));
    }

    #[test]
    fn a_relative_of_debian_is_not_debian() {
        assert_eq!(
            codename("ID=ubuntu\nID_LIKE=debian\nVERSION_CODENAME=noble\n"),
            None
        );
        assert_eq!(codename(""), None);
    }
}
