// SPDX-License-Identifier: GPL-2.0-only
//! Laws that bursts and arrivals follow, drawn from a seed.

use std::time::Duration;

use fastrand::Rng;

/// How long a burst is, in CPU time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum BurstLaw {
    /// Always the same.
    Constant(Duration),
    /// One, then the other, and again.
    Alternating(Duration, Duration),
    /// Uniform within this fraction of the mean, e.g. 0.2 for 80 % to 120 %.
    Jittered(Duration, f64),
    /// Uniform in the logarithm between two bounds: nothing to learn but the range.
    LogUniform(Duration, Duration),
}

impl BurstLaw {
    /// The CPU time of burst number `n`, in nanoseconds.
    pub fn draw(self, n: u64, rng: &mut Rng) -> u64 {
        let burst = match self {
            Self::Constant(burst) => burst,
            Self::Alternating(first, second) => {
                if n.is_multiple_of(2) {
                    first
                } else {
                    second
                }
            }
            Self::Jittered(mean, fraction) => mean.mul_f64(spread(fraction, rng)),
            Self::LogUniform(low, high) => {
                let ratio = high.as_secs_f64() / low.as_secs_f64();
                low.mul_f64(ratio.powf(rng.f64()))
            }
        };
        nanos(burst)
    }
}

/// When a thread's next burst is due.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Arrivals {
    /// Mean time between two intended starts.
    pub period: Duration,
    /// Each gap is uniform within this fraction of the period, below 1; 0 is strictly periodic.
    pub jitter: f64,
}

impl Arrivals {
    /// Strictly periodic arrivals.
    pub fn periodic(period: Duration) -> Self {
        Self {
            period,
            jitter: 0.0,
        }
    }

    /// The gap before the next intended start, in nanoseconds.
    pub fn gap(self, rng: &mut Rng) -> u64 {
        nanos(self.period.mul_f64(spread(self.jitter, rng)))
    }
}

/// A factor uniform in `1 - fraction .. 1 + fraction`.
fn spread(fraction: f64, rng: &mut Rng) -> f64 {
    1.0 + fraction.clamp(0.0, 0.99) * (2.0 * rng.f64() - 1.0)
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn the_same_seed_draws_the_same_bursts() {
        let law = BurstLaw::LogUniform(MS, 8 * MS);
        let draw = |seed| {
            let mut rng = Rng::with_seed(seed);
            (0..100).map(|n| law.draw(n, &mut rng)).collect::<Vec<_>>()
        };
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
        assert!(
            draw(7)
                .iter()
                .all(|burst| (1_000_000..=8_000_000).contains(burst))
        );
    }

    #[test]
    fn alternation_takes_turns() {
        let law = BurstLaw::Alternating(MS, 5 * MS);
        let mut rng = Rng::with_seed(1);
        let bursts: Vec<_> = (0..4).map(|n| law.draw(n, &mut rng)).collect();
        assert_eq!(bursts, [1_000_000, 5_000_000, 1_000_000, 5_000_000]);
    }

    #[test]
    fn gaps_keep_their_mean_and_their_bounds() {
        let arrivals = Arrivals {
            period: 10 * MS,
            jitter: 0.5,
        };
        let mut rng = Rng::with_seed(3);
        let gaps: Vec<_> = (0..10_000).map(|_| arrivals.gap(&mut rng)).collect();
        assert!(
            gaps.iter()
                .all(|gap| (5_000_000..=15_000_000).contains(gap))
        );
        let mean = gaps.iter().sum::<u64>() / 10_000;
        assert!((9_900_000..=10_100_000).contains(&mean), "{mean}");
        assert_eq!(Arrivals::periodic(MS).gap(&mut rng), 1_000_000);
    }
}
