// SPDX-License-Identifier: GPL-2.0-only
//! The harness of the guest correctness suite; the suite itself lives in `tests/`.
//!
//! Every test drives the `evenkeel` command as a user would, and judges what the kernel says and
//! what threads of the test itself observed; `docs/suite.md` lists the tests. They need root and a
//! kernel with sched_ext, so they are ignored by default and run inside a guest, one at a time.

pub mod bpf;
pub mod command;
pub mod cpus;
pub mod crowd;
pub mod daemon;
pub mod gauge;
pub mod learning;
pub mod limit;
pub mod model;
pub mod pi;
pub mod scene;
pub mod servers;
pub mod starvation;
pub mod statistics;
pub mod sysfs;
pub mod team;
