//! The hidden layers of a CNN whose layers a person chooses.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::MAX_WIDTH;

/// The most hidden layers of a CNN, pooling included.
const MAX_LAYERS: usize = 12;
/// The largest kernel, in pixels along a side.
const MAX_KERNEL: u8 = 11;

/// A hidden layer of a CNN.
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
    layers: [CnnLayer; MAX_LAYERS],
    count: u8,
}

/// Why these are not layers of a CNN.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{given}\" is not a list of the layers of a CNN: {reason}")]
pub struct NotCnnLayers {
    /// What was given.
    pub given: String,
    /// What is wrong, as the end of a sentence.
    pub reason: String,
}

impl CnnLayers {
    /// Pixels along a side of the image that goes into the first layer.
    pub const INPUT_SIDE: usize = 28;

    /// The layers of Keras' MNIST example.
    pub const DEFAULT: Self = {
        let mut layers = [CnnLayer::MaxPooling; MAX_LAYERS];
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
    pub fn new(layers: &[CnnLayer]) -> Result<Self, NotCnnLayers> {
        checked(layers).map_err(|reason| NotCnnLayers {
            given: written(layers),
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
    let mut array = [CnnLayer::MaxPooling; MAX_LAYERS];
    array
        .get_mut(..layers.len())
        .ok_or_else(|| format!("it has more than {MAX_LAYERS} layers"))?
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

fn written(layers: &[CnnLayer]) -> String {
    layers
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join("-")
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
        f.write_str(&written(self.as_slice()))
    }
}

impl FromStr for CnnLayers {
    type Err = NotCnnLayers;

    /// Hyphens, commas and spaces separate the layers.
    fn from_str(text: &str) -> Result<Self, NotCnnLayers> {
        let fail = |reason: String| NotCnnLayers {
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
    type Error = NotCnnLayers;

    fn try_from(text: String) -> Result<Self, NotCnnLayers> {
        text.parse()
    }
}

impl From<CnnLayers> for String {
    fn from(layers: CnnLayers) -> Self {
        layers.to_string()
    }
}
