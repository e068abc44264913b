//! Importing models: files of weights, from Inkling or from elsewhere, and which of the supported
//! networks they belong to. Every claim of a file is checked, and nothing in it is ever executed.
//! Does not depend on windows or on where runs are saved.

mod cnn;
mod error;
mod identify;
mod onnx;
mod pickle;
mod state_dict;
mod tensor;
mod tensors;
mod trial;

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

pub use error::{ImportError, Mismatch, Trials};
pub use identify::{CLASSES, Identified, identify};
pub use tensors::{NamedTensor, Weights, is_index};
pub use trial::{MoreImages, TrialImages, Tried, choose};

use self::onnx::self_contained;
use self::tensors::{Shards, unreadable};
use self::trial::{
    Body, Candidate, Candidates, Decided, NORMALIZATIONS, calibrated, decide, trial_digits,
};
use crate::data::Split;
use crate::export::RUN_KEY;
use crate::infer::{Scores, measure};
use crate::nn::onnx::OnnxGraph;
use crate::nn::{
    CARD_KEY, FORMAT_VERSION, MAX_FILE_BYTES, ModelCard, ModelFile, Net, SafetensorsFile, is_onnx,
};
use crate::problem::Problem;
use crate::progress::Progress;
use crate::records::{
    Calibration, ImportFinding, ImportSpec, Normalization, Reading, RunPlan, RunSummary,
};
use crate::run_config::{
    Activation, Classes, DataSpec, DeviceChoice, ModelKind, Network, Precision, RunConfig,
};
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
    let malformed = |reason: String| ImportError::Malformed {
        path: spec.path.clone(),
        reason,
    };
    let (mut bytes, shards);
    let weights = if is_index(&spec.path) {
        shards = Shards::read(&spec.path)?;
        progress.report(0.0).map_err(Problem::from)?;
        bytes = Vec::new();
        Weights::open_shards(&shards).map_err(malformed)?
    } else {
        bytes = read_limited(&spec.path, MAX_FILE_BYTES).map_err(unreadable(&spec.path))?;
        progress.report(0.0).map_err(Problem::from)?;
        if is_onnx(&bytes)
            && let Cow::Owned(whole) = self_contained(&bytes, &spec.path).map_err(malformed)?
        {
            bytes = whole;
        }
        if let Ok(source) = SafetensorsFile::read(&bytes)
            && source.text(CARD_KEY).is_some()
        {
            return described(spec, &bytes, &source, progress);
        }
        Weights::open(&bytes).map_err(malformed)?
    };
    let (mut spec, mut labels) = (spec.clone(), None);
    let names_network = spec.model.is_some() || spec.layers.is_some();
    if let Some(description) = &weights.onnx {
        spec = description.described(&spec);
        labels = description.classes();
    }
    let spec = &spec;
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
    let digits = trial_digits(&mut progress.part(0.0, 0.1))?;
    let mut part = progress.part(0.1, 0.3);
    let candidates = if weights.onnx.is_some() {
        of_onnx(&weights, &bytes, spec, names_network, &digits, &mut part)?
    } else {
        Candidates {
            all: of_weights(&weights, spec, &mut part)?,
            has_channels_last: false,
        }
    };
    let Decided {
        net,
        reading,
        accuracy,
        tried_on,
        doubt,
    } = decide(
        &candidates,
        spec,
        &digits,
        more_images,
        &mut progress.part(0.3, 0.7),
    )?;
    let sure = doubt.is_none();
    if let Some(trials) = doubt.filter(|_| !spec.accept) {
        return Err(ImportError::Undecided {
            path: spec.path.clone(),
            trials: Box::new(trials),
        });
    }
    let (net, fitted) = calibrated(net, &digits, &mut progress.part(0.7, 1.0))?;
    let stored = weights.calibration;
    let model = reading.network.model();
    let data = spec.data.clone().unwrap_or_else(DataSpec::unknown);
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
        labels: labels.unwrap_or_default(),
        normalization: reading.normalization,
        calibration: Calibration {
            temperature: stored.map_or(fitted.temperature, |stored| stored.temperature),
            ..fitted
        },
        data,
        epochs: 0,
        validation_accuracy: None,
        test: None,
        config,
    };
    let calibrated = stored.is_none() && fitted.has_temperature();
    let images = tried_on.images.len() as u64;
    let finding = if model.is_trainable() {
        ImportFinding::Recognized {
            renamed: candidates.of(&reading).renamed.clone(),
            accuracy,
            images,
            tried_on: tried_on.data,
            sure,
            calibrated,
        }
    } else {
        ImportFinding::OnnxGraph {
            accuracy,
            images,
            tried_on: tried_on.data,
            sure,
            calibrated,
        }
    };
    let summary = summary(&card, &net, &spec.path);
    Ok(Imported {
        file: ModelFile { net, card },
        summary,
        finding,
    })
}

/// The networks that these weights may belong to.
fn of_weights(
    weights: &Weights<'_>,
    spec: &ImportSpec,
    progress: &mut impl Progress,
) -> Result<Vec<Candidate>, ImportError> {
    let path = || spec.path.clone();
    let identified = identify(weights.tensors(), spec.model, spec.layers);
    let identified = identified.map_err(|mismatch| ImportError::Mismatch {
        path: path(),
        mismatch: Box::new(mismatch),
    })?;
    let mut numbers = HashMap::new();
    let mut candidates = Vec::new();
    for Identified {
        network,
        names,
        renamed,
    } in identified
    {
        let mut values = Vec::new();
        for name in names {
            if !numbers.contains_key(&name) {
                let read = weights.values(&name);
                let read = read.map_err(|reason| ImportError::Malformed {
                    path: path(),
                    reason,
                })?;
                if !read.iter().all(|number| number.is_finite()) {
                    return Err(ImportError::NotFinite { path: path(), name });
                }
                numbers.insert(name.clone(), read);
                progress.report(0.0).map_err(Problem::from)?;
            }
            values.push(numbers[&name].clone());
        }
        candidates.push(Candidate {
            network,
            activation: None,
            body: Body::Weights(values),
            renamed,
        });
    }
    Ok(candidates)
}

/// Images that an ONNX file's network and those of Inkling are compared on.
const COMPARED: usize = 500;
/// The most by which a probability of the same network may differ: it adds its products in another
/// order.
const SAME_PROBABILITY: f32 = 1e-5;

/// How pixels may be normalized for a network, and for a graph that is the same: alike, or the graph
/// normalizes pixels from 0 to 1 or from 0 to 255 itself.
const PREPROCESSING: [(Normalization, &[Normalization]); 3] = {
    let [mnist, unit, half, whole] = NORMALIZATIONS;
    [
        (mnist, &[mnist, unit, whole]),
        (unit, &[whole]),
        (half, &[unit]),
    ]
};

/// The network of an ONNX file: one of Inkling's if it computes the same, otherwise as it is.
fn of_onnx(
    weights: &Weights<'_>,
    bytes: &[u8],
    spec: &ImportSpec,
    names_network: bool,
    digits: &Split,
    progress: &mut impl Progress,
) -> Result<Candidates, ImportError> {
    let own = if spec.model == Some(ModelKind::Onnx) {
        Vec::new()
    } else {
        match of_weights(weights, spec, progress) {
            Err(ImportError::Mismatch { .. }) => Vec::new(),
            own => own?,
        }
    };
    let graph = OnnxGraph::open(bytes);
    let is_one_of_them = !own.is_empty()
        && if names_network {
            // What is named needs no graph.
            graph.is_err() && spec.activation.is_some()
        } else {
            // A file that names its network was written by Inkling.
            spec.model.is_some()
        };
    if is_one_of_them {
        return Ok(Candidates {
            all: own,
            has_channels_last: false,
        });
    }
    let graph = graph.map_err(|reason| ImportError::Graph {
        path: spec.path.clone(),
        reason,
    })?;
    if graph.classes() != CLASSES {
        return Err(ImportError::Classes {
            data: "The model".to_owned(),
            given: graph.classes(),
        });
    }
    let has_channels_last = graph.has_channels_last();
    let named = spec
        .model
        .filter(|model| names_network && model.is_trainable());
    let only = match (computing_the_same(own, &graph, digits, progress)?, named) {
        (Some(same), _) => same,
        // Whoever named a network wants that one.
        (None, Some(model)) => {
            return Err(ImportError::OtherNetwork {
                path: spec.path.clone(),
                network: Network::from(model).with_layers(spec.layers).label(),
            });
        }
        (None, None) => Candidate {
            network: ModelKind::Onnx.into(),
            activation: Some(Activation::default()),
            body: Body::Graph(graph),
            renamed: Vec::new(),
        },
    };
    Ok(Candidates {
        all: vec![only],
        has_channels_last,
    })
}

/// The candidate, with the activation, that gives the same probabilities as the graph, if one does.
fn computing_the_same(
    candidates: Vec<Candidate>,
    graph: &OnnxGraph,
    digits: &Split,
    progress: &mut impl Progress,
) -> Result<Option<Candidate>, Problem> {
    // Most networks differ in these.
    let few = digits.first(2);
    let digits = digits.first(COMPARED);
    let mut logits = |net: &Net, images: &Split| -> Result<Vec<f32>, Problem> {
        let measured = measure(net, Calibration::NONE.temperature, images, progress)?;
        Ok(measured.logits().to_vec())
    };
    let graph = |normalization| Net::of_graph(graph.clone(), normalization);
    let of_few = NORMALIZATIONS
        .iter()
        .map(|&normalization| Ok((normalization, logits(&graph(normalization), &few)?)))
        .collect::<Result<Vec<_>, Problem>>()?;
    for candidate in candidates {
        for &activation in Activation::ALL {
            for (normalization, of_graph) in PREPROCESSING {
                let net = candidate.net(&Reading {
                    network: candidate.network,
                    activation,
                    normalization,
                })?;
                let own = logits(&net, &few)?;
                for (normalization, logits_of_few) in &of_few {
                    if of_graph.contains(normalization)
                        && are_same(&own, logits_of_few)
                        && are_same(
                            &logits(&net, &digits)?,
                            &logits(&graph(*normalization), &digits)?,
                        )
                    {
                        return Ok(Some(Candidate {
                            activation: Some(activation),
                            ..candidate
                        }));
                    }
                }
            }
        }
    }
    Ok(None)
}

/// Whether these logits give the same probabilities, at the temperature that the graph may have in
/// it.
fn are_same(own: &[f32], of_graph: &[f32]) -> bool {
    // What is added to all logits of an image changes no probability.
    let centered = |logits: &[f32]| -> Vec<f32> {
        let rows = logits.chunks_exact(CLASSES).flat_map(|logits| {
            let mean = logits.iter().sum::<f32>() / CLASSES as f32;
            logits.iter().map(move |logit| logit - mean)
        });
        rows.collect()
    };
    let (own, of_graph) = (centered(own), centered(of_graph));
    let product = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    let temperature = product(&own, &own) / product(&own, &of_graph);
    let probabilities = |logits, temperature| {
        Scores::of_rows(logits, CLASSES, temperature).flat_map(|scores| scores.probabilities)
    };
    temperature.is_finite()
        && temperature > 0.0
        && probabilities(&own, temperature)
            .zip(probabilities(&of_graph, Calibration::NONE.temperature))
            .all(|(own, of_graph)| (own - of_graph).abs() <= SAME_PROBABILITY)
}

/// A file that Inkling wrote: its own description counts, and not what the user says about it.
fn described(
    spec: &ImportSpec,
    bytes: &[u8],
    source: &SafetensorsFile<'_>,
    progress: &mut impl Progress,
) -> Result<Imported, ImportError> {
    let mut file = ModelFile::from_bytes(bytes, &spec.path).map_err(Problem::from)?;
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
        rate_changes: Vec::new(),
        initialization: None,
        test: None,
        machine: String::new(),
        imported: Some(path.file_name().map_or_else(
            || path.display().to_string(),
            |name| name.to_string_lossy().into_owned(),
        )),
        number: None,
        posterior_samples: 0,
        snapshots: Vec::new(),
    }
}
