//! An export: what is asked for, and what its files hold.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::run_config::{DataSpec, ExportFormat, WeightFormat};

/// The ONNX operator sets that can be asked for: 13 is the first with `Split`, `Unsqueeze` and
/// `DequantizeLinear` as they are used here.
pub const OPSETS: std::ops::RangeInclusive<u32> = 13..=26;
/// The operator set of a file unless another is asked for: old enough for what reads ONNX at all,
/// and it holds every network. A newer one would be refused by each program that was released
/// before it.
pub const USUAL_OPSET: u32 = 17;

/// The form of an export.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExportSpec {
    /// The kind of file.
    pub format: ExportFormat,
    /// How weights are stored.
    pub weights: WeightFormat,
    /// ONNX: raw 28x28 images in, probabilities out; otherwise normalized values in, logits out.
    pub preprocessing: bool,
    /// ONNX: matrices and kernels as 8-bit integers.
    pub quantize: bool,
    /// ONNX: the operator set.
    pub opset: u32,
    /// ONNX with 8-bit weights: the data set that their accuracy is measured on, if not the one the
    /// model was trained on.
    pub measure_on: Option<DataSpec>,
}

impl ExportSpec {
    /// A format as it is usually wanted.
    pub const fn new(format: ExportFormat) -> Self {
        Self {
            format,
            weights: WeightFormat::F32,
            preprocessing: true,
            quantize: false,
            opset: USUAL_OPSET,
            measure_on: None,
        }
    }

    /// True if some of the weights are stored as 8-bit integers, whose accuracy is then
    /// measured.
    pub const fn is_quantized(&self) -> bool {
        self.quantize && self.format.has_onnx()
    }
}

/// Which of the files that exist an export may replace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Replace {
    /// None of them.
    Nothing,
    /// The file that was asked for, as a file dialog has confirmed, but none of those beside it.
    Requested,
    /// All of its files.
    Everything,
}

/// A file of an export, before it is written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileInfo {
    /// Its name, without a folder.
    pub name: String,
    /// Its purpose, in a few words.
    pub about: String,
    /// Its size.
    pub bytes: u64,
    /// The weights in it.
    pub tensors: Vec<TensorInfo>,
}

/// A weight in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TensorInfo {
    /// As in the model: `fc1.weight`.
    pub name: String,
    /// Its lengths.
    pub shape: Vec<u64>,
    /// How its numbers are stored.
    pub format: TensorFormat,
}

/// A dtype in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TensorFormat {
    F32,
    F16,
    Int8,
}

impl TensorFormat {
    /// The name people see.
    pub const fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::F16 => "f16",
            Self::Int8 => "int8",
        }
    }
}

impl From<WeightFormat> for TensorFormat {
    fn from(format: WeightFormat) -> Self {
        match format {
            WeightFormat::F32 => Self::F32,
            WeightFormat::F16 => Self::F16,
        }
    }
}

/// What quantizing costs: accuracy on the same test images with the weights as they are, and
/// quantized to 8-bit integers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct QuantizedAccuracy {
    /// Images of the test split.
    pub images: u64,
    /// Accuracy with the weights as they are.
    pub original: f64,
    /// Accuracy with the quantized weights.
    pub quantized: f64,
}
