// SPDX-License-Identifier: GPL-2.0-only
//! Processes as `/proc` shows them.

use evenkeel_scheduler::probe::Machine;

/// A process that a later one with the same number is not mistaken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ProcessId {
    pub pid: u32,
    /// When it started, in clock ticks since boot (field 22 of `/proc/PID/stat`, proc(5)).
    pub start_ticks: u64,
}

impl ProcessId {
    /// This process.
    pub fn own(machine: &Machine) -> Self {
        let pid = std::process::id();
        Self {
            pid,
            start_ticks: start_ticks(machine, pid).unwrap_or(0),
        }
    }

    /// Whether it still exists. A zombie does not: it holds no scheduler.
    pub fn is_alive(self, machine: &Machine) -> bool {
        start_ticks(machine, self.pid) == Some(self.start_ticks)
    }
}

fn start_ticks(machine: &Machine, pid: u32) -> Option<u64> {
    parse_start(&machine.read(&format!("/proc/{pid}/stat")).ok()?)
}

/// Reads field 22; the name before it is in parentheses and may hold anything.
fn parse_start(stat: &str) -> Option<u64> {
    let mut after_name = stat[stat.rfind(')')? + 1..].split_whitespace();
    let state = after_name.next()?;
    let start = after_name.nth(18)?.parse().ok()?;
    (!matches!(state, "Z" | "X")).then_some(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TAIL: &str = "1 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4242 9 9";

    #[test]
    fn the_start_is_found_behind_any_name() {
        assert_eq!(parse_start(&format!("7 (a) b) S 1) S {TAIL}")), Some(4242));
    }

    #[test]
    fn a_zombie_or_a_cut_line_is_no_living_process() {
        assert_eq!(parse_start(&format!("7 (x) Z {TAIL}")), None);
        assert_eq!(parse_start("7 (x) S 1 2"), None);
        assert_eq!(parse_start(""), None);
    }

    #[test]
    fn this_process_is_alive_and_an_earlier_one_of_its_number_is_not() {
        let machine = Machine::default();
        let own = ProcessId::own(&machine);
        assert!(own.is_alive(&machine));
        assert!(
            !ProcessId {
                start_ticks: own.start_ticks + 1,
                ..own
            }
            .is_alive(&machine)
        );
    }
}
