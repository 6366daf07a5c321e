// SPDX-License-Identifier: GPL-2.0-only

//! Quoting for the shell and for QEMU's option lists.

/// Quotes an argument for a POSIX shell, so that it arrives byte for byte.
pub fn shell(argument: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    if !argument.is_empty() && argument.chars().all(plain) {
        argument.to_owned()
    } else {
        format!("'{}'", argument.replace('\'', r"'\''"))
    }
}

/// Quotes every argument and joins them with spaces.
pub fn shell_words<'a>(arguments: impl IntoIterator<Item = &'a str>) -> String {
    arguments
        .into_iter()
        .map(shell)
        .collect::<Vec<_>>()
        .join(" ")
}

/// Quotes a value of a QEMU option, where a comma begins the next one unless it is doubled.
pub fn qemu_value(value: &str) -> String {
    value.replace(',', ",,")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a shell makes of the quoted words.
    fn through_shell(arguments: &[&str]) -> String {
        let script = format!("printf '<%s>' {}", shell_words(arguments.iter().copied()));
        let output = std::process::Command::new("sh")
            .args(["-c", &script])
            .output()
            .expect("sh runs");
        String::from_utf8(output.stdout).expect("the arguments are UTF-8")
    }

    #[test]
    fn words_survive_the_shell() {
        let words = [
            "plain",
            "two words",
            "",
            "it's",
            "a\"b",
            "new\nline",
            "$HOME `x` \\ *",
            "é",
        ];
        let expected: String = words.iter().map(|word| format!("<{word}>")).collect();
        assert_eq!(through_shell(&words), expected);
    }

    #[test]
    fn plain_words_stay_readable() {
        assert_eq!(
            shell_words(["evenkeel", "run", "--duration=5s"]),
            "evenkeel run --duration=5s"
        );
    }

    #[test]
    fn commas_are_doubled_for_qemu() {
        assert_eq!(qemu_value("/a,b/c"), "/a,,b/c");
    }
}
