//! An evaluation: what is asked for, and what is found. The accuracy that stands for a model
//! wherever one is shown, and how much its probabilities are worth.

use std::fmt::{Display, Formatter};
use std::ops::RangeInclusive;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{Evaluation, ModelInfo, ModelRef};
use crate::run_config::{DataSpec, EvaluationSplit};
use crate::text::format::{grouped, percent};

/// Writers in a report.
pub const MAX_WRITERS: usize = 1000;

/// Which model is to be evaluated, and on what.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EvaluationSpec {
    pub model: ModelRef,
    /// The data set.
    pub data: DataSpec,
    /// Which of its images. `None` stands for its test split if it has one. Otherwise it
    /// stands for all images, unless the model was trained on some of them: then for those that
    /// were set apart as a test split.
    pub split: Option<EvaluationSplit>,
    /// The probabilities are computed from the raw logits, not divided by the temperature that
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
    /// An ink file. Drawings in it that are labeled as digits are left out.
    pub path: PathBuf,
    /// Only drawings with one of these labels; `None` for all.
    pub labels: Option<String>,
}

/// An evaluation, with the images that the model was evaluated on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SplitEvaluation {
    /// The data set that the images belong to; of a mix, only the sources that they come
    /// from.
    pub data: DataSpec,
    /// Which of its images they are.
    pub split: EvaluationSplit,
    /// The figures.
    pub evaluation: Evaluation,
}

impl SplitEvaluation {
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

/// The result of an evaluation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EvaluationReport {
    pub model: ModelInfo,
    /// The figures, and the images they are of.
    pub measured: SplitEvaluation,
    /// The accuracy by writer, the least accurate first, at most [`MAX_WRITERS`]; empty if the
    /// data do not name any.
    pub writers: Vec<WriterScore>,
    /// How well digits were distinguished from other drawings, if that was asked for.
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
    pub digits: u64,
    /// Digits that count as digits at the model's threshold.
    pub kept: u64,
    /// Drawings that are not digits.
    pub not_digits: u64,
    /// Drawings that do not count as digits at the model's threshold.
    pub rejected: u64,
    /// The same by label, in order; empty if nothing is labeled.
    pub labels: Vec<LabelRejection>,
}

/// The drawings with one label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabelRejection {
    pub label: char,
    /// How many there are.
    pub drawings: u64,
    /// Drawings that do not count as digits.
    pub rejected: u64,
}

/// An accuracy, with the images it was measured on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Accuracy {
    /// Fraction of the images classified correctly, from 0 to 1.
    pub value: f64,
    /// Images classified, if their number is known.
    pub images: Option<u64>,
    /// The data set they belong to.
    pub data: DataSpec,
    /// Which of its images they are.
    pub split: EvaluationSplit,
}

impl Accuracy {
    /// The one that stands for a model wherever that is shown: on test images if it was measured on
    /// any, else on validation images, if it has this value and there are as many.
    pub fn of_model(
        test: Option<Self>,
        validation: Option<f32>,
        images: Option<u64>,
        data: &DataSpec,
    ) -> Option<Self> {
        test.or_else(|| {
            Some(Self {
                value: f64::from(validation?),
                images,
                data: data.clone(),
                split: EvaluationSplit::Validation,
            })
        })
    }

    /// Which accuracy it is: "Test accuracy".
    pub const fn name(&self) -> &'static str {
        match self.split {
            EvaluationSplit::Test => "Test accuracy",
            EvaluationSplit::Validation => "Validation accuracy",
            EvaluationSplit::Train => "Training accuracy",
            EvaluationSplit::All => "Accuracy",
        }
    }

    /// The images that it was measured on: "MNIST, 10,000 images".
    pub fn measured_on(&self) -> String {
        let data = self.data.label();
        self.images.map_or_else(
            || data.clone(),
            |images| format!("{data}, {} images", grouped(images)),
        )
    }

    /// Both: "Test accuracy on MNIST, 10,000 images".
    pub fn label(&self) -> String {
        format!("{} on {}", self.name(), self.measured_on())
    }

    /// Its value: "99.32%".
    pub fn percent(&self) -> String {
        percent(self.value, 2)
    }
}

/// "Test accuracy on MNIST, 10,000 images: 99.32%".
impl Display for Accuracy {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.label(), self.percent())
    }
}

/// What is fitted on images that a network did not learn from. It belongs to the weights it was
/// fitted for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// Logits are divided by this before the softmax (temperature scaling: Guo et al. 2017, "On
    /// Calibration of Modern Neural Networks"). 1 if none was fitted.
    pub temperature: f32,
    /// Digit scores below this are not digits.
    pub digit_threshold: f32,
}

impl Calibration {
    /// Of a network for which nothing was fitted: its logits as they are, and everything counts as
    /// a digit.
    pub const NONE: Self = Self {
        temperature: 1.0,
        digit_threshold: f32::NEG_INFINITY,
    };

    /// The temperatures that are fitted, and accepted in files. Logits of networks that recognize
    /// digits need less than 5; at 20 hardly any network is sure of anything, and at 0.05 every one
    /// is.
    pub const TEMPERATURES: RangeInclusive<f32> = 0.05..=20.0;

    /// True if a temperature was fitted, which is never exactly 1, as in [`Self::NONE`].
    pub fn has_temperature(&self) -> bool {
        (self.temperature - Self::NONE.temperature).abs() > f32::EPSILON
    }

    /// False for numbers that no Inkling model has.
    pub fn is_valid(&self) -> bool {
        Self::TEMPERATURES.contains(&self.temperature) && self.digit_threshold.is_finite()
    }
}

/// Bins of a reliability diagram.
pub const RELIABILITY_BINS: usize = 15;

/// A bin of a reliability diagram: the images whose confidence, the probability of the answer, is
/// in the bin's range. Bin `i` of `n` goes from `i / n` to `(i + 1) / n`; its upper end belongs to
/// it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReliabilityBin {
    /// Images in it.
    pub images: u32,
    /// Images that were classified correctly.
    pub correct: u32,
    /// Mean confidence of its images, 0 to 1; 0 without images.
    pub confidence: f64,
}

impl ReliabilityBin {
    /// The bin that a confidence from 0 to 1 belongs to.
    pub fn index_of(confidence: f32) -> usize {
        ((f64::from(confidence) * RELIABILITY_BINS as f64).ceil() as usize)
            .clamp(1, RELIABILITY_BINS)
            - 1
    }

    /// Counts one more image.
    pub fn add(&mut self, confidence: f32, correct: bool) {
        self.images += 1;
        self.correct += u32::from(correct);
        self.confidence += (f64::from(confidence) - self.confidence) / f64::from(self.images);
    }

    /// Fraction of its images that were classified correctly; `None` without images.
    pub fn accuracy(&self) -> Option<f64> {
        (self.images > 0).then(|| f64::from(self.correct) / f64::from(self.images))
    }
}

/// Models whose probabilities are averaged (deep ensembles: Lakshminarayanan et al. 2017), or
/// passes of a model with dropout (Monte Carlo dropout: Gal & Ghahramani 2016), or both.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ensemble {
    /// The model files.
    pub models: Vec<PathBuf>,
    /// Passes of each model with dropout; `None` for one without.
    pub dropout_passes: Option<u32>,
}

impl Ensemble {
    /// The models that an ensemble may have.
    pub const MODELS: RangeInclusive<usize> = 1..=64;
    /// The passes with dropout that a model may have.
    pub const DROPOUT_PASSES: RangeInclusive<u32> = 2..=1000;
    /// As many give a stable mean, and take a few milliseconds for a drawing.
    pub const USUAL_DROPOUT_PASSES: u32 = 50;

    /// Whether they are samples from the posterior of one network's weights: files of the same run.
    pub fn is_posterior(&self) -> bool {
        self.models.len() > 1
            && self
                .models
                .iter()
                .all(|model| model.parent() == self.models[0].parent())
    }

    /// Models without dropout.
    pub const fn of(models: Vec<PathBuf>) -> Self {
        Self {
            models,
            dropout_passes: None,
        }
    }

    /// A model with dropout, as many passes as usual.
    pub fn with_dropout(model: PathBuf) -> Self {
        Self {
            models: vec![model],
            dropout_passes: Some(Self::USUAL_DROPOUT_PASSES),
        }
    }
}

/// How unsure an ensemble is of an image, and why: the entropy of its mean probabilities is the
/// mean entropy of its members' probabilities, which more training data would not reduce, plus the
/// mutual information between the answer and the weights, by which the members disagree (Gal 2016,
/// "Uncertainty in Deep Learning", section 3.3.1).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Uncertainty {
    /// The predictions that were averaged.
    pub members: u32,
    /// The standard deviation of each class's probability among them.
    pub deviations: Vec<f32>,
    /// The entropy of the mean probabilities, in bits: 0 to log2 of the number of classes.
    pub entropy: f32,
    /// The mutual information between the answer and the weights, in bits: 0 to `entropy`.
    pub mutual_information: f32,
}

impl Uncertainty {
    /// That of an image for which the members gave these probabilities, and the mean of these.
    pub fn of(members: &[&[f32]]) -> (Self, Vec<f32>) {
        let count = members.len().max(1) as f32;
        let classes = members
            .iter()
            .map(|member| member.len())
            .min()
            .unwrap_or_default();
        let mean_of = |value: &dyn Fn(&[f32], usize) -> f32| -> Vec<f32> {
            (0..classes)
                .map(|class| {
                    members
                        .iter()
                        .map(|member| value(member, class))
                        .sum::<f32>()
                        / count
                })
                .collect()
        };
        let mean = mean_of(&|member, class| member[class]);
        let variances = mean_of(&|member, class| (member[class] - mean[class]).powi(2));
        let deviations = variances.into_iter().map(f32::sqrt).collect();
        let expected = members.iter().map(|member| entropy(member)).sum::<f32>() / count;
        let total = entropy(&mean);
        // Rounding may leave it below 0.
        let mutual_information = (total - expected).clamp(0.0, total);
        (
            Self {
                members: count as u32,
                deviations,
                entropy: total,
                mutual_information,
            },
            mean,
        )
    }

    /// The mean entropy of the members' probabilities, in bits: how ambiguous the image itself is
    /// to them.
    pub fn expected_entropy(&self) -> f32 {
        self.entropy - self.mutual_information
    }
}

/// In bits.
fn entropy(probabilities: &[f32]) -> f32 {
    probabilities
        .iter()
        .filter(|&&probability| probability > 0.0)
        .map(|probability| -probability * probability.log2())
        .sum::<f32>()
        .max(0.0)
}
