//! What a person chooses of a network besides its model: how wide its hidden layers are, or the
//! hidden layers themselves.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{HiddenLayers, ModelKind};
use crate::text::format::joined;

/// The most hidden layers whose width can be chosen.
pub(super) const MAX_LAYERS: usize = 8;
pub const MAX_WIDTH: u16 = 2048;
/// The hidden layers that an MLP can have.
const MLP_LAYERS: std::ops::RangeInclusive<usize> = 1..=MAX_LAYERS;

/// The widths of the hidden layers in their order: features of linear layers, channels of
/// convolutions (in a residual network, of each stage). Written as `128-64`.
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
pub struct ParseWidthsError {
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
        f.write_str(&joined(self.values(), "-"))
    }
}

impl FromStr for Widths {
    type Err = ParseWidthsError;

    /// Hyphens, commas and spaces separate them.
    fn from_str(text: &str) -> Result<Self, ParseWidthsError> {
        let numbers = text
            .split(['-', ',', ' '])
            .filter(|part| !part.is_empty())
            .map(str::parse::<u16>)
            .collect::<Result<Vec<_>, _>>();
        numbers
            .ok()
            .and_then(|numbers| Self::new(&numbers))
            .ok_or_else(|| ParseWidthsError {
                given: text.to_owned(),
            })
    }
}

impl TryFrom<Vec<u16>> for Widths {
    type Error = ParseWidthsError;

    fn try_from(widths: Vec<u16>) -> Result<Self, ParseWidthsError> {
        Self::new(&widths).ok_or_else(|| ParseWidthsError {
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
    /// The widths of its hidden layers; empty if they are fixed, or if there are none.
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
            Self::Tiny => &[6, 12, 12, 14, 16],
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
    /// `None` for the model's widths.
    widths: Option<Widths>,
    /// Those that were chosen for a CNN; `None` for its usual ones, and for every other model.
    layers: Option<HiddenLayers>,
}

impl Network {
    /// The model with these widths, or with its own if there are none, or not as many as it
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

    /// The CNN with these hidden layers instead of its usual ones. They are of no use to another
    /// model.
    #[must_use]
    pub fn with_layers(self, layers: Option<HiddenLayers>) -> Self {
        Self {
            layers: layers
                .filter(|layers| self.model == ModelKind::Cnn && *layers != HiddenLayers::DEFAULT),
            ..self
        }
    }

    pub const fn model(self) -> ModelKind {
        self.model
    }

    /// Its widths, if they differ from the model's.
    pub const fn chosen_widths(self) -> Option<Widths> {
        self.widths
    }

    /// The hidden layers that were chosen, if they are not the usual ones of a CNN.
    pub const fn chosen_layers(self) -> Option<HiddenLayers> {
        self.layers
    }

    /// All its hidden layers; none for the network of an ONNX file.
    pub fn hidden_layers(self) -> HiddenLayers {
        let widths = self.widths();
        let width = |index: usize| widths.get(index).copied().unwrap_or(1);
        let [a, b, c, d, e] = [0, 1, 2, 3, 4].map(width);
        let text = match self.model {
            ModelKind::Linear | ModelKind::Onnx => "none".to_owned(),
            ModelKind::MlpSmall | ModelKind::Mlp | ModelKind::MlpLarge => joined(widths, "-"),
            ModelKind::LeNet => format!("{a}C5P2-MP2-{b}C5-MP2-{c}-{d}"),
            // As in candle's MNIST example: no activation follows the convolutions but the maximum
            // itself.
            ModelKind::ConvNet => format!("{a}C5L-MP2-{b}C5L-MP2-{c}-D0.5"),
            ModelKind::PyTorchExample => format!("{a}C3-{b}C3-MP2-D0.25-{c}-D0.5"),
            ModelKind::Cnn => return self.layers.unwrap_or(HiddenLayers::DEFAULT),
            ModelKind::Speedrun => format!("{a}C5-MP2-{b}C3-MP2-BN-{c}"),
            ModelKind::ConvNetBn => {
                format!("{a}C5P2-MP2-BN-{b}C3P1-MP2-BN-{c}C3P1-MP2-BN-{d}")
            }
            // The smallest network that is nearly as accurate as the large ones. Few channels, each
            // normalized, and global average pooling instead of a large dense layer: parameters are
            // spent on shapes, not on positions. Pooling comes before normalization, which then has
            // a quarter of the values to normalize.
            ModelKind::Tiny => {
                format!("{a}C5P2-MP2-BN-{b}C3P1-BN-{c}C3P1-BN-{d}C3P1-MP2-BN-{e}C3P1-BN-GAP")
            }
            ModelKind::ResNet8 => residual(widths, &[1; 3]),
            ModelKind::ResNet14 => residual(widths, &[2; 3]),
            ModelKind::ResNet20 => residual(widths, &[3; 3]),
            ModelKind::ResNet34 => residual(widths, &[3, 4, 6, 3]),
            // A small vision transformer (Dosovitskiy et al. 2021) with a convolutional stem (Xiao
            // et al. 2021): tokens of 4x4 pixels each.
            ModelKind::Attention => "16C3P1-MP2-BN-32C3P1-BN-64C2S2L-T4-T4-GAP-LN".to_owned(),
        };
        let layers = text.parse();
        debug_assert!(layers.is_ok(), "{text}: {layers:?}");
        layers.unwrap_or(HiddenLayers::DEFAULT)
    }

    /// The widths of its hidden layers; empty if they are fixed.
    pub fn widths(&self) -> &[u16] {
        self.widths
            .as_ref()
            .map_or(self.model.widths(), Widths::values)
    }

    /// The text that people read: "MLP", or "MLP (128-64)", or "CNN (32C3-MP2-128)".
    pub fn label(self) -> String {
        let model = self.model.label();
        match (self.widths, self.layers) {
            (Some(widths), _) => format!("{model} ({widths})"),
            (None, Some(layers)) => format!("{} ({layers})", layers.kind_label()),
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

/// The hidden layers of a residual network for small images (He et al. 2016, section 4.2) with this
/// many blocks in each stage, which has this many channels and half the height and width of the one
/// before: 28, 14, 7, 4.
///
/// ResNet-34 has the blocks of the one for large images (table 1) in the same form: its first
/// convolution is small and without pooling, and it has a quarter of the channels.
fn residual(widths: &[u16], blocks: &[usize]) -> String {
    let first = widths.first().copied().unwrap_or(1);
    let mut layers = vec![format!("{first}C3P1"), "BN".to_owned()];
    for (stage, (width, &blocks)) in widths.iter().zip(blocks).enumerate() {
        let block = |index: usize| {
            let stride = if stage > 0 && index == 0 { "S2" } else { "" };
            format!("{width}R{stride}")
        };
        layers.extend((0..blocks).map(block));
    }
    layers.push("GAP".to_owned());
    layers.join("-")
}
