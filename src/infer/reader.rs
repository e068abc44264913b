//! Owns reading drawings with one model. Must not know whether that model is still learning.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use super::measure::measure;
use super::scores::Scores;
use crate::data::Split;
use crate::ink::{self, Ink, Picture};
use crate::nn::{ModelError, ModelFile, Net, Pass, parameter_count};
use crate::problem::Problem;
use crate::protocol::{Evaluation, ModelInfo, ModelRef, Reading};
use crate::run_config::DeviceChoice;

/// The small model that comes with Inkling.
pub fn starter_file() -> Result<ModelFile, ModelError> {
    ModelFile::from_bytes(include_bytes!("../../assets/starter.safetensors"), Path::new("the starter model"))
}

/// A model, ready to read. When made from a network that is being trained, it reads with the newest weights at any time.
#[derive(Clone, Debug)]
pub struct Reader {
    net: Net,
    info: ModelInfo,
    digit_threshold: f32,
}

impl Reader {
    /// A reader with this network; drawings whose digit score is below `digit_threshold` are no digits
    /// (`f32::NEG_INFINITY` where no threshold is known yet).
    pub const fn new(net: Net, info: ModelInfo, digit_threshold: f32) -> Self {
        Self { net, info, digit_threshold }
    }

    /// A reader with a stored model.
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
        Self { net, info, digit_threshold: card.digit_threshold }
    }

    /// A reader with the model in this file.
    pub fn open(path: &Path) -> Result<Self, ModelError> {
        Ok(Self::of_file(ModelFile::load(path)?, ModelRef::File(path.to_owned())))
    }

    /// A reader with the small model that comes with Inkling: LeNet-5 in f16, trained by Inkling on its built-in digits
    /// (the README has the command).
    pub fn starter() -> Result<Self, ModelError> {
        Ok(Self::of_file(starter_file()?, ModelRef::Starter))
    }

    /// The model in a sentence.
    pub const fn info(&self) -> &ModelInfo {
        &self.info
    }

    /// The network.
    pub const fn net(&self) -> &Net {
        &self.net
    }

    /// Reads a drawing.
    pub fn read(&self, ink: &Ink) -> Result<Reading, Problem> {
        self.read_since(Instant::now(), ink::picture(ink))
    }

    /// Reads a picture that is already as models see it.
    pub fn read_picture(&self, picture: Picture) -> Result<Reading, Problem> {
        self.read_since(Instant::now(), picture)
    }

    fn read_since(&self, start: Instant, picture: Picture) -> Result<Reading, Problem> {
        let logits = self.net.forward(picture.pixels(), Pass::Read)?.flatten_all()?.to_vec1::<f32>()?;
        let Some(Scores { probabilities, digit, digit_score }) = Scores::of_rows(&logits).next() else {
            return Err(Problem::Compute { message: format!("{} gave no logits", self.info.kind) });
        };
        let is_digit = !picture.is_blank() && digit_score >= self.digit_threshold;
        Ok(Reading {
            picture,
            probabilities,
            digit: digit as u8,
            confidence: probabilities[digit],
            digit_score,
            is_digit,
            micros: start.elapsed().as_micros() as u32,
            device: DeviceChoice::Cpu,
            model: self.info.clone(),
        })
    }

    /// Measures the model on a split. `progress` gets the share done after each part; `None` when it breaks the reading off.
    pub fn evaluate(&self, split: &Split, progress: &mut dyn FnMut(f32) -> ControlFlow<()>) -> Result<Option<Evaluation>, Problem> {
        Ok(measure(&self.net, split, progress)?.map(|measured| measured.evaluation))
    }
}
