//! Reads a state dict as `torch.save` writes it: a zip archive with a pickle and a file of raw
//! numbers for each storage.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::{Cursor, Read};

use safetensors::Dtype;
use zip::ZipArchive;
use zip::result::ZipError;

use super::pickle::{self, Id, Stored, Value, Values};
use super::tensors::{KERAS, Tensor, Weights, strided};
use crate::export::CALIBRATION;
use crate::nn::floats;
use crate::records::Calibration;

/// The entries of a checkpoint that may have the weights.
const MAX_ENTRIES: usize = 100;
/// Whatever is read of an archive may be this many times as large as the archive itself, and
/// [`SLACK_BYTES`] more. Torch does not compress, and weights hardly can be.
const MAX_EXPANSION: u64 = 2;
const SLACK_BYTES: u64 = 1 << 20;
const PICKLE: &str = "data.pkl";

pub fn open(bytes: &[u8]) -> Result<Weights, String> {
    let mut archive = Archive::open(bytes)?;
    let (values, root) = pickle::read(&archive.entry(PICKLE)?.unwrap_or_default())?;
    let calibration = archive
        .entry(CALIBRATION)?
        .and_then(|json| serde_json::from_slice(&json).ok());
    let mut weights = Weights {
        calibration: calibration.filter(Calibration::is_valid),
        ..Weights::default()
    };
    // Tensors may share numbers, but not all of them many times.
    let mut room = bytes.len() + SLACK_BYTES as usize;
    let mut storages = BTreeMap::<&str, Vec<f32>>::new();
    for (name, dtype, stored) in state_dict(&values, root)? {
        let Some(file) = values.text(stored.file) else {
            continue;
        };
        if !storages.contains_key(file) {
            let bytes = archive.entry(&format!("data/{file}"))?;
            let bytes = bytes.ok_or_else(|| format!("{name}: its storage is missing"))?;
            storages.insert(file, floats(dtype, &bytes).unwrap_or_default());
        }
        let numbers = strided(&storages[file], stored.offset, &stored.axes);
        let numbers = numbers.filter(|numbers| numbers.len() <= room);
        let values = numbers.ok_or_else(|| format!("{name}: its storage is too short"))?;
        room -= values.len();
        let shape = stored.axes.iter().map(|(length, _)| *length).collect();
        weights
            .tensors
            .insert(name.to_owned(), Tensor { shape, values });
    }
    Ok(weights)
}

/// The tensors in the whole pickle, or in the dict in it that has the most: checkpoints also have
/// the state of an optimizer, for example.
fn state_dict(values: &Values, root: Id) -> Result<Vec<(&str, Dtype, &Stored)>, String> {
    let dict = |id: Id| match values.get(id) {
        Value::Dict(entries) => Some(entries),
        _ => None,
    };
    let whole = dict(root).ok_or(
        "it holds a whole Python object instead of a state dict; save model.state_dict() instead",
    )?;
    let tensors = |entries: &Vec<(Id, Id)>| -> Vec<_> {
        let tensor = |&(key, value): &(Id, Id)| match values.get(value) {
            Value::Tensor(stored) => {
                Some((values.text(key)?, dtype(values, stored.class)?, stored))
            }
            _ => None,
        };
        entries.iter().filter_map(tensor).collect()
    };
    // A hostile one may have the same long dict any number of times.
    let some = whole.iter().take(MAX_ENTRIES);
    let nested = some.filter_map(|(_, value)| dict(*value));
    std::iter::once(whole)
        .chain(nested)
        .map(tensors)
        .min_by_key(|tensors| Reverse(tensors.len()))
        .filter(|tensors| !tensors.is_empty())
        .ok_or_else(|| "it contains no named tensors".to_owned())
}

/// The element type of a storage class of torch's; `None` for those that are not used for weights.
fn dtype(values: &Values, class: Id) -> Option<Dtype> {
    match values.text(class)?.rsplit('.').next()? {
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
