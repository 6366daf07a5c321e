// SPDX-License-Identifier: GPL-2.0-only
//! Keeps what libbpf says during a load, so that a rejection can be told in the user's terms.

use std::sync::{Mutex, MutexGuard, PoisonError};

use libbpf_rs::{PrintCallback, PrintLevel, get_print, set_print};

/// Lines of the verifier's log that are kept: its reason is in the last few.
const TAIL_LINES: usize = 12;

static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());
/// One capture at a time: libbpf has one callback for the whole process.
static ACTIVE: Mutex<()> = Mutex::new(());

fn lines() -> MutexGuard<'static, Vec<String>> {
    LINES.lock().unwrap_or_else(PoisonError::into_inner)
}

fn keep(_level: PrintLevel, text: String) {
    lines().extend(text.lines().map(str::to_owned));
}

/// Captures libbpf's warnings while it lives.
pub(crate) struct LoadLog {
    before: Option<(PrintLevel, PrintCallback)>,
    _active: MutexGuard<'static, ()>,
}

impl LoadLog {
    pub(crate) fn capture() -> Self {
        let active = ACTIVE.lock().unwrap_or_else(PoisonError::into_inner);
        let before = get_print();
        lines().clear();
        set_print(Some((PrintLevel::Warn, keep)));
        Self {
            before,
            _active: active,
        }
    }

    /// The rejected program and the verifier's last lines, when that is what happened.
    pub(crate) fn rejection(&self) -> Option<(String, Vec<String>)> {
        find_rejection(&lines())
    }

    /// libbpf's last warning, for failures that are no rejection.
    pub(crate) fn last_warning(&self) -> Option<String> {
        lines()
            .iter()
            .rev()
            .find(|line| !line.trim().is_empty())
            .cloned()
    }
}

impl Drop for LoadLog {
    fn drop(&mut self) {
        set_print(self.before.take());
    }
}

/// What a load fails with, as libbpf writes it, when the machine or a limit has no more to give:
/// the verifier's log is there then too, and says nothing against the program.
const SCARCITY: [&str; 5] = ["-EMFILE", "-ENFILE", "-ENOMEM", "-EAGAIN", "-EPERM"];

/// Finds libbpf's `prog 'NAME': BPF program load failed` and the log that it prints after it.
fn find_rejection(lines: &[String]) -> Option<(String, Vec<String>)> {
    let failed = lines
        .iter()
        .position(|l| l.contains("BPF program load failed"))?;
    if SCARCITY.iter().any(|errno| lines[failed].ends_with(errno)) {
        return None;
    }
    let program = lines[failed].split('\'').nth(1)?.to_owned();
    let begin = lines
        .iter()
        .position(|l| l.contains("-- BEGIN PROG LOAD LOG --"))?;
    let log: Vec<_> = lines[begin + 1..]
        .iter()
        .take_while(|l| !l.contains("-- END PROG LOAD LOG --"))
        .filter(|l| !l.trim().is_empty())
        .cloned()
        .collect();
    let tail = log[log.len().saturating_sub(TAIL_LINES)..].to_vec();
    Some((program, tail))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rejection_names_the_program_and_keeps_the_verifiers_last_lines() {
        let mut text: Vec<String> = vec![
            "libbpf: prog 'evenkeel_enqueue': BPF program load failed: -EACCES".into(),
            "libbpf: prog 'evenkeel_enqueue': -- BEGIN PROG LOAD LOG --".into(),
        ];
        text.extend((0..40).map(|i| format!("{i}: (bf) r1 = r0")));
        text.push("R1 invalid mem access 'scalar'".into());
        text.push("-- END PROG LOAD LOG --".into());
        text.push("libbpf: failed to load object 'bpf_bpf'".into());
        let (program, tail) = find_rejection(&text).unwrap();
        assert_eq!(program, "evenkeel_enqueue");
        assert_eq!(tail.len(), TAIL_LINES);
        assert_eq!(tail.last().unwrap(), "R1 invalid mem access 'scalar'");
    }

    #[test]
    fn a_program_that_found_no_free_descriptor_was_not_rejected() {
        let text = [
            "libbpf: prog 'evenkeel_tick': BPF program load failed: -EMFILE",
            "libbpf: prog 'evenkeel_tick': -- BEGIN PROG LOAD LOG --",
            "processed 69 insns (limit 1000000)",
            "-- END PROG LOAD LOG --",
        ];
        assert!(find_rejection(&text.map(str::to_owned)).is_none());
    }

    #[test]
    fn another_failure_is_no_rejection() {
        assert!(find_rejection(&["libbpf: failed to find valid kernel BTF".into()]).is_none());
    }
}
