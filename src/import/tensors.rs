//! The named tensors of a file: safetensors, a `PyTorch` state dict, or an ONNX file; or of several
//! safetensors files, as Hugging Face's libraries save large models: an index,
//! `model.safetensors.index.json`, says which file has which tensor.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use super::onnx::{self, OnnxFile};
use super::{ImportError, state_dict};
use crate::nn::{MAX_FILE_BYTES, SafetensorsFile, floats, is_onnx};
use crate::records::Calibration;
use crate::system::files::{folder_of, is_plain_name, read_limited};

/// More tensors than any supported network has.
const MAX_TENSORS: usize = 10_000;
/// Bytes of a name; those of large networks elsewhere have about a hundred.
const MAX_NAME_BYTES: usize = 500;
pub const MAX_DIMENSIONS: usize = 8;
/// How the name of an index ends.
const INDEX_END: &str = ".safetensors.index.json";
/// The most bytes of an index: 10,000 tensors take about one megabyte.
const MAX_INDEX_BYTES: u64 = 4 << 20;
/// The most files that an index may name; together they may be as large as a single one may be.
const MAX_FILES: usize = 64;

/// A tensor of a file, without its numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedTensor {
    pub name: String,
    pub shape: Vec<usize>,
}

/// A tensor with its numbers in row-major order.
#[derive(Clone, Debug)]
pub struct Tensor {
    pub shape: Vec<usize>,
    pub values: Vec<f32>,
}

impl Tensor {
    /// A matrix with rows and columns exchanged.
    pub fn transposed(self) -> Option<Self> {
        let [rows, columns] = *self.shape else {
            return None;
        };
        Some(Self {
            values: strided(&self.values, 0, &[(columns, 1), (rows, columns)])?,
            shape: vec![columns, rows],
        })
    }
}

/// The numbers of a tensor among these. `axes` are how many it has along each axis, the last of
/// which is the fastest, and the distance between two of them. `None` if some are not there; there
/// are never more than are stored.
pub fn strided(stored: &[f32], offset: usize, axes: &[(usize, usize)]) -> Option<Vec<f32>> {
    let lengths = axes.iter().map(|(length, _)| *length);
    let count = lengths.fold(1, usize::saturating_mul);
    let number = |index: usize| {
        let (mut rest, mut place) = (index, offset);
        for &(length, stride) in axes.iter().rev() {
            place = place.checked_add((rest % length).checked_mul(stride)?)?;
            rest /= length;
        }
        stored.get(place).copied()
    };
    let is_possible = count <= stored.len();
    is_possible.then(|| (0..count).map(number).collect())?
}

#[derive(Debug, Default)]
pub struct Weights {
    pub tensors: BTreeMap<String, Tensor>,
    /// What was fitted for them, if the file says so.
    pub calibration: Option<Calibration>,
    pub onnx: Option<OnnxFile>,
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

impl Weights {
    /// Opens the file with these bytes. Errors say what it is instead, if that can be told.
    pub fn open(bytes: &[u8]) -> Result<Self, String> {
        let refused = match bytes {
            // The header, which is JSON, comes after its length, whose first bytes may be any.
            [_, _, _, _, 0, 0, 0, 0, b'{', ..] => {
                let file = SafetensorsFile::read(bytes)?;
                let tensors = file.tensors().map(|(name, ..)| (name, &file));
                return Self::of_safetensors(tensors)?.checked();
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

    /// Opens the index at this path and the files that it names, all in its folder.
    pub fn open_index(path: &Path) -> Result<Self, ImportError> {
        #[derive(Deserialize)]
        struct Index {
            /// The file of each tensor.
            weight_map: BTreeMap<String, String>,
        }
        let malformed = |reason: String| ImportError::malformed(path, reason);
        let json = read_limited(path, MAX_INDEX_BYTES).map_err(ImportError::unreadable(path))?;
        let Index { weight_map } = serde_json::from_slice(&json).map_err(|error| {
            malformed(format!("it is not an index of safetensors files ({error})"))
        })?;
        let (mut files, mut left) = (BTreeMap::<&str, Vec<u8>>::new(), MAX_FILE_BYTES);
        for name in weight_map.values() {
            if files.contains_key(name.as_str()) {
                continue;
            }
            if !is_plain_name(name) {
                return Err(malformed(format!(
                    "\"{name}\" is not the name of a file in the folder of the index"
                )));
            }
            if files.len() == MAX_FILES {
                return Err(malformed(format!("it names more than {MAX_FILES} files")));
            }
            let path = folder_of(path).join(name);
            let bytes = read_limited(&path, left).map_err(ImportError::unreadable(&path))?;
            left -= bytes.len() as u64;
            files.insert(name, bytes);
        }
        let open = || {
            let opened = files
                .iter()
                .map(|(name, bytes)| Ok((*name, SafetensorsFile::read(bytes)?)))
                .collect::<Result<BTreeMap<_, _>, String>>()?;
            let tensors = weight_map
                .iter()
                .filter_map(|(name, file)| Some((name.as_str(), opened.get(file.as_str())?)));
            Self::of_safetensors(tensors)?.checked()
        };
        open().map_err(malformed)
    }

    /// These tensors, each with its file: counters and the like are not weights.
    fn of_safetensors<'f>(
        tensors: impl Iterator<Item = (&'f str, &'f SafetensorsFile<'f>)>,
    ) -> Result<Self, String> {
        let mut weights = Self::default();
        for (name, file) in tensors {
            let (dtype, shape, bytes) = file.tensor(name).ok_or_else(|| {
                format!("the tensor {name} is not in the file that the index names")
            })?;
            let tensor = floats(dtype, bytes).map(|values| Tensor {
                shape: shape.to_vec(),
                values,
            });
            weights
                .tensors
                .extend(tensor.map(|tensor| (name.to_owned(), tensor)));
        }
        Ok(weights)
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
        let is_odd = |(name, tensor): (&String, &Tensor)| {
            name.len() > MAX_NAME_BYTES || tensor.shape.len() > MAX_DIMENSIONS
        };
        if self.tensors.iter().any(is_odd) {
            return Err("it contains a tensor with more dimensions or a longer name than any supported network has".to_owned());
        }
        Ok(self)
    }

    /// The tensors of floats, sorted by name.
    pub fn named(&self) -> Vec<NamedTensor> {
        let named = |(name, tensor): (&String, &Tensor)| NamedTensor {
            name: name.clone(),
            shape: tensor.shape.clone(),
        };
        self.tensors.iter().map(named).collect()
    }
}

/// True for the path of an index, by its name.
pub fn is_index(path: &Path) -> bool {
    let path = path.to_string_lossy().to_ascii_lowercase();
    path.ends_with(INDEX_END)
}
