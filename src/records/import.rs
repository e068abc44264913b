//! An import: what is known of a file of weights, how the rest was found out, and how weights can
//! be meant: what a file does not say of its network, and how well each possibility recognizes
//! digits.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Normalization;
use crate::run_config::{Activation, CnnLayers, DataSpec, ModelKind};
use crate::text::format::joined;

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
    /// How it normalizes pixels.
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
    /// As the graph of an ONNX file, which is computed operator by operator because Inkling cannot
    /// build its network. Only how it normalizes pixels was found out.
    OnnxGraph {
        /// Accuracy on the images that it was tried on, with this normalization.
        accuracy: f64,
        /// How many these are.
        images: u64,
        /// What they are: built-in digits, or training images of another data set.
        tried_on: DataSpec,
        /// False if the normalization was not given, and the trials left doubt about it.
        sure: bool,
        /// True if a temperature was fitted on built-in digits.
        calibrated: bool,
    },
}

/// An activation that imported weights may have been trained with: Inkling's own, or one that it
/// cannot build.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TriedActivation {
    /// One of Inkling's.
    Own(Activation),
    /// `1 / (1 + e⁻ˣ)`.
    Sigmoid,
    /// `x` above zero and `eˣ - 1` below (Clevert et al. 2016).
    Elu,
    /// `min(max(x, 0), 6)`.
    Relu6,
    /// `x`, from -1 to 1.
    HardTanh,
    /// `x / 6 + 1/2`, from 0 to 1.
    HardSigmoid,
    /// `x` times the hard sigmoid of it.
    HardSwish,
}

impl TriedActivation {
    /// Those that Inkling cannot build.
    pub const FOREIGN: [Self; 6] = [
        Self::Sigmoid,
        Self::Elu,
        Self::Relu6,
        Self::HardTanh,
        Self::HardSigmoid,
        Self::HardSwish,
    ];

    /// The name people see.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Own(activation) => activation.label(),
            Self::Sigmoid => "Sigmoid",
            Self::Elu => "ELU",
            Self::Relu6 => "ReLU6",
            Self::HardTanh => "Hard tanh",
            Self::HardSigmoid => "Hard sigmoid",
            Self::HardSwish => "Hard swish",
        }
    }

    /// True if it never falls, so that it makes no difference whether maximum pooling comes before
    /// or after it.
    pub const fn is_monotone(self) -> bool {
        !matches!(
            self,
            Self::Own(Activation::Gelu | Activation::Silu) | Self::HardSwish
        )
    }
}

/// One possibility of how weights are meant.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a difference of its own, and any of them go together"
)]
pub struct Reading {
    /// The layers of a CNN, where the weights may be those of several.
    pub layers: Option<CnnLayers>,
    /// The activation between layers.
    pub activation: TriedActivation,
    /// How pixels are normalized.
    pub normalization: Normalization,
    /// Average pooling where Inkling's network has maximum pooling.
    pub average_pooling: bool,
    /// Pooling after the activation (and after batch normalization) where Inkling's network has it
    /// before.
    pub pooling_last: bool,
    /// The activation also follows convolutions that have none in Inkling's network.
    pub after_convolutions: bool,
    /// The first convolution pads with background pixels instead of zeros: the image was padded
    /// before it was normalized.
    pub background_padding: bool,
}

impl Reading {
    /// The network as Inkling builds it.
    pub const fn own(activation: Activation, normalization: Normalization) -> Self {
        Self {
            layers: None,
            activation: TriedActivation::Own(activation),
            normalization,
            average_pooling: false,
            pooling_last: false,
            after_convolutions: false,
            background_padding: false,
        }
    }

    /// Its settings, if Inkling can build it.
    pub fn settings(&self) -> Option<(Activation, Normalization)> {
        match self.activation {
            TriedActivation::Own(activation) => {
                let own = Self {
                    layers: self.layers,
                    ..Self::own(activation, self.normalization)
                };
                Some((activation, self.normalization)).filter(|_| *self == own)
            }
            _ => None,
        }
    }

    /// What it says of pixels: "pixels from 0 to 1".
    pub fn normalization_sentence(&self) -> String {
        let Normalization { mean, std } = self.normalization;
        match (mean, 1.0 / std) {
            (0.0, 1.0) => "pixels from 0 to 1".to_owned(),
            (0.0, white) if (white - 255.0).abs() < 0.1 => "pixels from 0 to 255".to_owned(),
            _ => format!("pixels normalised with mean {mean} and standard deviation {std}"),
        }
    }

    /// All of it in a few words: "Tanh, average pooling, pixels with mean 0.1307 and standard
    /// deviation 0.3081".
    pub fn sentence(&self) -> String {
        let pixels = self.normalization_sentence();
        let layers = self.layers.map(|layers| format!("layers {layers}"));
        let parts = [
            layers.as_deref(),
            Some(self.activation.label()),
            self.average_pooling.then_some("average pooling"),
            self.pooling_last.then_some("pooling after the activation"),
            self.after_convolutions
                .then_some("an activation after each convolution"),
            self.background_padding
                .then_some("images padded before normalisation"),
            Some(&pixels),
        ];
        joined(parts.into_iter().flatten(), ", ")
    }
}

/// A reading and how well it does.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeasuredReading {
    /// The reading.
    pub reading: Reading,
    /// The share of the digits that it recognizes.
    pub accuracy: f64,
}

/// Why nothing was imported although the weights fit a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Doubt {
    /// The best reading is of a network that Inkling cannot build.
    NotSupported,
    /// Another reading is as good, but gives other answers.
    Close,
    /// Even the best reading recognizes few digits.
    LowAccuracy,
}
