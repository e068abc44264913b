//! Owns reading a state dict as `torch.save` writes it: a zip archive with a pickle and a file of raw numbers for each storage.
//! Must not know networks.

use std::collections::HashMap;
use std::io::{Cursor, Read};

use half::{bf16, f16};
use zip::ZipArchive;

use super::NamedTensor;
use super::pickle::{Id, Pickle, Value};
use crate::nn::MAX_FILE_BYTES;

/// Where checkpoints that hold more than the weights have them.
const NESTED: [&str; 5] = ["state_dict", "model_state_dict", "model", "net", "ema"];
/// Thirty times what the largest network of ours has.
const MAX_NUMBERS: usize = 32 << 20;

/// Every tensor of floats in the archive.
pub fn read(bytes: &[u8]) -> Result<Vec<NamedTensor>, String> {
    let mut archive = Archive::open(bytes)?;
    let pickle = Pickle::read(&archive.entry("data.pkl")?)?;
    if archive.has("byteorder") && archive.entry("byteorder")?.trim_ascii() != b"little" {
        return Err("its numbers are big-endian".to_owned());
    }
    let mut tensors = Vec::new();
    let mut numbers = 0_usize;
    for (key, value) in state_dict(&pickle)? {
        let (Some(name), Some(found)) = (pickle.text(key), Found::of(&pickle, value)) else { continue };
        let count = found.shape.iter().try_fold(1_usize, |product, &length| product.checked_mul(length));
        numbers =
            count.and_then(|count| numbers.checked_add(count)).filter(|&sum| sum <= MAX_NUMBERS).ok_or("its tensors are too large")?;
        if let Some(values) = archive.values(&found).map_err(|reason| format!("{name}: {reason}"))? {
            tensors.push(NamedTensor { name: name.to_owned(), shape: found.shape, values });
        }
    }
    Ok(tensors)
}

/// The dict with the weights: the whole, or one of those known names in it.
fn state_dict(pickle: &Pickle) -> Result<Vec<(Id, Id)>, String> {
    let Value::Dict(whole) = pickle.value(pickle.root()) else {
        return Err("it holds a whole Python object instead of a state dict; save model.state_dict() instead".to_owned());
    };
    let has_tensors = |dict: &[(Id, Id)]| dict.iter().any(|(_, value)| Found::of(pickle, *value).is_some());
    if has_tensors(whole) {
        return Ok(whole.clone());
    }
    let named = |name: &str| {
        let found = whole.iter().find(|(key, _)| pickle.text(*key) == Some(name))?;
        if let Value::Dict(dict) = pickle.value(found.1) { Some(dict) } else { None }
    };
    let nested = NESTED.into_iter().filter_map(named).find(|dict| has_tensors(dict));
    nested.cloned().ok_or_else(|| "it contains no named tensors".to_owned())
}

/// A tensor as the pickle describes it.
struct Found {
    storage: String,
    class: String,
    offset: usize,
    shape: Vec<usize>,
    strides: Vec<usize>,
}

impl Found {
    /// `_rebuild_tensor_v2(storage, offset, shape, strides, …)`, perhaps within a `_rebuild_parameter`; `None` for anything else.
    fn of(pickle: &Pickle, id: Id) -> Option<Self> {
        let Value::Call { global, arguments } = pickle.value(id) else { return None };
        let Value::Global(function) = pickle.value(*global) else { return None };
        let arguments = pickle.row(*arguments);
        match function.as_str() {
            "torch._utils._rebuild_tensor_v2" | "torch._utils._rebuild_tensor" => {
                let [storage, offset, shape, strides, ..] = arguments else { return None };
                let Value::Persistent(storage) = pickle.value(*storage) else { return None };
                let [_, class, key, ..] = pickle.row(*storage) else { return None };
                let Value::Global(class) = pickle.value(*class) else { return None };
                let lengths = |id: Id| pickle.row(id).iter().map(|&id| pickle.length(id)).collect::<Option<Vec<_>>>();
                Some(Self {
                    storage: pickle.text(*key)?.to_owned(),
                    class: class.clone(),
                    offset: pickle.length(*offset)?,
                    shape: lengths(*shape)?,
                    strides: lengths(*strides)?,
                })
            }
            // One level deep, as torch writes it: what a hostile file nests deeper is no tensor.
            "torch._utils._rebuild_parameter" => {
                let inner = *arguments.first()?;
                let Value::Call { global, .. } = pickle.value(inner) else { return None };
                let is_tensor = matches!(pickle.value(*global), Value::Global(name) if name.starts_with("torch._utils._rebuild_tensor"));
                if is_tensor { Self::of(pickle, inner) } else { None }
            }
            _ => None,
        }
    }
}

/// The archive, and the storages that were read from it.
struct Archive<'a> {
    zip: ZipArchive<Cursor<&'a [u8]>>,
    folder: String,
    storages: HashMap<String, Vec<f32>>,
    /// Bytes unpacked so far.
    read: u64,
}

impl<'a> Archive<'a> {
    fn open(bytes: &'a [u8]) -> Result<Self, String> {
        let zip = ZipArchive::new(Cursor::new(bytes)).map_err(|error| format!("it is a damaged zip archive ({error})"))?;
        let is_pickle = |name: &str| name.ends_with("/data.pkl") || name == "data.pkl";
        let pickle = zip.file_names().filter_map(Result::ok).find(|name| is_pickle(name)).map(std::borrow::Cow::into_owned);
        let Some(folder) = pickle.as_deref().and_then(|pickle| pickle.strip_suffix("data.pkl")).map(str::to_owned) else {
            return Err("it is a zip archive, but was not written by torch.save".to_owned());
        };
        Ok(Self { zip, folder, storages: HashMap::new(), read: 0 })
    }

    fn has(&self, name: &str) -> bool {
        self.zip.index_for_name(&format!("{}{name}", self.folder)).is_some()
    }

    fn entry(&mut self, name: &str) -> Result<Vec<u8>, String> {
        let path = format!("{}{name}", self.folder);
        let file = self.zip.by_name(&path).map_err(|error| format!("its entry {name} cannot be read ({error})"))?;
        // What is packed small may unpack large.
        let room = MAX_FILE_BYTES - self.read;
        let mut bytes = Vec::new();
        let read = file.take(room + 1).read_to_end(&mut bytes).map_err(|error| format!("its entry {name} cannot be read ({error})"))?;
        self.read += read as u64;
        if self.read > MAX_FILE_BYTES { Err(format!("it unpacks to more than {} MB", MAX_FILE_BYTES >> 20)) } else { Ok(bytes) }
    }

    /// The tensor's numbers, row by row; `None` for integers and the like, which are no weights.
    fn values(&mut self, found: &Found) -> Result<Option<Vec<f32>>, String> {
        let Found { storage, class, offset, shape, strides } = found;
        if !self.storages.contains_key(storage) {
            if storage.contains(['/', '\\', '.']) {
                return Err("a storage has an invalid name".to_owned());
            }
            let bytes = self.entry(&format!("data/{storage}"))?;
            let Some(values) = floats(class, &bytes) else { return Ok(None) };
            self.storages.insert(storage.clone(), values);
        }
        let numbers = self.storages.get(storage).map_or(&[][..], Vec::as_slice);
        if shape.len() != strides.len() || shape.len() > 8 {
            return Err("its shape is invalid".to_owned());
        }
        let mut values = Vec::new();
        let count: usize = shape.iter().product();
        if count > numbers.len() {
            return Err("its storage is too short".to_owned());
        }
        for index in 0..count {
            let (mut rest, mut place) = (index, *offset);
            for (&length, &stride) in shape.iter().zip(strides).rev() {
                place = (rest % length).checked_mul(stride).and_then(|step| place.checked_add(step)).ok_or("its strides are invalid")?;
                rest /= length;
            }
            values.push(*numbers.get(place).ok_or("its storage is too short")?);
        }
        Ok(Some(values))
    }
}

/// Numbers of this class as f32; `None` for classes that hold no weights.
fn floats(class: &str, bytes: &[u8]) -> Option<Vec<f32>> {
    Some(match class.rsplit('.').next()? {
        "FloatStorage" => bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect(),
        "DoubleStorage" => bytes.as_chunks().0.iter().map(|bytes| f64::from_le_bytes(*bytes) as f32).collect(),
        "HalfStorage" => bytes.as_chunks().0.iter().map(|bytes| f16::from_le_bytes(*bytes).to_f32()).collect(),
        "BFloat16Storage" => bytes.as_chunks().0.iter().map(|bytes| bf16::from_le_bytes(*bytes).to_f32()).collect(),
        _ => return None,
    })
}
