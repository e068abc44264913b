//! Reads a state dict as `torch.save` writes it: a zip archive with a pickle and a file of raw
//! numbers for each storage.

use std::collections::{BTreeMap, HashMap};
use std::io::{Cursor, Read};

use safetensors::Dtype;
use zip::ZipArchive;

use super::NamedTensor;
use super::pickle::{Id, Pickle, Value};
use super::tensors::{KERAS, MAX_DIMENSIONS, MAX_NAME_BYTES, MAX_TENSORS, floats, size_of_float};
use crate::export::CALIBRATION;
use crate::records::Calibration;

/// Keys of the weights in checkpoints that contain more than those.
const NESTED_KEYS: [&str; 9] = [
    "state_dict",
    "model_state_dict",
    "model",
    "net",
    "network",
    "module",
    "weights",
    "params",
    "ema",
];
/// Whatever is read of an archive may be this many times as large as the archive itself, and
/// [`SLACK_BYTES`] more. Torch does not compress, and weights hardly can be.
const MAX_EXPANSION: u64 = 4;
const SLACK_BYTES: u64 = 1 << 20;
/// Characters of a storage's name; torch numbers them.
const MAX_STORAGE_NAME: usize = 64;

/// An open state dict: names, shapes and where the numbers are.
pub struct StateDict<'a> {
    archive: Archive<'a>,
    /// What was fitted for these weights, where Inkling wrote the file.
    pub calibration: Option<Calibration>,
    tensors: BTreeMap<String, TensorRef>,
}

impl<'a> StateDict<'a> {
    /// Reads the pickle of the archive with these bytes.
    pub fn open(bytes: &'a [u8]) -> Result<Self, String> {
        let mut archive = Archive::open(bytes)?;
        let pickle = Pickle::read(&archive.entry("data.pkl")?)?;
        if archive.has("byteorder") && archive.entry("byteorder")?.trim_ascii() != b"little" {
            return Err("its numbers are big-endian".to_owned());
        }
        let calibration = if archive.has(CALIBRATION) {
            serde_json::from_slice(&archive.entry(CALIBRATION)?).ok()
        } else {
            None
        };
        let calibration = calibration.filter(Calibration::is_valid);
        let mut tensors = BTreeMap::new();
        for &(key, value) in state_dict(&pickle)? {
            let (Some(name), Some(tensor)) = (pickle.text(key), TensorRef::of(&pickle, value))
            else {
                continue;
            };
            if name.len() > MAX_NAME_BYTES {
                return Err(
                    "it contains a tensor with a longer name than any supported network has"
                        .to_owned(),
                );
            }
            tensors.insert(name.to_owned(), tensor);
            if tensors.len() > MAX_TENSORS {
                return Err(format!(
                    "it contains more than {MAX_TENSORS} tensors, and so more than any supported network has"
                ));
            }
        }
        Ok(Self {
            archive,
            calibration,
            tensors,
        })
    }

    /// Its tensors of floats, sorted by name.
    pub fn tensors(&self) -> Vec<NamedTensor> {
        self.tensors
            .iter()
            .map(|(name, tensor)| NamedTensor {
                name: name.clone(),
                shape: tensor.shape.clone(),
            })
            .collect()
    }

    pub fn values(&mut self, name: &str) -> Result<Vec<f32>, String> {
        let tensor = self
            .tensors
            .get(name)
            .ok_or_else(|| format!("{name} is missing"))?;
        let stored = self
            .archive
            .storage(&tensor.storage)
            .map_err(|reason| format!("{name}: {reason}"))?;
        tensor
            .values(stored)
            .map_err(|reason| format!("{name}: {reason}"))
    }
}

/// The dict with the weights: the whole pickle, or a dict at one of the known keys in it.
fn state_dict(pickle: &Pickle) -> Result<&[(Id, Id)], String> {
    let Value::Dict(whole) = pickle.value(pickle.root()) else {
        return Err("it holds a whole Python object instead of a state dict; save model.state_dict() instead".to_owned());
    };
    let has_tensors = |dict: &[(Id, Id)]| {
        dict.iter()
            .any(|(_, value)| TensorRef::of(pickle, *value).is_some())
    };
    if has_tensors(whole) {
        return Ok(whole);
    }
    let named = |name: &str| {
        let found = whole
            .iter()
            .find(|(key, _)| pickle.text(*key) == Some(name))?;
        if let Value::Dict(dict) = pickle.value(found.1) {
            Some(dict.as_slice())
        } else {
            None
        }
    };
    let nested = NESTED_KEYS
        .into_iter()
        .filter_map(named)
        .find(|dict| has_tensors(dict));
    nested.ok_or_else(|| "it contains no named tensors".to_owned())
}

/// A tensor of floats as the pickle describes it. Nothing in it is longer than a few words, however
/// often a pickle repeats it.
struct TensorRef {
    storage: String,
    dtype: Dtype,
    offset: usize,
    shape: Vec<usize>,
    strides: Vec<usize>,
}

impl TensorRef {
    /// `_rebuild_tensor_v2(storage, offset, shape, strides, …)`, perhaps within a
    /// `_rebuild_parameter`; `None` for anything else.
    fn of(pickle: &Pickle, id: Id) -> Option<Self> {
        let Value::Call { global, arguments } = pickle.value(id) else {
            return None;
        };
        let Value::Global(function) = pickle.value(*global) else {
            return None;
        };
        let arguments = pickle.sequence(*arguments);
        match function.as_str() {
            "torch._utils._rebuild_tensor_v2" | "torch._utils._rebuild_tensor" => {
                let [storage, offset, shape, strides, ..] = arguments else {
                    return None;
                };
                let Value::Persistent(storage) = pickle.value(*storage) else {
                    return None;
                };
                let [_, class, key, ..] = pickle.sequence(*storage) else {
                    return None;
                };
                let Value::Global(class) = pickle.value(*class) else {
                    return None;
                };
                let lengths = |id: Id| {
                    let lengths = Some(pickle.sequence(id))
                        .filter(|lengths| lengths.len() <= MAX_DIMENSIONS)?;
                    lengths
                        .iter()
                        .map(|&id| pickle.length(id))
                        .collect::<Option<Vec<_>>>()
                };
                Some(Self {
                    storage: pickle
                        .text(*key)
                        .filter(|key| key.len() <= MAX_STORAGE_NAME)?
                        .to_owned(),
                    dtype: dtype(class)?,
                    offset: pickle.length(*offset)?,
                    shape: lengths(*shape)?,
                    strides: lengths(*strides)?,
                })
            }
            // One level deep, as torch writes it: whatever a hostile file nests deeper is not a
            // tensor.
            "torch._utils._rebuild_parameter" => {
                let inner = *arguments.first()?;
                let Value::Call { global, .. } = pickle.value(inner) else {
                    return None;
                };
                let is_tensor = matches!(pickle.value(*global), Value::Global(name) if name.starts_with("torch._utils._rebuild_tensor"));
                if is_tensor {
                    Self::of(pickle, inner)
                } else {
                    None
                }
            }
            _ => None,
        }
    }

    /// The tensor's elements in row-major order, from the bytes of its storage. There are never
    /// more than the storage has.
    fn values(&self, stored: &[u8]) -> Result<Vec<f32>, String> {
        let Self {
            dtype,
            offset,
            shape,
            strides,
            ..
        } = self;
        let size = size_of_float(*dtype).ok_or("its storage has an unknown type")?;
        if shape.len() != strides.len() {
            return Err("its shape is invalid".to_owned());
        }
        let count = shape
            .iter()
            .try_fold(1_usize, |product, &length| product.checked_mul(length));
        let count = count
            .filter(|&count| count <= stored.len() / size)
            .ok_or("its storage is too short")?;
        let mut bytes = Vec::with_capacity(count * size);
        for index in 0..count {
            let (mut rest, mut position) = (index, *offset);
            for (&length, &stride) in shape.iter().zip(strides).rev() {
                position = (rest % length)
                    .checked_mul(stride)
                    .and_then(|step| position.checked_add(step))
                    .ok_or("its strides are invalid")?;
                rest /= length;
            }
            let element = position
                .checked_mul(size)
                .and_then(|start| stored.get(start..start.checked_add(size)?));
            bytes.extend_from_slice(element.ok_or("its storage is too short")?);
        }
        floats(*dtype, &bytes).ok_or_else(|| "its storage has an unknown type".to_owned())
    }
}

/// The archive, and the storages read from it so far.
struct Archive<'a> {
    zip: ZipArchive<Cursor<&'a [u8]>>,
    folder: String,
    storages: HashMap<String, Vec<u8>>,
    /// Bytes that may still be unpacked.
    budget: u64,
}

impl<'a> Archive<'a> {
    fn open(bytes: &'a [u8]) -> Result<Self, String> {
        let zip = ZipArchive::new(Cursor::new(bytes))
            .map_err(|error| format!("it is a damaged zip archive ({error})"))?;
        let is_pickle = |name: &str| name.ends_with("/data.pkl") || name == "data.pkl";
        let pickle = zip
            .file_names()
            .filter_map(Result::ok)
            .find(|name| is_pickle(name))
            .map(std::borrow::Cow::into_owned);
        let Some(folder) = pickle
            .as_deref()
            .and_then(|pickle| pickle.strip_suffix("data.pkl"))
            .map(str::to_owned)
        else {
            let is_keras = zip.index_for_name("model.weights.h5").is_some();
            return Err(if is_keras {
                KERAS
            } else {
                "it is a zip archive, but was not written by torch.save"
            }
            .to_owned());
        };
        Ok(Self {
            zip,
            folder,
            storages: HashMap::new(),
            budget: MAX_EXPANSION * bytes.len() as u64 + SLACK_BYTES,
        })
    }

    fn has(&self, name: &str) -> bool {
        self.zip
            .index_for_name(&format!("{}{name}", self.folder))
            .is_some()
    }

    fn entry(&mut self, name: &str) -> Result<Vec<u8>, String> {
        let path = format!("{}{name}", self.folder);
        let unreadable =
            |error: &dyn std::fmt::Display| format!("its entry {name} cannot be read ({error})");
        let file = self
            .zip
            .by_name(&path)
            .map_err(|error| unreadable(&error))?;
        // Something small may unpack to something large, whatever size it claims.
        let mut bytes = Vec::new();
        let read = file
            .take(self.budget + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| unreadable(&error))?;
        match self.budget.checked_sub(read as u64) {
            Some(left) => self.budget = left,
            None => {
                return Err(format!(
                    "it unpacks to more than {MAX_EXPANSION} times its size"
                ));
            }
        }
        Ok(bytes)
    }

    /// The bytes of a storage.
    fn storage(&mut self, name: &str) -> Result<&[u8], String> {
        if !self.storages.contains_key(name) {
            if name.contains(['/', '\\', '.']) {
                return Err("its storage has an invalid name".to_owned());
            }
            let bytes = self.entry(&format!("data/{name}"))?;
            self.storages.insert(name.to_owned(), bytes);
        }
        Ok(self.storages.get(name).map_or(&[], Vec::as_slice))
    }
}

/// The element type of a storage class of torch's; `None` for those that are not used for weights.
fn dtype(class: &str) -> Option<Dtype> {
    match class.rsplit('.').next()? {
        "FloatStorage" => Some(Dtype::F32),
        "DoubleStorage" => Some(Dtype::F64),
        "HalfStorage" => Some(Dtype::F16),
        "BFloat16Storage" => Some(Dtype::BF16),
        _ => None,
    }
}
