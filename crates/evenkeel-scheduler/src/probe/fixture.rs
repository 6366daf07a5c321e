// SPDX-License-Identifier: GPL-2.0-only
//! A made-up machine in a temporary directory.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::Machine;
use super::btf::tests::btf_with_names;

pub(crate) struct Fixture {
    dir: TempDir,
}

impl Fixture {
    pub(crate) fn empty() -> Self {
        Self {
            dir: tempfile::tempdir().unwrap(),
        }
    }

    pub(crate) fn machine(&self) -> Machine {
        Machine::at(self.dir.path())
    }

    pub(crate) fn write(&self, path: &str, contents: impl AsRef<[u8]>) {
        let path = self.dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap_or(Path::new("/"))).unwrap();
        fs::write(path, contents).unwrap();
    }

    pub(crate) fn remove(&self, path: &str) {
        fs::remove_file(self.dir.path().join(path)).unwrap();
    }
}

/// A machine on which everything is as needed.
pub(crate) fn capable() -> Fixture {
    let fixture = Fixture::empty();
    for (path, text) in [
        ("proc/sys/kernel/osrelease", "7.3.4+deb13-amd64\n"),
        ("proc/self/status", "Name:\tx\nCapEff:\t000001ffffffffff\n"),
        (
            "proc/self/mounts",
            "cgroup2 /sys/fs/cgroup cgroup2 rw,relatime 0 0\n",
        ),
        ("proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu sse2\n"),
        ("sys/kernel/sched_ext/state", "disabled\n"),
        ("sys/kernel/sched_ext/nr_rejected", "0\n"),
        (
            "boot/config-7.3.4+deb13-amd64",
            "CONFIG_HZ=250\nCONFIG_SCHED_CLASS_EXT=y\nCONFIG_BPF_SYSCALL=y\nCONFIG_BPF_JIT=y\nCONFIG_DEBUG_INFO_BTF=y\n",
        ),
    ] {
        fixture.write(path, text);
    }
    let names: Vec<_> = super::features::FEATURES.iter().map(|f| f.symbol).collect();
    fixture.write("sys/kernel/btf/vmlinux", btf_with_names(&names));
    fixture
}
