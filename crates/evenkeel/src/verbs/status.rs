// SPDX-License-Identifier: GPL-2.0-only
//! `status`: what the kernel says, what the daemon says, and how the last run ended.

use std::io::{self, ErrorKind};

use evenkeel_scheduler::Statistics;
use evenkeel_scheduler::probe::Machine;
use evenkeel_scheduler::probe::sched_ext::{SchedExt, State};
use serde::Serialize;

use crate::cli::Format;
use crate::failure::{Failure, Status};
use crate::record::{End, LastRun};
use crate::report::fact;
use crate::statistics::Client;
use crate::summary::counts;
use crate::{output, time};

/// Whose scheduler is active.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Active {
    /// The kernel's default.
    None,
    Ours,
    Other,
}

#[derive(Serialize)]
struct Report {
    version: &'static str,
    /// Whether this kernel has sched_ext.
    supported: bool,
    active: Active,
    #[serde(flatten)]
    kernel: Option<SchedExt>,
    /// The living daemon's process number.
    pid: Option<u32>,
    mode: Option<String>,
    /// The counters since attach, if the daemon answers.
    statistics: Option<Statistics>,
    /// Why there are none although our scheduler is active.
    silent: Option<String>,
    last_run: Option<LastRun>,
    /// Why the last run may be another one, or not be known at all.
    last_run_unknown: Option<String>,
    /// How the last run ended; `None` while it goes on.
    last_exit: Option<End>,
}

pub fn status(machine: &Machine, args: &Format) -> Result<Status, Failure> {
    let report = gather(machine)?;
    if args.json {
        output::print_json(&report)?;
    } else {
        output::print(&show(&report))?;
    }
    Ok(Status::Success)
}

fn gather(machine: &Machine) -> Result<Report, Failure> {
    let kernel = match SchedExt::read(machine) {
        Ok(found) => Some(found),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(Failure::doing("sched_ext cannot be read", error)),
    };
    let active = match &kernel {
        Some(found) if found.state != State::Disabled && found.is_ours() => Active::Ours,
        Some(found) if found.state != State::Disabled => Active::Other,
        _ => Active::None,
    };
    let asked = (active == Active::Ours).then(|| Client::connect(machine)?.ask());
    let (statistics, silent) = match asked {
        None => (None, None),
        Some(Ok(statistics)) => (Some(statistics), None),
        Some(Err(error)) => (None, Some(error)),
    };
    let read = LastRun::read(machine);
    let last_run_unknown = unknown(&read, kernel.as_ref(), active);
    let last_run = read.unwrap_or_default();
    let last_exit = last_run.as_ref().and_then(|run| run.end(machine));
    let living = last_run.as_ref().filter(|_| last_exit.is_none());
    Ok(Report {
        version: env!("CARGO_PKG_VERSION"),
        supported: kernel.is_some(),
        active,
        kernel,
        pid: living.map(|run| run.process.pid),
        mode: living
            .filter(|_| active == Active::Ours)
            .map(|run| run.mode.clone()),
        statistics,
        silent,
        last_run,
        last_run_unknown,
        last_exit,
    })
}

/// Why the record does not say what the last run was, if it does not. A run without a record is
/// seen in the kernel's count of schedulers, which counts those of others too.
fn unknown(
    read: &io::Result<Option<LastRun>>,
    kernel: Option<&SchedExt>,
    active: Active,
) -> Option<String> {
    let run = match read {
        Err(error) if error.kind() == ErrorKind::InvalidData => {
            return Some("its record makes no sense".to_owned());
        }
        Err(error) => return Some(format!("its record cannot be read: {error}")),
        Ok(run) => run.as_ref(),
    };
    let ours = active == Active::Ours;
    if ours && run.is_some_and(|run| run.end.is_none()) {
        return None;
    }
    let attached = kernel.and_then(|kernel| kernel.enable_seq).unwrap_or(0);
    let recorded = run.map_or(0, |run| run.enable_seq.unwrap_or(u64::MAX));
    // Not every kernel counts, but one that runs is one.
    let since = attached.saturating_sub(recorded).max(u64::from(ours));
    match (since, run) {
        (0, _) => None,
        (_, None) => Some(format!(
            "schedulers attached since boot: {since}, none recorded"
        )),
        (_, Some(_)) => Some(format!("schedulers attached since this record: {since}")),
    }
}

fn show(report: &Report) -> String {
    let mut text = fact("scheduler", scheduler(report));
    if let Some(kernel) = &report.kernel {
        text.push_str(&fact("sched_ext", &kernel.state));
        let numbers = [
            ("schedulers since boot", kernel.enable_seq),
            ("hotplug events", kernel.hotplug_seq),
            ("tasks refused SCHED_EXT", kernel.nr_rejected),
        ];
        for (name, number) in numbers {
            text.push_str(&number.map_or_else(String::new, |number| fact(name, number)));
        }
        for (name, count) in kernel.events.iter().filter(|(_, count)| **count > 0) {
            text.push_str(&fact(name, count));
        }
    }
    text.push_str(&daemon(report));
    if let Some(statistics) = &report.statistics {
        text.push_str(&fact("since attach", counts(statistics)));
    }
    if let Some(silent) = &report.silent {
        text.push_str(&fact("since attach", format!("no answer: {silent}")));
    }
    text.push_str(&last_run(report));
    text
}

fn scheduler(report: &Report) -> String {
    let ops = report
        .kernel
        .as_ref()
        .and_then(|kernel| kernel.ops.as_deref())
        .unwrap_or("unnamed");
    match (report.active, &report.kernel) {
        (Active::None, None) => "the kernel's default (this kernel has no sched_ext)".to_owned(),
        (Active::None, Some(_)) => "the kernel's default".to_owned(),
        (Active::Other, _) => format!("{ops}, which is not Evenkeel"),
        (
            Active::Ours,
            Some(SchedExt {
                switch_all: Some(false),
                ..
            }),
        ) => {
            format!("{ops}, for SCHED_EXT tasks only")
        }
        (Active::Ours, _) => ops.to_owned(),
    }
}

fn daemon(report: &Report) -> String {
    match (report.active, report.pid) {
        (Active::Ours, Some(pid)) => {
            let mode = report.mode.as_deref().unwrap_or("unknown");
            fact("daemon", format!("process {pid}, mode {mode}"))
        }
        (Active::Ours, None) => fact("daemon", "not on record"),
        (_, Some(pid)) => fact(
            "daemon",
            format!("process {pid} lives, but its scheduler is not active"),
        ),
        (_, None) => String::new(),
    }
}

fn last_run(report: &Report) -> String {
    let Some(run) = &report.last_run else {
        let none = "none since boot".to_owned();
        let unknown = report.last_run_unknown.as_ref();
        return fact(
            "last run",
            unknown.map_or(none, |why| format!("unknown: {why}")),
        );
    };
    let started = time::show_unix(run.started_unix);
    let mut text = fact("last run", format!("mode {}, started {started}", run.mode));
    if let Some(why) = &report.last_run_unknown {
        text.push_str(&fact("  perhaps not the last", why));
    }
    if let Some(end) = &report.last_exit {
        let when = end
            .ended_unix
            .map_or_else(|| "unknown when".to_owned(), time::show_unix);
        let status = end
            .status
            .map_or_else(String::new, |n| format!(", exit status {n}"));
        text.push_str(&fact("  ended", format!("{when}{status}")));
        text.push_str(&fact("  because", &end.why));
    }
    text
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn machine(files: &[(&str, &str)]) -> (tempfile::TempDir, Machine) {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let machine = Machine::at(dir.path());
        (dir, machine)
    }

    const DEAD: &str = r#"{"version":"0.1.0","mode":"online","pid":4,"start_ticks":9,
        "started_unix":1000,"end":null}"#;

    #[test]
    fn a_kernel_without_sched_ext_is_told_as_such() {
        let (_dir, machine) = machine(&[]);
        let report = gather(&machine).unwrap();
        assert_eq!((report.supported, report.active), (false, Active::None));
        assert!(show(&report).contains("no sched_ext"));
    }

    #[test]
    fn no_run_since_boot_is_claimed_only_where_the_kernel_counts_none() {
        for (seq, claim) in [
            ("0\n", "none since boot"),
            (
                "2\n",
                "unknown: schedulers attached since boot: 2, none recorded",
            ),
        ] {
            let (_dir, machine) = machine(&[
                ("sys/kernel/sched_ext/state", "disabled\n"),
                ("sys/kernel/sched_ext/enable_seq", seq),
            ]);
            let text = show(&gather(&machine).unwrap());
            assert!(text.contains(claim), "{text}");
        }
    }

    #[test]
    fn a_record_that_cannot_be_read_is_not_taken_for_none() {
        for (path, why) in [
            ("run/evenkeel", "unknown: its record cannot be read"),
            (
                "run/evenkeel/last-run.json",
                "unknown: its record makes no sense",
            ),
        ] {
            let (_dir, machine) =
                machine(&[("sys/kernel/sched_ext/state", "disabled\n"), (path, "")]);
            let text = show(&gather(&machine).unwrap());
            assert!(text.contains(why), "{text}");
        }
    }

    #[test]
    fn a_record_older_than_the_last_attachment_is_doubted() {
        let ended = r#"{"version":"0.1.0","mode":"online","pid":4,"start_ticks":9,
            "started_unix":1000,"enable_seq":3,
            "end":{"ended_unix":2000,"how":"signal","why":"stopped by SIGINT","status":0}}"#;
        for (seq, doubt) in [("3\n", false), ("5\n", true)] {
            let (_dir, machine) = machine(&[
                ("sys/kernel/sched_ext/state", "disabled\n"),
                ("sys/kernel/sched_ext/enable_seq", seq),
                ("run/evenkeel/last-run.json", ended),
            ]);
            let report = gather(&machine).unwrap();
            let text = show(&report);
            assert_eq!(
                text.contains("schedulers attached since this record: 2"),
                doubt,
                "{text}"
            );
            assert!(text.contains("stopped by SIGINT"), "{text}");
        }
    }

    #[test]
    fn the_kernel_wins_over_the_record() {
        let (_dir, machine) = machine(&[
            ("sys/kernel/sched_ext/state", "disabled\n"),
            ("run/evenkeel/last-run.json", DEAD),
        ]);
        let report = gather(&machine).unwrap();
        assert_eq!((report.active, report.pid), (Active::None, None));
        let text = show(&report);
        assert!(
            text.contains("the kernel's default") && text.contains("died without"),
            "{text}"
        );
    }

    #[test]
    fn another_scheduler_is_named_and_not_taken_for_ours() {
        let (_dir, machine) = machine(&[
            ("sys/kernel/sched_ext/state", "enabled\n"),
            ("sys/kernel/sched_ext/root/ops", "bpfland_1.1.4\n"),
        ]);
        let report = gather(&machine).unwrap();
        assert_eq!(report.active, Active::Other);
        assert!(show(&report).contains("bpfland_1.1.4, which is not Evenkeel"));
    }

    #[test]
    fn our_scheduler_with_a_silent_daemon_is_still_ours() {
        let (_dir, machine) = machine(&[
            ("sys/kernel/sched_ext/state", "enabled\n"),
            ("sys/kernel/sched_ext/root/ops", "evenkeel_0.1.0\n"),
            (
                "sys/kernel/sched_ext/root/events",
                "SCX_EV_A 3\nSCX_EV_B 0\n",
            ),
        ]);
        let report = gather(&machine).unwrap();
        assert_eq!(report.active, Active::Ours);
        let text = show(&report);
        assert!(
            report.silent.is_some() && text.contains("no answer"),
            "{text}"
        );
        assert!(
            text.contains("SCX_EV_A") && !text.contains("SCX_EV_B"),
            "{text}"
        );
    }

    #[test]
    fn the_json_has_state_ops_and_the_last_exit_at_the_top() {
        let (_dir, machine) = machine(&[
            ("sys/kernel/sched_ext/state", "disabled\n"),
            ("run/evenkeel/last-run.json", DEAD),
        ]);
        let json = serde_json::to_value(gather(&machine).unwrap()).unwrap();
        assert_eq!(json["state"], "disabled");
        assert_eq!(json["ops"], serde_json::Value::Null);
        assert_eq!(json["last_exit"]["how"], "died");
    }
}
