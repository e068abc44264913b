//! Importing models: files of weights, from Inkling or from elsewhere, and which of the supported
//! networks they belong to. Every claim of a file is checked, and nothing in it is ever executed.
//! Does not depend on windows or on where runs are saved.

mod compare;
mod error;
mod identify;
mod onnx;
mod pickle;
mod state_dict;
mod tensors;
mod trial;

use std::path::Path;

pub use error::ImportError;
pub use identify::{CLASSES, Identified, identify};
pub use tensors::Weights;
pub use trial::{MoreImages, TrialImages, Tried, choose};

use self::tensors::Tensor;
use self::trial::{Body, Candidate, Candidates, calibrated, decide, trial_digits};
use crate::data::Split;
use crate::export::RUN_KEY;
use crate::nn::onnx::self_contained;
use crate::nn::{
    CARD_KEY, FORMAT_VERSION, MAX_FILE_BYTES, ModelCard, ModelFile, Net, SafetensorsFile, is_onnx,
};
use crate::problem::Problem;
use crate::progress::Progress;
use crate::records::{Calibration, ImportFinding, ImportSpec, RunPlan, RunSummary};
use crate::run_config::{DataSpec, DeviceChoice, ModelKind, Precision, RunConfig};
use crate::system::files::read_limited;
use crate::text::visible;

#[derive(Clone, Debug)]
pub struct Imported {
    pub file: ModelFile,
    /// Its entry among the runs; without epochs if the file does not describe any.
    pub summary: RunSummary,
    /// How the network and its settings were determined.
    pub finding: ImportFinding,
}

/// Imports a file of weights. Where trials on built-in digits leave doubt, `more_images` is asked
/// for images that the network may have learned from. `progress` gets the share that is done; an
/// error from it cancels.
pub fn import(
    spec: &ImportSpec,
    more_images: &mut MoreImages<'_>,
    progress: &mut impl Progress,
) -> Result<Imported, ImportError> {
    let path = &spec.path;
    let unreadable = |error: std::io::Error| ImportError::Unreadable {
        path: path.clone(),
        reason: error.to_string(),
    };
    let bytes = read_limited(path, MAX_FILE_BYTES).map_err(unreadable)?;
    progress.report(0.0).map_err(Problem::from)?;
    if let Ok(source) = SafetensorsFile::read(&bytes)
        && source.text(CARD_KEY).is_some()
    {
        return described(spec, &bytes, &source);
    }
    let opened = if is_onnx(&bytes) {
        self_contained(&bytes, path).and_then(|whole| Weights::open(&whole))
    } else {
        Weights::open(&bytes)
    };
    let weights = opened.map_err(|reason| ImportError::Malformed {
        path: path.clone(),
        reason,
    })?;
    drop(bytes);
    tried(spec, &weights, more_images, progress)
}

/// What these weights are found to be.
fn tried(
    spec: &ImportSpec,
    weights: &Weights,
    more_images: &mut MoreImages<'_>,
    progress: &mut impl Progress,
) -> Result<Imported, ImportError> {
    let description = weights.onnx.as_ref().map(|file| &file.description);
    let all = description.map_or_else(|| spec.clone(), |it| it.described(spec));
    // What the name of the data says counts.
    let known = all.data.as_ref().and_then(DataSpec::known_classes);
    let labels = known.or_else(|| description?.classes()).unwrap_or_default();
    if labels.len() != CLASSES {
        let data = all.data.as_ref().map(DataSpec::label);
        return Err(ImportError::Classes {
            data: data.unwrap_or_else(|| "The model".to_owned()),
            given: labels.len(),
        });
    }
    let digits = trial_digits(&mut progress.part(0.0, 0.1))?;
    let part = &mut progress.part(0.1, 0.3);
    let candidates = candidates(spec, &all, weights, &digits, part)?;
    let part = &mut progress.part(0.3, 0.7);
    let decided = decide(&candidates, &all, &digits, more_images, part)?;
    let sure = decided.doubt.is_none();
    let path = spec.path.clone();
    if let Some(trials) = decided.doubt.filter(|_| !spec.accept) {
        let trials = Box::new(trials);
        return Err(ImportError::Undecided { path, trials });
    }
    let reading = decided.reading;
    let (net, fitted) = calibrated(decided.net, &digits, &mut progress.part(0.7, 1.0))?;
    let stored = weights.calibration;
    let model = reading.network.model();
    let data = all.data.unwrap_or_else(DataSpec::unknown);
    let mut config = RunConfig {
        preset: None,
        activation: reading.activation,
        data: data.clone(),
        ..RunConfig::default()
    };
    config.set_network(reading.network);
    let card = ModelCard {
        version: FORMAT_VERSION,
        model,
        labels,
        normalization: reading.normalization,
        calibration: Calibration {
            temperature: stored.unwrap_or(fitted).temperature,
            ..fitted
        },
        data,
        epochs: 0,
        validation_accuracy: None,
        test: None,
        config,
    };
    Ok(Imported {
        summary: summary(&card, &net, &spec.path),
        file: ModelFile { net, card },
        finding: ImportFinding::Recognized {
            accuracy: decided.accuracy,
            images: decided.tried_on.images.len() as u64,
            tried_on: decided.tried_on.data,
            sure,
            calibrated: stored.is_none() && fitted.has_temperature(),
        },
    })
}

/// The networks that these weights may belong to, if `all` is known of them, and `spec` of that by
/// whoever imports them.
fn candidates<'f>(
    spec: &ImportSpec,
    all: &ImportSpec,
    weights: &'f Weights,
    digits: &Split,
    progress: &mut impl Progress,
) -> Result<Candidates<'f>, ImportError> {
    let mut own = of_weights(weights, all)?;
    let is_named = spec.model.is_some() || spec.layers.is_some();
    // A file that names its network was written by Inkling.
    let is_ours = !is_named && all.model.is_some();
    let file = match &weights.onnx {
        Some(file) if own.is_empty() || !is_ours => file,
        None if own.is_empty() => return Err(ImportError::mismatch(spec, &weights.shapes())),
        _ => {
            return Ok(Candidates {
                all: own,
                has_channels_last: false,
            });
        }
    };
    if let (None, layers @ Some(_)) = (spec.layers, file.layers) {
        let read = ImportSpec {
            layers,
            ..all.clone()
        };
        own.extend(of_weights(weights, &read)?);
    }
    let graph = file.graph.as_ref().map_err(|reason| ImportError::Graph {
        path: spec.path.clone(),
        reason: reason.clone(),
    })?;
    compare::networks_of(graph, own, spec, digits, progress)
}

/// Those of Inkling's networks whose weights these may be.
fn of_weights<'f>(
    weights: &'f Weights,
    spec: &ImportSpec,
) -> Result<Vec<Candidate<'f>>, ImportError> {
    let identified = identify(weights.shapes(), spec.model, spec.layers);
    let is_finite = |tensor: &Tensor| tensor.values.iter().all(|value| value.is_finite());
    let mut tensors = weights.tensors.iter();
    if !identified.is_empty()
        && let Some((name, _)) = tensors.find(|(_, tensor)| !is_finite(tensor))
    {
        let (path, name) = (spec.path.clone(), name.clone());
        return Err(ImportError::NotFinite { path, name });
    }
    let candidate = |identified: Identified| {
        let values = |name: &String| &*weights.tensors[name].values;
        let network = identified.network;
        Candidate {
            network,
            // Without a hidden layer there is none, and any stands for all.
            activation: (network.model() == ModelKind::Linear)
                .then(|| spec.activation.unwrap_or_default()),
            body: Body::Weights(identified.names.iter().map(values).collect()),
        }
    };
    Ok(identified.into_iter().map(candidate).collect())
}

/// A file that Inkling wrote: its own description counts, and not what the user says about it.
fn described(
    spec: &ImportSpec,
    bytes: &[u8],
    source: &SafetensorsFile<'_>,
) -> Result<Imported, ImportError> {
    let mut file = ModelFile::from_bytes(bytes, &spec.path).map_err(Problem::from)?;
    let stored = source
        .text(RUN_KEY)
        .and_then(|run| serde_json::from_str::<RunSummary>(run).ok());
    let stored = stored.filter(|run| run.config == file.card.config);
    // Its paths are those of the machine it comes from, and here no more than names.
    let card = &mut file.card;
    (card.data, card.config) = (card.data.without_folders(), card.config.without_folders());
    let mut summary = summary(&file.card, &file.net, &spec.path);
    if let Some(run) = stored {
        summary = RunSummary {
            config: run.config.without_folders(),
            machine: visible::label(&run.machine),
            finished_at: visible::label(&run.finished_at),
            imported: summary.imported,
            number: None,
            posterior_samples: 0,
            snapshots: Vec::new(),
            ..run
        };
    }
    Ok(Imported {
        file,
        summary,
        finding: ImportFinding::Described,
    })
}

/// The entry of a model whose run is not known.
fn summary(card: &ModelCard, net: &Net, path: &Path) -> RunSummary {
    let plan = RunPlan {
        train_images: 0,
        validation_images: 0,
        test_images: 0,
        parameters: net.parameter_count(),
        classes: card.labels.clone(),
        steps_per_epoch: 0,
        total_steps: 0,
        device: DeviceChoice::Cpu,
        precision: Precision::F32,
        threads: 1,
    };
    let name = path.file_name().unwrap_or(path.as_os_str());
    RunSummary {
        imported: Some(name.to_string_lossy().into_owned()),
        ..RunSummary::new(card.config.clone(), plan)
    }
}
