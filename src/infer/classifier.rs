//! A model that is ready to classify: a network, or several whose probabilities are averaged.

use std::path::Path;
use std::time::Instant;

use super::error::EnsembleError;
use super::measure::{Measurement, outputs};
use super::outputs::{self, Member, Outputs, Scores};
use crate::data::Split;
use crate::ink::{self, Image, Ink, Steps};
use crate::nn::{ComputeError, DeviceContext, ModelError, ModelFile, Net, flops};
use crate::problem::Problem;
use crate::progress::Progress;
use crate::records::{
    Calibration, Ensemble, Inspection, ModelInfo, ModelRef, Prediction, Uncertainty, UnitSelection,
};
use crate::run_config::DeviceChoice;

/// The test accuracy of the starter model on the built-in digits and on MNIST.
pub const STARTER_ACCURACIES: [f64; 2] = [0.959, 0.993];

/// The small model that comes with Inkling: LeNet-5 in f16, trained by Inkling (docs/figures.md has
/// the command).
pub fn starter_file() -> Result<ModelFile, ModelError> {
    ModelFile::from_bytes(
        include_bytes!("../../assets/starter.safetensors"),
        Path::new("the starter model"),
    )
}

/// Reads the file of a model, or the files of an ensemble; `None` for a training run, which has no
/// file.
pub fn model_files(model: &ModelRef) -> Result<Option<Vec<ModelFile>>, Problem> {
    Ok(match model {
        ModelRef::Starter => Some(vec![starter_file()?]),
        ModelRef::File(path) => Some(vec![ModelFile::load(path)?]),
        ModelRef::Ensemble(ensemble) => Some(ensemble_files(ensemble)?),
        ModelRef::Training(_) => None,
    })
}

fn ensemble_files(
    Ensemble {
        models,
        dropout_passes,
    }: &Ensemble,
) -> Result<Vec<ModelFile>, Problem> {
    if !Ensemble::MODELS.contains(&models.len()) {
        return Err(EnsembleError::Models {
            given: models.len(),
        }
        .into());
    }
    if let Some(given) = *dropout_passes
        && !Ensemble::DROPOUT_PASSES.contains(&given)
    {
        return Err(EnsembleError::DropoutPasses { given }.into());
    }
    Ok(models
        .iter()
        .map(|path| ModelFile::load(path))
        .collect::<Result<_, _>>()?)
}

/// Recognizes digits with one model, on whichever device the model is.
pub trait Classify: Send {
    /// Classifies an image as models see it: 28x28 and normalized.
    fn classify(&self, image: Image) -> Result<Prediction, Problem>;

    /// Turns a drawing into an image with these steps and classifies it; the time in the prediction
    /// includes both.
    fn classify_drawing(&self, drawing: &Ink, steps: &Steps) -> Result<Prediction, Problem> {
        let start = Instant::now();
        let prediction = self.classify(ink::rasterize_steps(drawing, steps))?;
        Ok(Prediction {
            micros: start.elapsed().as_micros() as u32,
            ..prediction
        })
    }
}

/// A model that is ready to classify, or several together. Made from a network that is being
/// trained, it always uses the newest weights.
///
/// ```
/// use inkling::infer::{Classifier, Classify};
/// use inkling::ink::{Ink, Steps};
/// use inkling::records::ModelRef;
///
/// let classifier = Classifier::load(&ModelRef::Starter)?.expect("the starter model has a file");
/// let seven = Ink {
///     strokes: vec![vec![[10.0, 10.0], [60.0, 10.0], [30.0, 90.0]]],
///     pen: None,
/// };
/// assert_eq!(classifier.classify_drawing(&seven, &Steps::ALL)?.digit, 7);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Classifier {
    members: Vec<Member>,
    dropout_passes: Option<u32>,
    calibration: Calibration,
    device: DeviceChoice,
    info: ModelInfo,
}

impl Classifier {
    /// Classifies with this network, which is on `device`, and with what was fitted for it
    /// ([`Calibration::NONE`] if nothing was yet).
    pub fn new(net: Net, device: DeviceChoice, info: ModelInfo, calibration: Calibration) -> Self {
        Self {
            members: vec![Member { net, calibration }],
            dropout_passes: None,
            calibration,
            device,
            info,
        }
    }

    /// A stored model, on the CPU.
    pub fn of_file(file: ModelFile, reference: ModelRef) -> Self {
        let ModelFile { net, card } = file;
        let info = ModelInfo {
            reference,
            network: card.network(),
            parameters: net.parameter_count(),
            classes: card.labels.clone(),
            accuracy: card.accuracy(),
            data: card.data,
            epochs: card.epochs,
        };
        Self::new(net, DeviceChoice::Cpu, info, card.calibration)
    }

    /// The stored models of an ensemble, on the CPU. What is known of them is what is known of the
    /// first, with the parameters of all.
    fn of_ensemble(files: Vec<ModelFile>, ensemble: &Ensemble) -> Result<Self, Problem> {
        let Ensemble {
            models,
            dropout_passes,
        } = ensemble;
        let mut all = files.iter().zip(models);
        if dropout_passes.is_some()
            && let Some((file, path)) = all.find(|(file, _)| !file.net.has_dropout())
        {
            return Err(EnsembleError::NoDropout {
                path: path.clone(),
                model: file.net.model(),
            }
            .into());
        }
        let mut classes = files.iter().map(|file| file.card.labels.clone());
        if let Some(first) = classes.next()
            && let Some(other) = classes.find(|other| *other != first)
        {
            return Err(EnsembleError::DifferentClasses { first, other }.into());
        }
        let reference = ModelRef::Ensemble(ensemble.clone());
        let mut all = files
            .into_iter()
            .map(|file| Self::of_file(file, reference.clone()));
        let mut classifier = all.next().ok_or(EnsembleError::Models { given: 0 })?;
        for other in all {
            classifier.info.parameters += other.info.parameters;
            classifier.members.extend(other.members);
        }
        classifier.info.accuracy = None;
        Ok(Self {
            calibration: outputs::calibration(&classifier.members),
            dropout_passes: *dropout_passes,
            ..classifier
        })
    }

    /// The stored models that [`model_files`] returns for this reference.
    pub fn of_files(mut files: Vec<ModelFile>, reference: &ModelRef) -> Result<Self, Problem> {
        if let ModelRef::Ensemble(ensemble) = reference {
            return Self::of_ensemble(files, ensemble);
        }
        let file = files.pop().ok_or(EnsembleError::Models { given: 0 })?;
        Ok(Self::of_file(file, reference.clone()))
    }

    /// Loads a model or the models of an ensemble; `None` for a training run, which has no file.
    pub fn load(model: &ModelRef) -> Result<Option<Self>, Problem> {
        model_files(model)?
            .map(|files| Self::of_files(files, model))
            .transpose()
    }

    /// A copy of the model on another device, whose context is given.
    pub fn to_device(
        &self,
        device: DeviceChoice,
        context: &DeviceContext,
    ) -> Result<Self, Problem> {
        let mut there = self.clone();
        there.device = device;
        for member in &mut there.members {
            member.net = member.net.to_device(context)?;
        }
        Ok(there)
    }

    /// True if it cannot be copied to a GPU: the networks of ONNX files are computed on the CPU.
    pub fn needs_cpu(&self) -> bool {
        self.members
            .iter()
            .any(|member| member.net.graph().is_some())
    }

    /// The floating-point operations that it takes for an image, roughly.
    pub(super) fn flops(&self) -> u64 {
        let of_member = |member: &Member| {
            // A graph of operations has no layers to count: at least each weight is used once.
            let of_weights = 2 * member.net.parameter_count();
            flops(member.net.network()).forward.max(of_weights)
        };
        let passes = self.dropout_passes.unwrap_or(1);
        self.members.iter().map(of_member).sum::<u64>() * u64::from(passes)
    }

    /// Its network; `None` for several networks together and for the network of an ONNX file, which
    /// has no layers.
    pub(super) fn only_network(&self) -> Option<&Net> {
        match (self.members.as_slice(), self.dropout_passes) {
            ([only], None) if only.net.graph().is_none() => Some(&only.net),
            _ => None,
        }
    }

    /// The model's facts.
    pub const fn info(&self) -> &ModelInfo {
        &self.info
    }

    /// What its network computes for an image, and the unit that is looked at; `None` for several
    /// networks together and for the network of an ONNX file, which has no layers.
    pub fn inspect(
        &self,
        image: &Image,
        look: Option<UnitSelection>,
    ) -> Result<Option<Inspection>, Problem> {
        let net = self.only_network();
        Ok(net
            .map(|net| net.inspect(image.pixels(), look))
            .transpose()?)
    }

    /// Whether an image with these pixels and this digit score counts as a digit; a blank one never
    /// does.
    pub fn is_digit(&self, pixels: &[u8], digit_score: f32) -> bool {
        digit_score >= self.calibration.digit_threshold && pixels.iter().any(|&pixel| pixel > 0)
    }

    /// Measures the model on a split. `progress` gets the fraction done after each batch; an error
    /// from it cancels.
    pub fn measure(
        &self,
        split: &Split,
        progress: &mut dyn Progress,
    ) -> Result<Measurement, Problem> {
        let outputs = self.all_outputs(&split.images, progress)?;
        let measured = Measurement::of(outputs, self.temperature(), split);
        measured.check_finite()?;
        Ok(measured)
    }

    /// The digit that each of these images is taken for, 784 bytes each. `progress` gets the
    /// fraction done after each batch; an error from it cancels.
    pub fn digits(&self, images: &[u8], progress: &mut dyn Progress) -> Result<Vec<u8>, Problem> {
        let outputs = self.all_outputs(images, progress)?;
        outputs.check_finite()?;
        // Which is most probable does not depend on the temperature.
        Ok(outputs
            .scores(1.0)
            .map(|scores| scores.digit as u8)
            .collect())
    }

    /// The digit score of each of these images. `progress` as in [`Classifier::digits`].
    pub fn digit_scores(
        &self,
        images: &[u8],
        progress: &mut dyn Progress,
    ) -> Result<Vec<f32>, Problem> {
        Ok(self.all_outputs(images, progress)?.digit_scores)
    }

    /// This model with a temperature of 1 for each network.
    #[must_use]
    pub fn uncalibrated(mut self) -> Self {
        let temperature = Calibration::NONE.temperature;
        self.members
            .iter_mut()
            .for_each(|member| member.calibration.temperature = temperature);
        self.calibration.temperature = temperature;
        self
    }

    pub(super) fn all_outputs(
        &self,
        images: &[u8],
        progress: &mut dyn Progress,
    ) -> Result<Outputs, Problem> {
        let Some(first) = self.members.first() else {
            return Ok(Outputs::default());
        };
        outputs(first.net.context(), images, progress, |batch| {
            Ok(self.outputs(batch)?.0)
        })
    }

    /// The outputs for images of 784 pixels, for probabilities at [`Classifier::temperature`]; of
    /// an ensemble for each image how unsure it is.
    pub(super) fn outputs(
        &self,
        pixels: &[u8],
    ) -> candle_core::Result<(Outputs, Vec<Uncertainty>)> {
        match (self.members.as_slice(), self.dropout_passes) {
            ([only], None) => Ok((Outputs::of(&only.net, pixels)?, Vec::new())),
            (members, passes) => outputs::outputs(members, passes, pixels),
        }
    }

    pub(super) const fn temperature(&self) -> f32 {
        self.calibration.temperature
    }
}

impl Classify for Classifier {
    fn classify(&self, image: Image) -> Result<Prediction, Problem> {
        let start = Instant::now();
        let (outputs, uncertainty) = self.outputs(image.pixels())?;
        let scores = outputs.scores(self.temperature()).next();
        let (
            Some(Scores {
                probabilities,
                digit,
                ..
            }),
            Some(&digit_score),
        ) = (scores, outputs.digit_scores.first())
        else {
            return Err(ComputeError::failed(&format!(
                "{} gave no logits",
                self.info.network.label()
            ))
            .into());
        };
        outputs.check_finite()?;
        if !probabilities.iter().all(|share| share.is_finite()) {
            return Err(ComputeError::NotFinite.into());
        }
        let is_digit = self.is_digit(image.pixels(), digit_score);
        Ok(Prediction {
            image,
            confidence: probabilities[digit],
            probabilities,
            digit: digit as u8,
            digit_score,
            is_digit,
            uncertainty: uncertainty.into_iter().next(),
            micros: start.elapsed().as_micros() as u32,
            device: self.device,
            model: self.info.clone(),
        })
    }
}
