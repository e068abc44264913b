//! Reads a state dict as `torch.save` writes it: a zip archive with a pickle and a file of raw
//! numbers for each storage.

use std::collections::BTreeMap;
use std::io::{Cursor, Read};
use std::rc::Rc;

use safetensors::Dtype;
use zip::ZipArchive;
use zip::result::ZipError;

use super::pickle::{Id, Pickle, Value};
use super::tensor::{Bytes, Tensor};
use super::tensors::{KERAS, MAX_DIMENSIONS, Weights};
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
const PICKLE: &str = "data.pkl";

pub fn open(bytes: &[u8]) -> Result<Weights<'static>, String> {
    let mut archive = Archive::open(bytes)?;
    let pickle = Pickle::read(&archive.entry(PICKLE)?.unwrap_or_default())?;
    if let Some(order) = archive.entry("byteorder")?
        && order.trim_ascii() != b"little"
    {
        return Err("its numbers are big-endian".to_owned());
    }
    let calibration = archive
        .entry(CALIBRATION)?
        .and_then(|json| serde_json::from_slice(&json).ok());
    let mut weights = Weights {
        calibration: calibration.filter(Calibration::is_valid),
        ..Weights::default()
    };
    let mut storages = BTreeMap::<&str, Rc<[u8]>>::new();
    for (name, described) in state_dict(&pickle)? {
        let missing = || format!("{name}: its storage is missing");
        let key = described.storage;
        if !storages.contains_key(key) {
            let bytes = archive.entry(&format!("data/{key}"))?.ok_or_else(missing)?;
            storages.insert(key, bytes.into());
        }
        let bytes = storages.get(key).cloned().ok_or_else(missing)?;
        let tensor = described.tensor(Bytes::Unpacked(bytes));
        let tensor = tensor.ok_or_else(|| format!("{name}: its shape is invalid"))?;
        weights.tensors.insert(name.to_owned(), tensor);
    }
    Ok(weights)
}

/// The tensors of floats in the whole pickle, or in the dict at one of the known keys in it.
fn state_dict(pickle: &Pickle) -> Result<Vec<(&str, Described<'_>)>, String> {
    let Value::Dict(whole) = pickle.value(pickle.root()) else {
        return Err("it holds a whole Python object instead of a state dict; save model.state_dict() instead".to_owned());
    };
    let nested = NESTED_KEYS.into_iter().filter_map(|name| {
        let is_named = |(key, _): &&(Id, Id)| pickle.text(*key) == Some(name);
        match pickle.value(whole.iter().find(is_named)?.1) {
            Value::Dict(dict) => Some(dict),
            _ => None,
        }
    });
    let tensors = |dict: &Vec<(Id, Id)>| -> Vec<_> {
        dict.iter()
            .filter_map(|&(key, value)| Some((pickle.text(key)?, Described::of(pickle, value)?)))
            .collect()
    };
    std::iter::once(whole)
        .chain(nested)
        .map(tensors)
        .find(|tensors| !tensors.is_empty())
        .ok_or_else(|| "it contains no named tensors".to_owned())
}

/// A tensor of floats as the pickle describes it. Nothing in it is longer than a few words, however
/// often a pickle repeats it.
struct Described<'p> {
    storage: &'p str,
    dtype: Dtype,
    offset: usize,
    shape: Vec<usize>,
    strides: Vec<usize>,
}

impl<'p> Described<'p> {
    /// `_rebuild_tensor_v2(storage, offset, shape, strides, …)`, perhaps within a
    /// `_rebuild_parameter`; `None` for anything else.
    fn of(pickle: &'p Pickle, id: Id) -> Option<Self> {
        let (mut function, mut arguments) = pickle.call(id)?;
        if function == "torch._utils._rebuild_parameter" {
            (function, arguments) = pickle.call(*arguments.first()?)?;
        }
        if ![
            "torch._utils._rebuild_tensor_v2",
            "torch._utils._rebuild_tensor",
        ]
        .contains(&function)
        {
            return None;
        }
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
        let lengths = |id: Id| -> Option<Vec<usize>> {
            let lengths = Some(pickle.sequence(id)).filter(|it| it.len() <= MAX_DIMENSIONS)?;
            lengths.iter().map(|&id| pickle.length(id)).collect()
        };
        Some(Self {
            storage: pickle.text(*key)?,
            dtype: dtype(class)?,
            offset: pickle.length(*offset)?,
            shape: lengths(*shape)?,
            strides: lengths(*strides)?,
        })
    }

    /// It with the bytes of its storage.
    fn tensor(self, bytes: Bytes<'static>) -> Option<Tensor<'static>> {
        let is_valid = self.shape.len() == self.strides.len();
        let axes = self.shape.iter().copied().zip(self.strides).collect();
        let tensor = Tensor::strided(self.dtype, bytes, self.offset, self.shape, axes);
        tensor.filter(|_| is_valid)
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

struct Archive<'a> {
    zip: ZipArchive<Cursor<&'a [u8]>>,
    /// What the names of its files begin with.
    folder: String,
    /// Bytes that may still be unpacked.
    budget: u64,
}

impl<'a> Archive<'a> {
    fn open(bytes: &'a [u8]) -> Result<Self, String> {
        let zip = ZipArchive::new(Cursor::new(bytes))
            .map_err(|error| format!("it is a damaged zip archive ({error})"))?;
        let folder = zip.file_names().filter_map(Result::ok).find_map(|name| {
            let folder = name.strip_suffix(PICKLE)?;
            (folder.is_empty() || folder.ends_with('/')).then(|| folder.to_owned())
        });
        let is_keras = zip.index_for_name("model.weights.h5").is_some();
        let folder = folder.ok_or(if is_keras {
            KERAS
        } else {
            "it is a zip archive, but was not written by torch.save"
        })?;
        Ok(Self {
            zip,
            folder,
            budget: MAX_EXPANSION * bytes.len() as u64 + SLACK_BYTES,
        })
    }

    /// What is in the file of this name; `None` if there is none.
    fn entry(&mut self, name: &str) -> Result<Option<Vec<u8>>, String> {
        let unreadable =
            |error: &dyn std::fmt::Display| format!("its entry {name} cannot be read ({error})");
        let file = match self.zip.by_name(&format!("{}{name}", self.folder)) {
            Err(ZipError::FileNotFound) => return Ok(None),
            file => file.map_err(|error| unreadable(&error))?,
        };
        // Something small may unpack to something large, whatever size it claims.
        let mut bytes = Vec::new();
        file.take(self.budget + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| unreadable(&error))?;
        self.budget = self
            .budget
            .checked_sub(bytes.len() as u64)
            .ok_or_else(|| format!("it unpacks to more than {MAX_EXPANSION} times its size"))?;
        Ok(Some(bytes))
    }
}
