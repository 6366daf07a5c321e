// SPDX-License-Identifier: GPL-2.0-only
//! Compiles the policy headers for the host with clang, so that every overflow, bad shift, division
//! by zero and index out of bounds traps instead of wrapping silently.

use std::env;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Newest first. BPF objects need 18 or later; the same compiler serves here.
const CLANGS: [&str; 6] = [
    "clang-22", "clang-21", "clang-20", "clang-19", "clang-18", "clang",
];

const SANITIZERS: &str = "-fsanitize=unsigned-integer-overflow,signed-integer-overflow,shift,\
                          integer-divide-by-zero,bounds";

fn runs(clang: &str) -> bool {
    Command::new(clang)
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

fn find_clang() -> Option<String> {
    env::var("BPF_CLANG")
        .ok()
        .filter(|clang| !clang.is_empty())
        .or_else(|| {
            CLANGS
                .iter()
                .find(|clang| runs(clang))
                .map(ToString::to_string)
        })
}

fn main() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let headers = root.join("../evenkeel-scheduler/src/bpf");
    println!("cargo::rerun-if-env-changed=BPF_CLANG");
    println!("cargo::rerun-if-changed=csrc/policy.c");
    for header in [
        "logarithm.h",
        "model.h",
        "predictor.h",
        "deadline.h",
        "vectors.h",
    ] {
        println!("cargo::rerun-if-changed={}", headers.join(header).display());
    }
    let Some(clang) = find_clang() else {
        println!("cargo::error=clang 18 or later is needed: install one or set BPF_CLANG");
        return;
    };
    cc::Build::new()
        .compiler(clang)
        .file(root.join("csrc/policy.c"))
        .include(headers)
        .opt_level(2)
        .flag(SANITIZERS)
        .flag("-fsanitize-trap=all")
        .flag("-Wno-unused-parameter")
        .compile("evenkeel_policy");
}
