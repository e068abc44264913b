//! Model files: safetensors with `PyTorch`'s names and layouts, and a model card (JSON) in the
//! metadata.

use std::collections::HashMap;
use std::io::Cursor;
use std::path::Path;

use candle_core::{DType, Device, Tensor};
use safetensors::Dtype;
use serde::{Deserialize, Serialize};

use super::digit_detector::{DigitDetector, TENSORS as DETECTOR_TENSORS};
use super::onnx::OnnxGraph;
use super::safetensors_file::{DIGEST_KEY, SafetensorsFile};
use super::{ComputeError, Mode, ModelError, Net, parameter_specs};
use crate::ink::PIXELS;
use crate::records::{Accuracy, Calibration, Normalization};
use crate::run_config::{Classes, DataSpec, ModelKind, Network, RunConfig, WeightFormat};
use crate::system::files::read_limited;

/// The version written into model files; newer ones are refused.
pub const FORMAT_VERSION: u32 = 1;

/// Larger files are refused unread: the largest network that can be trained has 40 MB.
pub const MAX_FILE_BYTES: u64 = 64 << 20;

/// Longer model cards are refused: ours have about a thousand characters, and a few paths.
const MAX_CARD_BYTES: usize = 64 << 10;
/// The name under which a model file has the bytes of an ONNX file, if that is its network.
const ONNX_TENSOR: &str = "onnx";
/// The first bytes of a zip archive.
const ZIP: &[u8] = b"PK\x03\x04";
/// The key of the model card in the metadata.
pub const CARD_KEY: &str = "inkling";

/// The metadata of a model file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelCard {
    pub version: u32,
    pub model: ModelKind,
    /// The class of each logit.
    pub labels: Classes,
    /// Applied to pixels before the first layer.
    pub normalization: Normalization,
    /// Fitted on the validation split for these weights.
    #[serde(flatten)]
    pub calibration: Calibration,
    pub data: DataSpec,
    pub epochs: u32,
    /// Accuracy on the validation split after the last of them, if it was measured.
    pub validation_accuracy: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<Accuracy>,
    pub config: RunConfig,
}

impl ModelCard {
    pub fn network(&self) -> Network {
        Network::new(self.model, self.config.widths).with_layers(self.config.layers)
    }

    /// See [`Accuracy::of_model`].
    pub fn accuracy(&self) -> Option<Accuracy> {
        Accuracy::of_model(
            self.test.clone(),
            self.validation_accuracy,
            None,
            &self.data,
        )
    }
}

/// A model as it is stored: weights and what they are.
#[derive(Clone, Debug)]
pub struct ModelFile {
    pub net: Net,
    pub card: ModelCard,
}

impl ModelFile {
    pub fn to_bytes(&self, format: WeightFormat) -> Result<Vec<u8>, ComputeError> {
        self.to_bytes_with(format, Vec::new())
    }

    /// The same with these names and values beside the card in the metadata, and a digest over all
    /// of it. The same model and metadata always give the same bytes.
    pub fn to_bytes_with(
        &self,
        format: WeightFormat,
        metadata: Vec<(String, String)>,
    ) -> Result<Vec<u8>, ComputeError> {
        let dtype = match format {
            WeightFormat::F32 => DType::F32,
            WeightFormat::F16 => DType::F16,
        };
        let weights = self
            .net
            .parameters()
            .iter()
            .map(|parameter| Ok((parameter.name(), parameter.tensor().to_dtype(dtype)?)));
        let detector = self
            .net
            .digit_detector()
            .into_iter()
            .flat_map(DigitDetector::tensors);
        let detector = detector.map(|(name, shape, values)| {
            Ok((
                name,
                Tensor::from_slice(values, shape, &Device::Cpu)?.to_dtype(dtype)?,
            ))
        });
        let graph = self.net.graph().map(|graph| {
            let bytes = graph.bytes();
            Ok((
                ONNX_TENSOR,
                Tensor::from_slice(bytes, bytes.len(), &Device::Cpu)?,
            ))
        });
        let tensors = weights
            .chain(detector)
            .chain(graph)
            .collect::<candle_core::Result<Vec<_>>>()?;
        let card =
            serde_json::to_string(&self.card).map_err(|error| ComputeError::failed(&error))?;
        let mut metadata = metadata
            .into_iter()
            .chain([(CARD_KEY.to_owned(), card)])
            .collect::<HashMap<_, _>>();
        let write = |metadata: &HashMap<String, String>| {
            safetensors::serialize(
                tensors.iter().map(|(name, tensor)| (name, tensor)),
                Some(metadata.clone()),
            )
        };
        let bytes = write(&metadata).map_err(|error| ComputeError::failed(&error))?;
        let digest = SafetensorsFile::read(&bytes)
            .map_err(|reason| ComputeError::failed(&reason))?
            .digest();
        metadata.insert(DIGEST_KEY.to_owned(), digest);
        let mut bytes = write(&metadata).map_err(|error| ComputeError::failed(&error))?;
        sort_header(&mut bytes);
        Ok(bytes)
    }

    pub fn load(path: &Path) -> Result<Self, ModelError> {
        let unreadable = |error: std::io::Error| ModelError::Unreadable {
            path: path.to_owned(),
            reason: error.to_string(),
        };
        Self::from_bytes(
            &read_limited(path, MAX_FILE_BYTES).map_err(unreadable)?,
            path,
        )
    }

    /// Reads a model from the bytes of its file; errors name `path`.
    pub fn from_bytes(bytes: &[u8], path: &Path) -> Result<Self, ModelError> {
        let path = || path.to_owned();
        parse(bytes).map_err(|reason| {
            if is_foreign(bytes) {
                ModelError::Foreign { path: path() }
            } else {
                ModelError::Malformed {
                    path: path(),
                    reason,
                }
            }
        })
    }
}

/// Whether these bytes begin as an ONNX file does: with the version of the format, and another
/// field that comes before the network.
pub fn is_onnx(bytes: &[u8]) -> bool {
    matches!(
        bytes,
        [0x08, _, 0x12 | 0x1A | 0x22 | 0x28 | 0x32 | 0x3A | 0x42, ..]
    )
}

/// Whether this is a file of weights that another program saved, or that is not for reading back:
/// safetensors without a model card, an ONNX file, or what `torch.save` writes, which is an
/// archive, and was a pickle before `PyTorch` 1.6.
fn is_foreign(bytes: &[u8]) -> bool {
    if matches!(bytes, [0x80, 2..=5, ..]) || is_onnx(bytes) {
        return true;
    }
    if bytes.starts_with(ZIP) {
        let archive = zip::ZipArchive::new(Cursor::new(bytes));
        return archive.is_ok_and(|archive| {
            archive
                .file_names()
                .flatten()
                .any(|name| name.ends_with("data.pkl"))
        });
    }
    SafetensorsFile::read(bytes).is_ok_and(|file| file.text(CARD_KEY).is_none())
}

/// Puts the names in the header of a safetensors file in order: the library leaves them in the
/// order of a hash map, different every time.
fn sort_header(bytes: &mut [u8]) {
    let Some((length, rest)) = bytes.split_first_chunk_mut::<8>() else {
        return;
    };
    let Some(header) = rest.get_mut(..u64::from_le_bytes(*length) as usize) else {
        return;
    };
    // A map of JSON values is sorted by name. Nothing else changes, so neither does the length, but
    // for the padding at the end.
    let sorted = serde_json::from_slice::<serde_json::Value>(header)
        .and_then(|header| serde_json::to_vec(&header));
    if let Ok(sorted) = sorted
        && sorted.len() <= header.len()
    {
        header.fill(b' ');
        header[..sorted.len()].copy_from_slice(&sorted);
    }
}

/// Every claim of the file is checked before it is used.
fn parse(bytes: &[u8]) -> Result<ModelFile, String> {
    let file = SafetensorsFile::read(bytes)?;
    let card = read_card(file.text(CARD_KEY).ok_or("it has no Inkling metadata")?)?;
    let classes = card.labels.len();
    let expected = parameter_specs(card.network(), classes);
    let of_detector = file
        .tensors()
        .filter(|(name, ..)| DETECTOR_TENSORS.contains(name))
        .count();
    let of_graph = usize::from(card.model == ModelKind::Onnx);
    let found = file.tensors().len() - of_detector;
    if found != expected.len() + of_graph {
        return Err(format!(
            "it has {found} weights, but {} has {}",
            card.network().label(),
            expected.len() + of_graph
        ));
    }
    let parameters = expected
        .into_iter()
        .map(|spec| {
            let name = &spec.name;
            let tensor = file
                .tensor(name)
                .ok_or_else(|| format!("the weight {name} is missing"))?;
            let values = read_values(name, &spec.shape, tensor)?;
            spec.with_values(values).map_err(|error| error.to_string())
        })
        .collect::<Result<_, String>>()?;
    let net = match card.model {
        ModelKind::Onnx => Net::of_graph(read_graph(&file, classes)?, card.normalization),
        _ => Net::from_parameters(
            card.network(),
            card.config.activation,
            classes,
            card.normalization,
            parameters,
        ),
    };
    check_logits(&net)?;
    let digit_detector = if of_detector > 0 {
        Some(read_detector(&file, &net)?)
    } else {
        None
    };
    Ok(ModelFile {
        net: net.with_digit_detector(digit_detector),
        card,
    })
}

/// The network of the ONNX file in this one.
fn read_graph(file: &SafetensorsFile, classes: usize) -> Result<OnnxGraph, String> {
    let Some((Dtype::U8, _, bytes)) = file.tensor(ONNX_TENSOR) else {
        return Err("its network is missing".to_owned());
    };
    let graph = OnnxGraph::open(bytes)?;
    let found = graph.classes();
    if found == classes {
        Ok(graph)
    } else {
        Err(format!(
            "its network distinguishes {found} classes instead of {classes}"
        ))
    }
}

/// The detector in a file that has some of its tensors.
fn read_detector(file: &SafetensorsFile, net: &Net) -> Result<DigitDetector, String> {
    let (features, logits) = net
        .features_and_logits(&[0; PIXELS])
        .map_err(|error| error.to_string())?;
    let inputs = features.elem_count() + logits.elem_count();
    let mut values = [const { Vec::new() }; 4];
    for ((values, name), shape) in values
        .iter_mut()
        .zip(DETECTOR_TENSORS)
        .zip(DigitDetector::shapes(inputs))
    {
        let tensor = file
            .tensor(name)
            .ok_or_else(|| format!("the weight {name} is missing"))?;
        *values = read_values(name, &shape, tensor)?;
    }
    Ok(DigitDetector::new(values, inputs))
}

/// Finite weights can still be so large, or a variance so wrong, that no image gives probabilities.
fn check_logits(net: &Net) -> Result<(), String> {
    let images = [[0; PIXELS], [255; PIXELS]].concat();
    let logits = net
        .forward(&images, Mode::Eval)
        .and_then(|logits| logits.flatten_all()?.to_vec1::<f32>());
    match logits {
        Ok(logits) if logits.iter().all(|logit| logit.is_finite()) => Ok(()),
        Ok(_) => Err("its weights give no valid probabilities".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

fn read_card(text: &str) -> Result<ModelCard, String> {
    /// Read on its own first, so that a newer format is called that and not damaged.
    #[derive(Deserialize)]
    struct Version {
        version: u32,
    }
    if text.len() > MAX_CARD_BYTES {
        return Err("its Inkling metadata is longer than any model needs".to_owned());
    }
    let damaged = |error: serde_json::Error| format!("its Inkling metadata is damaged ({error})");
    let Version { version } = serde_json::from_str(text).map_err(damaged)?;
    if version > FORMAT_VERSION {
        return Err(format!(
            "it has format version {version}, which is newer than this Inkling supports ({FORMAT_VERSION})"
        ));
    }
    let card: ModelCard = serde_json::from_str(text).map_err(damaged)?;
    let Normalization { mean, std } = card.normalization;
    if !(mean.is_finite() && std.is_finite() && std > 0.0 && card.calibration.is_valid()) {
        return Err(
            "its normalization, its temperature or its digit threshold is invalid".to_owned(),
        );
    }
    let classes = &card.labels;
    if let Some(known) = card.data.known_classes()
        && known != *classes
    {
        let names = classes.names().collect::<Vec<_>>().join(", ");
        return Err(format!(
            "its classes are {names}, and not the {} of {}",
            known.plural(),
            card.data.label()
        ));
    }
    Ok(card)
}

fn read_values(
    name: &str,
    shape: &[usize],
    (dtype, found, bytes): (Dtype, &[usize], &[u8]),
) -> Result<Vec<f32>, String> {
    if found != shape {
        return Err(format!(
            "the weight {name} has shape {found:?} instead of {shape:?}"
        ));
    }
    let dtype = match dtype {
        Dtype::F32 => DType::F32,
        Dtype::F16 => DType::F16,
        other => {
            return Err(format!(
                "the weight {name} is stored as {other:?}, which is not supported"
            ));
        }
    };
    let values = Tensor::from_raw_buffer(bytes, dtype, shape, &Device::Cpu)
        .and_then(|tensor| tensor.to_dtype(DType::F32)?.flatten_all()?.to_vec1::<f32>())
        .map_err(|error| format!("the weight {name}: {error}"))?;
    if values.iter().any(|value| !value.is_finite()) {
        return Err(format!("the weight {name} contains NaN or infinite values"));
    }
    Ok(values)
}
