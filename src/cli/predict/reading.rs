//! The prediction for one input, as a line of JSON and as a sentence.

use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use super::source::Source;
use crate::cli::failure::Failure;
use crate::cli::output::{Output, Progress};
use crate::data::DataError;
use crate::infer::{Classifier, Classify, read_as_one, read_number};
use crate::ink::{Image, Writing};
use crate::notices::verdict::{NumberVerdict, Verdict, uncertainty_sentence};
use crate::problem::Problem;
use crate::records::{DigitPrediction, Prediction};
use crate::run_config::Classes;
use crate::system::files::write_whole_with;
use crate::system::targets::check_file;
use crate::text::format::grouped;
use crate::text::visible;

pub enum PredictionLine {
    Digits(Vec<DigitPrediction>),
    /// Nothing is written there; what the model makes of that.
    Blank(Box<Prediction>),
}

impl PredictionLine {
    pub fn of(classifier: &Classifier, writing: &Writing) -> Result<Self, Problem> {
        if writing.is_blank() {
            return Ok(Self::Blank(Box::new(classifier.classify(Image::BLANK)?)));
        }
        let read = if classifier.info().classes.are_digits() {
            read_number
        } else {
            read_as_one
        };
        Ok(Self::Digits(read(classifier, writing)?))
    }

    /// All of it in a sentence: "7 — 98% sure", "2026 (2 — 98% sure, could be 0 or 6, …)".
    pub fn sentence(&self) -> String {
        let alone = |prediction: &Prediction| {
            let Verdict {
                sentence, detail, ..
            } = Verdict::of(prediction);
            let sentence = if detail.is_empty() {
                sentence
            } else {
                format!("{sentence}. {detail}")
            };
            match &prediction.uncertainty {
                Some(uncertainty) => format!(
                    "{}. {}",
                    sentence.trim_end_matches('.'),
                    uncertainty_sentence(uncertainty)
                ),
                None => sentence,
            }
        };
        match self {
            Self::Blank(prediction) => alone(prediction),
            Self::Digits(digits) => match digits.as_slice() {
                [only] => alone(&only.prediction),
                _ => NumberVerdict::of(digits).sentence,
            },
        }
    }

    fn digits(&self) -> &[DigitPrediction] {
        match self {
            Self::Digits(digits) => digits,
            Self::Blank(_) => &[],
        }
    }

    /// The prediction, if it is one digit.
    fn prediction(&self) -> Option<&Prediction> {
        match self {
            Self::Blank(prediction) => Some(prediction),
            Self::Digits(digits) => match digits.as_slice() {
                [only] => Some(&only.prediction),
                _ => None,
            },
        }
    }
}

/// A line of JSON. What belongs to a single digit is null if there are several.
#[derive(Serialize, JsonSchema)]
pub struct JsonLine<'a> {
    /// The input, and after a colon the line in it if it has several.
    path: &'a str,
    digit: Option<u8>,
    /// Its name, which differs from it if classes are not digits.
    label: Option<&'a str>,
    confidence: Option<f32>,
    /// Of each class, by its number.
    #[schemars(length(min = 2))]
    probabilities: Option<&'a [f32]>,
    is_digit: Option<bool>,
    digit_score: Option<f32>,
    /// The digits, from left to right.
    text: String,
    digits: Vec<JsonDigit<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    uncertainty: Option<JsonUncertainty<'a>>,
}

#[derive(Serialize, JsonSchema)]
pub struct JsonUncertainty<'a> {
    members: u32,
    entropy: f32,
    mutual_information: f32,
    deviations: &'a [f32],
}

/// One of the digits, from left to right.
#[derive(Serialize, JsonSchema)]
pub struct JsonDigit<'a> {
    digit: u8,
    label: &'a str,
    confidence: f32,
    is_digit: bool,
    digit_score: f32,
    #[serde(rename = "box")]
    bounds: [f32; 4],
}

impl<'a> JsonLine<'a> {
    /// The line of the input with this name.
    pub fn of(path: &'a str, reading: &'a PredictionLine) -> Self {
        let one = reading.prediction();
        let digit = |DigitPrediction {
                         bounds, prediction, ..
                     }: &'a DigitPrediction| JsonDigit {
            digit: prediction.digit,
            label: prediction.name(),
            confidence: prediction.confidence,
            is_digit: prediction.is_digit,
            digit_score: prediction.digit_score,
            bounds: *bounds,
        };
        Self {
            path,
            digit: one.map(|one| one.digit),
            label: one.map(Prediction::name),
            confidence: one.map(|one| one.confidence),
            probabilities: one.map(|one| one.probabilities.as_slice()),
            is_digit: one.map(|one| one.is_digit),
            digit_score: one.map(|one| one.digit_score),
            text: NumberVerdict::of(reading.digits()).text,
            digits: reading.digits().iter().map(digit).collect(),
            uncertainty: one.and_then(|one| one.uncertainty.as_ref()).map(|found| {
                JsonUncertainty {
                    members: found.members,
                    entropy: found.entropy,
                    mutual_information: found.mutual_information,
                    deviations: &found.deviations,
                }
            }),
        }
    }
}

#[derive(Serialize, JsonSchema)]
pub struct Written {
    path: String,
    images: usize,
}

/// Recognizes every row of the table `source` and writes `out`: whole, or not at all if a row
/// cannot be read.
pub fn write(
    classifier: &Classifier,
    source: Source,
    out: &Path,
    force: bool,
    json: bool,
) -> Result<(), Failure> {
    check_file(out, force, &[source.path()])?;
    let (name, path) = (source.name(), source.path().to_owned());
    let mut images = Vec::new();
    for row in source.rows(classifier.info().framing())? {
        let (_, image) = row.map_err(Problem::from)?;
        images.extend_from_slice(image.pixels());
    }
    if images.is_empty() {
        return Err(Problem::from(DataError::Malformed {
            path,
            reason: "it contains no rows".to_owned(),
        })
        .into());
    }
    let progress = Progress::new();
    let digits = classifier.digits(&images, &mut |done: f32| {
        progress.show(done, "Recognizing");
        Ok(())
    });
    drop(progress);
    let digits = digits?;
    let label = |digit: u8| match &classifier.info().classes {
        classes @ Classes::Named(_) => classes.name(digit).to_owned(),
        // Kaggle's competitions have the numbers of classes that are known.
        _ => digit.to_string(),
    };
    write_whole_with(out, |file| {
        let mut table = csv::Writer::from_writer(file);
        table.write_record(["ImageId", "Label"])?;
        (1_usize..)
            .zip(&digits)
            .try_for_each(|(id, &digit)| table.write_record([id.to_string(), label(digit)]))?;
        table.flush()
    })?;
    let mut output = Output::new(json);
    output.json(&Written {
        path: out.display().to_string(),
        images: digits.len(),
    })?;
    let count = grouped(digits.len() as u64);
    output.text(&format!(
        "Wrote {}: the {} of {count} images in {}.",
        visible::path(out),
        if classifier.info().classes.are_digits() {
            "digits"
        } else {
            "classes"
        },
        visible::one_line(&name)
    ))
}
