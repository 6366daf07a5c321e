// SPDX-License-Identifier: GPL-2.0-only
//! The part of the suite that needs exact time: one CPU whose clock counts instructions.
//! `docs/suite.md` lists the tests.

mod learning;
mod order;
mod shadow;
mod slices;
mod starvation;
