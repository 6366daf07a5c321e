// SPDX-License-Identifier: GPL-2.0-only
//! The scheduler.

pub mod options;
pub mod probe;
