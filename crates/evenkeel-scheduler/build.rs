// SPDX-License-Identifier: GPL-2.0-only
//! Builds the BPF object and its skeleton with the newest usable clang.

use std::env;
use std::process::Command;

/// Oldest clang whose BPF back end the shared sched_ext headers support.
const CLANG_LEAST: u32 = 18;
/// Newest clang looked for by its versioned name.
const CLANG_MOST: u32 = 25;

fn main() {
    println!("cargo:rerun-if-env-changed=BPF_CLANG");
    println!("cargo:rerun-if-changed=src/bpf");
    if env::var_os("BPF_CLANG").is_none()
        && let Some(clang) = find_clang()
    {
        // SAFETY: the build script has one thread, so that nobody reads the environment meanwhile.
        unsafe { env::set_var("BPF_CLANG", clang) };
    }
    scx_cargo::BpfBuilder::new()
        .and_then(|mut builder| builder.enable_skel("src/bpf/main.bpf.c", "bpf").build())
        .unwrap_or_else(|error| {
            panic!("building the BPF programs (clang {CLANG_LEAST} or later is needed): {error:#}")
        });
}

/// The newest versioned clang on the PATH, such as `clang-19`; none means plain `clang`.
fn find_clang() -> Option<String> {
    (CLANG_LEAST..=CLANG_MOST)
        .rev()
        .map(|version| format!("clang-{version}"))
        .find(|name| {
            Command::new(name)
                .arg("--version")
                .output()
                .is_ok_and(|o| o.status.success())
        })
}
