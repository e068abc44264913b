//! How hidden layers are written in one line.

use std::fmt;
use std::str::FromStr;

use super::{HiddenLayer, HiddenLayers};
use crate::text::format::joined;

/// How no hidden layers at all are written.
const NONE: &str = "none";

/// Why these are not hidden layers.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{given}\" is not a list of hidden layers: {reason}")]
pub struct ParseLayersError {
    pub given: String,
    /// The problem, as the end of a sentence.
    pub reason: String,
    /// The layer that does not fit, if it is due to one.
    pub index: Option<usize>,
}

impl HiddenLayer {
    /// Layers in their order, whether or not they fit together. Hyphens, commas and spaces separate
    /// them.
    pub fn list(text: &str) -> Result<Vec<Self>, ParseLayersError> {
        if text.trim().eq_ignore_ascii_case(NONE) {
            return Ok(Vec::new());
        }
        let parts = text.split(['-', ',', ' ']).filter(|part| !part.is_empty());
        let layer = |(index, part): (usize, &str)| {
            part.parse().map_err(|()| ParseLayersError {
                given: text.to_owned(),
                reason: format!(
                    "{part} is not a layer: write 32C3 for a convolution of 32 filters of 3x3, MP2 for 2x2 max pooling, 128 for a dense layer"
                ),
                index: Some(index),
            })
        };
        parts.enumerate().map(layer).collect()
    }

    /// These layers as [`HiddenLayer::list`] reads them.
    pub fn written(layers: &[Self]) -> String {
        if layers.is_empty() {
            return NONE.to_owned();
        }
        joined(layers, "-")
    }
}

impl fmt::Display for HiddenLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let linear = |has_activation: bool| if has_activation { "" } else { "L" };
        match *self {
            Self::Convolution {
                filters,
                kernel,
                stride,
                padding,
                has_activation,
            } => {
                write!(f, "{filters}C{kernel}")?;
                if padding != 0 {
                    write!(f, "P{padding}")?;
                }
                if stride != 1 {
                    write!(f, "S{stride}")?;
                }
                f.write_str(linear(has_activation))
            }
            Self::MaxPooling => f.write_str("MP2"),
            Self::BatchNorm => f.write_str("BN"),
            Self::Residual { filters, stride: 1 } => write!(f, "{filters}R"),
            Self::Residual { filters, stride } => write!(f, "{filters}RS{stride}"),
            Self::Transformer { heads } => write!(f, "T{heads}"),
            Self::GlobalAveragePooling => f.write_str("GAP"),
            Self::LayerNorm => f.write_str("LN"),
            Self::Dropout { percent } => write!(f, "D{}", f64::from(percent) / 100.0),
            Self::Dense {
                neurons,
                has_activation,
            } => write!(f, "{neurons}{}", linear(has_activation)),
        }
    }
}

impl FromStr for HiddenLayer {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let text = text.to_ascii_uppercase();
        match &*text {
            "MP2" => return Ok(Self::MaxPooling),
            "BN" => return Ok(Self::BatchNorm),
            "GAP" => return Ok(Self::GlobalAveragePooling),
            "LN" => return Ok(Self::LayerNorm),
            _ => {}
        }
        if let Some(heads) = text.strip_prefix('T') {
            let heads = heads.parse().map_err(drop)?;
            return Ok(Self::Transformer { heads });
        }
        if let Some(share) = text.strip_prefix('D') {
            let share: f64 = share.parse().map_err(drop)?;
            if !(0.0..=1.0).contains(&share) {
                return Err(());
            }
            let percent = (100.0 * share).round() as u8;
            return Ok(Self::Dropout { percent });
        }
        let end = text.find(|character: char| !character.is_ascii_digit());
        let (width, options) = text.split_at(end.unwrap_or(text.len()));
        let width = width.parse().map_err(drop)?;
        let (options, has_activation) = options
            .strip_suffix('L')
            .map_or((options, true), |options| (options, false));
        if options.is_empty() {
            return Ok(Self::Dense {
                neurons: width,
                has_activation,
            });
        }
        let number = |text: &str| text.parse::<u8>().map_err(drop);
        let (options, stride) = options.split_once('S').unwrap_or((options, "1"));
        let stride = number(stride)?;
        if options == "R" && has_activation {
            return Ok(Self::Residual {
                filters: width,
                stride,
            });
        }
        let window = options.strip_prefix('C').ok_or(())?;
        let (kernel, padding) = window.split_once('P').unwrap_or((window, "0"));
        Ok(Self::Convolution {
            filters: width,
            kernel: number(kernel)?,
            stride,
            padding: number(padding)?,
            has_activation,
        })
    }
}

impl fmt::Debug for HiddenLayers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for HiddenLayers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&HiddenLayer::written(self.as_slice()))
    }
}

impl FromStr for HiddenLayers {
    type Err = ParseLayersError;

    fn from_str(text: &str) -> Result<Self, ParseLayersError> {
        let layers = HiddenLayer::list(text)?;
        if layers.is_empty() && !text.trim().eq_ignore_ascii_case(NONE) {
            return Err(ParseLayersError {
                given: text.to_owned(),
                reason: format!("write {NONE} for a network without hidden layers"),
                index: None,
            });
        }
        Self::new(&layers)
    }
}

impl TryFrom<String> for HiddenLayers {
    type Error = ParseLayersError;

    fn try_from(text: String) -> Result<Self, ParseLayersError> {
        text.parse()
    }
}

impl From<HiddenLayers> for String {
    fn from(layers: HiddenLayers) -> Self {
        layers.to_string()
    }
}
