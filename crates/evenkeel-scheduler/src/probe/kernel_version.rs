// SPDX-License-Identifier: GPL-2.0-only
//! The kernel's release, from `/proc/sys/kernel/osrelease`.

use std::fmt;

use super::{Machine, Obstacle, Requirement};

const NAME: &str = "kernel version";

/// The first kernel with sched_ext.
const NEEDED: Version = Version {
    major: 6,
    minor: 12,
};

/// The two numbers that name a kernel's features.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// First number.
    pub major: u32,
    /// Second number.
    pub minor: u32,
}

impl Version {
    /// Reads the first two numbers of a release such as `7.3.4+deb13-amd64` or `6.12-rc1`.
    pub fn parse(release: &str) -> Option<Self> {
        let mut numbers = release.split(|c: char| !c.is_ascii_digit());
        let major = numbers.next()?.parse().ok()?;
        let minor = numbers.next()?.parse().ok()?;
        Some(Self { major, minor })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// The running kernel's release, as `uname -r` prints it.
///
/// # Errors
/// Those of reading the file.
pub fn release(machine: &Machine) -> std::io::Result<String> {
    machine.read("/proc/sys/kernel/osrelease")
}

pub(super) fn requirement(machine: &Machine) -> Requirement {
    let mend = format!("boot a kernel of {NEEDED} or later");
    let release = match release(machine) {
        Ok(release) => release,
        Err(error) => {
            let finding = format!("unknown: /proc/sys/kernel/osrelease: {error}");
            return Requirement::missing(NAME, finding, "mount /proc", Obstacle::Unsupported);
        }
    };
    match Version::parse(&release) {
        Some(version) if version >= NEEDED => Requirement::ok(NAME, release),
        Some(_) => {
            let finding = format!("{release}, older than {NEEDED}");
            Requirement::missing(NAME, finding, mend, Obstacle::Unsupported)
        }
        None => {
            let finding = format!("{release:?} is not a version this program can read");
            Requirement::warning(NAME, finding, mend)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Verdict, fixture::Fixture};
    use super::*;

    #[test]
    fn releases_of_distributions_are_read() {
        for (release, version) in [
            ("7.3.4+deb13-amd64", Some((7, 3))),
            ("6.12.0-rc1", Some((6, 12))),
            ("6.12-rc1", Some((6, 12))),
            ("10.0", Some((10, 0))),
            ("six", None),
            ("7", None),
            ("", None),
            ("99999999999.1", None),
        ] {
            let wanted = version.map(|(major, minor)| Version { major, minor });
            assert_eq!(Version::parse(release), wanted, "{release}");
        }
    }

    #[test]
    fn an_old_kernel_is_missing_and_a_new_one_is_ok() {
        let fixture = Fixture::empty();
        for (release, verdict) in [
            ("6.11.9", Verdict::Missing),
            ("6.12.0", Verdict::Ok),
            ("7.0.1", Verdict::Ok),
            ("strange", Verdict::Warning),
        ] {
            fixture.write("proc/sys/kernel/osrelease", release);
            assert_eq!(
                requirement(&fixture.machine()).verdict,
                verdict,
                "{release}"
            );
        }
    }
}
