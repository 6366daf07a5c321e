// SPDX-License-Identifier: GPL-2.0-only
//! The scheduler's arithmetic on the host.
//!
//! `predictor.h` and `deadline.h` call no BPF helper, so the same bytes run in the kernel, in
//! property tests, in the simulation of the starvation bound and in [`replay`] over recorded
//! bursts. Here they are compiled by clang with sanitizers that trap, so that no overflow, bad
//! shift or division by zero goes unseen. [`vectors`] lets the kernel prove that it computes the
//! same. What the arithmetic is for is in `docs/predictor.md` and `docs/order.md`.

pub mod generate;
pub mod order;
pub mod predictor;
pub mod random;
mod raw;
pub mod replay;
pub mod trace;
pub mod vectors;

pub use order::{Contender, Mode, OrderConfig};
pub use predictor::{Estimate, Expert, Init, Model, Predictor, PredictorConfig, Training, Updates};
