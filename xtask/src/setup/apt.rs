// SPDX-License-Identifier: GPL-2.0-only

//! apt: the machine's own, and a second state beside it that reads other suites without
//! touching the machine's sources.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::index::Package;
use super::system;
use crate::process;

const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

/// Installs packages from the machine's own sources. Its lists are brought up to date only if
/// they do not lead to the packages.
pub fn install(packages: &[String]) -> Result<()> {
    let install = || process::output(root_apt()?.args(INSTALL).args(packages));
    if install().is_ok() {
        return Ok(());
    }
    update()?;
    install().with_context(|| format!("apt could not install {}", packages.join(" ")))?;
    Ok(())
}

const INSTALL: [&str; 5] = [
    "install",
    "--yes",
    "--quiet=2",
    "--no-install-recommends",
    "--option=Dpkg::Use-Pty=0",
];

/// Brings the machine's own lists up to date. A source that cannot be reached is left to the
/// installation to complain of, if it matters.
pub fn update() -> Result<()> {
    if process::check(root_apt()?.args(["update", "--quiet=2"])).is_err() {
        eprintln!("setup: apt could not read every source of this machine; going on");
    }
    Ok(())
}

fn root_apt() -> Result<Command> {
    let mut command = system::as_root("env")?;
    command.args(["DEBIAN_FRONTEND=noninteractive", "apt-get"]);
    Ok(command)
}

/// The newest version of a package that the machine's own sources offer.
pub fn candidate(package: &str) -> Option<String> {
    let policy = process::output(Command::new("apt-cache").args(["policy", package])).ok()?;
    let line = policy
        .lines()
        .find_map(|line| line.trim().strip_prefix("Candidate:"))?;
    let version = line.trim();
    (version != "(none)").then(|| version.to_owned())
}

/// The address of the machine's own Debian mirror, from its apt configuration.
pub fn mirror(codename: &str) -> Result<String> {
    let format = "$(RELEASE) $(CODENAME) $(COMPONENT) $(REPO_URI)";
    let find = || -> Result<Option<String>> {
        let mut command = Command::new("apt-get");
        command.args(["indextargets", "--format", format, "Created-By: Packages"]);
        Ok(mirror_of(&process::output(&mut command)?, codename))
    };
    if let Some(mirror) = find()? {
        return Ok(mirror);
    }
    update()?;
    find()?.with_context(|| format!("apt's sources have no mirror of {codename}"))
}

fn mirror_of(targets: &str, codename: &str) -> Option<String> {
    targets.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        let release = words.next()?;
        let (second, third, fourth) = (words.next()?, words.next()?, words.next());
        // Before the first update, apt does not know the code name and leaves it out.
        let (known, component, address) = match fourth {
            Some(address) => (second, third, address),
            None => ("", second, third),
        };
        let fits = (release == codename || known == codename) && component == "main";
        fits.then(|| address.to_owned())
    })
}

/// A suite to read.
pub struct Suite<'a> {
    /// Its name.
    pub name: &'a str,
    /// Whether it moves on all the time: a mirror's index may then be past its validity date.
    pub rolling: bool,
}

/// An apt state of its own: sources, lists and downloads in one directory.
pub struct State {
    directory: PathBuf,
}

impl State {
    /// Prepares the state in `directory` for the suites on `mirror`, and fetches their lists.
    pub fn fetch(directory: PathBuf, mirror: &str, suites: &[Suite<'_>]) -> Result<Self> {
        fs::create_dir_all(directory.join("lists/partial"))?;
        fs::create_dir_all(directory.join("archives/partial"))?;
        fs::write(
            directory.join("sources.list"),
            sources(mirror, suites, Path::new(KEYRING).exists()),
        )?;
        let state = Self { directory };
        process::output(state.apt_get()?.args(["update", "--quiet=2"]))?;
        Ok(state)
    }

    fn options(&self) -> Vec<String> {
        let directory = self.directory.display();
        [
            format!("Dir::Etc::SourceList={directory}/sources.list"),
            "Dir::Etc::SourceParts=-".to_owned(),
            format!("Dir::State::Lists={directory}/lists"),
            format!("Dir::Cache::archives={directory}/archives"),
            "Dir::Cache::pkgcache=".to_owned(),
            "Dir::Cache::srcpkgcache=".to_owned(),
            // Only the packages' index is wanted, not what graphical software centres add.
            "Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled=false".to_owned(),
            "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false".to_owned(),
            "Acquire::Languages=none".to_owned(),
            "APT::Sandbox::User=root".to_owned(),
        ]
        .iter()
        .map(|option| format!("--option={option}"))
        .collect()
    }

    fn apt_get(&self) -> Result<Command> {
        let mut command = Command::new("apt-get");
        command.args(self.options());
        Ok(command)
    }

    /// The text of the packages' index.
    pub fn index(&self) -> Result<String> {
        let mut targets = self.apt_get()?;
        targets.args([
            "indextargets",
            "--format",
            "$(FILENAME)",
            "Created-By: Packages",
        ]);
        let mut text = String::new();
        for file in process::output(&mut targets)?.lines() {
            let mut read = Command::new("/usr/lib/apt/apt-helper");
            text.push_str(&process::output(read.args(["cat-file", file]))?);
            text.push('\n');
        }
        ensure!(!text.is_empty(), "the package index is empty");
        Ok(text)
    }

    /// Downloads packages, verified by apt against the signed index, and returns their files.
    pub fn download(&self, packages: &[Package]) -> Result<Vec<PathBuf>> {
        let directory = self.directory.join("packages");
        let _ = fs::remove_dir_all(&directory);
        fs::create_dir_all(&directory)?;
        let wanted = packages
            .iter()
            .map(|package| format!("{}={}", package.name, package.version));
        let mut command = self.apt_get()?;
        process::check(
            command
                .args(["download", "--quiet=2"])
                .args(wanted)
                .current_dir(&directory),
        )?;
        let files: Vec<PathBuf> = fs::read_dir(&directory)?
            .map(|entry| Ok(entry?.path()))
            .collect::<Result<_>>()?;
        ensure!(
            files.len() == packages.len(),
            "apt downloaded {} packages",
            files.len()
        );
        Ok(files)
    }

    /// Installs packages from one of the suites.
    pub fn install(&self, suite: &str, packages: &[&str]) -> Result<()> {
        let mut command = root_apt()?;
        command
            .args(self.options())
            .args(INSTALL)
            .args(["--target-release", suite]);
        process::output(command.args(packages))?;
        Ok(())
    }
}

fn sources(mirror: &str, suites: &[Suite<'_>], keyring: bool) -> String {
    let mut text = String::new();
    for suite in suites {
        let mut options = Vec::new();
        if keyring {
            options.push(format!("signed-by={KEYRING}"));
        }
        if suite.rolling {
            options.push("check-valid-until=no".to_owned());
        }
        let options = if options.is_empty() {
            String::new()
        } else {
            format!("[{}] ", options.join(" "))
        };
        text.push_str(&format!("deb {options}{mirror} {} main\n", suite.name));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mirror_is_the_one_of_the_release_itself() {
        let targets = "bookworm-security bookworm-security main http://a/debian-security/\n\
            bookworm-updates bookworm-updates main http://b/debian/\n\
            bookworm bookworm contrib http://c/debian/\n\
            bookworm bookworm main http://b/debian/\n";
        assert_eq!(
            mirror_of(targets, "bookworm").as_deref(),
            Some("http://b/debian/")
        );
        assert_eq!(mirror_of(targets, "trixie"), None);
    }

    #[test]
    fn the_mirror_is_known_before_the_first_update_and_by_another_suite_name() {
        assert_eq!(
            mirror_of("trixie  main http://b/debian/\n", "trixie").as_deref(),
            Some("http://b/debian/")
        );
        assert_eq!(
            mirror_of("stable trixie main http://b/\n", "trixie").as_deref(),
            Some("http://b/")
        );
    }

    #[test]
    fn only_a_rolling_suite_is_read_past_its_validity() {
        let suites = [
            Suite {
                name: "a",
                rolling: false,
            },
            Suite {
                name: "sid",
                rolling: true,
            },
        ];
        let text = sources("http://m/", &suites, false);
        assert_eq!(
            text,
            "deb http://m/ a main\ndeb [check-valid-until=no] http://m/ sid main\n"
        );
    }
}
