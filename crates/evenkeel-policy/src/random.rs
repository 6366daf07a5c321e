// SPDX-License-Identifier: GPL-2.0-only
//! A generator whose numbers stay the same for ever: vectors and traces are made from it.

use crate::predictor::{exp2, log2};

/// SplitMix64 (Steele, Lea and Flood, 2014).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The sequence of `seed`.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Any of the 64-bit numbers.
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From 0, inclusive, to `bound`, exclusive; 0 for a bound of 0. The bias is below 2^-32 for
    /// bounds below 2^32.
    pub fn below(&mut self, bound: u64) -> u64 {
        let product = u128::from(self.word()) * u128::from(bound);
        (product >> 64) as u64
    }

    /// From 0, inclusive, to 1, exclusive.
    pub fn unit(&mut self) -> f64 {
        (self.word() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Evenly within a part of `around`: 0.2 gives 0.8 to 1.2 times as much.
    pub fn around(&mut self, around: u64, part: f64) -> u64 {
        (around as f64 * (1.0 + part * (2.0 * self.unit() - 1.0))) as u64
    }

    /// Between two lengths, evenly in the logarithm; with whole numbers, for the mathematics
    /// libraries of two machines may differ in a last digit.
    pub fn log_uniform(&mut self, low: u64, high: u64) -> u64 {
        let (low, high) = (log2(low), log2(high));
        exp2(low + self.below(u64::from(high.saturating_sub(low))) as u32)
    }
}
