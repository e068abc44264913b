//! The statistics of one evaluation: the interval of its accuracy, accuracy per class, calibration,
//! the confusion matrix in words.

use crate::records::{Evaluation, ReliabilityBin};
use crate::run_config::Classes;
use crate::text::format::{capitalised, grouped, percent};

/// The standard normal quantile of a two-sided 95 % interval.
const Z_95: f64 = 1.959_963_984_540_054;

/// The 95 % score interval of a share, `successes` out of `trials` (Wilson 1927, "Probable
/// inference, the law of succession, and statistical inference", JASA 22). Stays within 0 to 1 and
/// is right for shares near 1, where the normal approximation is not. Without trials it is all of 0
/// to 1.
pub fn wilson_interval(successes: u64, trials: u64) -> (f64, f64) {
    if trials == 0 {
        return (0.0, 1.0);
    }
    let n = trials as f64;
    let share = successes.min(trials) as f64 / n;
    let z2 = Z_95 * Z_95;
    let centre = (share + z2 / (2.0 * n)) / (1.0 + z2 / n);
    let half = Z_95 / (1.0 + z2 / n) * (share * (1.0 - share) / n + z2 / (4.0 * n * n)).sqrt();
    // At the ends the interval touches 0 or 1 exactly; rounding must not push it past the share
    // itself.
    (
        (centre - half).clamp(0.0, share),
        (centre + half).clamp(share, 1.0),
    )
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClassScore {
    pub digit: u8,
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
/// images below the highest one: "When it is 90 % sure, it is right 91 % of the time (57 images)."
/// On all images where no such bin has ten; `None` without images.
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
                "On average it is {} sure, and right on {} of the images.",
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
        _ => capitalised(&count_in_words(count)),
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
