//! An evaluation: what is asked for, and what is found.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{Accuracy, Evaluation, ModelInfo, ModelRef};
use crate::run_config::{DataSpec, EvaluationSplit};

/// Writers in a report.
pub const MAX_WRITERS: usize = 1000;

/// Which model is to be evaluated, and on what.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EvaluationSpec {
    /// The model.
    pub model: ModelRef,
    /// The data set.
    pub data: DataSpec,
    /// Which of its images. `None` stands for its test split if it has one of its own. Otherwise it
    /// stands for all images, unless the model was trained on some of them: then for those that
    /// were set apart as a test split.
    pub split: Option<EvaluationSplit>,
    /// The probabilities are those of the logits as they are, not divided by the temperature that
    /// was fitted to the model.
    pub uncalibrated: bool,
    /// Drawings to distinguish from digits.
    pub not_digits: Option<NotDigitsSpec>,
}

impl EvaluationSpec {
    /// Of a model on a data set, as it is usually wanted.
    pub const fn new(model: ModelRef, data: DataSpec) -> Self {
        Self {
            model,
            data,
            split: None,
            uncalibrated: false,
            not_digits: None,
        }
    }
}

/// Drawings that are not digits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotDigitsSpec {
    /// An ink file. Those of its drawings that are labelled as digits are left out.
    pub path: PathBuf,
    /// Only drawings with one of these labels; `None` for all.
    pub labels: Option<String>,
}

/// An evaluation, with the images that the model was evaluated on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SplitEvaluation {
    /// The data set that the images belong to; of a mix, only those of its sources that they come
    /// from.
    pub data: DataSpec,
    /// Which of its images they are.
    pub split: EvaluationSplit,
    /// The figures.
    pub evaluation: Evaluation,
}

impl SplitEvaluation {
    /// Its accuracy.
    pub fn accuracy(&self) -> Accuracy {
        let Evaluation {
            accuracy, images, ..
        } = self.evaluation;
        Accuracy {
            value: accuracy,
            images: Some(images),
            data: self.data.clone(),
            split: self.split,
        }
    }
}

/// What an evaluation found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EvaluationReport {
    /// The model.
    pub model: ModelInfo,
    /// The figures, and the images they are of.
    pub measured: SplitEvaluation,
    /// The accuracy by writer, the least accurate first, at most [`MAX_WRITERS`]; empty where the
    /// data do not name any.
    pub writers: Vec<WriterScore>,
    /// How well digits were distinguished from other drawings, where that was asked for.
    pub detection: Option<DigitDetection>,
}

/// The result for one writer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WriterScore {
    /// As the data name them, at most [`crate::ink::MAX_WRITER_CHARS`] characters.
    pub writer: String,
    /// Their images.
    pub images: u64,
    /// How many of these were classified correctly.
    pub correct: u64,
}

/// How well the digit score distinguishes the digits of an evaluation from other drawings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DigitDetection {
    /// Area under the ROC curve: the probability that a digit has a higher score than another
    /// drawing, where ties count half.
    pub auroc: f64,
    /// Digits.
    pub digits: u64,
    /// Those of them that count as digits at the model's threshold.
    pub kept: u64,
    /// Drawings that are not digits.
    pub not_digits: u64,
    /// Those of them that do not count as digits at the model's threshold.
    pub rejected: u64,
    /// The same by label, in order; empty where nothing is labelled.
    pub labels: Vec<LabelRejection>,
}

/// The drawings with one label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabelRejection {
    /// What they show.
    pub label: char,
    /// How many there are.
    pub drawings: u64,
    /// Those of them that do not count as digits.
    pub rejected: u64,
}
