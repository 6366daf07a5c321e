// SPDX-License-Identifier: GPL-2.0-only

//! The virtual machine's command line, for virtme-ng's `virtme-run`.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::boot::{Boot, Clock};
use super::guest;
use crate::quote;

/// Directories over which virtme's guest mounts something of its own: what lies below them must
/// be handed to the guest by name.
const HIDDEN: [&str; 6] = [
    "/run",
    "/var/tmp",
    "/dev/shm",
    "/var/cache",
    "/var/log",
    "/var/lib",
];

/// The kernel's console is the second serial line, kept on the host; virtme drops the first, and
/// the kernel's driver serves only one as an ordinary console, so this is an early one that stays.
/// It shows warnings and worse, to be silent during a measurement. Mitigations only slow an
/// emulated kernel down.
const KERNEL_OPTIONS: [&str; 5] = [
    "earlycon=uart8250,io,0x2f8,115200n8",
    "keep_bootcon",
    "loglevel=5",
    "nokaslr",
    "mitigations=off",
];

/// The command that boots `boot`'s guest on `kernel`, with `job` as its directory.
pub fn command(
    boot: &Boot,
    virtme: &Path,
    kernel: &Path,
    job: &Path,
    visible: &[PathBuf],
) -> Command {
    let mut command = Command::new(virtme);
    command
        .arg("--kimg")
        .arg(kernel)
        .args([
            "--mods",
            "auto",
            "--disable-kvm",
            "--user",
            "root",
            "--name",
            "evenkeel-lab",
        ])
        .args(["--cpus", &boot.cpus.to_string(), "--memory", &boot.memory])
        .arg(format!("--rodir={}={}", guest::JOB, job.display()));
    for path in visible
        .iter()
        .filter(|path| HIDDEN.iter().any(|hidden| path.starts_with(hidden)))
    {
        command.arg(format!("--rodir={}", path.display()));
    }
    for option in KERNEL_OPTIONS {
        command.args(["--kopt", option]);
    }
    command.args(["--script-sh", &format!("exec sh {}/run.sh", guest::JOB)]);
    // Must come last: it takes what follows.
    command
        .arg("--qemu-opts")
        .args(qemu_options(boot.clock, job));
    // What virtme leaves behind when it is killed goes with the job.
    command.env("TMPDIR", job);
    command
}

fn qemu_options(clock: Clock, job: &Path) -> Vec<String> {
    let file = |name: &str| quote::qemu_value(&job.join(name).to_string_lossy());
    let mut options: Vec<String> = clock
        .qemu_options()
        .iter()
        .map(ToString::to_string)
        .collect();
    options.extend([
        "-serial".into(),
        format!("file:{}", job.join("console").display()),
        "-chardev".into(),
        format!("file,id=evenkeel_status,path={}", file("status")),
        "-device".into(),
        "virtio-serial-pci".into(),
        "-device".into(),
        format!(
            "virtserialport,name={},chardev=evenkeel_status",
            guest::STATUS_PORT
        ),
    ]);
    options
}

impl Clock {
    /// QEMU's options for this clock; `docs/lab.md` says what each is good for.
    pub fn qemu_options(self) -> &'static [&'static str] {
        match self {
            Self::Parallel => &["-accel", "tcg,thread=multi"],
            Self::Deterministic => &[
                "-accel",
                "tcg,thread=single",
                "-icount",
                "shift=1,sleep=off",
                "-rtc",
                "clock=vm",
            ],
        }
    }
}
