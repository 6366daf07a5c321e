// SPDX-License-Identifier: GPL-2.0-only

//! Ratios between paired measurements: the Hodges-Lehmann estimate of the log ratio, with the
//! interval that inverts Wilcoxon's signed-rank test (Hollander, Wolfe, Chicken, *Nonparametric
//! Statistical Methods*, 3rd edition, sections 3.2 and 3.3).

/// Half of the error probability of a two-sided 95 % interval.
const TAIL: f64 = 0.025;

/// A ratio with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ratio {
    /// The estimate.
    pub estimate: f64,
    /// The interval, if there are enough pairs for one (six or more).
    pub interval: Option<(f64, f64)>,
    /// Number of pairs.
    pub pairs: usize,
}

impl Ratio {
    /// The ratio of `numerators` to `denominators`, paired by position. Pairs with a value that
    /// is not positive are left out; nothing comes of no pairs.
    pub fn of(numerators: &[f64], denominators: &[f64]) -> Option<Self> {
        let differences: Vec<f64> = numerators
            .iter()
            .zip(denominators)
            .filter(|(a, b)| **a > 0.0 && **b > 0.0)
            .map(|(a, b)| (a / b).ln())
            .collect();
        let walsh = walsh_averages(&differences);
        let interval = rank_bound(differences.len())
            .map(|bound| (walsh[bound - 1].exp(), walsh[walsh.len() - bound].exp()));
        Some(Self {
            estimate: median_of_sorted(&walsh)?.exp(),
            interval,
            pairs: differences.len(),
        })
    }

    /// Half of the interval's width in log units: by how much two equal things seem to differ.
    pub fn half_width(&self) -> Option<f64> {
        self.interval.map(|(low, high)| (high / low).ln() / 2.0)
    }
}

/// The median, or nothing of no values.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    median_of_sorted(&sorted)
}

fn median_of_sorted(sorted: &[f64]) -> Option<f64> {
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        length if length % 2 == 1 => Some(sorted[middle]),
        _ => Some(f64::midpoint(sorted[middle - 1], sorted[middle])),
    }
}

/// The means of all pairs of values, each with itself included, sorted.
fn walsh_averages(values: &[f64]) -> Vec<f64> {
    let mut averages: Vec<f64> = values
        .iter()
        .enumerate()
        .flat_map(|(index, a)| values[index..].iter().map(move |b| f64::midpoint(*a, *b)))
        .collect();
    averages.sort_by(f64::total_cmp);
    averages
}

/// Which Walsh average, counted from either end and from 1, bounds the interval for `pairs`
/// pairs: the largest `k` with P(T+ <= k - 1) <= 0.025. Nothing if there are too few pairs.
fn rank_bound(pairs: usize) -> Option<usize> {
    let probabilities = signed_rank_distribution(pairs);
    let mut cumulative = 0.0;
    let within = probabilities.iter().take_while(|probability| {
        cumulative += **probability;
        cumulative <= TAIL
    });
    Some(within.count()).filter(|&bound| bound > 0)
}

/// P(T+ = t) for the signed-rank statistic of `pairs` pairs: each rank is in the sum or not.
fn signed_rank_distribution(pairs: usize) -> Vec<f64> {
    let mut probabilities = vec![1.0];
    for rank in 1..=pairs {
        let mut next = vec![0.0; probabilities.len() + rank];
        for (sum, probability) in probabilities.iter().enumerate() {
            next[sum] += probability / 2.0;
            next[sum + rank] += probability / 2.0;
        }
        probabilities = next;
    }
    probabilities
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9
    }

    #[test]
    fn the_rank_bounds_are_those_of_the_published_tables() {
        // Two-sided 5 % critical values of the signed-rank test: 0, 2, 3, 5, 8, 13, 25, 52 for
        // 6, 7, 8, 9, 10, 12, 15, 20 pairs; the bound is one more.
        for (pairs, critical) in [
            (6, 0),
            (7, 2),
            (8, 3),
            (9, 5),
            (10, 8),
            (12, 13),
            (15, 25),
            (20, 52),
        ] {
            assert_eq!(rank_bound(pairs), Some(critical + 1), "{pairs} pairs");
        }
        assert_eq!(rank_bound(5), None);
        assert_eq!(rank_bound(0), None);
    }

    #[test]
    fn equal_ratios_have_that_ratio_and_no_width() {
        let ratio = Ratio::of(&[2.0; 8], &[1.0; 8]).expect("there are pairs");
        assert!(close(ratio.estimate, 2.0));
        let (low, high) = ratio.interval.expect("8 pairs are enough");
        assert!(close(low, 2.0) && close(high, 2.0));
        assert!(close(ratio.half_width().expect("an interval"), 0.0));
    }

    #[test]
    fn the_estimate_is_the_median_of_the_walsh_averages() {
        // Log ratios 0, 1, 2: Walsh averages 0, 0.5, 1, 1, 1.5, 2, whose median is 1.
        let numerators = [0.0_f64, 1.0, 2.0].map(f64::exp);
        let ratio = Ratio::of(&numerators, &[1.0; 3]).expect("there are pairs");
        assert!(close(ratio.estimate, 1.0_f64.exp()));
        assert_eq!(ratio.interval, None);
    }

    #[test]
    fn six_pairs_give_the_whole_range() {
        let numerators = [0.0_f64, 1.0, 2.0, 3.0, 4.0, 5.0].map(f64::exp);
        let (low, high) = Ratio::of(&numerators, &[1.0; 6])
            .expect("pairs")
            .interval
            .expect("an interval");
        assert!(close(low, 1.0) && close(high.ln(), 5.0));
    }

    #[test]
    fn one_outlier_hardly_moves_the_estimate() {
        let mut numerators = [1.1; 10];
        numerators[3] = 50.0;
        let ratio = Ratio::of(&numerators, &[1.0; 10]).expect("there are pairs");
        assert!(close(ratio.estimate, 1.1));
    }

    #[test]
    fn pairs_that_are_not_positive_are_left_out() {
        assert_eq!(
            Ratio::of(&[0.0, 2.0], &[1.0, 1.0]).expect("one pair").pairs,
            1
        );
        assert_eq!(Ratio::of(&[], &[]), None);
    }

    #[test]
    fn the_median_is_the_middle() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median(&[]), None);
    }
}
