//! Owns reading drawings with one model, where that model is. Must not know whether it is still learning.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use super::measure::measure;
use super::scores::Scores;
use crate::data::Split;
use crate::device::Place;
use crate::ink::{self, Ink, Picture};
use crate::nn::{ModelError, ModelFile, Net, Pass, parameter_count};
use crate::problem::Problem;
use crate::protocol::{Evaluation, ModelInfo, ModelRef, Reading};
use crate::run_config::DeviceChoice;

/// The small model that comes with Inkling.
pub fn starter_file() -> Result<ModelFile, ModelError> {
    ModelFile::from_bytes(include_bytes!("../../assets/starter.safetensors"), Path::new("the starter model"))
}

/// Whatever reads pictures with one model: a [`Reader`], on whichever device it is.
pub trait Reads: Send {
    /// Reads a picture as models see it; what is needed of its making began at `start`.
    fn read_since(&self, start: Instant, picture: Picture) -> Result<Reading, Problem>;
}

/// A model, ready to read. When made from a network that is being trained, it reads with the newest weights at any time.
#[derive(Clone, Debug)]
pub struct Reader {
    net: Net,
    device: DeviceChoice,
    info: ModelInfo,
    digit_threshold: f32,
}

impl Reader {
    /// A reader with this network, which is on `device`; drawings whose digit score is below `digit_threshold` are no digits
    /// (`f32::NEG_INFINITY` where no threshold is known yet).
    pub const fn new(net: Net, device: DeviceChoice, info: ModelInfo, digit_threshold: f32) -> Self {
        Self { net, device, info, digit_threshold }
    }

    /// A reader with a stored model, on the processor.
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
        Self { net, device: DeviceChoice::Cpu, info, digit_threshold: card.digit_threshold }
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

    /// A copy of it on another device, which is this place.
    pub fn to_place(&self, device: DeviceChoice, place: &Place) -> Result<Self, Problem> {
        Ok(Self { net: self.net.to_place(place)?, device, ..self.clone() })
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

    /// Measures the model on a split. `progress` gets the share done after each part; `None` when it breaks the reading off.
    pub fn evaluate(&self, split: &Split, progress: &mut dyn FnMut(f32) -> ControlFlow<()>) -> Result<Option<Evaluation>, Problem> {
        Ok(measure(&self.net, split, progress)?.map(|measured| measured.evaluation))
    }
}

impl Reads for Reader {
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
            device: self.device,
            model: self.info.clone(),
        })
    }
}
