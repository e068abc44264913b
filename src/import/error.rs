use std::path::{Path, PathBuf};

use crate::problem::{Code, Explain, Problem, sentence};
use crate::records::{EXPORT_AS_ONNX, ImportSpec, MeasuredReading, Trials};
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
    #[error("The weights in {path} do not match {network}: {weights}.")]
    Mismatch {
        path: PathBuf,
        network: String,
        /// The first of them, with their shapes.
        weights: String,
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
    /// Weights with these names and shapes, which may have been said to be those of some network.
    pub fn mismatch(spec: &ImportSpec, weights: &[(&str, &[usize])]) -> Self {
        const LISTED: usize = 6;
        let all = "any network that Inkling supports";
        let listed = weights.iter().take(LISTED);
        let listed = listed.map(|(name, shape)| format!("{name} ({})", joined(*shape, "x")));
        let more = if weights.len() > LISTED { ", …" } else { "" };
        Self::Mismatch {
            path: spec.path.clone(),
            network: spec.model.map_or(all, ModelKind::label).to_owned(),
            weights: joined(listed, ", ") + more,
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

/// What was measured of weights that were not imported.
fn undecided(path: &Path, trials: &Trials) -> String {
    let model = trials.network().model();
    let reason = if model.is_trainable() {
        format!(
            "its weights fit {}, but do not say how it was built",
            model.label()
        )
    } else {
        "it does not say how its pixels are normalized".to_owned()
    };
    let measured = |it: &MeasuredReading| {
        let accuracy = percent(it.accuracy, 1);
        format!("{accuracy} with {}", trials.describe(&it.reading))
    };
    format!(
        "{} was not imported: {reason}. Accuracy on {} images of {}: {}.",
        path.display(),
        grouped(trials.images),
        trials.tried_on.label(),
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
    let options = if trials.network().model().is_trainable() {
        "--network, --layers, --activation, --mean and --std"
    } else {
        "--mean and --std"
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
