//! ONNX files: the weights of their layers, under names and in layouts as `PyTorch` has them, and
//! what the file says of itself.
//!
//! The operators are walked through once, in their order. Only what becomes of weights is followed:
//! whether a matrix is transposed, 8-bit integers are multiplied by scales, or the values of an
//! image lie with the channels last, as in Keras. What the network computes with them, its graph
//! tells.

mod external;
mod walk;

use std::collections::{BTreeMap, HashMap};

use prost::Message;
use safetensors::Dtype;

use self::walk::Walk;
pub use external::self_contained;

use super::NamedTensor;
use super::tensors::{MAX_DIMENSIONS, MAX_TENSORS, floats};

use crate::nn::onnx::proto::{StringStringEntryProto, data_type};
use crate::nn::onnx::wire::{EXTERNAL_DATA, Fields, Value, text, varints};
use crate::records::{Calibration, ImportSpec, Normalization};
use crate::run_config::{Classes, DataSpec};

/// The most entries of the metadata that are read.
const MAX_ENTRIES: usize = 100;
/// The longest entry of the metadata, in bytes.
const MAX_ENTRY_BYTES: usize = 64 << 10;

#[derive(Clone, Debug, Default)]
pub struct OnnxFile<'a> {
    weights: BTreeMap<String, Constant<'a>>,
    metadata: HashMap<String, String>,
}

impl<'a> OnnxFile<'a> {
    /// Opens the file with these bytes. Errors say what is wrong.
    pub fn open(bytes: &'a [u8]) -> Result<Self, String> {
        let mut file = Self::default();
        let mut graph: &[u8] = &[];
        for field in Fields::of(bytes) {
            match field? {
                (7, Value::Bytes(bytes)) => graph = bytes,
                (14, Value::Bytes(entry))
                    if entry.len() <= MAX_ENTRY_BYTES && file.metadata.len() < MAX_ENTRIES =>
                {
                    let StringStringEntryProto { key, value } =
                        StringStringEntryProto::decode(entry).map_err(|error| error.to_string())?;
                    file.metadata.insert(key, value);
                }
                _ => {}
            }
        }
        let mut walk = Walk::default();
        for field in Fields::of(graph) {
            if let (5, Value::Bytes(tensor)) = field?
                && let Some((name, constant)) = Constant::read(tensor)?
            {
                walk.constants.insert(name.to_owned(), constant);
            }
            if walk.constants.len() > MAX_TENSORS {
                return Err("it contains more tensors than any supported network has".to_owned());
            }
        }
        for field in Fields::of(graph) {
            if let (1, Value::Bytes(node)) = field? {
                walk.node(node)?;
            }
        }
        file.weights = walk.weights;
        Ok(file)
    }

    pub fn tensors(&self) -> Vec<NamedTensor> {
        self.weights
            .iter()
            .map(|(name, constant)| NamedTensor {
                name: name.clone(),
                shape: constant.shape.clone(),
            })
            .collect()
    }

    pub fn values(&self, name: &str) -> Result<Vec<f32>, String> {
        self.weights
            .get(name)
            .map(Constant::values)
            .ok_or_else(|| format!("{name} cannot be read"))
    }

    /// What was fitted for these weights, where the file says so.
    pub fn calibration(&self) -> Option<Calibration> {
        let number = |key: &str| self.metadata.get(key)?.parse().ok();
        let calibration = Calibration {
            temperature: number("temperature")?,
            digit_threshold: number("digit_threshold")?,
        };
        calibration.is_valid().then_some(calibration)
    }

    /// What is known of the file, with what it says where nobody else does: Inkling writes that
    /// into its exports.
    pub fn described(&self, spec: &ImportSpec) -> ImportSpec {
        let entry = |key: &str| self.metadata.get(key).map(String::as_str);
        let number = |key: &str| {
            entry(key)?
                .parse()
                .ok()
                .filter(|number: &f32| number.is_finite())
        };
        let normalization = number("mean")
            .zip(number("std"))
            .filter(|(_, std)| *std > 0.0);
        // Whatever it names is not looked for.
        let data = || {
            serde_json::from_value::<DataSpec>(entry("data")?.into())
                .ok()
                .map(|data| data.without_folders())
        };
        ImportSpec {
            model: spec.model.or_else(|| entry("model")?.parse().ok()),
            layers: spec.layers.or_else(|| entry("layers")?.parse().ok()),
            activation: spec
                .activation
                .or_else(|| entry("activation")?.parse().ok()),
            normalization: spec
                .normalization
                .or(normalization.map(|(mean, std)| Normalization { mean, std })),
            data: spec.data.clone().or_else(data),
            ..spec.clone()
        }
    }

    /// What it says that its classes stand for.
    pub fn classes(&self) -> Option<Classes> {
        serde_json::from_str(self.metadata.get("labels")?).ok()
    }
}

/// `TensorProto.DataType` of 16-bit brain floats and of 64-bit floats.
const BFLOAT16: i32 = 16;
const DOUBLE: i32 = 11;

/// A tensor of numbers. Only its description takes memory.
#[derive(Clone, Debug, Default)]
pub struct Constant<'a> {
    pub shape: Vec<usize>,
    data_type: i32,
    bytes: &'a [u8],
    /// Whether rows and columns are exchanged where it is used.
    transposed: bool,
    /// For 8-bit integers what they are multiplied by: a scale for each row as it is stored or, if
    /// true, for each column; or one for all.
    scales: Option<(Box<Self>, bool)>,
    /// A matrix whose columns belong to the values of an image of this many channels, the channels
    /// last.
    channels_last: Option<usize>,
}

impl<'a> Constant<'a> {
    /// Reads a `TensorProto`: its name and the tensor; `None` for one that is neither of floats nor
    /// of bytes.
    pub fn read(message: &'a [u8]) -> Result<Option<(&'a str, Self)>, String> {
        let (mut name, mut constant) = ("", Self::default());
        for field in Fields::of(message) {
            match field? {
                (1, lengths) => {
                    for length in varints(lengths).take(MAX_DIMENSIONS + 1) {
                        constant
                            .shape
                            .push(usize::try_from(length?).unwrap_or(usize::MAX));
                    }
                }
                (2, Value::Varint(data_type)) => {
                    constant.data_type = i32::try_from(data_type).unwrap_or_default();
                }
                // Raw bytes, or packed floats, which are the same bytes.
                (4 | 9, Value::Bytes(bytes)) => constant.bytes = bytes,
                (8, Value::Bytes(bytes)) => name = text(bytes)?,
                (14, Value::Varint(1)) => return Err(EXTERNAL_DATA.to_owned()),
                _ => {}
            }
            if constant.shape.len() > MAX_DIMENSIONS {
                return Err("it has a tensor with more dimensions than any weight has".to_owned());
            }
        }
        let Some(dtype) = constant.dtype() else {
            return Ok(None);
        };
        let count = constant
            .shape
            .iter()
            .try_fold(dtype.bitsize() / 8, |product: usize, length| {
                product.checked_mul(*length)
            });
        if count != Some(constant.bytes.len()) {
            return Err(format!(
                "the tensor \"{name}\" of shape {:?} has {} bytes",
                constant.shape,
                constant.bytes.len()
            ));
        }
        Ok(Some((name, constant)))
    }

    const fn dtype(&self) -> Option<Dtype> {
        Some(match self.data_type {
            data_type::FLOAT => Dtype::F32,
            data_type::FLOAT16 => Dtype::F16,
            BFLOAT16 => Dtype::BF16,
            DOUBLE => Dtype::F64,
            data_type::INT8 => Dtype::I8,
            _ => return None,
        })
    }

    /// Whether it can be a weight: bytes cannot before they are multiplied by scales.
    pub const fn is_weight(&self) -> bool {
        self.data_type != data_type::INT8 || self.scales.is_some()
    }

    /// The same with rows and columns exchanged.
    pub fn transpose(mut self) -> Self {
        self.shape.reverse();
        Self {
            transposed: !self.transposed,
            ..self
        }
    }

    /// The same numbers as a vector.
    pub fn flattened(self) -> Self {
        Self {
            shape: vec![self.shape.iter().product()],
            transposed: false,
            channels_last: None,
            ..self
        }
    }

    /// The same matrix for an image with its channels first.
    pub fn with_channels_first(self, channels: usize) -> Self {
        Self {
            channels_last: Some(channels),
            ..self
        }
    }

    /// The same bytes multiplied by these scales along an axis; `None` where they do not fit.
    pub fn dequantized(self, scales: &Self, axis: usize) -> Option<Self> {
        let given: usize = scales.shape.iter().product();
        let (count, by_column) = match (axis, &self.shape[..]) {
            _ if given == 1 => (1, false),
            (0, [rows, ..]) => (*rows, false),
            (1, [_, columns]) => (*columns, true),
            _ => return None,
        };
        // Only their place is kept: any number of weights may have the same ones.
        let is_stored = !self.transposed && self.channels_last.is_none() && self.scales.is_none();
        let is_plain =
            is_stored && scales.data_type != data_type::INT8 && given == count && count > 0;
        is_plain.then(|| Self {
            scales: Some((Box::new(scales.clone()), by_column)),
            ..self
        })
    }

    /// Its numbers in row-major order, as it is used.
    pub fn values(&self) -> Vec<f32> {
        let mut values =
            (self.dtype().and_then(|dtype| floats(dtype, self.bytes))).unwrap_or_else(|| {
                self.bytes
                    .iter()
                    .map(|byte| f32::from(byte.cast_signed()))
                    .collect()
            });
        if let Some((scales, by_column)) = &self.scales {
            let scales = scales.values();
            let row = (values.len() / if *by_column { 1 } else { scales.len() }.max(1)).max(1);
            let scale = |index: usize| {
                if *by_column {
                    scales[index % scales.len()]
                } else {
                    scales[index / row]
                }
            };
            values
                .iter_mut()
                .enumerate()
                .for_each(|(index, value)| *value *= scale(index));
        }
        if self.transposed
            && let [rows, columns] = self.shape[..]
        {
            // The shape is that after it.
            values = (0..rows)
                .flat_map(|row| (0..columns).map(move |column| (row, column)))
                .map(|(row, column)| values[column * rows + row])
                .collect();
        }
        if let (Some(channels), [_, columns]) = (self.channels_last, &self.shape[..]) {
            let places = columns / channels;
            let from = |column: usize| (column % places) * channels + column / places;
            values = values
                .chunks_exact(*columns)
                .flat_map(|row| (0..*columns).map(move |column| row[from(column)]))
                .collect();
        }
        values
    }
}
