//! Reads a state dict as `torch.save` writes it: a zip archive with a pickle and a file of raw numbers for each storage.

use std::collections::HashMap;
use std::io::{Cursor, Read};

use safetensors::Dtype;
use zip::ZipArchive;

use super::NamedTensor;
use super::pickle::{Id, Pickle, Value};
use super::tensors::floats;
use crate::nn::MAX_FILE_BYTES;

/// Keys of the weights in checkpoints that contain more than those.
const NESTED_KEYS: [&str; 5] = ["state_dict", "model_state_dict", "model", "net", "ema"];
/// Thirty times the parameters of our largest network.
const MAX_ELEMENTS: usize = 32 << 20;

/// All tensors of floats in the archive.
pub fn read(bytes: &[u8]) -> Result<Vec<NamedTensor>, String> {
    let mut archive = Archive::open(bytes)?;
    let pickle = Pickle::read(&archive.entry("data.pkl")?)?;
    if archive.has("byteorder") && archive.entry("byteorder")?.trim_ascii() != b"little" {
        return Err("its numbers are big-endian".to_owned());
    }
    let mut tensors = Vec::new();
    let mut elements = 0_usize;
    for (key, value) in state_dict(&pickle)? {
        let (Some(name), Some(tensor)) = (pickle.text(key), TensorRef::of(&pickle, value)) else { continue };
        let count = tensor.shape.iter().try_fold(1_usize, |product, &length| product.checked_mul(length));
        elements =
            count.and_then(|count| elements.checked_add(count)).filter(|&sum| sum <= MAX_ELEMENTS).ok_or("its tensors are too large")?;
        if let Some(values) = archive.values(&tensor).map_err(|reason| format!("{name}: {reason}"))? {
            tensors.push(NamedTensor { name: name.to_owned(), shape: tensor.shape, values });
        }
    }
    Ok(tensors)
}

/// The dict with the weights: the whole pickle, or a dict at one of the known keys in it.
fn state_dict(pickle: &Pickle) -> Result<Vec<(Id, Id)>, String> {
    let Value::Dict(whole) = pickle.value(pickle.root()) else {
        return Err("it holds a whole Python object instead of a state dict; save model.state_dict() instead".to_owned());
    };
    let has_tensors = |dict: &[(Id, Id)]| dict.iter().any(|(_, value)| TensorRef::of(pickle, *value).is_some());
    if has_tensors(whole) {
        return Ok(whole.clone());
    }
    let named = |name: &str| {
        let found = whole.iter().find(|(key, _)| pickle.text(*key) == Some(name))?;
        if let Value::Dict(dict) = pickle.value(found.1) { Some(dict) } else { None }
    };
    let nested = NESTED_KEYS.into_iter().filter_map(named).find(|dict| has_tensors(dict));
    nested.cloned().ok_or_else(|| "it contains no named tensors".to_owned())
}

/// A tensor as the pickle describes it.
struct TensorRef {
    storage: String,
    class: String,
    offset: usize,
    shape: Vec<usize>,
    strides: Vec<usize>,
}

impl TensorRef {
    /// `_rebuild_tensor_v2(storage, offset, shape, strides, …)`, perhaps within a `_rebuild_parameter`; `None` for anything else.
    fn of(pickle: &Pickle, id: Id) -> Option<Self> {
        let Value::Call { global, arguments } = pickle.value(id) else { return None };
        let Value::Global(function) = pickle.value(*global) else { return None };
        let arguments = pickle.sequence(*arguments);
        match function.as_str() {
            "torch._utils._rebuild_tensor_v2" | "torch._utils._rebuild_tensor" => {
                let [storage, offset, shape, strides, ..] = arguments else { return None };
                let Value::Persistent(storage) = pickle.value(*storage) else { return None };
                let [_, class, key, ..] = pickle.sequence(*storage) else { return None };
                let Value::Global(class) = pickle.value(*class) else { return None };
                let lengths = |id: Id| pickle.sequence(id).iter().map(|&id| pickle.length(id)).collect::<Option<Vec<_>>>();
                Some(Self {
                    storage: pickle.text(*key)?.to_owned(),
                    class: class.clone(),
                    offset: pickle.length(*offset)?,
                    shape: lengths(*shape)?,
                    strides: lengths(*strides)?,
                })
            }
            // One level deep, as torch writes it: whatever a hostile file nests deeper is not a tensor.
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

/// The archive, and the storages read from it so far.
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
        // Something small may unpack to something large.
        let remaining = MAX_FILE_BYTES - self.read;
        let mut bytes = Vec::new();
        let read =
            file.take(remaining + 1).read_to_end(&mut bytes).map_err(|error| format!("its entry {name} cannot be read ({error})"))?;
        self.read += read as u64;
        if self.read > MAX_FILE_BYTES { Err(format!("it unpacks to more than {} MB", MAX_FILE_BYTES >> 20)) } else { Ok(bytes) }
    }

    /// The tensor's elements in row-major order; `None` for integers and the like, which are not weights.
    fn values(&mut self, tensor: &TensorRef) -> Result<Option<Vec<f32>>, String> {
        let TensorRef { storage, class, offset, shape, strides } = tensor;
        if !self.storages.contains_key(storage) {
            if storage.contains(['/', '\\', '.']) {
                return Err("a storage has an invalid name".to_owned());
            }
            let bytes = self.entry(&format!("data/{storage}"))?;
            let Some(values) = dtype(class).and_then(|dtype| floats(dtype, &bytes)) else { return Ok(None) };
            self.storages.insert(storage.clone(), values);
        }
        let stored = self.storages.get(storage).map_or(&[][..], Vec::as_slice);
        if shape.len() != strides.len() || shape.len() > 8 {
            return Err("its shape is invalid".to_owned());
        }
        let mut values = Vec::new();
        let count: usize = shape.iter().product();
        if count > stored.len() {
            return Err("its storage is too short".to_owned());
        }
        for index in 0..count {
            let (mut rest, mut position) = (index, *offset);
            for (&length, &stride) in shape.iter().zip(strides).rev() {
                position =
                    (rest % length).checked_mul(stride).and_then(|step| position.checked_add(step)).ok_or("its strides are invalid")?;
                rest /= length;
            }
            values.push(*stored.get(position).ok_or("its storage is too short")?);
        }
        Ok(Some(values))
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
