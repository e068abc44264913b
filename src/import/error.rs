use std::path::{Path, PathBuf};

use crate::problem::{Code, Explain, Problem, sentence};
use crate::records::{Doubt, EXPORT_AS_ONNX, MeasuredReading, Trials};
use crate::run_config::{DataSpec, ModelKind};
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

impl ImportError {
    pub fn malformed(path: &Path, reason: String) -> Self {
        let path = path.to_owned();
        Self::Malformed { path, reason }
    }

    pub fn unreadable(path: &Path) -> impl Fn(std::io::Error) -> Self + '_ {
        |error| Self::Unreadable {
            path: path.to_owned(),
            reason: error.to_string(),
        }
    }
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

/// What stands between a file's weights and the network they resemble most: a weight of either, with
/// its shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    pub closest: ModelKind,
    /// Weights it has and the file does not have in this shape.
    pub missing: Vec<String>,
    /// Weights the file has and it does not have in this shape.
    pub unexpected: Vec<String>,
}

impl Mismatch {
    fn differences(&self) -> String {
        const FEW: usize = 6;
        let parts = [("missing", &self.missing), ("unexpected", &self.unexpected)];
        let parts = parts.into_iter().filter(|(_, weights)| !weights.is_empty());
        let part = |(kind, weights): (&str, &Vec<String>)| {
            let more = match weights.len().saturating_sub(FEW) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            format!("{kind}: {}{more}", joined(weights.iter().take(FEW), ", "))
        };
        joined(parts.map(part), "; ")
    }
}

/// What was measured of weights that were not imported.
fn undecided(path: &Path, trials: &Trials) -> String {
    let model = trials.network().model();
    let fits = format!("its weights fit {}, but", model.label());
    let reason = match trials.doubt {
        _ if !model.is_trainable() => {
            "it is not clear how its network expects pixels to be normalized".to_owned()
        }
        Doubt::Close => format!("{fits} several interpretations are equally accurate"),
        Doubt::LowAccuracy => format!(
            "{fits} all interpretations have too low an accuracy to tell how the network was built"
        ),
    };
    let tried_on = if trials.tried_on == DataSpec::builtin() {
        "built-in digits".to_owned()
    } else {
        format!("training images of {}", trials.tried_on.label())
    };
    let measured = |it: &MeasuredReading| {
        let accuracy = percent(it.accuracy, 1);
        format!("{accuracy} with {}", trials.describe(&it.reading))
    };
    format!(
        "{} was not imported: {reason}. Accuracy on {} {tried_on}: {}.",
        path.display(),
        grouped(trials.images),
        joined(trials.readings.iter().map(measured), "; ")
    )
}

fn how_to_decide(trials: &Trials) -> String {
    // It has learned from MNIST most likely.
    let download = if trials.tried_on == DataSpec::builtin() {
        "Download MNIST, which networks are usually trained on, and import it again: its images usually settle which is right. "
    } else {
        ""
    };
    let options = match trials.network().model() {
        ModelKind::Onnx => "--mean and --std",
        ModelKind::Cnn => "--layers, --activation, --mean and --std",
        _ => "--network, --activation, --mean and --std",
    };
    let offered = trials.readings.first();
    let offered = offered.map_or_else(String::new, |it| trials.describe(&it.reading));
    let otherwise = trials.otherwise().unwrap_or_default();
    format!(
        "{download}To import it with {offered}, use --accept. If you know what it was trained with, name it with {options}. {otherwise}"
    )
    .trim_end()
    .to_owned()
}
