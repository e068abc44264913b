//! An import: what is known of a file of weights, and how the rest was found out.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Normalization;
use crate::run_config::{Activation, CnnLayers, DataSpec, ModelKind};

/// A file to import, and what is known of it. Whatever is `None` is found out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ImportSpec {
    /// A safetensors file, a `PyTorch` state dict or an ONNX file.
    pub path: PathBuf,
    /// The network; [`ModelKind::Onnx`] for the one in an ONNX file, whatever else its weights may
    /// fit.
    pub model: Option<ModelKind>,
    /// The hidden layers, where it is a CNN.
    pub layers: Option<CnnLayers>,
    /// The activation between its layers.
    pub activation: Option<Activation>,
    /// How it normalises pixels.
    pub normalization: Option<Normalization>,
    /// What it was trained on.
    pub data: Option<DataSpec>,
    /// Import what is offered where trials leave doubt.
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
    Described {
        /// True if no temperature had been fitted, and one was now, on built-in digits.
        calibrated: bool,
    },
    /// By the names and shapes of its weights.
    Recognised {
        /// Weights with another name in the file: theirs and ours.
        renamed: Vec<(String, String)>,
        /// Accuracy on the images that it was tried on, with this activation and this
        /// normalisation.
        accuracy: f64,
        /// How many these are.
        images: u64,
        /// What they are: built-in digits, or training images of another data set.
        tried_on: DataSpec,
        /// False if activation and normalisation were not both given, and the trials left doubt
        /// about them.
        sure: bool,
        /// True if a temperature was fitted on built-in digits: the file had none, and the network
        /// recognises them.
        calibrated: bool,
    },
    /// As the graph of an ONNX file, which is computed operator by operator because Inkling cannot
    /// build its network. Only how it normalises pixels was found out.
    OnnxGraph {
        /// Accuracy on the images that it was tried on, with this normalisation.
        accuracy: f64,
        /// How many these are.
        images: u64,
        /// What they are: built-in digits, or training images of another data set.
        tried_on: DataSpec,
        /// False if the normalisation was not given, and the trials left doubt about it.
        sure: bool,
        /// True if a temperature was fitted on built-in digits.
        calibrated: bool,
    },
}
