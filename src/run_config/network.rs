//! What a person chooses of a network besides its model: how wide its hidden layers are, and the
//! layers of a CNN.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ModelKind;
use crate::text::format::joined;

/// The most hidden layers whose width can be chosen.
pub(super) const MAX_LAYERS: usize = 8;
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

    /// The CNN with these hidden layers. They are of no use to another model.
    #[must_use]
    pub fn with_layers(self, layers: Option<CnnLayers>) -> Self {
        Self {
            layers: layers
                .filter(|layers| self.model == ModelKind::Cnn && *layers != CnnLayers::DEFAULT),
            ..self
        }
    }

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

/// The most hidden layers of a CNN, pooling included.
const MAX_CNN_LAYERS: usize = 12;
/// The largest kernel, in pixels along a side.
const MAX_KERNEL: u8 = 11;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CnnLayer {
    /// A convolution with stride 1; an activation follows it and its pooling. Written `32C3`, or
    /// `32C3P1` with a padding of 1.
    Convolution {
        /// Channels that come out.
        filters: u16,
        /// Pixels along a side of the kernel.
        kernel: u8,
        /// Zero pixels added at each edge.
        padding: u8,
    },
    /// 2x2 max pooling with stride 2. Written `MP2`.
    MaxPooling,
    /// A dense (fully connected) layer of this many neurons, and an activation. Written `128`.
    Dense(u16),
}

/// The hidden layers of a CNN in their order. Written as in papers (Cireşan et al. 2011):
/// `32C3-MP2-64C3-MP2-128`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
pub struct CnnLayers {
    layers: [CnnLayer; MAX_CNN_LAYERS],
    count: u8,
}

/// Why these are not layers of a CNN.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{given}\" is not a list of the layers of a CNN: {reason}")]
pub struct ParseLayersError {
    pub given: String,
    /// The problem, as the end of a sentence.
    pub reason: String,
}

impl CnnLayers {
    /// Pixels along a side of the image that goes into the first layer.
    pub const INPUT_SIDE: usize = 28;

    /// The layers of Keras' MNIST example.
    pub const DEFAULT: Self = {
        let mut layers = [CnnLayer::MaxPooling; MAX_CNN_LAYERS];
        layers[0] = CnnLayer::Convolution {
            filters: 32,
            kernel: 3,
            padding: 0,
        };
        layers[2] = CnnLayer::Convolution {
            filters: 64,
            kernel: 3,
            padding: 0,
        };
        Self { layers, count: 4 }
    };

    /// These layers. The error says why an image cannot go through them.
    pub fn new(layers: &[CnnLayer]) -> Result<Self, ParseLayersError> {
        checked(layers).map_err(|reason| ParseLayersError {
            given: joined(layers, "-"),
            reason,
        })
    }

    /// They, in their order.
    pub fn as_slice(&self) -> &[CnnLayer] {
        &self.layers[..usize::from(self.count)]
    }

    /// Pixels along a side of the image that the last convolution or pooling gives.
    pub fn output_side(&self) -> usize {
        side_after(self.as_slice()).unwrap_or(1)
    }
}

fn checked(layers: &[CnnLayer]) -> Result<CnnLayers, String> {
    let mut array = [CnnLayer::MaxPooling; MAX_CNN_LAYERS];
    array
        .get_mut(..layers.len())
        .ok_or_else(|| format!("it has more than {MAX_CNN_LAYERS} layers"))?
        .copy_from_slice(layers);
    let widths = layers.iter().filter_map(|layer| match layer {
        CnnLayer::Convolution { filters, .. } => Some(filters),
        CnnLayer::MaxPooling => None,
        CnnLayer::Dense(neurons) => Some(neurons),
    });
    if let Some(width) = widths
        .into_iter()
        .find(|width| !(1..=MAX_WIDTH).contains(*width))
    {
        return Err(format!(
            "a layer has from 1 to {MAX_WIDTH} filters or neurons, not {width}"
        ));
    }
    if !matches!(layers.first(), Some(CnnLayer::Convolution { .. })) {
        return Err("the first layer must be a convolution, such as 32C3".to_owned());
    }
    for pair in layers.windows(2) {
        match pair {
            [CnnLayer::Dense(_), CnnLayer::Convolution { .. }] => {
                return Err("a convolution cannot follow a dense layer".to_owned());
            }
            [
                CnnLayer::Dense(_) | CnnLayer::MaxPooling,
                CnnLayer::MaxPooling,
            ] => return Err("MP2 must follow a convolution".to_owned()),
            _ => {}
        }
    }
    side_after(layers)?;
    Ok(CnnLayers {
        layers: array,
        count: layers.len() as u8,
    })
}

/// Pixels along a side of the image after these layers. The error says which layer does not fit.
fn side_after(layers: &[CnnLayer]) -> Result<usize, String> {
    let mut side = CnnLayers::INPUT_SIDE;
    for layer in layers {
        side = match *layer {
            CnnLayer::Convolution {
                kernel, padding, ..
            } => {
                if !(1..=MAX_KERNEL).contains(&kernel) || padding >= kernel {
                    return Err(format!(
                        "{layer} needs a kernel of 1 to {MAX_KERNEL} pixels and less padding than that"
                    ));
                }
                (side + 2 * usize::from(padding) + 1).saturating_sub(kernel.into())
            }
            CnnLayer::MaxPooling => side / 2,
            CnnLayer::Dense(_) => side,
        };
        if side == 0 {
            return Err(format!("the image is too small for {layer} by then"));
        }
    }
    Ok(side)
}

impl fmt::Display for CnnLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Convolution {
                filters,
                kernel,
                padding: 0,
            } => write!(f, "{filters}C{kernel}"),
            Self::Convolution {
                filters,
                kernel,
                padding,
            } => write!(f, "{filters}C{kernel}P{padding}"),
            Self::MaxPooling => f.write_str("MP2"),
            Self::Dense(neurons) => write!(f, "{neurons}"),
        }
    }
}

impl FromStr for CnnLayer {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let text = text.to_ascii_uppercase();
        if text == "MP2" {
            return Ok(Self::MaxPooling);
        }
        let Some((filters, window)) = text.split_once('C') else {
            return text.parse().map(Self::Dense).map_err(drop);
        };
        let (kernel, padding) = window.split_once('P').unwrap_or((window, "0"));
        let number = |text: &str| text.parse::<u8>().map_err(drop);
        Ok(Self::Convolution {
            filters: filters.parse().map_err(drop)?,
            kernel: number(kernel)?,
            padding: number(padding)?,
        })
    }
}

impl fmt::Display for CnnLayers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&joined(self.as_slice(), "-"))
    }
}

impl FromStr for CnnLayers {
    type Err = ParseLayersError;

    /// Hyphens, commas and spaces separate the layers.
    fn from_str(text: &str) -> Result<Self, ParseLayersError> {
        let fail = |reason: String| ParseLayersError {
            given: text.to_owned(),
            reason,
        };
        let mut layers = Vec::new();
        for part in text.split(['-', ',', ' ']).filter(|part| !part.is_empty()) {
            let layer = part.parse::<CnnLayer>().map_err(|()| {
                fail(format!(
                    "{part} is not a layer: write 32C3 for a convolution of 32 filters of 3x3, MP2 for 2x2 max pooling, 128 for a dense layer"
                ))
            })?;
            layers.push(layer);
        }
        checked(&layers).map_err(fail)
    }
}

impl TryFrom<String> for CnnLayers {
    type Error = ParseLayersError;

    fn try_from(text: String) -> Result<Self, ParseLayersError> {
        text.parse()
    }
}

impl From<CnnLayers> for String {
    fn from(layers: CnnLayers) -> Self {
        layers.to_string()
    }
}
