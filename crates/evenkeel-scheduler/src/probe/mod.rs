// SPDX-License-Identifier: GPL-2.0-only
//! What a kernel and a machine must offer before Evenkeel can run: one file a requirement.
//!
//! Every reader takes a [`Machine`], whose root is a directory, so that a test gives it a fixture.

pub mod btf;
pub mod cgroup;
pub mod cpu_list;
pub mod features;
pub mod kernel_config;
pub mod kernel_version;
pub mod privileges;
pub mod sched_ext;
pub mod topology;
pub mod virtualised;

#[cfg(test)]
pub(crate) mod fixture;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;

/// The file system that describes a machine: `/`, or a fixture.
#[derive(Clone, Debug)]
pub struct Machine {
    root: PathBuf,
}

impl Default for Machine {
    fn default() -> Self {
        Self::at("/")
    }
}

impl Machine {
    /// The machine described below `root`.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// Where `path`, written as on a real machine, lies on this one.
    pub fn path(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }

    /// Reads a small text file, without its last newline.
    ///
    /// # Errors
    /// Those of opening and reading; a file that is not UTF-8 is `InvalidData`.
    pub fn read(&self, path: &str) -> io::Result<String> {
        let mut text = fs::read_to_string(self.path(path))?;
        text.truncate(text.trim_end_matches('\n').len());
        Ok(text)
    }

    /// Whether `path` exists and this user may see it.
    pub fn has(&self, path: &str) -> bool {
        self.path(path).exists()
    }

    /// Names in a directory, sorted; none if it cannot be listed.
    fn list(&self, path: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(path))
            .into_iter()
            .flatten()
            .flatten();
        let mut names: Vec<_> = entries
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect();
        names.sort_unstable();
        names
    }

    /// The root, for those who keep files of their own below it.
    pub fn root(&self) -> &Path {
        &self.root
    }
}

/// How a requirement came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// As needed.
    Ok,
    /// Evenkeel runs, with a limit that the finding names.
    Warning,
    /// Evenkeel does not run.
    Missing,
}

/// Why a missing requirement stops a run, in order of precedence: the lowest wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Obstacle {
    /// This kernel or machine cannot run it.
    Unsupported,
    /// This user may not.
    NotPermitted,
    /// Another scheduler is active.
    OtherScheduler,
}

/// One thing Evenkeel needs, what was found and how to mend it.
#[derive(Clone, Debug, Serialize)]
pub struct Requirement {
    /// Its name, as `check` prints it.
    pub name: &'static str,
    /// What was found, on one line.
    pub finding: String,
    /// How it came out.
    pub verdict: Verdict,
    /// What to do about it, on one line; `None` if nothing needs doing.
    pub mend: Option<String>,
    /// What it stops, if it is missing.
    #[serde(skip)]
    pub obstacle: Option<Obstacle>,
}

impl Requirement {
    fn ok(name: &'static str, finding: impl Into<String>) -> Self {
        Self {
            name,
            finding: finding.into(),
            verdict: Verdict::Ok,
            mend: None,
            obstacle: None,
        }
    }

    fn warning(name: &'static str, finding: impl Into<String>, mend: impl Into<String>) -> Self {
        let mend = Some(mend.into());
        Self {
            name,
            finding: finding.into(),
            verdict: Verdict::Warning,
            mend,
            obstacle: None,
        }
    }

    fn missing(
        name: &'static str,
        finding: impl Into<String>,
        mend: impl Into<String>,
        obstacle: Obstacle,
    ) -> Self {
        Self {
            name,
            finding: finding.into(),
            verdict: Verdict::Missing,
            mend: Some(mend.into()),
            obstacle: Some(obstacle),
        }
    }
}

/// Every requirement, in the order in which a reader would mend them.
pub fn requirements(machine: &Machine) -> Vec<Requirement> {
    let mut all = essential(machine);
    all.extend([
        features::requirement(machine),
        virtualised::requirement(machine),
        cgroup::requirement(machine),
    ]);
    all
}

/// The requirements without which nothing attaches; cheap enough for every start.
pub fn essential(machine: &Machine) -> Vec<Requirement> {
    let sched_ext = sched_ext::SchedExt::read(machine);
    vec![
        kernel_version::requirement(machine),
        sched_ext::present(&sched_ext),
        sched_ext::state(&sched_ext),
        btf::requirement(machine),
        kernel_config::in_place(machine),
        privileges::requirement(machine),
        sched_ext::active(&sched_ext),
    ]
}

/// The missing requirement that a refusal names: the first of the highest precedence.
pub fn first_obstacle(requirements: &[Requirement]) -> Option<(Obstacle, &Requirement)> {
    let stopped = requirements.iter().filter_map(|r| Some((r.obstacle?, r)));
    stopped.min_by_key(|(obstacle, _)| *obstacle)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_capable_machine_has_no_obstacle() {
        let fixture = fixture::capable();
        let all = requirements(&fixture.machine());
        let missing: Vec<_> = all
            .iter()
            .filter(|r| r.verdict == Verdict::Missing)
            .collect();
        assert!(missing.is_empty(), "{missing:?}");
    }

    #[test]
    fn an_unsupported_kernel_comes_before_a_missing_privilege() {
        let fixture = fixture::capable();
        fixture.write("proc/self/status", "CapEff:\t0000000000000000\n");
        fixture.remove("sys/kernel/btf/vmlinux");
        let all = essential(&fixture.machine());
        let (obstacle, requirement) = first_obstacle(&all).unwrap();
        assert_eq!((obstacle, requirement.name), (Obstacle::Unsupported, "BTF"));
    }

    #[test]
    fn a_missing_privilege_comes_before_another_scheduler() {
        let fixture = fixture::capable();
        fixture.write("proc/self/status", "CapEff:\t0000000000000000\n");
        fixture.write("sys/kernel/sched_ext/state", "enabled\n");
        fixture.write("sys/kernel/sched_ext/root/ops", "bpfland_1.1\n");
        let all = essential(&fixture.machine());
        assert_eq!(first_obstacle(&all).unwrap().0, Obstacle::NotPermitted);
        fixture.write("proc/self/status", "CapEff:\t000001ffffffffff\n");
        let all = essential(&fixture.machine());
        let (obstacle, requirement) = first_obstacle(&all).unwrap();
        assert_eq!(obstacle, Obstacle::OtherScheduler);
        assert!(requirement.finding.contains("bpfland_1.1"));
    }

    #[test]
    fn findings_and_mends_are_single_lines() {
        for machine in [Machine::at("/nonexistent"), fixture::capable().machine()] {
            for requirement in requirements(&machine) {
                assert!(!requirement.finding.contains('\n'), "{requirement:?}");
                assert!(!requirement.mend.unwrap_or_default().contains('\n'));
            }
        }
    }
}
