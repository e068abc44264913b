use std::path::Path;
use std::time::Instant;

use super::InferError;
use super::measure::{Measurement, digits, measure};
use super::outputs::Outputs;
use super::scores::Scores;
use crate::data::Split;
use crate::ink::{self, Image, Ink, Steps};
use crate::nn::ComputeError;
use crate::nn::DeviceContext;
use crate::nn::{ModelError, ModelFile, Net, parameter_count};
use crate::progress::Progress;
use crate::records::{Calibration, Evaluation, ModelInfo, ModelRef, Prediction};
use crate::run_config::DeviceChoice;

/// The small model that comes with Inkling.
pub fn starter_file() -> Result<ModelFile, ModelError> {
    ModelFile::from_bytes(include_bytes!("../../assets/starter.safetensors"), Path::new("the starter model"))
}

/// Recognises digits with one model, on whichever device the model is.
pub trait Classify: Send {
    /// Classifies an image as models see it: 28x28 and normalised.
    fn classify(&self, image: Image) -> Result<Prediction, InferError>;

    /// Turns a drawing into an image with these steps and classifies it; the time in the prediction includes both.
    fn classify_drawing(&self, drawing: &Ink, steps: &Steps) -> Result<Prediction, InferError> {
        let start = Instant::now();
        let prediction = self.classify(ink::rasterize_steps(drawing, steps))?;
        Ok(Prediction { micros: start.elapsed().as_micros() as u32, ..prediction })
    }
}

/// A model that is ready to classify. Made from a network that is being trained, it always uses the newest weights.
#[derive(Clone, Debug)]
pub struct Classifier {
    net: Net,
    device: DeviceChoice,
    info: ModelInfo,
    calibration: Calibration,
}

impl Classifier {
    /// Classifies with this network, which is on `device`, and with what was fitted for it ([`Calibration::NONE`] where nothing was yet).
    pub const fn new(net: Net, device: DeviceChoice, info: ModelInfo, calibration: Calibration) -> Self {
        Self { net, device, info, calibration }
    }

    /// A stored model, on the CPU.
    pub fn of_file(file: ModelFile, reference: ModelRef) -> Self {
        let ModelFile { net, card } = file;
        let info = ModelInfo {
            reference,
            kind: card.model,
            parameters: parameter_count(card.model),
            data: card.data,
            epochs: card.epochs,
            validation_accuracy: card.validation_accuracy,
        };
        Self { net, device: DeviceChoice::Cpu, info, calibration: card.calibration }
    }

    /// Loads the model in this file.
    pub fn open(path: &Path) -> Result<Self, ModelError> {
        Ok(Self::of_file(ModelFile::load(path)?, ModelRef::File(path.to_owned())))
    }

    /// The small model that comes with Inkling: LeNet-5 in f16, trained by Inkling on its built-in digits
    /// (the README has the command).
    pub fn starter() -> Result<Self, ModelError> {
        Ok(Self::of_file(starter_file()?, ModelRef::Starter))
    }

    /// A copy of the model on another device, which `place` is.
    pub fn to_device(&self, device: DeviceChoice, context: &DeviceContext) -> Result<Self, InferError> {
        Ok(Self { net: self.net.to_device(context)?, device, ..self.clone() })
    }

    /// What is known of the model.
    pub const fn info(&self) -> &ModelInfo {
        &self.info
    }

    /// The network.
    pub const fn net(&self) -> &Net {
        &self.net
    }

    /// Whether an image with these pixels and this digit score counts as a digit; a blank one never does.
    pub fn is_digit(&self, pixels: &[u8], digit_score: f32) -> bool {
        digit_score >= self.calibration.digit_threshold && pixels.iter().any(|&pixel| pixel > 0)
    }

    /// The same as [`Classifier::evaluate`], with what was found for each image.
    pub fn measure(&self, split: &Split, progress: &mut dyn Progress) -> Result<Measurement, InferError> {
        let measured = measure(&self.net, self.calibration.temperature, split, progress)?;
        measured.check_finite()?;
        Ok(measured)
    }

    /// The digit that each of these images is taken for, 784 bytes each. `progress` gets the share done after each batch; an error from it cancels.
    pub fn digits(&self, images: &[u8], progress: &mut dyn Progress) -> Result<Vec<u8>, InferError> {
        digits(&self.net, images, progress)
    }

    /// Measures the model on a split. `progress` gets the share done after each batch; an error from it cancels.
    pub fn evaluate(&self, split: &Split, progress: &mut dyn Progress) -> Result<Evaluation, InferError> {
        Ok(self.measure(split, progress)?.evaluation)
    }
}

impl Classify for Classifier {
    fn classify(&self, image: Image) -> Result<Prediction, InferError> {
        let start = Instant::now();
        let outputs = Outputs::of(&self.net, image.pixels())?;
        let scores = Scores::of_rows(&outputs.logits, self.calibration.temperature).next();
        let (Some(Scores { probabilities, digit, .. }), Some(&digit_score)) = (scores, outputs.digit_scores.first()) else {
            return Err(ComputeError::failed(&format!("{} gave no logits", self.info.kind)).into());
        };
        if !(outputs.are_finite() && probabilities.iter().all(|probability| probability.is_finite())) {
            return Err(ComputeError::NotFinite.into());
        }
        let is_digit = self.is_digit(image.pixels(), digit_score);
        Ok(Prediction {
            image,
            probabilities,
            digit: digit as u8,
            confidence: probabilities[digit],
            digit_score,
            is_digit,
            micros: start.elapsed().as_micros() as u32,
            device: self.device,
            model: self.info.clone(),
        })
    }
}
