// SPDX-License-Identifier: GPL-2.0-only
//! The part of the suite that needs two CPUs running in parallel. `docs/suite.md` lists the tests.

mod affinity;
mod faults;
mod hotplug;
mod learning;
mod lifecycle;
mod realtime;
mod refusals;
mod starvation;
mod storms;
mod weights;
