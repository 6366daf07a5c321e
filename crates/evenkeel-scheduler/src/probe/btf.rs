// SPDX-License-Identifier: GPL-2.0-only
//! The kernel's type information, `/sys/kernel/btf/vmlinux`.
//!
//! The format is in the kernel's `Documentation/bpf/btf.rst`: a header, a type section and a section of
//! NUL-terminated names. To know whether a kernel function exists, its name is enough.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Read};

use super::{Machine, Obstacle, Requirement};

const NAME: &str = "BTF";
/// The types of the running kernel.
pub(crate) const FILE: &str = "/sys/kernel/btf/vmlinux";
const MAGIC: u16 = 0xeb9f;
const HEADER_BYTES: usize = 24;

/// The names in one BTF.
#[derive(Debug)]
pub struct Names {
    section: Vec<u8>,
}

impl Names {
    /// Reads the names of the running kernel.
    ///
    /// # Errors
    /// Those of reading the file, and `InvalidData` for one that is no BTF of this machine.
    pub fn read(machine: &Machine) -> io::Result<Self> {
        Self::parse(&fs::read(machine.path(FILE))?)
    }

    fn parse(btf: &[u8]) -> io::Result<Self> {
        let (header_len, _) = header(btf)?;
        let word = |at: usize| {
            let bytes = btf.get(at..at + 4)?.try_into().ok()?;
            usize::try_from(u32::from_ne_bytes(bytes)).ok()
        };
        let section = || {
            let start = header_len.checked_add(word(16)?)?;
            btf.get(start..start.checked_add(word(20)?)?)
        };
        let section = section().ok_or_else(|| invalid("its names are cut off"))?;
        Ok(Self {
            section: section.to_vec(),
        })
    }

    /// Which of `wanted` are in it.
    pub fn present<'a>(&self, wanted: &[&'a str]) -> HashSet<&'a str> {
        let mut left: HashSet<&[u8]> = wanted.iter().map(|name| name.as_bytes()).collect();
        for name in self.section.split(|byte| *byte == 0) {
            left.remove(name);
        }
        wanted
            .iter()
            .copied()
            .filter(|name| !left.contains(name.as_bytes()))
            .collect()
    }
}

/// The header's length and version, if it is a BTF in this machine's byte order.
fn header(btf: &[u8]) -> io::Result<(usize, u8)> {
    let header: &[u8; HEADER_BYTES] = btf
        .first_chunk()
        .ok_or_else(|| invalid("it is shorter than a header"))?;
    if u16::from_ne_bytes([header[0], header[1]]) != MAGIC {
        return Err(invalid("it does not start like one"));
    }
    let length = u32::from_ne_bytes([header[4], header[5], header[6], header[7]]);
    Ok((length as usize, header[2]))
}

fn invalid(why: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

/// Reads only the header: every start pays for it.
fn check(machine: &Machine) -> io::Result<()> {
    let mut start = [0; HEADER_BYTES];
    File::open(machine.path(FILE))?.read_exact(&mut start)?;
    header(&start).map(|_| ())
}

pub(super) fn requirement(machine: &Machine) -> Requirement {
    match check(machine) {
        Ok(()) => Requirement::ok(NAME, FILE),
        Err(error) => Requirement::missing(
            NAME,
            format!("{FILE}: {error}"),
            "boot a kernel built with CONFIG_DEBUG_INFO_BTF=y",
            Obstacle::Unsupported,
        ),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::super::{Verdict, fixture::Fixture};
    use super::*;

    /// A BTF without types, but with these names.
    pub(crate) fn btf_with_names(names: &[&str]) -> Vec<u8> {
        let mut section = vec![0];
        for name in names {
            section.extend_from_slice(name.as_bytes());
            section.push(0);
        }
        let mut btf = MAGIC.to_ne_bytes().to_vec();
        btf.extend_from_slice(&[1, 0]);
        for word in [HEADER_BYTES as u32, 0, 0, 0, section.len() as u32] {
            btf.extend_from_slice(&word.to_ne_bytes());
        }
        btf.extend_from_slice(&section);
        btf
    }

    #[test]
    fn whole_names_are_found_and_parts_of_names_are_not() {
        let names = Names::parse(&btf_with_names(&["scx_bpf_now", "scx_bpf_dsq_insert___v2"]));
        let found = names
            .unwrap()
            .present(&["scx_bpf_now", "scx_bpf_dsq_insert", "bpf_now"]);
        assert_eq!(found, HashSet::from(["scx_bpf_now"]));
    }

    #[test]
    fn cut_or_foreign_files_are_errors_and_never_panics() {
        let whole = btf_with_names(&["a_name"]);
        for cut in 0..whole.len() {
            assert!(Names::parse(&whole[..cut]).is_err(), "{cut}");
        }
        let mut huge = whole.clone();
        huge[16..24].fill(0xff);
        assert!(Names::parse(&huge).is_err());
        let mut foreign = whole;
        foreign.swap(0, 1);
        assert!(Names::parse(&foreign).is_err());
    }

    #[test]
    fn a_kernel_without_btf_is_unsupported() {
        let fixture = Fixture::empty();
        assert_eq!(
            requirement(&fixture.machine()).obstacle,
            Some(Obstacle::Unsupported)
        );
        fixture.write("sys/kernel/btf/vmlinux", "");
        assert_eq!(requirement(&fixture.machine()).verdict, Verdict::Missing);
        fixture.write("sys/kernel/btf/vmlinux", btf_with_names(&[]));
        assert_eq!(requirement(&fixture.machine()).verdict, Verdict::Ok);
    }
}
