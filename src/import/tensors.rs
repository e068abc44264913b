//! Named tensors from a file: safetensors, or a `PyTorch` state dict.

use std::io::Read;
use std::path::Path;

use half::{bf16, f16};
use safetensors::{Dtype, SafeTensors};

use super::ImportError;
use super::state_dict;
use crate::export::RUN_KEY;
use crate::nn::MAX_FILE_BYTES;
use crate::records::RunSummary;

/// The key of Inkling's own description in the metadata of a safetensors file.
const CARD_KEY: &str = "inkling";
/// More tensors than any supported network has.
const MAX_TENSORS: usize = 10_000;

/// A tensor of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedTensor {
    /// Its name in the file.
    pub name: String,
    /// Its shape.
    pub shape: Vec<usize>,
    /// Its elements in row-major order, as f32.
    pub values: Vec<f32>,
}

/// The bytes of a file; an error if it is too large.
pub fn read_file(path: &Path) -> Result<Vec<u8>, ImportError> {
    let unreadable = |error: std::io::Error| ImportError::Unreadable { path: path.to_owned(), reason: error.to_string() };
    let mut bytes = Vec::new();
    std::fs::File::open(path).map_err(unreadable)?.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        let reason = format!("it is larger than {} MB", MAX_FILE_BYTES >> 20);
        return Err(ImportError::Malformed { path: path.to_owned(), reason });
    }
    Ok(bytes)
}

/// True if Inkling wrote the file, which then describes itself.
pub fn is_described(bytes: &[u8]) -> bool {
    metadata(bytes, CARD_KEY).is_some()
}

/// The run that a file of Inkling's describes.
pub fn stored_run(bytes: &[u8]) -> Option<RunSummary> {
    serde_json::from_str(&metadata(bytes, RUN_KEY)?).ok()
}

fn metadata(bytes: &[u8], key: &str) -> Option<String> {
    let (_, metadata) = SafeTensors::read_metadata(bytes).ok()?;
    metadata.metadata().as_ref()?.get(key).cloned()
}

/// All tensors of the file. Errors say what the file is instead, if that can be told.
pub fn parse(bytes: &[u8]) -> Result<Vec<NamedTensor>, String> {
    let tensors = match bytes {
        [b'P', b'K', 3, 4, ..] => state_dict::read(bytes)?,
        [0x80, 2..=5, ..] => {
            return Err("it has the format of PyTorch before 1.6; load it in PyTorch and save its state_dict() again".to_owned());
        }
        [0x08, _, 0x12 | 0x1A, ..] => return Err("it is an ONNX file, which Inkling can export but not import".to_owned()),
        [0x89, b'H', b'D', b'F', ..] => return Err("it is a Keras or HDF5 file".to_owned()),
        [0x89, b'P', b'N', b'G', ..] | [0xFF, 0xD8, 0xFF, ..] => return Err("it is an image".to_owned()),
        _ => from_safetensors(bytes)?,
    };
    if tensors.is_empty() {
        return Err("it contains no tensors".to_owned());
    }
    Ok(tensors)
}

fn from_safetensors(bytes: &[u8]) -> Result<Vec<NamedTensor>, String> {
    let file =
        SafeTensors::deserialize(bytes).map_err(|error| format!("it is neither a safetensors file ({error}) nor a PyTorch state dict"))?;
    if file.len() > MAX_TENSORS {
        return Err(format!("it contains {} tensors, more than any supported network has", file.len()));
    }
    let mut tensors = Vec::new();
    for (name, view) in file.iter() {
        let Some(values) = floats(view.dtype(), view.data()) else {
            // Counters and the like are not weights.
            continue;
        };
        tensors.push(NamedTensor { name: name.to_owned(), shape: view.shape().to_vec(), values });
    }
    tensors.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(tensors)
}

/// Little-endian numbers as f32; `None` for types that are not used for weights.
pub(super) fn floats(dtype: Dtype, bytes: &[u8]) -> Option<Vec<f32>> {
    Some(match dtype {
        Dtype::F32 => bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect(),
        Dtype::F64 => bytes.as_chunks().0.iter().map(|bytes| f64::from_le_bytes(*bytes) as f32).collect(),
        Dtype::F16 => bytes.as_chunks().0.iter().map(|bytes| f16::from_le_bytes(*bytes).to_f32()).collect(),
        Dtype::BF16 => bytes.as_chunks().0.iter().map(|bytes| bf16::from_le_bytes(*bytes).to_f32()).collect(),
        _ => return None,
    })
}
