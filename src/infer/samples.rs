//! Which images of an evaluation are kept to be looked at.

use std::collections::HashMap;

use super::outputs::Scores;
use crate::data::Split;
use crate::ink::Image;
use crate::math::label_errors::LabelSuspect;
use crate::records::{RELIABILITY_BINS, ReliabilityBin, Sample, Suggestion};

/// Errors that are kept, and suspected labels.
const MAX_OF_A_KIND: usize = 1_000;
/// Images that are kept of each class, and of each bin of confidence, although they were classified
/// correctly.
const FEW: u32 = 12;
/// The classes that a label can name.
const CLASSES: usize = 1 << u8::BITS;

pub(super) fn is_correct(scores: &Scores, label: u8) -> bool {
    scores.digit == usize::from(label)
}

pub(super) fn probability(scores: &Scores, class: usize) -> f32 {
    let probability = scores.probabilities.get(class);
    probability.copied().unwrap_or_default()
}

/// The samples of a split whose images have these scores; see
/// [`crate::records::Evaluation::samples`].
pub(super) fn samples(split: &Split, scores: &[Scores], suspects: &[LabelSuspect]) -> Vec<Sample> {
    let suspects: HashMap<usize, usize> = suspects
        .iter()
        .take(MAX_OF_A_KIND)
        .map(|suspect| (suspect.index, suspect.suggested))
        .collect();
    let confidence = |index: usize| probability(&scores[index], scores[index].digit);
    let (mut correct, mut wrong): (Vec<usize>, Vec<usize>) =
        (0..scores.len().min(split.labels.len()))
            .partition(|&index| is_correct(&scores[index], split.labels[index]));
    wrong.sort_by(|&a, &b| confidence(b).total_cmp(&confidence(a)));
    correct.sort_by(|&a, &b| confidence(a).total_cmp(&confidence(b)));
    let (mut of_class, mut of_bin) = ([0; CLASSES], [0; RELIABILITY_BINS]);
    let mut is_one_of_few = |index: usize| {
        let counts = [
            &mut of_class[usize::from(split.labels[index])],
            &mut of_bin[ReliabilityBin::index_of(confidence(index))],
        ];
        let few = counts.iter().any(|count| **count < FEW);
        counts.into_iter().for_each(|count| *count += 1);
        few
    };
    let sample = |index: usize| {
        let (scores, label) = (&scores[index], split.labels[index]);
        Some(Sample {
            index: index as u64,
            image: Image::try_from(split.image(index)).ok()?,
            label,
            answer: scores.digit as u8,
            confidence: confidence(index),
            label_probability: probability(scores, label.into()),
            suggestion: suspects.get(&index).map(|&class| Suggestion {
                label: class as u8,
                probability: probability(scores, class),
            }),
        })
    };
    let errors = wrong
        .into_iter()
        .enumerate()
        .filter(|(rank, index)| *rank < MAX_OF_A_KIND || suspects.contains_key(index));
    let correct = correct
        .into_iter()
        .filter(|index| is_one_of_few(*index) || suspects.contains_key(index));
    let kept = errors.map(|(_, index)| index).chain(correct);
    kept.filter_map(sample).collect()
}
