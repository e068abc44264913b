//! Named tensors in a file: safetensors, a `PyTorch` state dict, or an ONNX file; or weights in several
//! safetensors files, as Hugging Face's libraries save large models: an index,
//! `model.safetensors.index.json`, says which file has which tensor. Opening one reads names and shapes
//! only; numbers are converted tensor by tensor, for those that a network needs, so that memory stays
//! near the size of the file.

use std::collections::BTreeMap;
use std::path::Path;

use half::{bf16, f16};
use safetensors::Dtype;
use serde::Deserialize;

use super::ImportError;
use super::onnx::OnnxFile;
use super::state_dict::StateDict;

use crate::nn::{MAX_FILE_BYTES, SafetensorsFile, is_onnx};
use crate::records::Calibration;
use crate::system::files::{folder_of, read_limited};

/// More tensors than any supported network has.
pub const MAX_TENSORS: usize = 10_000;
/// Bytes of a name; those of large networks elsewhere have about a hundred.
pub const MAX_NAME_BYTES: usize = 500;
pub const MAX_DIMENSIONS: usize = 8;

/// A tensor of a file, without its numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedTensor {
    pub name: String,
    pub shape: Vec<usize>,
}

pub enum Weights<'a> {
    Safetensors(SafetensorsFile<'a>),
    Sharded(ShardedFile<'a>),
    /// A `PyTorch` state dict.
    StateDict(StateDict<'a>),
    Onnx(OnnxFile<'a>),
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
        let weights = match bytes {
            // The header, which is JSON, comes after its length, whose first bytes may be any.
            [_, _, _, _, 0, 0, 0, 0, b'{', ..] => Self::Safetensors(SafetensorsFile::read(bytes)?),
            [b'P', b'K', 3, 4, ..] => Self::StateDict(StateDict::open(bytes)?),
            [0x80, 2..=5, ..] => return Err(pickled(bytes).to_owned()),
            _ if is_onnx(bytes) => Self::Onnx(OnnxFile::open(bytes)?),
            [0x89, b'H', b'D', b'F', ..] => return Err(KERAS.to_owned()),
            [0x89, b'P', b'N', b'G', ..] | [0xFF, 0xD8, 0xFF, ..] => {
                return Err("it is an image".to_owned());
            }
            [_, _, _, _, _, _, _, _, b'{', ..] => {
                return Err(
                    "it is a safetensors file with a header that is far too long".to_owned(),
                );
            }
            _ => {
                return Err(
                    "it is neither a safetensors file nor a PyTorch state dict nor an ONNX file"
                        .to_owned(),
                );
            }
        };
        weights.checked()
    }

    pub fn open_shards(shards: &'a Shards) -> Result<Self, String> {
        Self::Sharded(shards.open()?).checked()
    }

    /// An error where they cannot be those of a supported network.
    fn checked(self) -> Result<Self, String> {
        let tensors = self.tensors();
        // What an ONNX file computes without weights of the usual kind, its graph tells.
        if tensors.is_empty() && !matches!(self, Self::Onnx(_)) {
            return Err("it contains no tensors".to_owned());
        }
        if tensors.len() > MAX_TENSORS {
            return Err(format!(
                "it contains {} tensors, more than any supported network has",
                tensors.len()
            ));
        }
        if tensors
            .iter()
            .any(|tensor| tensor.name.len() > MAX_NAME_BYTES || tensor.shape.len() > MAX_DIMENSIONS)
        {
            return Err("it contains a tensor with more dimensions or a longer name than any supported network has".to_owned());
        }
        Ok(self)
    }

    /// The tensors of floats, sorted by name. Counters and the like are not weights.
    pub fn tensors(&self) -> Vec<NamedTensor> {
        match self {
            Self::Safetensors(file) => file
                .tensors()
                .filter_map(|(name, dtype, shape)| named(name, dtype, shape))
                .collect(),
            Self::Sharded(files) => {
                let tensor = |(name, file): (&str, &SafetensorsFile<'_>)| {
                    file.tensor(name)
                        .and_then(|(dtype, shape, _)| named(name, dtype, shape))
                };
                files.tensors().filter_map(tensor).collect()
            }
            Self::StateDict(dict) => dict.tensors(),
            Self::Onnx(file) => file.tensors(),
        }
    }

    /// What was fitted for these weights, where the file says so.
    pub fn calibration(&self) -> Option<Calibration> {
        match self {
            Self::Safetensors(_) | Self::Sharded(_) => None,
            Self::StateDict(dict) => dict.calibration,
            Self::Onnx(file) => file.calibration(),
        }
    }

    pub fn values(&mut self, name: &str) -> Result<Vec<f32>, String> {
        let file = match self {
            Self::Safetensors(file) => Some(&*file),
            Self::Sharded(files) => files.file_of(name),
            Self::StateDict(dict) => return dict.values(name),
            Self::Onnx(file) => return file.values(name),
        };
        let values = file
            .and_then(|file| file.tensor(name))
            .and_then(|(dtype, _, bytes)| floats(dtype, bytes));
        values.ok_or_else(|| format!("{name} cannot be read"))
    }
}

fn named(name: &str, dtype: Dtype, shape: &[usize]) -> Option<NamedTensor> {
    size_of_float(dtype).map(|_| NamedTensor {
        name: name.to_owned(),
        shape: shape.to_vec(),
    })
}

/// Bytes of a float; `None` for types that are not used for weights.
pub fn size_of_float(dtype: Dtype) -> Option<usize> {
    match dtype {
        Dtype::F64 => Some(8),
        Dtype::F32 => Some(4),
        Dtype::F16 | Dtype::BF16 => Some(2),
        _ => None,
    }
}

/// Little-endian floats as f32; `None` for types that are not used for weights.
pub fn floats(dtype: Dtype, bytes: &[u8]) -> Option<Vec<f32>> {
    Some(match dtype {
        Dtype::F32 => bytes
            .as_chunks()
            .0
            .iter()
            .map(|bytes| f32::from_le_bytes(*bytes))
            .collect(),
        Dtype::F64 => bytes
            .as_chunks()
            .0
            .iter()
            .map(|bytes| f64::from_le_bytes(*bytes) as f32)
            .collect(),
        Dtype::F16 => bytes
            .as_chunks()
            .0
            .iter()
            .map(|bytes| f16::from_le_bytes(*bytes).to_f32())
            .collect(),
        Dtype::BF16 => bytes
            .as_chunks()
            .0
            .iter()
            .map(|bytes| bf16::from_le_bytes(*bytes).to_f32())
            .collect(),
        _ => return None,
    })
}

/// How the name of an index ends.
const INDEX_END: &str = ".safetensors.index.json";
/// The most bytes of an index: 10,000 tensors take about one megabyte.
const MAX_INDEX_BYTES: u64 = 4 << 20;
/// The most files; together they may be as large as a single one may be.
const MAX_FILES: usize = 64;

/// What an index says.
#[derive(Deserialize)]
struct Index {
    /// The file of each tensor, in the folder of the index.
    weight_map: BTreeMap<String, String>,
}

/// The content of all files that an index names.
pub struct Shards {
    files: Vec<Vec<u8>>,
    /// The tensors' names and the positions of their files.
    tensors: BTreeMap<String, usize>,
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
        let unreadable = |path: &Path, error: &std::io::Error| ImportError::Unreadable {
            path: path.to_owned(),
            reason: error.to_string(),
        };
        let malformed = |reason: String| ImportError::Malformed {
            path: path.to_owned(),
            reason,
        };
        let json = read_limited(path, MAX_INDEX_BYTES).map_err(|error| unreadable(path, &error))?;
        let Index { weight_map } = serde_json::from_slice(&json).map_err(|error| {
            malformed(format!("it is not an index of safetensors files ({error})"))
        })?;
        let (mut names, mut tensors) = (Vec::new(), BTreeMap::new());
        for (tensor, file) in weight_map {
            let position = names
                .iter()
                .position(|name| *name == file)
                .unwrap_or(names.len());
            if position == names.len() {
                if !is_plain_name(&file) {
                    return Err(malformed(format!(
                        "\"{file}\" is not the name of a file in the folder of the index"
                    )));
                }
                names.push(file);
            }
            if names.len() > MAX_FILES {
                return Err(malformed(format!("it names more than {MAX_FILES} files")));
            }
            tensors.insert(tensor, position);
        }
        let (mut files, mut left) = (Vec::new(), MAX_FILE_BYTES);
        for name in names {
            let path = folder_of(path).join(name);
            let bytes = read_limited(&path, left).map_err(|error| unreadable(&path, &error))?;
            left -= bytes.len() as u64;
            files.push(bytes);
        }
        Ok(Self { files, tensors })
    }

    /// Opens them. Errors say what is wrong.
    pub fn open(&self) -> Result<ShardedFile<'_>, String> {
        let files = self
            .files
            .iter()
            .map(|bytes| SafetensorsFile::read(bytes))
            .collect::<Result<Vec<_>, _>>()?;
        let missing = self
            .tensors
            .iter()
            .find(|(name, position)| files[**position].tensor(name).is_none());
        match missing {
            Some((name, _)) => Err(format!(
                "the tensor {name} is not in the file that the index names"
            )),
            None => Ok(ShardedFile {
                files,
                tensors: &self.tensors,
            }),
        }
    }
}

/// Opened files, which together are like a single one.
pub struct ShardedFile<'a> {
    files: Vec<SafetensorsFile<'a>>,
    tensors: &'a BTreeMap<String, usize>,
}

impl<'a> ShardedFile<'a> {
    /// The names of the tensors, each with its file.
    pub fn tensors(&self) -> impl Iterator<Item = (&str, &SafetensorsFile<'a>)> {
        self.tensors
            .iter()
            .filter_map(|(name, position)| Some((name.as_str(), self.files.get(*position)?)))
    }

    pub fn file_of(&self, name: &str) -> Option<&SafetensorsFile<'a>> {
        self.files.get(*self.tensors.get(name)?)
    }
}

/// True for the name of a file without folders.
pub fn is_plain_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(['/', '\\', ':']) && name != "." && name != ".."
}
