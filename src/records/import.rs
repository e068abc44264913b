//! An import: what is known of a file of weights, how the rest was found out, and how weights can
//! be meant: what a file does not say of its network, and how well each possibility recognizes
//! digits.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Normalization;
use crate::run_config::{Activation, DataSpec, HiddenLayers, ModelKind, Network};

/// A file to import, and what is known of it. Whatever is `None` is found out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ImportSpec {
    /// A safetensors file, a `PyTorch` state dict or an ONNX file.
    pub path: PathBuf,
    /// The network; [`ModelKind::Onnx`] for the one in an ONNX file, whatever else its weights may
    /// fit.
    pub model: Option<ModelKind>,
    /// The hidden layers, if it is a CNN.
    pub layers: Option<HiddenLayers>,
    /// The activation between its layers.
    pub activation: Option<Activation>,
    /// How it normalizes pixels.
    pub normalization: Option<Normalization>,
    /// Its training data.
    pub data: Option<DataSpec>,
    /// Import what is offered if trials leave doubt.
    pub accept: bool,
}

impl ImportSpec {
    /// A file of which nothing is known.
    pub const fn of(path: PathBuf) -> Self {
        Self {
            path,
            model: None,
            layers: None,
            activation: None,
            normalization: None,
            data: None,
            accept: false,
        }
    }
}

/// How the network and its settings were determined.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ImportFinding {
    /// By the file itself: Inkling wrote it.
    Described,
    /// By the names and shapes of its weights, or as the network in an ONNX file, of which only the
    /// normalization was found out.
    Recognized {
        /// Accuracy on the images that it was tried on, with this activation and this
        /// normalization.
        accuracy: f64,
        /// How many these are.
        images: u64,
        /// What they are: built-in digits, or training images of another data set.
        tried_on: DataSpec,
        /// False if activation and normalization were not both given, and the trials left doubt
        /// about them.
        sure: bool,
        /// True if a temperature was fitted on built-in digits: the file had none, and the network
        /// recognizes them.
        calibrated: bool,
    },
}

/// One possibility of how weights are meant.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// The network they belong to; [`ModelKind::Onnx`] for the one in an ONNX file.
    pub network: Network,
    /// The activation between layers; of no use to the network in an ONNX file.
    pub activation: Activation,
    /// How pixels are normalized.
    pub normalization: Normalization,
}

impl Reading {
    /// What it says of pixels: "pixels from 0 to 1".
    pub fn normalization_sentence(&self) -> String {
        let Normalization { mean, std } = self.normalization;
        match (mean, 1.0 / std) {
            (0.0, 1.0) => "pixels from 0 to 1".to_owned(),
            (0.0, white) if (white - 255.0).abs() < 0.1 => "pixels from 0 to 255".to_owned(),
            _ => format!("pixels normalized with mean {mean} and standard deviation {std}"),
        }
    }
}

/// A reading and how well it does.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeasuredReading {
    pub reading: Reading,
    /// The fraction of the digits that it recognizes.
    pub accuracy: f64,
}

/// What can be done with any network of `PyTorch`'s.
pub const EXPORT_AS_ONNX: &str = "An ONNX file specifies everything except how pixels are normalized. To write one in Python: `import torch; torch.onnx.export(model.eval(), (torch.zeros(1, 1, 28, 28),), \"model.onnx\")`.";

/// What was measured of weights without deciding what they are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trials {
    /// How many images each reading was tried on.
    pub images: u64,
    /// What they are.
    pub tried_on: DataSpec,
    /// The readings that matter, first the one that is offered.
    pub readings: Vec<MeasuredReading>,
}

impl Eq for Trials {}

impl Trials {
    /// A reading in words: what is open of it.
    pub fn describe(&self, reading: &Reading) -> String {
        let pixels = reading.normalization_sentence();
        if !reading.network.model().is_trainable() {
            return pixels;
        }
        // The layers of a CNN are never certain.
        let is_open = reading.network.model() == ModelKind::Cnn
            || self
                .readings
                .iter()
                .any(|other| other.reading.network != reading.network);
        let network = is_open.then(|| reading.network.label());
        let parts = [
            network,
            Some(reading.activation.label().to_owned()),
            Some(pixels),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// What can be done if the network is built in none of these ways.
    pub fn otherwise(&self) -> Option<&'static str> {
        self.network()
            .model()
            .is_trainable()
            .then_some(EXPORT_AS_ONNX)
    }

    /// The network that is offered.
    pub fn network(&self) -> Network {
        self.readings.first().map_or_else(
            || ModelKind::Onnx.into(),
            |measured| measured.reading.network,
        )
    }
}
