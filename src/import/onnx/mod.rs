//! ONNX files: the weights of their layers, under names and in layouts as `PyTorch` has them, and
//! what the file says of itself.
//!
//! The operators are walked through once, in their order. Only what becomes of weights is followed:
//! whether a matrix is transposed, 8-bit integers are multiplied by scales, or the values of an
//! image lie with the channels last, as in Keras. The activation is that of its operators, where
//! they have a single one; what else the network computes with the weights is found out by trials,
//! as for any other file.

mod constant;
mod walk;

use std::collections::{BTreeMap, HashMap};

use prost::Message;

use self::constant::Constant;
use self::walk::Walk;
use super::NamedTensor;
use super::cnn::Convolution;
use super::tensors::MAX_TENSORS;
use crate::nn::onnx::proto::StringStringEntryProto;
use crate::nn::onnx::wire::{Fields, Value};
use crate::records::{Calibration, ImportSpec, Normalization};
use crate::run_config::{Activation, Classes, DataSpec};

/// The most entries of the metadata that are read.
const MAX_ENTRIES: usize = 100;
/// The longest entry of the metadata, in bytes.
const MAX_ENTRY_BYTES: usize = 64 << 10;

#[derive(Clone, Debug, Default)]
pub struct OnnxFile<'a> {
    weights: BTreeMap<String, Constant<'a>>,
    metadata: HashMap<String, String>,
    activation: Option<Activation>,
    convolutions: Option<Vec<Convolution>>,
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
        file.activation = match walk
            .activations
            .iter()
            .map(String::as_str)
            .collect::<Vec<_>>()[..]
        {
            ["Relu"] => Some(Activation::Relu),
            ["Tanh"] => Some(Activation::Tanh),
            // Others have parameters, or several operators.
            _ => None,
        };
        file.convolutions =
            (!walk.convolutions.is_empty() && !walk.has_other_layers).then_some(walk.convolutions);
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

    /// Its convolutions, in their order; `None` where there are other kinds of convolution or
    /// pooling than Inkling's CNN has.
    pub fn convolutions(&self) -> Option<&[Convolution]> {
        self.convolutions.as_deref()
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
    /// into its exports, and operators tell the activation.
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
                .or_else(|| entry("activation")?.parse().ok())
                .or(self.activation),
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
