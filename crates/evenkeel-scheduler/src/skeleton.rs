// SPDX-License-Identifier: GPL-2.0-only
//! The skeleton that the build generates from `bpf/main.bpf.c`.

#![allow(
    missing_docs,
    unused_qualifications,
    rust_2018_idioms,
    clippy::all,
    clippy::pedantic
)]
#![allow(
    clippy::undocumented_unsafe_blocks,
    clippy::unwrap_used,
    clippy::cast_lossless
)]
#![allow(
    clippy::semicolon_if_nothing_returned,
    unsafe_op_in_unsafe_fn,
    non_camel_case_types
)]

include!(concat!(env!("OUT_DIR"), "/bpf_skel.rs"));
