//! The statistics of measurements: of one evaluation (the interval of its accuracy, accuracy per
//! class, calibration, the confusion matrix in words), of two models on the same images, and of
//! repeated measurements (their mean, median and other quantiles).

use statrs::distribution::{ContinuousCDF, StudentsT};
use statrs::function::beta::beta_reg;

use crate::records::{Evaluation, PairedCounts, ReliabilityBin};
use crate::run_config::Classes;
use crate::text::format::{capitalized, grouped, percent};

/// The standard normal quantile of a two-sided 95% interval.
const Z_95: f64 = 1.959_963_984_540_054;

/// The 95% score interval of a fraction, `successes` out of `trials` (Wilson 1927, "Probable
/// inference, the law of succession, and statistical inference", JASA 22). Stays within 0 to 1 and
/// is right for fractions near 1, where the normal approximation is not. Without trials it is all
/// of 0 to 1.
pub fn wilson_interval(successes: u64, trials: u64) -> (f64, f64) {
    if trials == 0 {
        return (0.0, 1.0);
    }
    let n = trials as f64;
    let share = successes.min(trials) as f64 / n;
    let z2 = Z_95 * Z_95;
    let center = (share + z2 / (2.0 * n)) / (1.0 + z2 / n);
    let half = Z_95 / (1.0 + z2 / n) * (share * (1.0 - share) / n + z2 / (4.0 * n * n)).sqrt();
    // At the ends the interval touches 0 or 1 exactly; rounding must not push it past the fraction
    // itself.
    (
        (center - half).clamp(0.0, share),
        (center + half).clamp(share, 1.0),
    )
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClassScore {
    pub digit: u8,
    pub images: u64,
    pub correct: u64,
}

impl ClassScore {
    /// Fraction classified correctly (recall); `None` without images.
    pub fn accuracy(self) -> Option<f64> {
        (self.images > 0).then(|| self.correct as f64 / self.images as f64)
    }
}

/// A score per class, in the order of their numbers.
pub fn class_scores(evaluation: &Evaluation) -> Vec<ClassScore> {
    let score = |(truth, row): (usize, &Vec<u32>)| ClassScore {
        digit: truth as u8,
        images: row.iter().map(|&count| u64::from(count)).sum(),
        correct: row.get(truth).copied().map_or(0, u64::from),
    };
    evaluation.confusion.iter().enumerate().map(score).collect()
}

pub fn error_count(evaluation: &Evaluation) -> u64 {
    class_scores(evaluation)
        .iter()
        .map(|score| score.images - score.correct)
        .sum()
}

/// The expected calibration error (Naeini, Cooper, Hauskrecht 2015, "Obtaining well calibrated
/// probabilities using Bayesian binning"): the mean, over all images, of how far the accuracy in
/// their bin is from the bin's mean confidence. 0 to 1; `None` without images.
pub fn calibration_error(evaluation: &Evaluation) -> Option<f64> {
    let bins = &evaluation.reliability;
    let images: f64 = bins.iter().map(|bin| f64::from(bin.images)).sum();
    let gap = |bin: &ReliabilityBin| {
        (f64::from(bin.correct) - bin.confidence * f64::from(bin.images)).abs()
    };
    (images > 0.0).then(|| bins.iter().map(gap).sum::<f64>() / images)
}

/// How sure a model is and how often it is right then, in a sentence on the bin that has most
/// images below the highest one: "When it is 90% sure, it is right 91% of the time (57 images)."
/// On all images if no such bin has ten; `None` without images.
pub fn reliability_sentence(evaluation: &Evaluation) -> Option<String> {
    const ENOUGH: u32 = 10;
    let bins = &evaluation.reliability;
    let (_, lower) = bins.split_last()?;
    let bin = lower
        .iter()
        .max_by_key(|bin| bin.images)
        .filter(|bin| bin.images >= ENOUGH);
    let (confidence, accuracy, images) = match bin {
        Some(bin) => (bin.confidence, bin.accuracy()?, u64::from(bin.images)),
        None if evaluation.images > 0 => {
            let sum: f64 = bins
                .iter()
                .map(|bin| bin.confidence * f64::from(bin.images))
                .sum();
            return Some(format!(
                "Its mean confidence is {}, and its accuracy {}.",
                percent(sum / evaluation.images as f64, 1),
                percent(evaluation.accuracy, 1)
            ));
        }
        None => return None,
    };
    Some(format!(
        "When it is {} sure, it is right {} of the time ({} images).",
        percent(confidence, 0),
        percent(accuracy, 0),
        grouped(images)
    ))
}

/// The area under the ROC curve of scores that should be higher for `positive` than for `negative`:
/// the probability that one of the former is higher than one of the latter, where equal scores
/// count half (Mann, Whitney 1947; Fawcett 2006, "An introduction to ROC analysis"). Half without
/// scores of either kind.
pub fn auroc(positive: &[f32], negative: &[f32]) -> f64 {
    if positive.is_empty() || negative.is_empty() {
        return 0.5;
    }
    let mut sorted = negative.to_vec();
    sorted.sort_unstable_by(f32::total_cmp);
    let wins = |score: &f32| {
        let below = sorted.partition_point(|other| other < score);
        let not_above = sorted.partition_point(|other| other <= score);
        (below + not_above) as f64 / 2.0
    };
    positive.iter().map(wins).sum::<f64>() / (positive.len() as f64 * negative.len() as f64)
}

/// A cell of the confusion matrix as a sentence: "Twelve 4s were classified as 9".
pub fn cell_sentence(classes: &Classes, truth: usize, answer: usize, count: u32) -> String {
    let many = match count {
        0 => "No".to_owned(),
        _ => capitalized(&count_in_words(count)),
    };
    let name = classes.name(truth);
    let (noun, verb) = match (classes.are_digits(), count > 1) {
        (true, true) => (format!("{name}s"), "were"),
        (true, false) => (name.to_owned(), "was"),
        (false, true) => (format!("images of the class {name}"), "were"),
        (false, false) => (format!("image of the class {name}"), "was"),
    };
    if truth == answer {
        format!("{many} {noun} {verb} classified correctly")
    } else {
        format!(
            "{many} {noun} {verb} classified as {}",
            classes.name(answer)
        )
    }
}

fn count_in_words(count: u32) -> String {
    const WORDS: [&str; 13] = [
        "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
        "eleven", "twelve",
    ];
    WORDS
        .get(count as usize)
        .map_or_else(|| grouped(u64::from(count)), |&word| word.to_owned())
}

/// The mean of a sample, and the interval that its expected value lies in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanInterval {
    pub count: usize,
    pub mean: f64,
    /// Their standard deviation, with `count - 1` in the denominator.
    pub deviation: f64,
    /// The lower end of the 95% interval of the expected value.
    pub low: f64,
    pub high: f64,
}

/// The mean of independent measurements with its 95% interval: `mean ± t · s / √n`, where `s` is
/// the standard deviation of the sample and `t` the 0.975 quantile of Student's t distribution with
/// `n - 1` degrees of freedom (Student 1908, "The probable error of a mean", Biometrika 6). It is
/// exact for measurements that are normally distributed. `None` with fewer than two of them, or
/// if one is not finite.
pub fn mean_interval(values: &[f64]) -> Option<MeanInterval> {
    let count = values.len();
    if count < 2 || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let n = count as f64;
    let mean = values.iter().sum::<f64>() / n;
    let deviation = (values
        .iter()
        .map(|value| (value - mean).powi(2))
        .sum::<f64>()
        / (n - 1.0))
        .sqrt();
    let quantile = StudentsT::new(0.0, 1.0, n - 1.0).ok()?.inverse_cdf(0.975);
    let half = quantile * deviation / n.sqrt();
    Some(MeanInterval {
        count,
        mean,
        deviation,
        low: mean - half,
        high: mean + half,
    })
}

/// The 95% interval of the difference of two expected values, the first minus the second, of
/// samples that need not have the same variance (Welch 1947, "The generalization of Student's
/// problem when several different population variances are involved", Biometrika 34).
pub fn welch_interval(first: &MeanInterval, second: &MeanInterval) -> (f64, f64) {
    // The variance of each mean, and the degrees of freedom of both together (Satterthwaite 1946).
    let variance = |sample: &MeanInterval| sample.deviation.powi(2) / sample.count as f64;
    let (a, b) = (variance(first), variance(second));
    let freedom =
        |variance: f64, sample: &MeanInterval| variance.powi(2) / (sample.count.max(2) - 1) as f64;
    let degrees = (a + b).powi(2) / (freedom(a, first) + freedom(b, second));
    let difference = first.mean - second.mean;
    // Samples without any variance have no degrees of freedom.
    let half = StudentsT::new(0.0, 1.0, degrees)
        .map_or(0.0, |student| student.inverse_cdf(0.975) * (a + b).sqrt());
    (difference - half, difference + half)
}

/// A difference is called one if it would be as large by chance in fewer than one of twenty
/// comparisons.
const SIGNIFICANCE: f64 = 0.05;

/// How a model compares with another on the same images. Differences are fractions of the images,
/// between -1 and 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairedResult {
    /// By how much its accuracy is higher than the other's.
    pub difference: f64,
    /// The 95% interval of that; see [`paired_interval`].
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

    /// What follows the name of the model: "better by 0.21 points; 95% interval 0.05 to 0.37", or
    /// "no significant difference: 0.03 points better; 95% interval -0.10 to 0.16".
    pub fn sentence(self) -> String {
        let (low, high) = self.interval;
        let better = self.difference >= 0.0;
        // The interval of how much worse is the interval of how much better, negated and reversed.
        let [by, low, high] = if better {
            [self.difference, low, high]
        } else {
            [-self.difference, -high, -low]
        }
        .map(points);
        let word = if better { "better" } else { "worse" };
        if self.is_significant() {
            format!("{word} by {by} points; 95% interval {low} to {high}")
        } else if self.difference == 0.0 {
            format!(
                "no significant difference: the same accuracy; 95% interval {low} to {high} points"
            )
        } else {
            format!("no significant difference: {by} points {word}; 95% interval {low} to {high}")
        }
    }
}

/// A fraction in percentage points with two decimals, and without the sign of what rounds to 0.
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
    let fewer = counts.first_only.min(counts.second_only);
    let n = counts.first_only + counts.second_only;
    if fewer * 2 == n {
        return 1.0;
    }
    // P(X <= k) of a binomial distribution with n trials and probability 1/2 is the regularized
    // incomplete beta function I(1/2; n - k, k + 1).
    let tail = beta_reg((n - fewer) as f64, fewer as f64 + 1.0, 0.5);
    (2.0 * tail).min(1.0)
}

/// The 95% interval of the difference of two accuracies on the same images, the first minus the
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
    // With a correction for continuity if the answers are positively correlated.
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

/// The value that half of the values are at most (the mean of the middle two of an even count); NaN
/// without values.
pub fn median(values: &[f64]) -> f64 {
    let sorted = sorted(values);
    let at = |index: usize| sorted.get(index).copied().unwrap_or(f64::NAN);
    let middle = sorted.len() / 2;
    if sorted.len().is_multiple_of(2) {
        f64::midpoint(at(middle.wrapping_sub(1)), at(middle))
    } else {
        at(middle)
    }
}

/// The value that a fraction of the values are at most (nearest rank); NaN without values.
pub fn quantile(values: &[f64], share: f64) -> f64 {
    let rank = (share * values.len() as f64).ceil() as usize;
    sorted(values)
        .get(rank.saturating_sub(1))
        .copied()
        .unwrap_or(f64::NAN)
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted
}
