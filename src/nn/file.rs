//! Model files: safetensors with `PyTorch`'s names and layouts, and a model card (JSON) in the metadata.

use std::collections::HashMap;
use std::io::Read;
use std::path::Path;

use candle_core::{DType, Device, Tensor};
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};
use serde::{Deserialize, Serialize};

use super::{ComputeError, ModelError, Net, Parameter, ParameterSpec, parameter_specs};
use crate::records::Normalization;
use crate::run_config::{DataSpec, ModelKind, RunConfig, WeightFormat};

/// The version written into model files; newer ones are refused. Version 1 knew no activation but `ReLU`, which is what its
/// files are read with.
pub const FORMAT_VERSION: u32 = 2;

/// Larger files are refused unread: the largest model of ours has 4 MB.
pub const MAX_FILE_BYTES: u64 = 256 << 20;

/// The key of the model card in the metadata.
const CARD_KEY: &str = "inkling";

/// What a model file says about its weights.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelCard {
    /// Version of the file's format.
    pub version: u32,
    /// The network.
    pub model: ModelKind,
    /// What each logit stands for.
    pub labels: Vec<String>,
    /// What was done to pixels before the first layer.
    pub normalization: Normalization,
    /// Digit scores below this are not digits.
    pub digit_threshold: f32,
    /// What it was trained on.
    pub data: DataSpec,
    /// Completed epochs.
    pub epochs: u32,
    /// Accuracy on the validation split after the last of them, where it was measured.
    pub validation_accuracy: Option<f32>,
    /// The run's configuration.
    pub config: RunConfig,
}

impl ModelCard {
    /// What the logits of every model of ours stand for.
    pub fn digit_labels() -> Vec<String> {
        (0..crate::records::CLASSES).map(|digit| digit.to_string()).collect()
    }
}

/// A model as it is stored: weights and what they are.
#[derive(Clone, Debug)]
pub struct ModelFile {
    /// The weights.
    pub net: Net,
    /// What they are.
    pub card: ModelCard,
}

impl ModelFile {
    /// The bytes of the model's file.
    pub fn to_bytes(&self, format: WeightFormat) -> Result<Vec<u8>, ComputeError> {
        self.to_bytes_with(format, Vec::new())
    }

    /// The same with these names and values beside the card in the metadata. What is said twice gives the same bytes twice.
    pub fn to_bytes_with(&self, format: WeightFormat, metadata: Vec<(String, String)>) -> Result<Vec<u8>, ComputeError> {
        let dtype = match format {
            WeightFormat::F32 => DType::F32,
            WeightFormat::F16 => DType::F16,
        };
        let tensors = self
            .net
            .parameters()
            .iter()
            .map(|parameter| Ok((parameter.name(), parameter.tensor().to_dtype(dtype)?)))
            .collect::<candle_core::Result<Vec<_>>>()?;
        let card = serde_json::to_string(&self.card).map_err(|error| ComputeError::failed(&error))?;
        let metadata = metadata.into_iter().chain([(CARD_KEY.to_owned(), card)]).collect::<HashMap<_, _>>();
        let mut bytes = safetensors::serialize(tensors, Some(metadata)).map_err(|error| ComputeError::failed(&error))?;
        sort_header(&mut bytes);
        Ok(bytes)
    }

    /// Reads a model's file.
    pub fn load(path: &Path) -> Result<Self, ModelError> {
        let unreadable = |error: std::io::Error| ModelError::Unreadable { path: path.to_owned(), reason: error.to_string() };
        let file = std::fs::File::open(path).map_err(unreadable)?;
        let mut bytes = Vec::new();
        // The limit holds for what is read, not for what the file claims: pipes and growing files count too.
        file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
        Self::from_bytes(&bytes, path)
    }

    /// Reads a model from the bytes of its file; errors name `path`.
    pub fn from_bytes(bytes: &[u8], path: &Path) -> Result<Self, ModelError> {
        parse(bytes).map_err(|reason| ModelError::Malformed { path: path.to_owned(), reason })
    }
}

/// Puts the names in the header of a safetensors file in order: the library leaves them in that of a hash map, different every time.
fn sort_header(bytes: &mut [u8]) {
    let Some((length, rest)) = bytes.split_first_chunk_mut::<8>() else { return };
    let Some(header) = rest.get_mut(..u64::from_le_bytes(*length) as usize) else { return };
    // A map of JSON values is sorted by name. Nothing else changes, so neither does the length, but for the padding at the end.
    let sorted = serde_json::from_slice::<serde_json::Value>(header).and_then(|header| serde_json::to_vec(&header));
    if let Ok(sorted) = sorted
        && sorted.len() <= header.len()
    {
        header.fill(b' ');
        header[..sorted.len()].copy_from_slice(&sorted);
    }
}

/// Every claim of the file is checked before it is used.
fn parse(bytes: &[u8]) -> Result<ModelFile, String> {
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(format!("it is larger than {} MB", MAX_FILE_BYTES >> 20));
    }
    let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(|error| format!("it is not a safetensors file ({error})"))?;
    let tensors = SafeTensors::deserialize(bytes).map_err(|error| format!("it is not a safetensors file ({error})"))?;
    let card = metadata.metadata().as_ref().and_then(|entries| entries.get(CARD_KEY)).ok_or("it has no Inkling metadata")?;
    let card = read_card(card)?;
    let expected = parameter_specs(card.model);
    if tensors.len() != expected.len() {
        return Err(format!("it has {} weights, but {} has {}", tensors.len(), card.model, expected.len()));
    }
    let parameters = expected
        .into_iter()
        .map(|ParameterSpec { name, shape, role, .. }| {
            let view = tensors.tensor(&name).map_err(|_| format!("the weight {name} is missing"))?;
            let values = read_values(&name, &shape, &view)?;
            Ok(Parameter::new(name, values, &shape).map_err(|error| error.to_string())?.with_role(role))
        })
        .collect::<Result<_, String>>()?;
    Ok(ModelFile { net: Net::from_parameters(card.model, card.config.activation, card.normalization, parameters), card })
}

fn read_card(text: &str) -> Result<ModelCard, String> {
    /// Read on its own first, so that a newer format is called that and not damaged.
    #[derive(Deserialize)]
    struct Version {
        version: u32,
    }
    let damaged = |error: serde_json::Error| format!("its Inkling metadata is damaged ({error})");
    let Version { version } = serde_json::from_str(text).map_err(damaged)?;
    if version > FORMAT_VERSION {
        return Err(format!("it has format version {version}, which is newer than this Inkling supports ({FORMAT_VERSION})"));
    }
    let card: ModelCard = serde_json::from_str(text).map_err(damaged)?;
    let Normalization { mean, std } = card.normalization;
    if !(mean.is_finite() && std.is_finite() && std > 0.0 && card.digit_threshold.is_finite()) {
        return Err("its normalisation or its digit threshold is invalid".to_owned());
    }
    if card.labels != ModelCard::digit_labels() {
        return Err(format!("its classes are {}, not the digits 0 to 9", card.labels.join(", ")));
    }
    Ok(card)
}

fn read_values(name: &str, shape: &[usize], view: &TensorView<'_>) -> Result<Vec<f32>, String> {
    if view.shape() != shape {
        return Err(format!("the weight {name} has shape {:?} instead of {shape:?}", view.shape()));
    }
    let dtype = match view.dtype() {
        Dtype::F32 => DType::F32,
        Dtype::F16 => DType::F16,
        other => return Err(format!("the weight {name} is stored as {other:?}, which is not supported")),
    };
    let values = Tensor::from_raw_buffer(view.data(), dtype, shape, &Device::Cpu)
        .and_then(|tensor| tensor.to_dtype(DType::F32)?.flatten_all()?.to_vec1::<f32>())
        .map_err(|error| format!("the weight {name}: {error}"))?;
    if values.iter().any(|value| !value.is_finite()) {
        return Err(format!("the weight {name} contains NaN or infinite values"));
    }
    Ok(values)
}
