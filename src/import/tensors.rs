//! The named tensors of a file: safetensors, a `PyTorch` state dict, or an ONNX file; or of several
//! safetensors files, as Hugging Face's libraries save large models: an index,
//! `model.safetensors.index.json`, says which file has which tensor. Opening one reads names and
//! shapes, and numbers only as far as they are packed; they are converted tensor by tensor, for those
//! that a network needs, so that memory stays near the size of the file.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use super::onnx::{self, Description};
use super::tensor::Tensor;
use super::{ImportError, state_dict};
use crate::nn::{MAX_FILE_BYTES, SafetensorsFile, is_onnx};
use crate::records::Calibration;
use crate::system::files::{folder_of, read_limited};

/// More tensors than any supported network has.
pub const MAX_TENSORS: usize = 10_000;
/// Bytes of a name; those of large networks elsewhere have about a hundred.
const MAX_NAME_BYTES: usize = 500;
pub const MAX_DIMENSIONS: usize = 8;

/// A tensor of a file, without its numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedTensor {
    pub name: String,
    pub shape: Vec<usize>,
}

#[derive(Debug, Default)]
pub struct Weights<'a> {
    pub(super) tensors: BTreeMap<String, Tensor<'a>>,
    /// What was fitted for them, if the file says so.
    pub(super) calibration: Option<Calibration>,
    /// What an ONNX file says of itself.
    pub(super) onnx: Option<Description>,
}

/// What is said of a file that Keras wrote.
pub const KERAS: &str = "it is a Keras or HDF5 file; in Keras, model.export(\"model.onnx\", format=\"onnx\") writes an ONNX file";

/// What is said of a pickle that is not in an archive, as its beginning tells.
fn pickled(bytes: &[u8]) -> &'static str {
    const SKLEARN: &[u8] = b"sklearn.";
    let begins = bytes.get(..1 << 16).unwrap_or(bytes);
    if bytes.starts_with(b"\x80\x02\x8a\x0al") {
        "it is in the format of PyTorch before 1.6; load it in PyTorch and save its state_dict() again"
    } else if begins.windows(SKLEARN.len()).any(|part| part == SKLEARN) {
        "it is a model of scikit-learn, and these are not imported; of an MLPClassifier, coefs_ (transposed) and intercepts_ can be saved with torch.save as the state_dict() of a torch.nn.Sequential"
    } else {
        "it is a pickle of Python, and these are not imported; if PyTorch wrote it, load it there and save its state_dict()"
    }
}

impl<'a> Weights<'a> {
    /// Opens the file with these bytes. Errors say what it is instead, if that can be told.
    pub fn open(bytes: &'a [u8]) -> Result<Self, String> {
        let refused = match bytes {
            // The header, which is JSON, comes after its length, whose first bytes may be any.
            [_, _, _, _, 0, 0, 0, 0, b'{', ..] => {
                let file = SafetensorsFile::read(bytes)?;
                let tensors = file.tensors().map(|(name, ..)| (name, &file));
                return Self::of_safetensors(tensors).checked();
            }
            [b'P', b'K', 3, 4, ..] => return state_dict::open(bytes)?.checked(),
            [0x80, 2..=5, ..] => pickled(bytes),
            _ if is_onnx(bytes) => return onnx::open(bytes)?.checked(),
            [0x89, b'H', b'D', b'F', ..] => KERAS,
            [0x89, b'P', b'N', b'G', ..] | [0xFF, 0xD8, 0xFF, ..] => "it is an image",
            [_, _, _, _, _, _, _, _, b'{', ..] => {
                "it is a safetensors file with a header that is far too long"
            }
            _ => "it is neither a safetensors file nor a PyTorch state dict nor an ONNX file",
        };
        Err(refused.to_owned())
    }

    /// Opens files by what their index says.
    pub fn open_shards(shards: &'a Shards) -> Result<Self, String> {
        let files = shards
            .files
            .iter()
            .map(|(name, bytes)| Ok((name, SafetensorsFile::read(bytes)?)))
            .collect::<Result<BTreeMap<_, _>, String>>()?;
        let tensors = || {
            let weights = shards.weight_map.iter();
            weights.filter_map(|(name, file)| Some((name.as_str(), files.get(file)?)))
        };
        match tensors().find(|(name, file)| file.tensor(name).is_none()) {
            Some((name, _)) => Err(format!(
                "the tensor {name} is not in the file that the index names"
            )),
            None => Self::of_safetensors(tensors()).checked(),
        }
    }

    /// These tensors, each with its file: counters and the like are not weights.
    fn of_safetensors<'f>(tensors: impl Iterator<Item = (&'f str, &'f SafetensorsFile<'a>)>) -> Self
    where
        'a: 'f,
    {
        let tensor = |(name, file): (&str, &SafetensorsFile<'a>)| {
            let (dtype, shape, bytes) = file.tensor(name)?;
            let tensor = Tensor::new(dtype, shape.to_vec(), bytes)?;
            Some((name.to_owned(), tensor)).filter(|(_, tensor)| tensor.is_weight())
        };
        Self {
            tensors: tensors.filter_map(tensor).collect(),
            ..Self::default()
        }
    }

    /// An error if they cannot be those of a supported network.
    fn checked(self) -> Result<Self, String> {
        // What an ONNX file computes without weights of the usual kind, its graph tells.
        if self.tensors.is_empty() && self.onnx.is_none() {
            return Err("it contains no tensors".to_owned());
        }
        if self.tensors.len() > MAX_TENSORS {
            return Err(format!(
                "it contains {} tensors, more than any supported network has",
                self.tensors.len()
            ));
        }
        let is_odd = |(name, tensor): (&String, &Tensor<'_>)| {
            name.len() > MAX_NAME_BYTES || tensor.shape.len() > MAX_DIMENSIONS
        };
        if self.tensors.iter().any(is_odd) {
            return Err("it contains a tensor with more dimensions or a longer name than any supported network has".to_owned());
        }
        Ok(self)
    }

    /// The tensors of floats, sorted by name.
    pub fn tensors(&self) -> Vec<NamedTensor> {
        let named = |(name, tensor): (&String, &Tensor<'_>)| NamedTensor {
            name: name.clone(),
            shape: tensor.shape.clone(),
        };
        self.tensors.iter().map(named).collect()
    }

    pub fn values(&self, name: &str) -> Result<Vec<f32>, String> {
        let tensor = self.tensors.get(name).ok_or("it is missing");
        let values = tensor.map_err(str::to_owned).and_then(Tensor::values);
        values.map_err(|reason| format!("{name}: {reason}"))
    }
}

/// How the name of an index ends.
const INDEX_END: &str = ".safetensors.index.json";
/// The most bytes of an index: 10,000 tensors take about one megabyte.
const MAX_INDEX_BYTES: u64 = 4 << 20;
/// The most files; together they may be as large as a single one may be.
const MAX_FILES: usize = 64;

/// An index and the files that it names.
#[derive(Deserialize)]
pub struct Shards {
    /// The file of each tensor, in the folder of the index.
    weight_map: BTreeMap<String, String>,
    #[serde(skip)]
    files: BTreeMap<String, Vec<u8>>,
}

/// True for the path of an index, by its name.
pub fn is_index(path: &Path) -> bool {
    path.file_name().is_some_and(|name| {
        name.to_string_lossy()
            .to_ascii_lowercase()
            .ends_with(INDEX_END)
    })
}

impl Shards {
    /// Reads the index at this path and the files that it names.
    pub fn read(path: &Path) -> Result<Self, ImportError> {
        let malformed = |reason: String| ImportError::Malformed {
            path: path.to_owned(),
            reason,
        };
        let json = read_limited(path, MAX_INDEX_BYTES).map_err(unreadable(path))?;
        let mut shards: Self = serde_json::from_slice(&json).map_err(|error| {
            malformed(format!("it is not an index of safetensors files ({error})"))
        })?;
        let mut left = MAX_FILE_BYTES;
        for name in shards.weight_map.values() {
            if shards.files.contains_key(name) {
                continue;
            }
            if !is_plain_name(name) {
                return Err(malformed(format!(
                    "\"{name}\" is not the name of a file in the folder of the index"
                )));
            }
            if shards.files.len() == MAX_FILES {
                return Err(malformed(format!("it names more than {MAX_FILES} files")));
            }
            let path = folder_of(path).join(name);
            let bytes = read_limited(&path, left).map_err(unreadable(&path))?;
            left -= bytes.len() as u64;
            shards.files.insert(name.clone(), bytes);
        }
        Ok(shards)
    }
}

/// Makes an error of a file that cannot be read.
pub fn unreadable(path: &Path) -> impl Fn(std::io::Error) -> ImportError + '_ {
    |error| ImportError::Unreadable {
        path: path.to_owned(),
        reason: error.to_string(),
    }
}

/// True for the name of a file without folders.
pub fn is_plain_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(['/', '\\', ':']) && name != "." && name != ".."
}
