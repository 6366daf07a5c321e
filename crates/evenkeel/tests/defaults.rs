// SPDX-License-Identifier: GPL-2.0-only
//! The documented defaults are what is done when nothing is asked for.

mod support;

use std::fs;

use support::{run, stderr, stdout};

/// An option's first column and its default, from the table of `docs/verbs.md`.
fn documented() -> Vec<(String, String)> {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/verbs.md");
    let page = fs::read_to_string(page).expect("the page of the verbs");
    let section = page.split("## Options of scheduling").nth(1);
    let section = section.and_then(|rest| rest.split("\n## ").next());
    section
        .expect("the section of the options")
        .lines()
        .filter_map(|line| {
            let cells: Vec<_> = line.split('|').map(str::trim).collect();
            let [_, option, _, default, _] = cells[..] else {
                return None;
            };
            let option = option.trim_matches('`');
            (option.starts_with("--") && !option.starts_with("---") && default != "off")
                .then(|| (option.to_owned(), default.trim_matches('`').to_owned()))
        })
        .collect()
}

#[test]
fn every_documented_default_is_what_is_planned_without_options() {
    let documented = documented();
    assert!(documented.len() >= 10, "{documented:?}");
    let mut args = vec!["plan", "--json"];
    let planned = |args: &[&str]| -> serde_json::Value {
        let output = run(args);
        assert_eq!(stderr(&output), "");
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let untouched = planned(&args);
    for (option, default) in &documented {
        args.extend([option.as_str(), default.as_str()]);
    }
    assert_eq!(planned(&args)["options"], untouched["options"]);
}

#[test]
fn the_help_gives_the_documented_defaults() {
    let help = stdout(&run(&["run", "--help"]));
    for (option, default) in documented() {
        let text = help.split(&format!("{option} ")).nth(1).unwrap();
        let text = text.split("\n      --").next().unwrap();
        if option != "--exit-dump-len" {
            assert!(
                text.contains(&format!("[default: {default}]")),
                "{option}: {text}"
            );
        }
    }
}
