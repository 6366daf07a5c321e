// SPDX-License-Identifier: GPL-2.0-only

//! The compiler for BPF: clang 18 or later.

use std::path::PathBuf;
use std::process::Command;

use super::apt;
use crate::process;

/// The first version whose BPF output the scheduler's object needs.
const OLDEST: u32 = 18;
/// The one that is tested, and preferred.
const PREFERRED: u32 = 19;
/// As far as is looked for.
const NEWEST: u32 = 30;

/// Versions in the order of preference.
fn versions() -> impl Iterator<Item = u32> {
    std::iter::once(PREFERRED).chain(
        (OLDEST..=NEWEST)
            .rev()
            .filter(|&version| version != PREFERRED),
    )
}

/// The installed compiler: a versioned one, or `clang` if it is new enough.
pub fn find() -> Option<PathBuf> {
    versions()
        .find_map(|version| process::find(&format!("clang-{version}")))
        .or_else(|| {
            let clang = process::find("clang")?;
            let text = process::output(Command::new(&clang).arg("--version")).ok()?;
            (major(&text)? >= OLDEST).then_some(clang)
        })
}

/// The package to install: the preferred one that apt offers.
pub fn package() -> Option<String> {
    versions()
        .map(|version| format!("clang-{version}"))
        .find(|name| apt::candidate(name).is_some())
}

/// The major version in the output of `clang --version`.
fn major(text: &str) -> Option<u32> {
    let rest = text.split("clang version ").nth(1)?;
    rest.split('.').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_major_version_is_read() {
        assert_eq!(major("Debian clang version 14.0.6\nTarget: x"), Some(14));
        assert_eq!(major("clang version 19.1.7 (3~deb12u1)"), Some(19));
        assert_eq!(major("gcc"), None);
    }

    #[test]
    fn the_tested_version_comes_first() {
        let order: Vec<u32> = versions().collect();
        assert_eq!(&order[..2], &[PREFERRED, NEWEST]);
        assert_eq!(order.last(), Some(&OLDEST));
    }
}
