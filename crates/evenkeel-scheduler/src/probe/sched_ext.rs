// SPDX-License-Identifier: GPL-2.0-only
//! What the kernel says about sched_ext, from `/sys/kernel/sched_ext`.

use std::collections::BTreeMap;
use std::fmt;
use std::io;

use serde::Serialize;

use super::{Machine, Obstacle, Requirement};

const DIRECTORY: &str = "/sys/kernel/sched_ext";

/// What our own ops names start with; the version follows.
pub const OUR_PREFIX: &str = "evenkeel";

/// The kernel's own word for the state of sched_ext (`scx_enable_state_str` in `kernel/sched/ext.c`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// No scheduler is attached.
    Disabled,
    /// One is being attached.
    Enabling,
    /// One is attached.
    Enabled,
    /// One is being detached.
    Disabling,
    /// A word that later kernels may bring.
    #[serde(untagged)]
    Other(String),
}

impl State {
    fn parse(word: &str) -> Self {
        match word {
            "disabled" => Self::Disabled,
            "enabling" => Self::Enabling,
            "enabled" => Self::Enabled,
            "disabling" => Self::Disabling,
            other => Self::Other(one_line(other)),
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Disabled => "disabled",
            Self::Enabling => "enabling",
            Self::Enabled => "enabled",
            Self::Disabling => "disabling",
            Self::Other(word) => word,
        })
    }
}

/// sched_ext as the kernel shows it at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SchedExt {
    /// The state.
    pub state: State,
    /// The active scheduler's name, if there is one.
    pub ops: Option<String>,
    /// Whether every normal task is switched, or only those of the `SCHED_EXT` policy.
    pub switch_all: Option<bool>,
    /// Tasks refused the `SCHED_EXT` policy since boot.
    pub nr_rejected: Option<u64>,
    /// CPU hotplug events since boot; a scheduler opened at another number must start again.
    pub hotplug_seq: Option<u64>,
    /// Schedulers attached since boot (kernel 6.13 or later).
    pub enable_seq: Option<u64>,
    /// The kernel's event counters of the active scheduler (kernel 6.15 or later).
    pub events: BTreeMap<String, u64>,
}

impl SchedExt {
    /// Reads all of it; absent files are `None`.
    ///
    /// # Errors
    /// `NotFound` where the kernel has no sched_ext, or any other error of reading its state.
    pub fn read(machine: &Machine) -> io::Result<Self> {
        let read = |name: &str| machine.read(&format!("{DIRECTORY}/{name}"));
        let number = |name: &str| read(name).ok()?.trim().parse::<u64>().ok();
        let ops = read("root/ops")
            .ok()
            .map(|ops| one_line(&ops))
            .filter(|ops| !ops.is_empty());
        Ok(Self {
            state: State::parse(&read("state")?),
            ops,
            switch_all: number("switch_all").map(|n| n != 0),
            nr_rejected: number("nr_rejected"),
            hotplug_seq: number("hotplug_seq"),
            enable_seq: number("enable_seq"),
            events: read("root/events")
                .map(|text| parse_events(&text))
                .unwrap_or_default(),
        })
    }

    /// Whether the active scheduler is this program's.
    pub fn is_ours(&self) -> bool {
        self.ops.as_deref().is_some_and(|ops| {
            ops.strip_prefix(OUR_PREFIX)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
        })
    }
}

/// Reads lines of `NAME count`, and leaves out what does not look like one.
fn parse_events(text: &str) -> BTreeMap<String, u64> {
    let pairs = text.lines().filter_map(|line| line.split_once(' '));
    pairs
        .filter_map(|(name, count)| Some((name.to_owned(), count.trim().parse().ok()?)))
        .collect()
}

fn one_line(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}

pub(super) fn present(found: &io::Result<SchedExt>) -> Requirement {
    const NAME: &str = "sched_ext";
    match found {
        Ok(_) => Requirement::ok(NAME, format!("present at {DIRECTORY}")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Requirement::missing(
            NAME,
            format!("absent: this kernel has no {DIRECTORY}"),
            "boot a kernel built with CONFIG_SCHED_CLASS_EXT=y, and mount /sys",
            Obstacle::Unsupported,
        ),
        Err(error) => Requirement::missing(
            NAME,
            format!("unreadable: {DIRECTORY}/state: {error}"),
            "mount /sys and allow this user to read it",
            Obstacle::Unsupported,
        ),
    }
}

pub(super) fn state(found: &io::Result<SchedExt>) -> Requirement {
    const NAME: &str = "sched_ext state";
    match found {
        Ok(SchedExt {
            state: state @ (State::Disabled | State::Enabled),
            ..
        }) => Requirement::ok(NAME, state.to_string()),
        Ok(SchedExt { state, .. }) => {
            Requirement::warning(NAME, state.to_string(), "wait until it is disabled")
        }
        Err(_) => Requirement::warning(NAME, "unknown", "see sched_ext"),
    }
}

pub(super) fn active(found: &io::Result<SchedExt>) -> Requirement {
    const NAME: &str = "active scheduler";
    let Ok(found) = found else {
        return Requirement::ok(NAME, "the kernel's default");
    };
    match (&found.state, &found.ops) {
        (State::Disabled, _) => Requirement::ok(NAME, "the kernel's default"),
        (_, Some(ops)) => Requirement::missing(
            NAME,
            format!("{ops} is active"),
            format!("stop {ops} first; only one scheduler can be active"),
            Obstacle::OtherScheduler,
        ),
        (state, None) => Requirement::missing(
            NAME,
            format!("one that the kernel does not name is {state}"),
            "stop it first; only one scheduler can be active",
            Obstacle::OtherScheduler,
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Verdict, fixture};
    use super::*;

    #[test]
    fn a_kernel_without_sched_ext_is_missing_it() {
        let found = SchedExt::read(&fixture::Fixture::empty().machine());
        assert_eq!(present(&found).obstacle, Some(Obstacle::Unsupported));
        assert_eq!(active(&found).verdict, Verdict::Ok);
    }

    #[test]
    fn an_active_scheduler_is_named() {
        let fixture = fixture::capable();
        fixture.write("sys/kernel/sched_ext/state", "enabled\n");
        fixture.write("sys/kernel/sched_ext/root/ops", "bpfland_1.1.4_x86_64\n");
        let found = SchedExt::read(&fixture.machine());
        let requirement = active(&found);
        assert_eq!(requirement.obstacle, Some(Obstacle::OtherScheduler));
        assert!(requirement.finding.contains("bpfland_1.1.4_x86_64"));
        assert!(!found.unwrap().is_ours());
    }

    #[test]
    fn a_scheduler_on_its_way_in_or_out_stops_a_second_one() {
        let fixture = fixture::capable();
        for word in ["enabling", "disabling", "confused"] {
            fixture.write("sys/kernel/sched_ext/state", word);
            let found = SchedExt::read(&fixture.machine());
            assert_eq!(
                active(&found).obstacle,
                Some(Obstacle::OtherScheduler),
                "{word}"
            );
            assert_eq!(state(&found).verdict, Verdict::Warning, "{word}");
        }
    }

    #[test]
    fn only_our_own_names_are_ours() {
        let fixture = fixture::capable();
        for (ops, ours) in [
            ("evenkeel", true),
            ("evenkeel_0.1.0", true),
            ("evenkeeler_2", false),
            ("bpfland", false),
        ] {
            fixture.write("sys/kernel/sched_ext/root/ops", ops);
            assert_eq!(
                SchedExt::read(&fixture.machine()).unwrap().is_ours(),
                ours,
                "{ops}"
            );
        }
    }

    #[test]
    fn counters_and_events_are_read_and_nonsense_is_left_out() {
        let fixture = fixture::capable();
        fixture.write("sys/kernel/sched_ext/enable_seq", "3\n");
        fixture.write("sys/kernel/sched_ext/hotplug_seq", "garbage\n");
        fixture.write(
            "sys/kernel/sched_ext/root/events",
            "SCX_EV_A 7\nSCX_EV_B -1\n\nlonely\n",
        );
        let found = SchedExt::read(&fixture.machine()).unwrap();
        assert_eq!((found.enable_seq, found.hotplug_seq), (Some(3), None));
        assert_eq!(found.events, BTreeMap::from([("SCX_EV_A".to_owned(), 7)]));
    }
}
