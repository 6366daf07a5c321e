// SPDX-License-Identifier: GPL-2.0-only

//! The shared libraries of the guest's programs. They are copied into its memory as the programs
//! are: a page that is fetched over 9p in a measured window shows as an outlier, above all in
//! instruction time, where the guest's clock leaps while the host reads.

use std::path::PathBuf;
use std::process::Command;

use crate::process;

/// The libraries that programs of this machine are linked with, each once.
pub fn of(programs: &[PathBuf]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for program in programs {
        // A static program has none, and makes ldd fail.
        let listed = process::output(Command::new("ldd").arg(program)).unwrap_or_default();
        found.extend(parse(&listed));
    }
    found.sort();
    found.dedup();
    found
}

/// The paths in ldd's output: `name => path (address)`.
fn parse(listed: &str) -> impl Iterator<Item = PathBuf> {
    listed.lines().filter_map(|line| {
        let path = line.split_once(" => ")?.1.rsplit_once(" (")?.0;
        path.starts_with('/').then(|| PathBuf::from(path))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_have_a_path() {
        let listed = "\tlinux-vdso.so.1 (0x00007ffd)\n\tlibz.so.1 => /lib/libz.so.1 (0x00007f)\n\
            \tlibgone.so => not found\n\t/lib64/ld-linux-x86-64.so.2 (0x00007f)\n";
        assert_eq!(
            parse(listed).collect::<Vec<_>>(),
            [PathBuf::from("/lib/libz.so.1")]
        );
    }
}
