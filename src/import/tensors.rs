//! The named tensors of a file: safetensors, a `PyTorch` state dict, or an ONNX file.

use std::collections::BTreeMap;

use super::onnx::{self, OnnxFile};
use super::state_dict;
use crate::nn::{SafetensorsFile, floats, is_onnx};
use crate::records::Calibration;

/// More tensors than any supported network has.
const MAX_TENSORS: usize = 10_000;
/// Bytes of a name; those of large networks elsewhere have about a hundred.
const MAX_NAME_BYTES: usize = 500;
pub const MAX_DIMENSIONS: usize = 8;

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
    if begins.windows(SKLEARN.len()).any(|part| part == SKLEARN) {
        "it is a model of scikit-learn, and these are not imported; of an MLPClassifier, coefs_ (transposed) and intercepts_ can be saved with torch.save as the state_dict() of a torch.nn.Sequential"
    } else {
        "it is a pickle of Python, and these are not imported; if PyTorch wrote it, load it there and save its state_dict() again"
    }
}

impl Weights {
    /// Opens the file with these bytes. Errors say what it is instead, if that can be told.
    pub fn open(bytes: &[u8]) -> Result<Self, String> {
        let weights = match bytes {
            // The header, which is JSON, comes after its length, whose first bytes may be any.
            [_, _, _, _, 0, 0, 0, 0, b'{', ..] => Self::of_safetensors(bytes),
            [b'P', b'K', 3, 4, ..] => state_dict::open(bytes),
            [0x80, 2..=5, ..] => Err(pickled(bytes).to_owned()),
            _ if is_onnx(bytes) => onnx::open(bytes),
            [0x89, b'H', b'D', b'F', ..] => Err(KERAS.to_owned()),
            _ => Err(
                "it is neither a safetensors file nor a PyTorch state dict nor an ONNX file"
                    .to_owned(),
            ),
        }?;
        // What an ONNX file computes without weights of the usual kind, its graph tells.
        if weights.tensors.is_empty() && weights.onnx.is_none() {
            return Err("it contains no tensors".to_owned());
        }
        let is_odd = |(name, tensor): (&String, &Tensor)| {
            name.len() > MAX_NAME_BYTES || tensor.shape.len() > MAX_DIMENSIONS
        };
        if weights.tensors.len() > MAX_TENSORS || weights.tensors.iter().any(is_odd) {
            return Err("it contains more tensors, or one with more dimensions or a longer name, than any supported network has".to_owned());
        }
        Ok(weights)
    }

    /// The tensors of floats: counters and the like are not weights.
    fn of_safetensors(bytes: &[u8]) -> Result<Self, String> {
        let file = SafetensorsFile::read(bytes)?;
        let tensor = |(name, dtype, shape): (&str, _, &[usize])| {
            let values = floats(dtype, file.tensor(name)?.2)?;
            let shape = shape.to_vec();
            Some((name.to_owned(), Tensor { shape, values }))
        };
        Ok(Self {
            tensors: file.tensors().filter_map(tensor).collect(),
            ..Self::default()
        })
    }

    /// The names and shapes of the tensors, sorted by name.
    pub fn shapes(&self) -> Vec<(&str, &[usize])> {
        let tensors = self.tensors.iter();
        tensors.map(|(name, it)| (&**name, &*it.shape)).collect()
    }
}
