// SPDX-License-Identifier: GPL-2.0-only

//! The lab's kernel: Debian's newest with sched_ext, found through the package index, since a
//! superseded release disappears from the mirrors.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use super::apt::{self, State, Suite};
use super::{Steps, index, system};
use crate::paths;
use crate::process::{self, Failure, UNSUPPORTED};

/// Where to look, in this order.
const SUITES: [Suite<'_>; 3] = [
    Suite {
        name: "trixie-backports",
        rolling: false,
    },
    Suite {
        name: "forky",
        rolling: true,
    },
    Suite {
        name: "sid",
        rolling: true,
    },
];

/// Modules that virtme's initial file system loads. They are unpacked, because its loader
/// does not know compressed ones.
const EARLY_MODULES: [&str; 6] = [
    "fs/9p",
    "net/9p",
    "fs/netfs",
    "fs/fuse",
    "fs/overlayfs",
    "drivers/virtio",
];

/// The variable that names another kernel image, for machines without a Debian mirror.
const VARIABLE: &str = "EVENKEEL_LAB_KERNEL";

fn given() -> Option<PathBuf> {
    std::env::var_os(VARIABLE)
        .filter(|path| !path.is_empty())
        .map(PathBuf::from)
}

/// The image of the lab's kernel.
pub fn image() -> Result<PathBuf> {
    if let Some(image) = given() {
        return image
            .canonicalize()
            .with_context(|| format!("{VARIABLE}={}", image.display()));
    }
    current()?.context("there is no kernel in the cache: run `cargo xtask setup`")
}

fn directory() -> Result<PathBuf> {
    Ok(paths::cache()?.join("kernel"))
}

/// The image that `current` names, if it is there.
fn current() -> Result<Option<PathBuf>> {
    let directory = directory()?;
    let Ok(release) = fs::read_to_string(directory.join("current")) else {
        return Ok(None);
    };
    let image = modules(&directory.join(release.trim()), release.trim()).join("vmlinuz");
    Ok(image.is_file().then_some(image))
}

fn modules(tree: &Path, release: &str) -> PathBuf {
    tree.join("usr/lib/modules").join(release)
}

/// Makes sure that a kernel is in the cache; with `refresh`, that it is the current one.
pub fn ensure(steps: &Steps, refresh: bool) -> Result<()> {
    if let Some(image) = given() {
        steps.found(
            "kernel",
            &format!("{}, as {VARIABLE} says", image.display()),
        );
        return Ok(());
    }
    if !refresh && let Some(image) = current()? {
        let release = image.parent().and_then(Path::file_name).unwrap_or_default();
        steps.found("kernel", &release.to_string_lossy());
        return Ok(());
    }
    let Some(codename) = system::debian_codename() else {
        let message = format!(
            "the lab's kernel comes from Debian's mirrors: on this machine, set {VARIABLE} to an \
             image with sched_ext, or give `cargo xtask lab --kernel` one"
        );
        return Err(Failure::error(UNSUPPORTED, message));
    };
    let mirror = apt::mirror(&codename)?;
    let mut problems = Vec::new();
    for suite in SUITES {
        match from_suite(steps, &mirror, suite) {
            Ok(()) => return Ok(()),
            Err(error) => problems.push(format!("{error:#}")),
        }
    }
    bail!(
        "no suite has a kernel with sched_ext: {}",
        problems.join("; ")
    )
}

fn from_suite(steps: &Steps, mirror: &str, suite: Suite<'_>) -> Result<()> {
    let name = suite.name;
    steps.doing("kernel", &format!("reading the index of {name}"));
    let state = State::fetch(paths::cache()?.join("apt").join(name), mirror, &[suite])
        .with_context(|| name.to_owned())?;
    let (release, packages) = index::kernel(&state.index()?, "amd64")
        .with_context(|| format!("{name} has no linux-image-amd64"))?;
    let directory = directory()?;
    let tree = directory.join(&release);
    if !modules(&tree, &release).join("vmlinuz").is_file() {
        steps.doing(
            "kernel",
            &format!("downloading {release} from {name} (about 120 MB)"),
        );
        let files = state.download(&packages).with_context(|| name.to_owned())?;
        steps.doing("kernel", &format!("unpacking {release}"));
        unpack(&files, &tree, &release).with_context(|| format!("{release} of {name}"))?;
        for file in files {
            let _ = fs::remove_file(file);
        }
    }
    fs::write(directory.join("current"), release)?;
    Ok(())
}

/// Unpacks a kernel into `tree`, all or nothing.
fn unpack(files: &[PathBuf], tree: &Path, release: &str) -> Result<()> {
    let partial = tree.with_file_name(format!("{release}.partial"));
    let _ = fs::remove_dir_all(&partial);
    fs::create_dir_all(&partial)?;
    for file in files {
        process::output(
            Command::new("dpkg-deb")
                .arg("--extract")
                .arg(file)
                .arg(&partial),
        )?;
    }
    arrange(&partial, release)?;
    let config = fs::read_to_string(modules(&partial, release).join("config"))?;
    ensure!(
        config
            .lines()
            .any(|line| line == "CONFIG_SCHED_CLASS_EXT=y"),
        "built without CONFIG_SCHED_CLASS_EXT"
    );
    decompress(&modules(&partial, release).join("kernel"))?;
    let depmod = process::find("depmod").context("there is no depmod")?;
    // Without the release's own /lib, depmod looks for modules below usr/lib only through it.
    let link = partial.join("lib");
    if !link.exists() {
        std::os::unix::fs::symlink("usr/lib", &link)?;
    }
    process::output(
        Command::new(depmod)
            .arg("--basedir")
            .arg(&partial)
            .arg(release),
    )?;
    let _ = fs::remove_dir_all(tree);
    fs::rename(&partial, tree)?;
    Ok(())
}

/// Brings an older package's layout (`/boot`, `/lib/modules`) into that of the newer ones, where
/// image and configuration are beside the modules.
fn arrange(tree: &Path, release: &str) -> Result<()> {
    let modules = modules(tree, release);
    let old = tree.join("lib/modules").join(release);
    if !modules.exists() && old.exists() {
        fs::create_dir_all(tree.join("usr"))?;
        fs::rename(tree.join("lib"), tree.join("usr/lib"))?;
    }
    for (from, to) in [("vmlinuz", "vmlinuz"), ("config", "config")] {
        let from = tree.join("boot").join(format!("{from}-{release}"));
        if !modules.join(to).exists() && from.exists() {
            fs::rename(&from, modules.join(to))?;
        }
    }
    Ok(())
}

fn decompress(modules: &Path) -> Result<()> {
    for directory in EARLY_MODULES.map(|directory| modules.join(directory)) {
        let Ok(entries) = fs::read_dir(&directory) else {
            continue;
        };
        for entry in entries {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "xz") {
                process::output(Command::new("xz").arg("--decompress").arg(&path))?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_older_layout_becomes_the_newer() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let tree = directory.path();
        fs::create_dir_all(tree.join("boot")).expect("boot");
        fs::create_dir_all(tree.join("lib/modules/7.2/kernel")).expect("modules");
        fs::write(tree.join("boot/vmlinuz-7.2"), "image").expect("image");
        fs::write(tree.join("boot/config-7.2"), "config").expect("config");
        arrange(tree, "7.2").expect("it can be arranged");
        let modules = tree.join("usr/lib/modules/7.2");
        assert_eq!(fs::read(modules.join("vmlinuz")).expect("image"), b"image");
        assert_eq!(fs::read(modules.join("config")).expect("config"), b"config");
        assert!(modules.join("kernel").is_dir());
    }
}
