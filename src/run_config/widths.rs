//! How wide the hidden layers of a network are, where that is not what its model says.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CnnLayers, ModelKind};

/// The most hidden layers whose width can be chosen.
pub(super) const MAX_LAYERS: usize = 8;
/// The widest layer.
pub const MAX_WIDTH: u16 = 2048;
/// The hidden layers that an MLP can have.
const MLP_LAYERS: std::ops::RangeInclusive<usize> = 1..=MAX_LAYERS;

/// The widths of the hidden layers in their order: features of linear layers, channels of
/// convolutions (of a residual network those of each stage). Written as `128-64`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Vec<u16>", into = "Vec<u16>")]
pub struct Widths {
    values: [u16; MAX_LAYERS],
    count: u8,
}

/// Why these are not widths.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "\"{given}\" is not a list of 1 to {MAX_LAYERS} whole numbers from 1 to {MAX_WIDTH}, such as 128-64"
)]
pub struct NotWidths {
    given: String,
}

impl Widths {
    /// These widths; `None` if there are none or too many, or if one is not a width that a layer
    /// can have.
    pub fn new(widths: &[u16]) -> Option<Self> {
        let mut values = [0; MAX_LAYERS];
        values.get_mut(..widths.len())?.copy_from_slice(widths);
        let valid =
            !widths.is_empty() && widths.iter().all(|width| (1..=MAX_WIDTH).contains(width));
        valid.then_some(Self {
            values,
            count: widths.len() as u8,
        })
    }

    /// They, in the order of the layers.
    pub fn values(&self) -> &[u16] {
        &self.values[..usize::from(self.count)]
    }
}

impl fmt::Display for Widths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<String> = self.values().iter().map(ToString::to_string).collect();
        f.write_str(&texts.join("-"))
    }
}

impl FromStr for Widths {
    type Err = NotWidths;

    /// Hyphens, commas and spaces separate them.
    fn from_str(text: &str) -> Result<Self, NotWidths> {
        let numbers = text
            .split(['-', ',', ' '])
            .filter(|part| !part.is_empty())
            .map(str::parse::<u16>)
            .collect::<Result<Vec<_>, _>>();
        numbers
            .ok()
            .and_then(|numbers| Self::new(&numbers))
            .ok_or_else(|| NotWidths {
                given: text.to_owned(),
            })
    }
}

impl TryFrom<Vec<u16>> for Widths {
    type Error = NotWidths;

    fn try_from(widths: Vec<u16>) -> Result<Self, NotWidths> {
        Self::new(&widths).ok_or_else(|| NotWidths {
            given: format!("{widths:?}"),
        })
    }
}

impl From<Widths> for Vec<u16> {
    fn from(widths: Widths) -> Self {
        widths.values().to_vec()
    }
}

impl ModelKind {
    /// The widths of its hidden layers; empty where they are fixed, or where there are none.
    pub const fn widths(self) -> &'static [u16] {
        match self {
            Self::Linear | Self::Cnn | Self::Attention | Self::Onnx => &[],
            Self::MlpSmall => &[100],
            Self::Mlp => &[256, 256],
            Self::MlpLarge => &[512, 512],
            Self::LeNet => &[6, 16, 120, 84],
            Self::ConvNet => &[32, 64, 1024],
            Self::PyTorchExample => &[32, 64, 128],
            Self::Speedrun => &[24, 32, 256],
            Self::ConvNetBn => &[32, 64, 128, 256],
            Self::Tiny => &[8, 16, 20, 24],
            Self::ResNet8 | Self::ResNet14 | Self::ResNet20 => &[16, 32, 64],
            Self::ResNet34 => &[16, 32, 64, 128],
        }
    }

    /// False for a network that is computed as its file has it.
    pub const fn is_trainable(self) -> bool {
        !matches!(self, Self::Onnx)
    }

    /// How many hidden layers whose width can be chosen the network can have: an MLP can be of any
    /// depth.
    pub const fn width_counts(self) -> std::ops::RangeInclusive<usize> {
        match self {
            Self::Mlp => MLP_LAYERS,
            _ => self.widths().len()..=self.widths().len(),
        }
    }
}

/// A network as it is built: a model, and how wide its hidden layers are, or which ones it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Network {
    model: ModelKind,
    /// `None` for those of the model.
    widths: Option<Widths>,
    /// Those of a CNN; `None` for its usual ones, and for every other model.
    layers: Option<CnnLayers>,
}

impl Network {
    /// The model with these widths, or with its own where there are none, or not as many as it
    /// takes.
    pub fn new(model: ModelKind, widths: Option<Widths>) -> Self {
        let is_other = |widths: &Widths| {
            model.width_counts().contains(&widths.values().len())
                && widths.values() != model.widths()
        };
        Self {
            model,
            widths: widths.filter(is_other),
            layers: None,
        }
    }

    /// The CNN with these hidden layers. They are of no use to another model.
    #[must_use]
    pub fn with_layers(self, layers: Option<CnnLayers>) -> Self {
        Self {
            layers: layers
                .filter(|layers| self.model == ModelKind::Cnn && *layers != CnnLayers::DEFAULT),
            ..self
        }
    }

    /// Its model.
    pub const fn model(self) -> ModelKind {
        self.model
    }

    /// Its widths where they are not those of the model.
    pub const fn chosen_widths(self) -> Option<Widths> {
        self.widths
    }

    /// The hidden layers of a CNN where they are not the usual ones.
    pub const fn chosen_layers(self) -> Option<CnnLayers> {
        self.layers
    }

    /// The hidden layers, where it is a CNN.
    pub fn cnn_layers(self) -> CnnLayers {
        self.layers.unwrap_or(CnnLayers::DEFAULT)
    }

    /// The widths of its hidden layers; empty where they are fixed.
    pub fn widths(&self) -> &[u16] {
        self.widths
            .as_ref()
            .map_or(self.model.widths(), Widths::values)
    }

    /// What people read: "MLP", or "MLP (128-64)", or "CNN (32C3-MP2-128)".
    pub fn label(self) -> String {
        let model = self.model.label();
        match (self.widths, self.layers) {
            (Some(widths), _) => format!("{model} ({widths})"),
            (None, Some(layers)) => format!("{model} ({layers})"),
            (None, None) => model.to_owned(),
        }
    }
}

impl From<ModelKind> for Network {
    fn from(model: ModelKind) -> Self {
        Self {
            model,
            widths: None,
            layers: None,
        }
    }
}
