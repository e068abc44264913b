//! The statistics of an evaluation: confidence intervals, accuracy per class, the confusion matrix in words.

use crate::records::{CLASSES, Evaluation};
use crate::text::format::{capitalised, grouped};

/// The standard normal quantile of a two-sided 95 % interval.
const Z_95: f64 = 1.959_963_984_540_054;

/// The 95 % score interval of a share, `successes` out of `trials` (Wilson 1927, "Probable inference, the law of succession,
/// and statistical inference", JASA 22). Stays within 0 to 1 and is right for shares near 1, where the normal approximation
/// is not. Without trials it is all of 0 to 1.
pub fn wilson_interval(successes: u64, trials: u64) -> (f64, f64) {
    if trials == 0 {
        return (0.0, 1.0);
    }
    let n = trials as f64;
    let share = successes.min(trials) as f64 / n;
    let z2 = Z_95 * Z_95;
    let centre = (share + z2 / (2.0 * n)) / (1.0 + z2 / n);
    let half = Z_95 / (1.0 + z2 / n) * (share * (1.0 - share) / n + z2 / (4.0 * n * n)).sqrt();
    // At the ends the interval touches 0 or 1 exactly; rounding must not push it past the share itself.
    ((centre - half).clamp(0.0, share), (centre + half).clamp(share, 1.0))
}

/// The result for one digit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClassScore {
    /// The digit.
    pub digit: u8,
    /// Images of it.
    pub images: u64,
    /// How many of them were classified correctly.
    pub correct: u64,
}

impl ClassScore {
    /// Share classified correctly (recall); `None` without images.
    pub fn accuracy(self) -> Option<f64> {
        (self.images > 0).then(|| self.correct as f64 / self.images as f64)
    }
}

/// A score per digit, from 0 to 9.
pub fn class_scores(evaluation: &Evaluation) -> [ClassScore; CLASSES] {
    std::array::from_fn(|truth| {
        let row = evaluation.confusion.get(truth).copied().unwrap_or_default();
        ClassScore {
            digit: truth as u8,
            images: row.iter().map(|&count| u64::from(count)).sum(),
            correct: row.get(truth).copied().map_or(0, u64::from),
        }
    })
}

/// The number of misclassified images.
pub fn error_count(evaluation: &Evaluation) -> u64 {
    class_scores(evaluation).iter().map(|score| score.images - score.correct).sum()
}

/// A cell of the confusion matrix as a sentence: "Twelve 4s were classified as 9".
pub fn cell_sentence(truth: usize, answer: usize, count: u32) -> String {
    let many = match count {
        0 => "No".to_owned(),
        _ => capitalised(&count_in_words(count)),
    };
    let (noun, verb) = if count > 1 { (format!("{truth}s"), "were") } else { (truth.to_string(), "was") };
    if truth == answer {
        format!("{many} {noun} {verb} classified correctly")
    } else {
        format!("{many} {noun} {verb} classified as {answer}")
    }
}

fn count_in_words(count: u32) -> String {
    const WORDS: [&str; 13] = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];
    WORDS.get(count as usize).map_or_else(|| grouped(u64::from(count)), |&word| word.to_owned())
}
