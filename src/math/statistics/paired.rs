//! Two models on the same images: whether one of them is better, and by how much.

use statrs::function::beta::beta_reg;

use super::wilson_interval;
use crate::records::PairedCounts;

/// A difference is called one where it would be as large by chance in fewer than one of twenty
/// comparisons.
const SIGNIFICANCE: f64 = 0.05;

/// How a model compares with another on the same images. Differences are shares of the images, from
/// -1 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairedResult {
    /// By how much its accuracy is higher than the other's.
    pub difference: f64,
    /// The 95 % interval of that; see [`paired_interval`].
    pub interval: (f64, f64),
    /// The p-value of `McNemar`'s test, adjusted for all comparisons that were made at once; see
    /// [`mcnemar`] and [`holm`].
    pub p: f64,
}

impl PairedResult {
    /// True if the test finds a difference, and the interval has no 0 in it.
    pub fn is_significant(self) -> bool {
        let (low, high) = self.interval;
        self.p < SIGNIFICANCE && (low > 0.0 || high < 0.0)
    }

    /// What follows the name of the model: "better by 0.21 points; 95 % interval 0.05 to 0.37", or
    /// "no difference can be shown: 0.03 points better; 95 % interval -0.10 to 0.16".
    pub fn sentence(self) -> String {
        let (low, high) = self.interval;
        let better = self.difference >= 0.0;
        // The interval of how much worse is that of how much better, seen from the other side.
        let [by, low, high] = if better {
            [self.difference, low, high]
        } else {
            [-self.difference, -high, -low]
        }
        .map(points);
        let word = if better { "better" } else { "worse" };
        if self.is_significant() {
            format!("{word} by {by} points; 95 % interval {low} to {high}")
        } else if self.difference == 0.0 {
            format!(
                "no difference can be shown: the same accuracy; 95 % interval {low} to {high} points"
            )
        } else {
            format!("no difference can be shown: {by} points {word}; 95 % interval {low} to {high}")
        }
    }
}

/// A share in percentage points with two decimals, and without the sign of what rounds to 0.
fn points(share: f64) -> String {
    let text = format!("{:.2}", share * 100.0);
    if text == "-0.00" {
        "0.00".to_owned()
    } else {
        text
    }
}

/// A result for each of these counts, which come from comparisons that are made at once, for
/// example of several models with the same one.
pub fn compare_with(counts: &[PairedCounts]) -> Vec<PairedResult> {
    let adjusted = holm(
        &counts
            .iter()
            .map(|&counts| mcnemar(counts))
            .collect::<Vec<_>>(),
    );
    let result = |(counts, p): (&PairedCounts, f64)| {
        let difference =
            (counts.first_only as f64 - counts.second_only as f64) / counts.images().max(1) as f64;
        PairedResult {
            difference,
            interval: paired_interval(*counts),
            p,
        }
    };
    counts.iter().zip(adjusted).map(result).collect()
}

/// The two-sided p-value of `McNemar`'s test in its exact form: of the images that only one of both
/// models classifies correctly, each would do so for as many if they were equally good, so that
/// their number for one model has a binomial distribution with probability ½. Twice its lower tail,
/// at most 1 (`McNemar` 1947, "Note on the sampling error of the difference between correlated
/// proportions or percentages", Psychometrika 12; the exact form: Mosteller 1952). 1 without such
/// images.
pub fn mcnemar(counts: PairedCounts) -> f64 {
    let (fewer, n) = (
        counts.first_only.min(counts.second_only),
        counts.first_only + counts.second_only,
    );
    if fewer * 2 == n {
        return 1.0;
    }
    // P(X <= k) of a binomial distribution with n trials and probability 1/2 is the regularised
    // incomplete beta function I(1/2; n - k, k + 1).
    let tail = beta_reg((n - fewer) as f64, fewer as f64 + 1.0, 0.5);
    (2.0 * tail).min(1.0)
}

/// The 95 % interval of the difference of two accuracies on the same images, the first minus the
/// second: the Wilson intervals of both, combined with the correlation of their answers (method 10
/// of Newcombe 1998, "Improved confidence intervals for the difference between binomial proportions
/// based on paired data", Statistics in Medicine 17, 2635-2650). All of -1 to 1 without images.
pub fn paired_interval(counts: PairedCounts) -> (f64, f64) {
    let PairedCounts {
        both,
        first_only,
        second_only,
        neither,
    } = counts;
    let images = counts.images();
    if images == 0 {
        return (-1.0, 1.0);
    }
    let n = images as f64;
    let (first, second) = (both + first_only, both + second_only);
    let ((low_1, high_1), (low_2, high_2)) = (
        wilson_interval(first, images),
        wilson_interval(second, images),
    );
    let (share_1, share_2) = (first as f64 / n, second as f64 / n);
    let [a, b, c, d] = [both, first_only, second_only, neither].map(|count| count as f64);
    let product = (a + b) * (c + d) * (a + c) * (b + d);
    let determinant = a * d - b * c;
    // With a correction for continuity where the answers are positively correlated.
    let corrected = if determinant > 0.0 {
        (determinant - n / 2.0).max(0.0)
    } else {
        determinant
    };
    let phi = if product > 0.0 {
        corrected / product.sqrt()
    } else {
        0.0
    };
    let distance = |x: f64, y: f64| (x * x - 2.0 * phi * x * y + y * y).max(0.0).sqrt();
    let difference = (b - c) / n;
    let low = difference - distance(share_1 - low_1, high_2 - share_2);
    let high = difference + distance(share_2 - low_2, high_1 - share_1);
    (low.max(-1.0), high.min(1.0))
}

/// The p-values of several tests, adjusted so that none of them finds a difference that is not
/// there in more than one of twenty such sets of tests (Holm 1979, "A simple sequentially rejective
/// multiple test procedure", Scandinavian Journal of Statistics 6). In their order.
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let mut adjusted = vec![1.0; p_values.len()];
    let mut highest = 0.0_f64;
    for (rank, index) in order.into_iter().enumerate() {
        highest = highest
            .max(p_values[index] * (p_values.len() - rank) as f64)
            .min(1.0);
        adjusted[index] = highest;
    }
    adjusted
}
