//! Importing models: files of weights, from Inkling or from elsewhere, and which of the supported
//! networks they belong to. Every claim of a file is checked, and nothing in it is ever executed.
//! Does not depend on windows or on where runs are saved.

mod cnn;
mod error;
mod identify;
mod onnx;
mod pickle;
mod readings;
mod state_dict;
mod tensors;
mod trial;
mod tried;
mod variant;

use std::path::{Path, PathBuf};

pub use cnn::Convolution;
pub use error::{ImportError, Mismatch, Trials, WrongShape};
pub use identify::{CLASSES, Identified, Known, identify};
pub use tensors::{NamedTensor, Weights, is_index};
pub use trial::{MoreImages, TrialImages};
pub use tried::{Tried, choose};

use self::readings::Candidate;
use self::tensors::Shards;
use self::trial::{Decided, Trial};
use crate::export::RUN_KEY;
use crate::nn::onnx::OnnxGraph;
use crate::nn::{
    CARD_KEY, FORMAT_VERSION, MAX_FILE_BYTES, ModelCard, ModelFile, Net, SafetensorsFile,
};
use crate::progress::Progress;
use crate::records::{Calibration, ImportFinding, ImportSpec, RunPlan, RunSummary};
use crate::run_config::{Classes, DataSpec, DeviceChoice, ModelKind, Precision, RunConfig};
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
    let unreadable = |error: std::io::Error| ImportError::Unreadable {
        path: spec.path.clone(),
        reason: error.to_string(),
    };
    let malformed = |reason: String| ImportError::Malformed {
        path: spec.path.clone(),
        reason,
    };
    let (bytes, shards);
    let mut weights = if is_index(&spec.path) {
        shards = Shards::read(&spec.path)?;
        progress.report(0.0)?;
        bytes = Vec::new();
        Weights::open_shards(&shards).map_err(malformed)?
    } else {
        bytes = read_limited(&spec.path, MAX_FILE_BYTES).map_err(unreadable)?;
        progress.report(0.0)?;
        Weights::open(&bytes).map_err(malformed)?
    };
    if let Weights::Safetensors(file) = &weights
        && file.text(CARD_KEY).is_some()
    {
        return described(spec, &bytes, file, progress);
    }
    let described;
    let (mut spec, mut labels) = (spec, None);
    let names_network = spec.model.is_some_and(ModelKind::is_trainable) || spec.layers.is_some();
    if let Weights::Onnx(file) = &weights {
        described = file.described(spec);
        labels = file.classes();
        spec = &described;
    }
    // What the name of the data says counts.
    labels = spec
        .data
        .as_ref()
        .and_then(DataSpec::known_classes)
        .or(labels);
    if let Some(given) = labels
        .as_ref()
        .map(Classes::len)
        .filter(|given| *given != CLASSES)
    {
        let data = spec
            .data
            .as_ref()
            .map_or_else(|| "The model".to_owned(), DataSpec::label);
        return Err(ImportError::Classes { data, given });
    }
    let mut found = of_weights(
        &mut weights,
        spec,
        more_images,
        &mut progress.part(0.0, 0.8),
    );
    // Whoever named the network wants that one.
    if matches!(weights, Weights::Onnx(_)) && !names_network && is_open(&found, spec) {
        found = of_graph(
            &bytes,
            spec,
            found,
            more_images,
            &mut progress.part(0.0, 0.8),
        );
    }
    let Found { decided, renamed } = found?;
    if let Some(trials) = decided.refusal().filter(|_| !spec.accept) {
        return Err(ImportError::Undecided {
            path: spec.path.clone(),
            trials: Box::new(trials.clone()),
        });
    }
    let trial = decided.trial(&mut progress.part(0.8, 1.0))?;
    let network = trial.net.network();
    let data = spec.data.clone().unwrap_or_else(DataSpec::unknown);
    let mut config = RunConfig {
        preset: None,
        activation: trial.activation,
        data: data.clone(),
        ..RunConfig::default()
    };
    config.set_network(network);
    let card = ModelCard {
        version: FORMAT_VERSION,
        model: network.model(),
        labels: labels.unwrap_or_default(),
        normalization: trial.net.normalization(),
        calibration: weights
            .calibration()
            .map_or(trial.calibration, |stored| Calibration {
                temperature: stored.temperature,
                ..trial.calibration
            }),
        data,
        epochs: 0,
        validation_accuracy: None,
        test: None,
        config,
    };
    let calibrated = weights.calibration().is_none() && trial.calibration.has_temperature();
    let summary = summary(&card, &trial.net, &spec.path);
    let Trial {
        net,
        accuracy,
        images,
        tried_on,
        sure,
        ..
    } = trial;
    let finding = if network.model().is_trainable() {
        ImportFinding::Recognised {
            renamed,
            accuracy,
            images,
            tried_on,
            sure,
            calibrated,
        }
    } else {
        ImportFinding::OnnxGraph {
            accuracy,
            images,
            tried_on,
            sure,
            calibrated,
        }
    };
    Ok(Imported {
        file: ModelFile { net, card },
        summary,
        finding,
    })
}

/// A network that was found, with its settings, and the weights whose names differ.
struct Found {
    decided: Decided,
    renamed: Vec<(String, String)>,
}

/// The network that these weights belong to.
fn of_weights(
    weights: &mut Weights<'_>,
    spec: &ImportSpec,
    more_images: &mut MoreImages<'_>,
    progress: &mut impl Progress,
) -> Result<Found, ImportError> {
    let malformed = |reason: String| ImportError::Malformed {
        path: spec.path.clone(),
        reason,
    };
    let mismatch = |mismatch: Mismatch| ImportError::Mismatch {
        path: spec.path.clone(),
        mismatch: Box::new(mismatch),
    };
    let convolutions = if let Weights::Onnx(file) = &weights {
        file.convolutions()
    } else {
        None
    };
    let known = Known {
        model: spec.model,
        layers: spec.layers,
        convolutions,
    };
    let Identified {
        network,
        others,
        names,
        renamed,
    } = identify(weights.tensors(), known).map_err(mismatch)?;
    let mut values = Vec::new();
    for name in names {
        let numbers = weights.values(&name).map_err(malformed)?;
        if !numbers.iter().all(|number| number.is_finite()) {
            return Err(mismatch(Mismatch::not_finite(network.model(), name)));
        }
        values.push(numbers);
        progress.report(0.0)?;
    }
    Ok(Found {
        decided: trial::find_network((network, &others), &values, spec, more_images, progress)?,
        renamed,
    })
}

/// Whether the weights of an ONNX file leave open which network it has. Weights that are unusable
/// are so in any network.
fn is_open(found: &Result<Found, ImportError>, spec: &ImportSpec) -> bool {
    match found {
        // A file that names its network was written by Inkling.
        Ok(found) => found.decided.doubt.is_some() && spec.model.is_none(),
        Err(ImportError::Mismatch { mismatch, .. }) => mismatch.not_finite.is_none(),
        Err(_) => false,
    }
}

/// The graph of the ONNX file with these bytes, unless it computes the same as the network that was
/// found by its weights.
fn of_graph(
    bytes: &[u8],
    spec: &ImportSpec,
    found: Result<Found, ImportError>,
    more_images: &mut MoreImages<'_>,
    progress: &mut impl Progress,
) -> Result<Found, ImportError> {
    let graph = match OnnxGraph::open(bytes) {
        Ok(graph) if graph.classes() == CLASSES => graph,
        Ok(graph) => {
            return Err(ImportError::Classes {
                data: "The model".to_owned(),
                given: graph.classes(),
            });
        }
        // What was measured says more than that something else cannot be computed.
        Err(_) if found.is_ok() => return found,
        Err(reason) => {
            return Err(ImportError::Graph {
                path: spec.path.clone(),
                reason,
            });
        }
    };
    if let Ok(Found {
        mut decided,
        renamed,
    }) = found
        && decided.computes_the_same_as(&graph, &mut progress.part(0.0, 0.1))?
    {
        decided.rule_out_other_layers();
        return Ok(Found { decided, renamed });
    }
    let decided =
        trial::find_normalization(&graph, spec, more_images, &mut progress.part(0.1, 1.0))?;
    Ok(Found {
        decided,
        renamed: Vec::new(),
    })
}

/// A file that Inkling wrote: its own description counts, and not what the user says about it.
fn described(
    spec: &ImportSpec,
    bytes: &[u8],
    source: &SafetensorsFile<'_>,
    progress: &mut impl Progress,
) -> Result<Imported, ImportError> {
    let mut file = ModelFile::from_bytes(bytes, &spec.path)?;
    let stored = source
        .text(RUN_KEY)
        .and_then(|run| serde_json::from_str::<RunSummary>(run).ok());
    let stored = stored.filter(|run| run.config == file.card.config);
    let fitted = if file.card.calibration.has_temperature() {
        None
    } else {
        trial::temperature(&file.net, progress)?
    };
    let calibrated = fitted.is_some();
    if let Some(temperature) = fitted {
        file.card.calibration.temperature = temperature;
    }
    // Its paths are those of the machine it comes from, and here no more than names.
    let card = &mut file.card;
    (card.data, card.config) = (card.data.without_folders(), card.config.without_folders());
    let from_card = summary(&file.card, &file.net, &spec.path);
    let summary = stored.map_or_else(
        || from_card.clone(),
        |run| RunSummary {
            config: run.config.without_folders(),
            machine: visible::label(&run.machine),
            finished_at: visible::label(&run.finished_at),
            imported: from_card.imported.clone(),
            number: None,
            posterior_samples: 0,
            ..run
        },
    );
    Ok(Imported {
        file,
        summary,
        finding: ImportFinding::Described { calibrated },
    })
}

/// The entry of a model whose run is not known.
fn summary(card: &ModelCard, net: &Net, path: &Path) -> RunSummary {
    RunSummary {
        config: card.config.clone(),
        plan: RunPlan {
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
        },
        folder: PathBuf::new(),
        model_path: PathBuf::new(),
        finished_at: jiff::Timestamp::now().to_string(),
        stopped: false,
        stopped_early: false,
        kept_epoch: None,
        epochs: Vec::new(),
        train_seconds: 0.0,
        images_per_second: 0.0,
        initialization: None,
        test: None,
        machine: String::new(),
        imported: Some(path.file_name().map_or_else(
            || path.display().to_string(),
            |name| name.to_string_lossy().into_owned(),
        )),
        number: None,
        posterior_samples: 0,
    }
}

impl From<candle_core::Error> for ImportError {
    fn from(error: candle_core::Error) -> Self {
        crate::nn::ComputeError::from(error).into()
    }
}
