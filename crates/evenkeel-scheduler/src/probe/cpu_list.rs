// SPDX-License-Identifier: GPL-2.0-only
//! The kernel's lists of CPUs, such as `0-3,8`.

use std::collections::BTreeSet;

/// Highest CPU number accepted: four times the kernel's largest `NR_CPUS` (8192).
const MOST: u32 = 1 << 15;

/// Reads a list; `None` if it is not one. An empty text is an empty list.
pub fn parse(text: &str) -> Option<BTreeSet<u32>> {
    let mut cpus = BTreeSet::new();
    for part in text.trim().split(',').filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        if first > last || last >= MOST {
            return None;
        }
        cpus.extend(first..=last);
    }
    Some(cpus)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_and_single_cpus_are_read() {
        assert_eq!(parse("0-2,5\n"), Some(BTreeSet::from([0, 1, 2, 5])));
        assert_eq!(parse("7"), Some(BTreeSet::from([7])));
        assert_eq!(parse(""), Some(BTreeSet::new()));
    }

    #[test]
    fn nonsense_is_no_list() {
        for text in ["3-1", "a", "0-", "-1", "0-4294967295", "0--1"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
