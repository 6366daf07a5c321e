// SPDX-License-Identifier: GPL-2.0-only

//! The end of a guest's console, for errors.

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
}
