use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::problem::{Code, Explain, Problem, sentence};
use crate::records::{Doubt, MeasuredReading, Reading};
use crate::run_config::{DataSpec, ModelKind, Network};
use crate::system::NotRegular;
use crate::text::format::{grouped, joined, percent};

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    #[error("{path} could not be read: {}", sentence(reason))]
    Unreadable { path: PathBuf, reason: String },
    #[error(
        "{path} does not contain weights that Inkling can read: {}",
        sentence(reason)
    )]
    Malformed { path: PathBuf, reason: String },
    #[error(
        "The weights in {path} do not match any network that Inkling supports. Closest match: {}. Differences: {}.",
        mismatch.closest.label(), mismatch.differences()
    )]
    Mismatch {
        path: PathBuf,
        mismatch: Box<Mismatch>,
    },
    #[error("The weights in {path} cannot be used: {name} contains NaN or infinite values.")]
    NotFinite { path: PathBuf, name: String },
    /// It is an ONNX file whose network is not one of those known here, and cannot be computed as
    /// it is.
    #[error(
        "Inkling can neither train nor run the network in {path}: {}",
        sentence(reason)
    )]
    Graph { path: PathBuf, reason: String },
    #[error("{path} does not contain {network}: its network computes something else.")]
    OtherNetwork { path: PathBuf, network: String },
    /// They fit a network, but how it was built cannot be told, or not as Inkling builds it.
    #[error("{}", undecided(path, trials))]
    Undecided { path: PathBuf, trials: Box<Trials> },
    #[error("{data} has {given} classes, and only networks with ten classes can be imported.")]
    Classes { data: String, given: usize },
    /// What Inkling made of it could not be used or tried out, or it was cancelled.
    #[error("{}", .0.message.what)]
    Other(#[from] Problem),
}

impl Explain for ImportError {
    fn remedy(&self) -> String {
        match self {
            Self::Unreadable { reason, .. } => NotRegular::remedy(reason).to_owned(),
            Self::Malformed { .. } => "Choose a safetensors file, a file written by torch.save(model.state_dict(), …), or an ONNX file.".to_owned(),
            Self::NotFinite { .. } => {
                "The source network diverged during training; retrain it with a lower learning rate.".to_owned()
            }
            Self::Mismatch { .. } => format!("{EXPORT_AS_ONNX} Inkling computes networks of any layers then. To train it here, build it like one of these: {}.", all_models()),
            Self::Graph { .. } => format!("Export it again for one 28x28 image and ten classes, with an older operator set if it has an operator that is not supported (in PyTorch, add `dynamo=False, opset_version=17`), or train one of these: {}.", all_models()),
            Self::OtherNetwork { .. } => "Import it without naming a network: Inkling computes it as it is.".to_owned(),
            Self::Undecided { trials, .. } => how_to_decide(trials),
            Self::Classes { .. } => "Leave out the training data set, or import the weights of a network with ten classes.".to_owned(),
            Self::Other(problem) => problem.message.remedy.clone(),
        }
    }

    fn code(&self) -> Code {
        match self {
            Self::Other(problem) => problem.code.clone(),
            _ => Code::Other,
        }
    }
}

fn all_models() -> String {
    joined(ModelKind::ALL.iter().map(|model| model.label()), ", ")
}

/// What was measured of weights, and why it decides nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trials {
    pub doubt: Doubt,
    /// How many images each reading was tried on.
    pub images: u64,
    pub tried_on: DataSpec,
    /// The readings that matter, first the one that is offered.
    pub readings: Vec<MeasuredReading>,
}

impl Eq for Trials {}

impl Trials {
    /// A reading in words: what is open of it.
    pub fn describe(&self, reading: &Reading) -> String {
        let pixels = reading.normalization_sentence();
        if !reading.network.model().is_trainable() {
            return pixels;
        }
        // The layers of a CNN are never certain.
        let is_open = reading.network.model() == ModelKind::Cnn
            || self
                .readings
                .iter()
                .any(|other| other.reading.network != reading.network);
        let network = is_open.then(|| reading.network.label());
        let parts = [
            network,
            Some(reading.activation.label().to_owned()),
            Some(pixels),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// What can be done if the network is built in none of these ways.
    pub fn otherwise(&self) -> Option<&'static str> {
        self.network()
            .model()
            .is_trainable()
            .then_some(EXPORT_AS_ONNX)
    }

    fn network(&self) -> Network {
        self.readings.first().map_or_else(
            || ModelKind::Onnx.into(),
            |measured| measured.reading.network,
        )
    }
}

/// What stands between a file's weights and the network they resemble most: a weight of either, with
/// its shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    pub closest: ModelKind,
    /// Weights with its names but not its shapes.
    pub wrong: Vec<String>,
    /// Weights it has and the file has not.
    pub missing: Vec<String>,
    /// Weights the file has and it has not.
    pub unexpected: Vec<String>,
}

impl Mismatch {
    fn differences(&self) -> String {
        let parts = [
            ("wrong shape", &self.wrong),
            ("missing", &self.missing),
            ("unexpected", &self.unexpected),
        ];
        let part = |(kind, weights): (&str, &Vec<String>)| format!("{kind}: {}", some(weights));
        let parts = parts.into_iter().filter(|(_, weights)| !weights.is_empty());
        joined(parts.map(part), "; ")
    }
}

/// The first items of a list, and how many more there are.
fn some(items: &[String]) -> String {
    const FEW: usize = 6;
    match items.split_at_checked(FEW) {
        Some((shown, rest)) if !rest.is_empty() => {
            format!("{} and {} more", shown.join(", "), rest.len())
        }
        _ => items.join(", "),
    }
}

/// "1,000 built-in digits", "1,000 training images of MNIST".
fn trial_images(images: u64, data: &DataSpec) -> String {
    let images = grouped(images);
    if *data == DataSpec::builtin() {
        format!("{images} built-in digits")
    } else {
        format!("{images} training images of {}", data.label())
    }
}

/// What was measured of weights that were not imported.
fn undecided(path: &Path, trials: &Trials) -> String {
    let why = match trials.doubt {
        Doubt::Close => "several interpretations are equally accurate",
        Doubt::LowAccuracy => {
            "all interpretations have too low an accuracy to tell how the network was built"
        }
    };
    let measured = |it: &MeasuredReading| {
        format!(
            "{} with {}",
            percent(it.accuracy, 1),
            trials.describe(&it.reading)
        )
    };
    let readings: Vec<String> = trials.readings.iter().map(measured).collect();
    let network = trials.network();
    let reason = if network.model().is_trainable() {
        format!("its weights fit {}, but {why}", network.model().label())
    } else {
        "it is not clear how its network expects pixels to be normalized".to_owned()
    };
    format!(
        "{} was not imported: {reason}. Accuracy on {}: {}.",
        path.display(),
        trial_images(trials.images, &trials.tried_on),
        readings.join("; ")
    )
}

fn how_to_decide(trials: &Trials) -> String {
    // It has learned from MNIST most likely.
    let download = if trials.tried_on == DataSpec::builtin() {
        "Download MNIST, which networks are usually trained on, and import it again: its images usually settle which is right. "
    } else {
        ""
    };
    let network = trials.network().model();
    let options = match network {
        ModelKind::Onnx => "--mean and --std",
        ModelKind::Cnn => "--layers, --activation, --mean and --std",
        _ => "--network, --activation, --mean and --std",
    };
    let offered = trials
        .readings
        .first()
        .map_or_else(String::new, |measured| trials.describe(&measured.reading));
    let onnx = trials
        .otherwise()
        .map_or_else(String::new, |otherwise| format!(" {otherwise}"));
    format!(
        "{download}To import it with {offered}, use --accept. If you know what it was trained with, name it with {options}.{onnx}"
    )
}

/// What can be done with any network of `PyTorch`'s.
const EXPORT_AS_ONNX: &str = "An ONNX file specifies everything except how pixels are normalized. To write one in Python: `import torch; torch.onnx.export(model.eval(), (torch.zeros(1, 1, 28, 28),), \"model.onnx\")`.";
