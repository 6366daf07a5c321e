// SPDX-License-Identifier: GPL-2.0-only
//! Pieces of text that several verbs print for people.

use evenkeel_scheduler::probe::{Requirement, Verdict};

/// A requirement on one line, with its mend below it if it has one.
pub fn requirement(requirement: &Requirement) -> String {
    let verdict = match requirement.verdict {
        Verdict::Ok => "ok",
        Verdict::Warning => "warning",
        Verdict::Missing => "missing",
    };
    let mut text = format!(
        "{verdict:<8} {:<21} {}\n",
        requirement.name, requirement.finding
    );
    if let Some(mend) = &requirement.mend {
        text.push_str(&format!("{:30} mend: {mend}\n", ""));
    }
    text
}

/// A name and its value below a heading.
pub fn fact(name: &str, value: impl std::fmt::Display) -> String {
    format!("  {name:<26} {value}\n")
}
