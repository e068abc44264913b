//! A prediction as text.

use crate::records::{DigitPrediction, Prediction, Uncertainty};
use crate::run_config::Classes;
use crate::text::format::grouped;

/// From this probability on, a single digit is named without reservation.
const SURE: f32 = 0.9;
/// Below [`SURE`], but from this probability on, the digit is more likely than all the others
/// together.
const LIKELY: f32 = 0.5;
/// Below [`SURE`], a second digit with at least this probability is named as well.
const RIVAL: f32 = 0.2;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The digits in question, most likely first: one if the model is sure, two if it hesitates,
    /// none if the drawing is not a digit.
    pub digits: Vec<u8>,
    pub classes: Classes,
    /// The whole verdict: "7 — 98% sure", "could be 4 or 9", "not a digit".
    pub sentence: String,
    /// The text beside the digit: "98% sure".
    pub confidence: String,
    /// More, in small type; may be empty.
    pub detail: String,
}

impl Verdict {
    /// The digits it names, in large type: "4 or 9"; a dash if there are none.
    pub fn title(&self) -> String {
        let digits: Vec<&str> = self
            .digits
            .iter()
            .map(|&digit| self.classes.name(digit))
            .collect();
        if digits.is_empty() {
            "–".to_owned()
        } else {
            digits.join(" or ")
        }
    }

    pub fn of(prediction: &Prediction) -> Self {
        let classes = prediction.model.classes.clone();
        let [first, second] = two_likeliest(&prediction.probabilities);
        let [name, other] = [first.0, second.0].map(|digit| prediction.model.classes.name(digit));
        let sure = confidence(first.1);
        if !prediction.is_digit {
            return Self {
                digits: Vec::new(),
                sentence: classes.none_of_them().to_owned(),
                confidence: classes.none_of_them().to_owned(),
                classes,
                detail: format!("The closest match is {name}."),
            };
        }
        if first.1 >= SURE {
            return Self {
                digits: vec![first.0],
                classes,
                sentence: format!("{name} — {sure}"),
                confidence: sure,
                detail: String::new(),
            };
        }
        if second.1 >= RIVAL {
            return Self {
                digits: vec![first.0, second.0],
                classes,
                sentence: format!("could be {name} or {other}"),
                confidence: "could be either".to_owned(),
                detail: format!(
                    "{name}: {}, {other}: {}",
                    whole_percent(first.1),
                    whole_percent(second.1)
                ),
            };
        }
        let hedge = if first.1 >= LIKELY {
            "probably"
        } else {
            "perhaps"
        };
        Self {
            digits: vec![first.0],
            classes,
            sentence: format!("{hedge} {name} — {sure}"),
            confidence: format!("{hedge}, {sure}"),
            detail: format!("Second guess: {other} ({}).", whole_percent(second.1)),
        }
    }
}

/// The number that was read in writing with several digits, as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumberVerdict {
    /// The number, with a question mark for what is not a digit: "2026".
    pub text: String,
    /// The whole verdict: "2026 (2 — 98% sure, could be 0 or 6, …)".
    pub sentence: String,
}

impl NumberVerdict {
    /// The verdict of these digits, from left to right.
    pub fn of(digits: &[DigitPrediction]) -> Self {
        let names: Vec<&str> = digits
            .iter()
            .map(|digit| {
                if digit.prediction.is_digit {
                    digit.prediction.name()
                } else {
                    "?"
                }
            })
            .collect();
        let are_digits = digits
            .iter()
            .all(|digit| digit.prediction.model.classes.are_digits());
        let text = names.join(if are_digits { "" } else { " " });
        let each: Vec<_> = digits
            .iter()
            .map(|digit| Verdict::of(&digit.prediction).sentence)
            .collect();
        let sentence = format!("{text} ({})", each.join(", "));
        Self { text, sentence }
    }
}

/// How unsure an ensemble is, and why: "Uncertainty in bits: drawing 0.71, weights 0.13".
pub fn uncertainty_sentence(uncertainty: &Uncertainty) -> String {
    format!(
        "Uncertainty in bits: drawing {:.2}, weights {:.2}",
        uncertainty.expected_entropy(),
        uncertainty.mutual_information
    )
}

pub fn uncertainty_explanation(uncertainty: &Uncertainty) -> String {
    format!(
        "Total: {:.2} bits, the entropy of the mean probabilities (0 if one class is certain, {:.2} if all are equally likely). The part from the drawing is the mean entropy of the {} predictions: each of them finds the drawing ambiguous. The part from the weights is their disagreement (mutual information), which is large for drawings unlike the training data. The line on each bar is one standard deviation of the predictions to either side.",
        uncertainty.entropy,
        (uncertainty.deviations.len().max(1) as f32).log2(),
        grouped(u64::from(uncertainty.members))
    )
}

/// A probability in whole percent, never rounded to certainty: 0.9997 is "over 99%", 0.002 is
/// "under 1%".
pub fn whole_percent(probability: f32) -> String {
    match (probability * 100.0).round() {
        rounded if rounded >= 100.0 => "over 99%".to_owned(),
        rounded if rounded < 1.0 => "under 1%".to_owned(),
        rounded => format!("{rounded:.0}%"),
    }
}

/// "98% sure", or "only 26% sure" if the digit is less likely than all the others together.
fn confidence(probability: f32) -> String {
    let only = if probability < LIKELY { "only " } else { "" };
    format!("{only}{} sure", whole_percent(probability))
}

/// The two most likely digits with their probabilities.
fn two_likeliest(probabilities: &[f32]) -> [(u8, f32); 2] {
    let mut best = [(0, f32::NEG_INFINITY); 2];
    for (digit, &probability) in probabilities.iter().enumerate() {
        let here = (digit as u8, probability);
        if probability > best[0].1 {
            best = [here, best[0]];
        } else if probability > best[1].1 {
            best[1] = here;
        }
    }
    best
}
