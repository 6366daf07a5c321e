// SPDX-License-Identifier: GPL-2.0-only
//! Whether this process may load a scheduler, from `/proc/self/status`.

use super::{Machine, Obstacle, Requirement};

const NAME: &str = "privileges";

// Bit numbers of `include/uapi/linux/capability.h`.
const CAP_SYS_ADMIN: u32 = 21;
const CAP_PERFMON: u32 = 38;
const CAP_BPF: u32 = 39;

/// The effective capabilities of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities(u64);

impl Capabilities {
    /// Reads the line `CapEff:` of a process's status.
    pub fn parse(status: &str) -> Option<Self> {
        let hex = status
            .lines()
            .find_map(|line| line.strip_prefix("CapEff:"))?;
        u64::from_str_radix(hex.trim(), 16).ok().map(Self)
    }

    fn has(self, bit: u32) -> bool {
        self.0 >> bit & 1 == 1
    }

    /// Whether it is enough to load struct_ops programs: `CAP_SYS_ADMIN`, or `CAP_BPF` with `CAP_PERFMON`
    /// (`is_perfmon_prog_type` in the kernel's `kernel/bpf/syscall.c`).
    pub fn suffice(self) -> bool {
        self.has(CAP_SYS_ADMIN) || self.has(CAP_BPF) && self.has(CAP_PERFMON)
    }
}

pub(super) fn requirement(machine: &Machine) -> Requirement {
    let status = machine.read("/proc/self/status").ok();
    match status.as_deref().and_then(Capabilities::parse) {
        Some(held) if held.has(CAP_SYS_ADMIN) => Requirement::ok(NAME, "CAP_SYS_ADMIN"),
        Some(held) if held.suffice() => Requirement::ok(NAME, "CAP_BPF and CAP_PERFMON"),
        Some(_) => Requirement::missing(
            NAME,
            "this user may not load a scheduler",
            "run as root, or with CAP_BPF and CAP_PERFMON",
            Obstacle::NotPermitted,
        ),
        None => Requirement::warning(
            NAME,
            "unknown: /proc/self/status cannot be read",
            "mount /proc",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn either_sysadmin_or_bpf_with_perfmon_suffice() {
        for (mask, enough) in [
            ("000001ffffffffff", true),
            ("0000000000200000", true),
            ("000000c000000000", true),
            ("0000008000000000", false),
            ("0000000000000000", false),
        ] {
            let held = Capabilities::parse(&format!("Name:\tx\nCapEff:\t{mask}\n")).unwrap();
            assert_eq!(held.suffice(), enough, "{mask}");
        }
    }

    #[test]
    fn nonsense_is_no_capability() {
        assert_eq!(Capabilities::parse("CapEff:\tzz\n"), None);
        assert_eq!(Capabilities::parse(""), None);
    }
}
