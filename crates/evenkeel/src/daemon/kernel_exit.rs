// SPDX-License-Identifier: GPL-2.0-only
//! Why the kernel ended the scheduler, on one line and without names of tasks.

use evenkeel_scheduler::Exit;

use crate::failure::one_line;

/// Scheduling classes that come before ours, as the exit dump names them, and the policies they are.
const HIGHER: [(&str, &str); 2] = [
    ("rt_sched_class", "real-time (SCHED_FIFO or SCHED_RR)"),
    ("dl_sched_class", "real-time deadline (SCHED_DEADLINE)"),
];

/// The kernel's reason, its message and what the dump says about who held the CPU.
pub fn explain(exit: &Exit) -> String {
    let mut text = if exit.reason.is_empty() {
        "no reason given"
    } else {
        &exit.reason
    }
    .to_owned();
    let message = without_names(&exit.message);
    if !message.is_empty() {
        text.push_str(": ");
        text.push_str(&message);
    }
    // Elsewhere a real-time task in the dump is a passer-by.
    let dump = exit.dump.as_deref().filter(|_| exit.is_stall());
    if let Some(cause) = dump.and_then(higher_class) {
        text.push_str("; ");
        text.push_str(&cause);
    }
    one_line(&text)
}

/// Replaces `name[123]` by `a task`. A name may hold spaces, so it reaches back to the start of the phrase.
fn without_names(message: &str) -> String {
    let mut text = message.to_owned();
    while let Some((open, close)) = number_in_brackets(&text) {
        let start = text[..open].rfind(": ").map_or(0, |colon| colon + 2);
        text.replace_range(start..=close, "a task");
    }
    text
}

fn number_in_brackets(text: &str) -> Option<(usize, usize)> {
    let mut from = 0;
    while let Some(open) = text[from..].find('[').map(|at| from + at) {
        let close = open + text[open..].find(']')?;
        let number = &text[open + 1..close];
        if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) {
            return Some((open, close));
        }
        from = open + 1;
    }
    None
}

/// The CPU that a task of a higher class held, from lines such as
/// `CPU 1   : nr_run=2 flags=0x0 ...` and `curr=name[12] class=rt_sched_class` (`scx_dump_state`).
fn higher_class(dump: &str) -> Option<String> {
    let mut cpu = "?";
    for line in dump.lines().map(str::trim_start) {
        if let Some(rest) = line.strip_prefix("CPU ") {
            cpu = rest.split_whitespace().next().unwrap_or("?");
        }
        let class = line
            .split_whitespace()
            .find_map(|word| word.strip_prefix("class="));
        let policy = HIGHER.iter().find(|(name, _)| Some(*name) == class);
        if let Some((_, policy)) = policy {
            return Some(format!(
                "a {policy} task held CPU {cpu} at that moment, and tasks of this scheduler wait behind it"
            ));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stall(dump: &str) -> Exit {
        Exit {
            kind: 1026,
            reason: "runnable task stall".to_owned(),
            message: "Web Content[812] failed to run for 31.2s".to_owned(),
            dump: Some(dump.to_owned()),
            ..Exit::default()
        }
    }

    #[test]
    fn a_stall_is_told_without_the_tasks_name() {
        let text = explain(&stall(
            "CPU 0   : nr_run=1\n  curr=bash[1] class=ext_sched_class\n",
        ));
        assert_eq!(text, "runnable task stall: a task failed to run for 31.2s");
    }

    #[test]
    fn a_real_time_hog_is_named_by_its_class() {
        let text = explain(&stall(
            "CPU states\n----------\n\nCPU 0   : nr_run=1\n          curr=a[1] class=ext_sched_class\n\
             CPU 3   : nr_run=2\n          curr=hog[99] class=rt_sched_class\n",
        ));
        assert!(
            text.contains("real-time (SCHED_FIFO or SCHED_RR) task held CPU 3"),
            "{text}"
        );
        assert!(!text.contains("hog") && !text.contains("99"), "{text}");
    }

    #[test]
    fn an_empty_or_strange_exit_is_still_one_line() {
        assert_eq!(explain(&Exit::default()), "no reason given");
        let exit = Exit {
            message: "a[b]\n[12] c [".to_owned(),
            ..stall("")
        };
        assert_eq!(explain(&exit), "runnable task stall: a task c [");
    }
}
