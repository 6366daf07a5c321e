// SPDX-License-Identifier: GPL-2.0-only

//! The end of a guest's console, for errors.

use std::fmt;

/// The last `count` lines that say something, without carriage returns and terminal sequences.
pub fn tail(console: &[u8], count: usize) -> Vec<String> {
    let text = String::from_utf8_lossy(console);
    let mut lines: Vec<String> = text
        .split('\n')
        .map(|line| plain(line).trim_end().to_owned())
        .filter(|line| !line.is_empty())
        .collect();
    lines.split_off(lines.len().saturating_sub(count))
}

/// The line without control characters and ANSI sequences.
fn plain(line: &str) -> String {
    let mut kept = String::with_capacity(line.len());
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        if character == '\u{1b}' {
            // A control sequence ends with the first letter after its introducer.
            for inner in characters.by_ref() {
                if inner.is_ascii_alphabetic() {
                    break;
                }
            }
        } else if character == '\t' || !character.is_control() {
            kept.push(character);
        }
    }
    kept
}

/// Whether the console shows that the kernel gave up.
pub fn panicked(console: &[u8]) -> bool {
    String::from_utf8_lossy(console).contains("Kernel panic - not syncing")
}

/// The guest's kernel met a breakpoint of its own that was no longer there: a fault of the
/// emulator, not of anything in the guest (`docs/lab.md`, "A fault of the emulator").
#[derive(Debug)]
pub struct StaleBreakpoint;

impl StaleBreakpoint {
    /// Whether that is what the console shows. Only the kernel's own text holds such breakpoints,
    /// and only while it patches itself; whoever hits one later has run an old translation.
    pub fn shown(console: &[u8]) -> bool {
        panicked(console) && String::from_utf8_lossy(console).contains("Oops: int3: ")
    }
}

impl fmt::Display for StaleBreakpoint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(
            "the emulator ran a breakpoint that the guest's kernel had removed (docs/lab.md)",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_has_the_last_lines_that_say_something() {
        let console = b"one\r\n\r\ntwo\r\n\x1b[1;31mthree\x1b[0m\r\n\n";
        assert_eq!(tail(console, 2), ["two", "three"]);
        assert_eq!(tail(console, 9).len(), 3);
        assert!(tail(b"", 5).is_empty());
    }

    #[test]
    fn a_panic_is_recognised() {
        assert!(panicked(
            b"[ 1.0] Kernel panic - not syncing: sysrq triggered crash\r\n"
        ));
        assert!(!panicked(b"[ 1.0] all is well\r\n"));
    }

    #[test]
    fn only_a_panic_on_a_breakpoint_is_the_emulators() {
        let end = "[ 9.1] Kernel panic - not syncing: Fatal exception in interrupt\r\n";
        let oops = |what: &str| format!("[ 9.0] Oops: {what}: 0000 [#1] SMP NOPTI\r\n{end}");
        assert!(StaleBreakpoint::shown(oops("int3").as_bytes()));
        assert!(!StaleBreakpoint::shown(oops("invalid opcode").as_bytes()));
        assert!(!StaleBreakpoint::shown(end.as_bytes()));
        assert!(!StaleBreakpoint::shown(
            b"[ 9.0] Oops: int3: 0000 [#1] SMP NOPTI\r\n"
        ));
    }
}
