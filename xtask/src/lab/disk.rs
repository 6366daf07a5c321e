// SPDX-License-Identifier: GPL-2.0-only

//! A guest that boots a whole system from a disk image.
//!
//! The kernel's disk drivers are modules, so that an initial file system of busybox loads them
//! and mounts the disk. It also puts the job and a unit that runs it into the system's `/run`:
//! nothing has to be in the image for it.

use std::fs;
use std::io::Read as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::boot::Boot;
use super::guest::{JOB, Output, Script};
use crate::{process, quote};

/// Drivers of the disk, its file system, and the ports through which the guest reports.
const MODULES: [&str; 3] = ["virtio_blk", "ext4", "virtio_console"];

const INIT: &str = "#!/bin/busybox sh
b=/bin/busybox
$b mount -t proc proc /proc
$b mount -t sysfs sys /sys
$b mount -t devtmpfs dev /dev
for module in /modules/*; do $b insmod $module; done
tries=0
while [ ! -b /dev/vda ] && [ $tries -lt 100 ]; do $b sleep 0.1; tries=$((tries + 1)); done
$b mount -t ext4 /dev/vda /root || $b mount -t ext4 /dev/vda1 /root || $b poweroff -f
$b mount -t tmpfs -o mode=755 run /root/run
$b cp -a /run/. /root/run/
$b mount --move /dev /root/dev
$b umount /proc /sys
exec $b switch_root /root /sbin/init
";

const UNIT: &str = "[Unit]
Description=The lab's command
[Service]
Type=idle
ExecStart=/bin/sh /run/lab-job/run.sh
ExecStopPost=/bin/systemctl --force --force poweroff
";

/// The command that boots `image` on `kernel`, with `job` as its directory.
///
/// # Errors
/// An image that cannot be read, or a kernel without its modules.
pub fn command(boot: &Boot, image: &Path, kernel: &Path, job: &Path) -> Result<Command> {
    let tree = job.join("initramfs");
    let names: Vec<PathBuf> = boot
        .programs
        .iter()
        .filter_map(|program| Some(Path::new(JOB).join("bin").join(program.file_name()?)))
        .collect();
    let script = Script {
        output: Output::Ports,
        programs: &names,
        // The disk has a C library of its own.
        libraries: &[],
        command: &boot.command,
        checkout: None,
        visible: &[],
    };
    fill(&tree, boot, &script.text(), kernel, job)?;
    pack(&tree, &job.join("initramfs.cpio"))?;
    let mut command = Command::new("qemu-system-x86_64");
    command
        .args([
            "-name",
            "evenkeel-lab",
            "-machine",
            "q35",
            "-cpu",
            "max",
            "-m",
            &boot.memory,
        ])
        .args([
            "-smp",
            &boot.cpus.to_string(),
            "-nodefaults",
            "-display",
            "none",
            "-no-reboot",
        ])
        .args(boot.clock.qemu_options())
        .arg("-kernel")
        .arg(kernel)
        .arg("-initrd")
        .arg(job.join("initramfs.cpio"))
        .args([
            "-append",
            "console=ttyS0 loglevel=5 panic=-1 nokaslr mitigations=off",
        ])
        .args([
            "-serial",
            &format!("file:{}", job.join("console").display()),
        ])
        .args(["-drive", &drive(image)?]);
    command.args(["-device", "virtio-serial-pci"]);
    let status = quote::qemu_value(&job.join("status").to_string_lossy());
    for (port, path) in [
        ("out", "/proc/self/fd/1"),
        ("err", "/proc/self/fd/2"),
        ("status", &status),
    ] {
        command.args(["-chardev", &format!("file,id={port},path={path}")]);
        command.args([
            "-device",
            &format!("virtserialport,name=lab.{port},chardev={port}"),
        ]);
    }
    Ok(command)
}

/// QEMU's drive for an image: by its content raw or qcow2, and without writing to it.
fn drive(image: &Path) -> Result<String> {
    let shown = image.display();
    let image = image
        .canonicalize()
        .with_context(|| format!("cannot find the image {shown}"))?;
    let mut magic = [0; 4];
    fs::File::open(&image)
        .and_then(|mut file| file.read_exact(&mut magic))
        .with_context(|| format!("cannot read the image {shown}"))?;
    let format = if &magic == b"QFI\xfb" { "qcow2" } else { "raw" };
    let path = quote::qemu_value(&image.to_string_lossy());
    Ok(format!("file={path},format={format},if=virtio,snapshot=on"))
}

fn fill(tree: &Path, boot: &Boot, script: &str, kernel: &Path, job: &Path) -> Result<()> {
    let inside = tree.join(JOB.trim_start_matches('/'));
    let wants = tree.join("run/systemd/system/multi-user.target.wants");
    for directory in ["bin", "proc", "sys", "dev", "root", "modules"] {
        fs::create_dir_all(tree.join(directory))?;
    }
    fs::create_dir_all(inside.join("bin"))?;
    fs::create_dir_all(&wants)?;
    let busybox = process::find("busybox").context("there is no busybox")?;
    fs::copy(busybox, tree.join("bin/busybox"))?;
    write_executable(&tree.join("init"), INIT)?;
    fs::write(tree.join("run/systemd/system/lab.service"), UNIT)?;
    symlink("../lab.service", wants.join("lab.service"))?;
    fs::write(inside.join("run.sh"), script)?;
    if job.join("config").exists() {
        fs::copy(job.join("config"), inside.join("config"))?;
    }
    for program in &boot.programs {
        let name = program.file_name().context("a program without a name")?;
        fs::copy(program, inside.join("bin").join(name))?;
    }
    copy_modules(kernel, &tree.join("modules"))
}

fn write_executable(path: &Path, text: &str) -> Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::write(path, text)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))?;
    Ok(())
}

/// Copies the drivers and what they need, named in the order of loading, uncompressed.
fn copy_modules(kernel: &Path, to: &Path) -> Result<()> {
    let directory = modules_of(kernel)?;
    let release = directory.file_name().context("modules without a release")?;
    // .../usr/lib/modules/RELEASE: modprobe wants what is above lib.
    let base = directory
        .ancestors()
        .nth(3)
        .context("modules outside lib/modules")?;
    let mut order = Vec::new();
    for name in MODULES {
        let modprobe = process::find("modprobe").context("there is no modprobe")?;
        let mut command = Command::new(modprobe);
        command
            .args(["--show-depends", "--ignore-install", "--set-version"])
            .arg(release);
        command.arg("--dirname").arg(base).arg(name);
        for line in process::output(&mut command)?.lines() {
            if let Some(path) = line.strip_prefix("insmod ") {
                let path = PathBuf::from(path.trim());
                if !order.contains(&path) {
                    order.push(path);
                }
            }
        }
    }
    for (index, path) in order.iter().enumerate() {
        let to = to.join(format!("{index:02}.ko"));
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("ko") => fs::copy(path, &to).map(|_| ())?,
            Some(program @ ("xz" | "zst" | "gz")) => {
                let program = match program {
                    "zst" => "zstd",
                    "gz" => "gzip",
                    other => other,
                };
                let mut unpack = Command::new(program);
                let output = unpack
                    .args(["--decompress", "--stdout"])
                    .arg(path)
                    .output()?;
                fs::write(&to, output.stdout)?;
            }
            _ => bail!(
                "{} is compressed in a way that is not known",
                path.display()
            ),
        }
    }
    Ok(())
}

/// The modules of a kernel image: beside it, or those of its release on this machine.
fn modules_of(kernel: &Path) -> Result<PathBuf> {
    let beside = kernel.parent().map(Path::to_owned);
    let installed = kernel
        .file_name()
        .and_then(|name| name.to_str()?.strip_prefix("vmlinuz-"))
        .map(|release| Path::new("/lib/modules").join(release));
    [beside, installed]
        .into_iter()
        .flatten()
        .find(|directory| directory.join("modules.dep").exists())
        .with_context(|| format!("{} has no modules beside it", kernel.display()))
}

/// Packs a tree for the kernel (cpio's "newc").
fn pack(tree: &Path, to: &Path) -> Result<()> {
    let script = format!(
        "cd {} && find . | busybox cpio -o -H newc >{}",
        quote::shell(&tree.to_string_lossy()),
        quote::shell(&to.to_string_lossy())
    );
    process::output(Command::new("sh").args(["-c", &script])).map(|_| ())
}
