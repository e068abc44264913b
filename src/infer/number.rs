//! Reading writing with several digits: which candidates are the digits, and which digits they are.

use super::classifier::Classify;
use crate::ink::{Candidate, CandidateImage, Image, Writing};
use crate::problem::Problem;
use crate::records::{DigitPrediction, Prediction};

/// What it costs a reading that one of its digits does not look like one: the logarithm of a
/// probability.
const NOT_A_DIGIT: f32 = -3.0;
/// The same if it is all that is written: people also draw things that are not digits.
const NOT_A_DIGIT_ALONE: f32 = -1.4;

/// Reads writing from left to right; nothing if nothing is written.
///
/// Of all ways to put the pieces together, the one with the greatest sum of log-probabilities is
/// taken (dynamic programming): each candidate's plausibility by its shape, and the model's
/// probability of the digit that it would be. A single digit is recognized as
/// [`Classify::classify`] does it.
pub fn read_number(
    classifier: &(impl Classify + ?Sized),
    writing: &Writing,
) -> Result<Vec<DigitPrediction>, Problem> {
    let image = |candidate: &Candidate| writing.image(candidate.pieces.clone());
    read(
        classifier,
        writing.piece_count(),
        writing
            .candidates()
            .iter()
            .map(|candidate| (candidate, move || image(candidate))),
    )
}

/// Classifies all that is written as one drawing; nothing if nothing is written.
pub fn read_as_one(
    classifier: &(impl Classify + ?Sized),
    writing: &Writing,
) -> Result<Vec<DigitPrediction>, Problem> {
    if writing.is_blank() {
        return Ok(Vec::new());
    }
    let (pieces, bounds) = (0..writing.piece_count(), writing.bounds());
    let prediction = classifier.classify(writing.image(pieces.clone()))?;
    Ok(vec![DigitPrediction {
        bounds: bounds.rectangle(),
        pieces,
        prediction,
        explanation: None,
    }])
}

/// [`read_number`] for writing whose candidates' images have been made before.
pub fn read_candidates(
    classifier: &(impl Classify + ?Sized),
    candidates: &[CandidateImage],
) -> Result<Vec<DigitPrediction>, Problem> {
    let pieces = candidates
        .iter()
        .map(|each| each.candidate.pieces.end)
        .max()
        .unwrap_or_default();
    read(
        classifier,
        pieces,
        candidates
            .iter()
            .map(|each| (&each.candidate, move || each.image.clone())),
    )
}

/// Candidates of this many pieces, each with what makes its image.
fn read<'a, F: FnOnce() -> Image>(
    classifier: &(impl Classify + ?Sized),
    pieces: usize,
    candidates: impl Iterator<Item = (&'a Candidate, F)>,
) -> Result<Vec<DigitPrediction>, Problem> {
    // The best way to read the first pieces, by their number: its sum and its last digit.
    let mut best: Vec<Option<(f32, &Candidate, Prediction)>> = vec![None; pieces + 1];
    let sum_before = |best: &[Option<(f32, &Candidate, Prediction)>], pieces: usize| match pieces {
        0 => Some(0.0),
        _ => best.get(pieces)?.as_ref().map(|(sum, ..)| *sum),
    };
    for (candidate, image) in candidates {
        let end = candidate.pieces.end;
        let Some(before) = sum_before(&best, candidate.pieces.start) else {
            continue;
        };
        // No probability makes up for what its shape costs.
        if sum_before(&best, end).is_some_and(|known| known >= before + candidate.plausibility) {
            continue;
        }
        let prediction = classifier.classify(image())?;
        let unlike = match (prediction.is_digit, candidate.pieces.len() == pieces) {
            (true, _) => 0.0,
            (false, false) => NOT_A_DIGIT,
            (false, true) => NOT_A_DIGIT_ALONE,
        };
        let sum = before
            + candidate.plausibility
            + prediction.confidence.max(f32::MIN_POSITIVE).ln()
            + unlike;
        if sum_before(&best, end).is_none_or(|known| sum > known)
            && let Some(place) = best.get_mut(end)
        {
            *place = Some((sum, candidate, prediction));
        }
    }
    let mut digits = Vec::new();
    let mut end = pieces;
    while let Some((_, candidate, prediction)) = best.get_mut(end).and_then(Option::take) {
        end = candidate.pieces.start;
        digits.push(DigitPrediction {
            bounds: candidate.bounds.rectangle(),
            pieces: candidate.pieces.clone(),
            prediction,
            explanation: None,
        });
    }
    digits.reverse();
    Ok(digits)
}
