//! The hidden layers of a network as a person chooses them, written in one line.

mod notation;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::notation::ParseLayersError;
use super::network::MAX_WIDTH;

/// The most hidden layers, pooling and normalization included.
pub const MAX_HIDDEN_LAYERS: usize = 24;
/// The largest kernel, in pixels along a side.
pub const MAX_KERNEL: u8 = 11;
pub const MAX_STRIDE: u8 = 4;
/// The most pixels along a side of an image whose pixels become the tokens of a transformer block:
/// attention takes memory by the square of their number.
const MAX_TOKEN_SIDE: usize = 16;
/// The dropout rate, in percent.
const DROPOUT_PERCENT: std::ops::RangeInclusive<u8> = 1..=95;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HiddenLayer {
    /// A convolution, and an activation after it, its pooling and its normalization. Written
    /// `32C3`; `32C3P1S2L` with a padding of 1, a stride of 2 and without an activation.
    Convolution {
        /// Channels that come out.
        filters: u16,
        /// Pixels along a side of the kernel.
        kernel: u8,
        /// Pixels from one position of the kernel to the next.
        stride: u8,
        /// Zero pixels added at each edge.
        padding: u8,
        has_activation: bool,
    },
    /// 2x2 max pooling with stride 2, of a convolution. Written `MP2`.
    MaxPooling,
    /// Batch normalization of a convolution (Ioffe & Szegedy 2015), which then has no bias. Written
    /// `BN`.
    BatchNorm,
    /// Two convolutions of 3x3 with batch normalization and a shortcut round them (He et al. 2016).
    /// Written `32R`; `32RS2` with a stride of 2.
    Residual { filters: u16, stride: u8 },
    /// Self-attention and two dense layers, each after layer normalization and with a shortcut
    /// round it (Dosovitskiy et al. 2021). The first makes each pixel of the image a token. Written
    /// `T4` with 4 heads.
    Transformer { heads: u8 },
    /// The mean of each channel over all pixels or tokens. Written `GAP`.
    GlobalAveragePooling,
    /// Layer normalization (Ba et al. 2016). Written `LN`.
    LayerNorm,
    /// Sets this fraction of its input to zero while training (Srivastava et al. 2014). Written
    /// `D0.5`.
    Dropout { percent: u8 },
    /// A dense (fully connected) layer, and an activation. Written `128`; `128L` without one.
    Dense { neurons: u16, has_activation: bool },
}

/// The shape of a layer's output for an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LayerOutput {
    /// `channels` values for each of `side` times `side` pixels.
    Image {
        side: usize,
        channels: u16,
    },
    /// `features` values for each token.
    Tokens {
        tokens: usize,
        features: u16,
    },
    Features(u16),
}

impl LayerOutput {
    /// The image that goes into the first layer.
    pub const INPUT: Self = Self::Image {
        side: 28,
        channels: 1,
    };

    /// How many values that are.
    pub const fn values(self) -> usize {
        match self {
            Self::Image { side, channels } => side * side * channels as usize,
            Self::Tokens { tokens, features } => tokens * features as usize,
            Self::Features(features) => features as usize,
        }
    }
}

/// The hidden layers of a network in their order. Written as in papers (Cireşan et al. 2011):
/// `32C3-MP2-64C3-MP2-128`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
pub struct HiddenLayers {
    layers: [HiddenLayer; MAX_HIDDEN_LAYERS],
    count: u8,
}

impl HiddenLayer {
    /// Its output for this input, after the layer `before`. The error is why it does not fit.
    fn output(self, input: LayerOutput, before: Option<Self>) -> Result<LayerOutput, String> {
        self.check_numbers()?;
        let too_small = || format!("the image is too small for {self} by then");
        let output = match (self, input) {
            (
                Self::Convolution {
                    filters,
                    kernel,
                    stride,
                    padding,
                    ..
                },
                LayerOutput::Image { side, .. },
            ) => {
                let padded = side + 2 * usize::from(padding);
                let free = padded.checked_sub(kernel.into()).ok_or_else(too_small)?;
                LayerOutput::Image {
                    side: free / usize::from(stride) + 1,
                    channels: filters,
                }
            }
            (Self::MaxPooling, LayerOutput::Image { side, channels }) => {
                if !matches!(before, Some(Self::Convolution { stride: 1, .. })) {
                    return Err("MP2 must follow a convolution with a stride of 1".to_owned());
                }
                if side < 2 {
                    return Err(too_small());
                }
                LayerOutput::Image {
                    side: side / 2,
                    channels,
                }
            }
            (Self::BatchNorm, image @ LayerOutput::Image { .. })
                if matches!(before, Some(Self::Convolution { .. } | Self::MaxPooling)) =>
            {
                image
            }
            (Self::BatchNorm, _) => {
                return Err("BN must follow a convolution or its MP2".to_owned());
            }
            (Self::Residual { filters, stride }, LayerOutput::Image { side, .. }) => {
                LayerOutput::Image {
                    side: (side - 1) / usize::from(stride) + 1,
                    channels: filters,
                }
            }
            (Self::Convolution { .. } | Self::MaxPooling | Self::Residual { .. }, _) => {
                return Err(format!(
                    "{self} must come before transformer blocks, GAP and dense layers"
                ));
            }
            (Self::Transformer { .. }, LayerOutput::Image { side, .. })
                if side > MAX_TOKEN_SIDE =>
            {
                return Err(format!(
                    "{self} takes an image of at most {MAX_TOKEN_SIDE}x{MAX_TOKEN_SIDE} pixels, which become its tokens, not {side}x{side}"
                ));
            }
            (
                Self::Transformer { heads },
                LayerOutput::Image {
                    channels: features, ..
                }
                | LayerOutput::Tokens { features, .. },
            ) => {
                if !features.is_multiple_of(u16::from(heads)) {
                    return Err(format!(
                        "{features} channels cannot be split among the {heads} heads of {self}"
                    ));
                }
                let tokens = match input {
                    LayerOutput::Image { side, .. } => side * side,
                    LayerOutput::Tokens { tokens, .. } => tokens,
                    LayerOutput::Features(_) => 1,
                };
                LayerOutput::Tokens { tokens, features }
            }
            (Self::Transformer { .. }, LayerOutput::Features(_)) => {
                return Err(format!("{self} must come before GAP and dense layers"));
            }
            (Self::GlobalAveragePooling, LayerOutput::Features(_)) => {
                return Err("GAP must come before dense layers".to_owned());
            }
            (Self::LayerNorm, LayerOutput::Image { .. }) => {
                return Err("LN must follow a transformer block, GAP or a dense layer".to_owned());
            }
            (Self::Dense { .. }, LayerOutput::Tokens { .. }) => {
                return Err(format!(
                    "GAP must come between a transformer block and {self}"
                ));
            }
            (Self::LayerNorm | Self::Dropout { .. }, input) => input,
            (Self::Dense { neurons, .. }, _) => LayerOutput::Features(neurons),
            (
                Self::GlobalAveragePooling,
                LayerOutput::Image { channels, .. }
                | LayerOutput::Tokens {
                    features: channels, ..
                },
            ) => LayerOutput::Features(channels),
        };
        Ok(output)
    }

    fn check_numbers(self) -> Result<(), String> {
        let width = match self {
            Self::Convolution { filters, .. } | Self::Residual { filters, .. } => filters,
            Self::Dense { neurons, .. } => neurons,
            _ => 1,
        };
        if !(1..=MAX_WIDTH).contains(&width) {
            return Err(format!(
                "a layer has from 1 to {MAX_WIDTH} filters or neurons, not {width}"
            ));
        }
        match self {
            Self::Convolution {
                kernel, padding, ..
            } if !(1..=MAX_KERNEL).contains(&kernel) || padding >= kernel => Err(format!(
                "{self} needs a kernel of 1 to {MAX_KERNEL} pixels and less padding than that"
            )),
            Self::Convolution { stride, .. } | Self::Residual { stride, .. }
                if !(1..=MAX_STRIDE).contains(&stride) =>
            {
                Err(format!("{self} needs a stride of 1 to {MAX_STRIDE}"))
            }
            Self::Transformer { heads: 0 } => Err(format!("{self} needs at least one head")),
            Self::Dropout { percent } if !DROPOUT_PERCENT.contains(&percent) => {
                Err(format!("{self} needs a share from 0.01 to 0.95"))
            }
            _ => Ok(()),
        }
    }
}

impl HiddenLayers {
    /// The layers of Keras' MNIST example.
    pub const DEFAULT: Self = {
        let mut layers = [HiddenLayer::MaxPooling; MAX_HIDDEN_LAYERS];
        layers[0] = Self::default_convolution(32);
        layers[2] = Self::default_convolution(64);
        Self { layers, count: 4 }
    };

    const fn default_convolution(filters: u16) -> HiddenLayer {
        HiddenLayer::Convolution {
            filters,
            kernel: 3,
            stride: 1,
            padding: 0,
            has_activation: true,
        }
    }

    /// These layers. The error is why an image cannot go through them.
    pub fn new(layers: &[HiddenLayer]) -> Result<Self, ParseLayersError> {
        if let (_, Some(misfit)) = Self::outputs(layers) {
            return Err(misfit);
        }
        let mut array = [HiddenLayer::MaxPooling; MAX_HIDDEN_LAYERS];
        for (place, layer) in array.iter_mut().zip(layers) {
            *place = *layer;
        }
        Ok(Self {
            layers: array,
            count: layers.len() as u8,
        })
    }

    /// What each of these layers gives, up to the first that does not fit, and why that one does
    /// not.
    pub fn outputs(layers: &[HiddenLayer]) -> (Vec<LayerOutput>, Option<ParseLayersError>) {
        let mut outputs = Vec::new();
        let (mut output, mut before) = (LayerOutput::INPUT, None);
        let fail = |index: usize, reason: String| {
            Some(ParseLayersError {
                given: HiddenLayer::written(layers),
                reason,
                index: Some(index),
            })
        };
        for (index, &layer) in layers.iter().enumerate() {
            if index == MAX_HIDDEN_LAYERS {
                let reason = format!("there are more than {MAX_HIDDEN_LAYERS} layers");
                return (outputs, fail(index, reason));
            }
            output = match layer.output(output, before) {
                Ok(output) => output,
                Err(reason) => return (outputs, fail(index, reason)),
            };
            outputs.push(output);
            before = Some(layer);
        }
        if let (LayerOutput::Tokens { .. }, Some(last)) = (output, layers.len().checked_sub(1)) {
            let reason = "GAP must follow the last transformer block".to_owned();
            return (outputs, fail(last, reason));
        }
        (outputs, None)
    }

    pub fn has_transformer(&self) -> bool {
        let is_one = |layer: &HiddenLayer| matches!(layer, HiddenLayer::Transformer { .. });
        self.as_slice().iter().any(is_one)
    }

    /// The kind of network, for people.
    pub fn kind_label(&self) -> &'static str {
        let has = |is: fn(&HiddenLayer) -> bool| self.as_slice().iter().any(is);
        if self.has_transformer() {
            "Transformer"
        } else if has(|layer| matches!(layer, HiddenLayer::Residual { .. })) {
            "ResNet"
        } else if has(|layer| matches!(layer, HiddenLayer::Convolution { .. })) {
            "CNN"
        } else if self.count > 0 {
            "MLP"
        } else {
            "Linear"
        }
    }

    pub fn as_slice(&self) -> &[HiddenLayer] {
        &self.layers[..usize::from(self.count)]
    }
}
