//! ONNX files: the weights of their layers, under names and in layouts as `PyTorch` has them, and
//! what the file says of itself.
//!
//! The operators are walked through once, in their order. Only what becomes of weights is followed:
//! whether a matrix is transposed, 8-bit integers are multiplied by scales, or the values of an
//! image lie with the channels last, as in Keras. What the network computes with them, its graph
//! tells.

mod external;
mod walk;

use std::collections::HashMap;

use prost::Message;
use safetensors::Dtype;

use self::walk::Walk;
pub use external::self_contained;

use super::tensor::Tensor;
use super::tensors::{MAX_DIMENSIONS, MAX_TENSORS, Weights};
use crate::nn::onnx::proto::{StringStringEntryProto, data_type};
use crate::nn::onnx::wire::{EXTERNAL_DATA, Fields, Value, text, varints};
use crate::records::{Calibration, ImportSpec, Normalization};
use crate::run_config::{Classes, DataSpec};

/// The most entries of the metadata that are read.
const MAX_ENTRIES: usize = 100;
/// The longest entry of the metadata, in bytes.
const MAX_ENTRY_BYTES: usize = 64 << 10;
/// `TensorProto.DataType` of 16-bit brain floats and of 64-bit floats.
const BFLOAT16: i32 = 16;
const DOUBLE: i32 = 11;

/// Opens the file with these bytes. Errors say what is wrong.
pub fn open(bytes: &[u8]) -> Result<Weights<'_>, String> {
    let mut description = Description::default();
    let mut graph: &[u8] = &[];
    for field in Fields::of(bytes) {
        match field? {
            (7, Value::Bytes(bytes)) => graph = bytes,
            (14, Value::Bytes(entry))
                if entry.len() <= MAX_ENTRY_BYTES && description.0.len() < MAX_ENTRIES =>
            {
                let StringStringEntryProto { key, value } =
                    StringStringEntryProto::decode(entry).map_err(|error| error.to_string())?;
                description.0.insert(key, value);
            }
            _ => {}
        }
    }
    let mut walk = Walk::default();
    for field in Fields::of(graph) {
        if let (5, Value::Bytes(message)) = field?
            && let Some((name, tensor)) = tensor(message)?
        {
            walk.constants.insert(name.to_owned(), tensor);
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
    Ok(Weights {
        tensors: walk.weights,
        calibration: description.calibration(),
        onnx: Some(description),
    })
}

/// What a file says of itself: Inkling writes that into its exports.
#[derive(Debug, Default)]
pub struct Description(HashMap<String, String>);

impl Description {
    fn calibration(&self) -> Option<Calibration> {
        let number = |key: &str| self.0.get(key)?.parse().ok();
        let calibration = Calibration {
            temperature: number("temperature")?,
            digit_threshold: number("digit_threshold")?,
        };
        calibration.is_valid().then_some(calibration)
    }

    /// What is known of the file, with what it says where nobody else does.
    pub fn described(&self, spec: &ImportSpec) -> ImportSpec {
        let entry = |key: &str| self.0.get(key).map(String::as_str);
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
        serde_json::from_str(self.0.get("labels")?).ok()
    }
}

/// Reads a `TensorProto`: its name and the tensor; `None` for one that is neither of floats nor of
/// bytes.
fn tensor(message: &[u8]) -> Result<Option<(&str, Tensor<'_>)>, String> {
    let (mut name, mut shape, mut data_type, mut bytes) = ("", Vec::new(), 0, &[][..]);
    for field in Fields::of(message) {
        match field? {
            (1, lengths) => {
                for length in varints(lengths).take(MAX_DIMENSIONS + 1) {
                    shape.push(usize::try_from(length?).unwrap_or(usize::MAX));
                }
            }
            (2, Value::Varint(number)) => data_type = i32::try_from(number).unwrap_or_default(),
            // Raw bytes, or packed floats, which are the same bytes.
            (4 | 9, Value::Bytes(raw)) => bytes = raw,
            (8, Value::Bytes(bytes)) => name = text(bytes)?,
            (14, Value::Varint(1)) => return Err(EXTERNAL_DATA.to_owned()),
            _ => {}
        }
        if shape.len() > MAX_DIMENSIONS {
            return Err("it has a tensor with more dimensions than any weight has".to_owned());
        }
    }
    let dtype = match data_type {
        data_type::FLOAT => Dtype::F32,
        data_type::FLOAT16 => Dtype::F16,
        BFLOAT16 => Dtype::BF16,
        DOUBLE => Dtype::F64,
        data_type::INT8 => Dtype::I8,
        _ => return Ok(None),
    };
    let mut lengths = shape.iter().copied();
    if lengths.try_fold(dtype.bitsize() / 8, usize::checked_mul) != Some(bytes.len()) {
        return Err(format!(
            "the tensor \"{name}\" of shape {shape:?} has {} bytes",
            bytes.len()
        ));
    }
    Ok(Tensor::new(dtype, shape, bytes).map(|tensor| (name, tensor)))
}
