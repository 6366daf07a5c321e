// SPDX-License-Identifier: GPL-2.0-only
//! The built binary, and machines made up for it.

#![allow(dead_code, reason = "each test file uses its part")]
#![allow(clippy::unwrap_used, reason = "a test that cannot prepare has failed")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// The binary.
pub fn evenkeel(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_evenkeel"));
    command.args(args).stdin(Stdio::null());
    command
}

/// Runs it to its end.
pub fn run(args: &[&str]) -> Output {
    evenkeel(args).output().unwrap()
}

/// What it wrote to standard error.
pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// What it wrote to standard output.
pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Holds a refusal to its status, to one line on standard error and to silence on standard output.
pub fn assert_refused(output: &Output, status: i32, args: &[&str]) {
    let said = stderr(output);
    assert_eq!(output.status.code(), Some(status), "{args:?}: {said}");
    assert!(said.starts_with("evenkeel: "), "{args:?}: {said}");
    assert_eq!(said.lines().count(), 1, "{args:?}: {said}");
    assert!(said.ends_with('\n'), "{args:?}: {said}");
    assert!(
        !said.contains("panicked") && !said.contains("internal error"),
        "{args:?}: {said}"
    );
    assert_eq!(stdout(output), "", "{args:?}");
}

/// A machine in a temporary directory.
pub struct Fixture {
    dir: TempDir,
}

impl Fixture {
    /// A machine on which a privileged user could run Evenkeel.
    pub fn capable() -> Self {
        let fixture = Self {
            dir: tempfile::tempdir().unwrap(),
        };
        for (path, text) in [
            ("proc/sys/kernel/osrelease", "7.3.4\n"),
            ("proc/self/status", "CapEff:\t000001ffffffffff\n"),
            (
                "proc/self/mounts",
                "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n",
            ),
            ("sys/kernel/sched_ext/state", "disabled\n"),
            ("sys/devices/system/cpu/online", "0-3\n"),
            ("boot/config-7.3.4", "CONFIG_HZ=250\n"),
        ] {
            fixture.write(path, text.as_bytes());
        }
        let mut btf = 0xeb9f_u16.to_ne_bytes().to_vec();
        btf.extend_from_slice(&[1, 0]);
        for word in [24_u32, 0, 0, 0, 1] {
            btf.extend_from_slice(&word.to_ne_bytes());
        }
        btf.push(0);
        fixture.write("sys/kernel/btf/vmlinux", &btf);
        fixture
    }

    pub fn write(&self, path: &str, contents: &[u8]) {
        let path = self.dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, contents).unwrap();
    }

    pub fn remove(&self, path: &str) {
        let path = self.dir.path().join(path);
        if path.is_dir() {
            fs::remove_dir_all(path).unwrap();
        } else {
            fs::remove_file(path).unwrap();
        }
    }

    pub fn no_privileges(&self) {
        self.write("proc/self/status", b"CapEff:\t0000000000000000\n");
    }

    pub fn active(&self, ops: &str) {
        self.write("sys/kernel/sched_ext/state", b"enabled\n");
        self.write("sys/kernel/sched_ext/root/ops", ops.as_bytes());
    }

    pub fn root(&self) -> &Path {
        self.dir.path()
    }

    /// Runs the binary on this machine.
    pub fn run(&self, args: &[&str]) -> Output {
        evenkeel(args)
            .arg("--machine-root")
            .arg(self.root())
            .output()
            .unwrap()
    }

    /// Everything below the root, to see that nothing changed.
    pub fn files(&self) -> Vec<String> {
        fn walk(dir: &Path, into: &mut Vec<String>) {
            for entry in fs::read_dir(dir).unwrap() {
                let path = entry.unwrap().path();
                into.push(path.display().to_string());
                if path.is_dir() {
                    walk(&path, into);
                }
            }
        }
        let mut files = Vec::new();
        walk(self.root(), &mut files);
        files.sort_unstable();
        files
    }
}
