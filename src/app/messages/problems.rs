//! Owns the wording of every problem: one exhaustive match per room's errors.
//! Must not know whether a window or a terminal shows it, so remedies name settings, not buttons.

use std::path::Path;

use super::Message;
use crate::data::DataError;
use crate::export::ExportError;
use crate::import::{ImportError, Mismatch};
use crate::ink::InkError;
use crate::nn::ComputeError;
use crate::nn::ModelError;
use crate::problem::{EngineExit, Problem};
use crate::run_config::{ConfigProblem, ModelKind, Precision};
use crate::runs::RunError;
use crate::system::WriteError;

impl From<&Problem> for Message {
    fn from(problem: &Problem) -> Self {
        match problem {
            Problem::Config(problem) => of_config(problem),
            Problem::Data(error) => of_data(error),
            Problem::Ink(error) => of_ink(error),
            Problem::Model(error) => of_model(error),
            Problem::Run(error) => of_run(error),
            Problem::Export(error) => of_export(error),
            Problem::Import(error) => of_import(error),
            Problem::Write(error) => of_write(error),
            Problem::Show { path, reason } => {
                Self::new(format!("{} could not be shown: {}", path.display(), sentence(reason)), "Open that folder in your file manager.")
            }
            Problem::Busy => Self::new("A run is under way already.", "Stop it, or wait until it has finished."),
            Problem::NoSuchRun => {
                Self::new("The model that was asked for belongs to a run that is over.", "Choose one of the models that were kept.")
            }
            Problem::Diverged { step } => Self::new(
                format!(
                    "Training went astray: at step {step} the loss was no longer a number, as it was three times before on ever lower rates."
                ),
                "Lower the learning rate (a tenth of it is a good try) and train again.",
            ),
            Problem::NotResumable { reason } => {
                Self::new(format!("The interrupted run cannot go on: {}", sentence(reason)), "Train again from the start.")
            }
            Problem::Compute(error) => of_compute(error),
            Problem::Panicked { message } => Self::new(
                format!("Inkling's engine hit a mistake of its own: {}", sentence(message)),
                "Models that were kept are safe. Try again, and please report this as a bug.",
            ),
            Problem::SelfTest { reason } => Self::new(
                format!("The check of this machine's arithmetic came to no result: {}", sentence(reason)),
                "Check again. If it fails again, the processor, its memory or a driver may be faulty.",
            ),
            Problem::EngineExited(loss) => of_loss(loss),
            Problem::EngineGone => {
                Self::new("Inkling's engine has ended and cannot be reached.", "Models that were kept are safe. Start Inkling again.")
            }
        }
    }
}

fn of_loss(loss: &EngineExit) -> Message {
    let safe = "Models that were kept are safe. An interrupted run can go on from its last epoch.";
    match loss {
        EngineExit::NotStarted { reason } => {
            Message::new(format!("The process of Inkling's engine could not be started: {}", sentence(reason)), "Start Inkling again.")
        }
        EngineExit::Ended { status, words } if words.is_empty() => {
            Message::new(format!("The process of Inkling's engine ended unexpectedly ({status})."), safe)
        }
        EngineExit::Ended { status, words } => Message::new(
            format!("The process of Inkling's engine ended unexpectedly ({status}). Its last words: {}", sentence(words)),
            safe,
        ),
        EngineExit::Hung { seconds } => {
            Message::new(format!("The process of Inkling's engine gave no sign of life for {seconds} s and was ended."), safe)
        }
        EngineExit::Version { ours, theirs } => Message::new(
            format!("The engine is of Inkling {theirs}, the window of Inkling {ours}; they do not understand each other."),
            "Start Inkling again: it was probably updated meanwhile.",
        ),
        EngineExit::Garbled { reason } => {
            Message::new(format!("What Inkling's engine says cannot be understood: {}", sentence(reason)), safe)
        }
    }
}

fn of_write(WriteError { path, reason }: &WriteError) -> Message {
    Message::new(
        format!("{} could not be written: {}", path.display(), sentence(reason)),
        "Check that the disk has room and that you may write there, or choose another folder.",
    )
}

fn of_compute(error: &ComputeError) -> Message {
    match error {
        ComputeError::Failed { message } => Message::new(
            format!("A computation failed: {}", sentence(message)),
            "If memory is short, choose a smaller batch size or a smaller model; otherwise please report this as a bug.",
        ),
        ComputeError::OutOfMemory { message } => Message::new(
            format!("There is not enough memory for this run: {}", sentence(message)),
            "Close other programs, raise the memory limit if you set one, or choose a smaller model.",
        ),
    }
}

fn of_config(problem: &ConfigProblem) -> Message {
    match problem {
        ConfigProblem::NewerVersion { version } => Message::new(
            format!("These settings have format version {version}, which is newer than this Inkling understands."),
            "Update Inkling, or start from a preset.",
        ),
        ConfigProblem::Epochs { given } => Message::new(format!("{given} epochs cannot be trained."), "Choose between 1 and 1000 epochs."),
        ConfigProblem::BatchSize { given } => {
            Message::new(format!("A batch of {given} images cannot be used."), "Choose a batch size between 1 and 8192.")
        }
        ConfigProblem::BatchLargerThanSet { given, images } => Message::new(
            format!("A batch of {given} images is larger than the {images} images there are to train on."),
            format!("Choose a batch size of at most {images}, or a larger data set."),
        ),
        ConfigProblem::LearningRate { given } => Message::new(
            format!("A learning rate of {given} cannot be used."),
            "Choose a number above 0 and at most 10; 0.001 is a good start for AdamW.",
        ),
        ConfigProblem::WeightDecay { given } => {
            Message::new(format!("A weight decay of {given} cannot be used."), "Choose a number between 0 and 1; 0 turns it off.")
        }
        ConfigProblem::Momentum { given } => Message::new(
            format!("A momentum of {given} cannot be used."),
            "Choose a number from 0 up to, but not including, 1; 0.9 is usual.",
        ),
        ConfigProblem::LabelSmoothing { given } => Message::new(
            format!("A label smoothing of {given} cannot be used."),
            "Choose a number between 0 and 0.5; 0 turns it off, 0.1 is usual.",
        ),
        ConfigProblem::ClipNorm { given } => Message::new(
            format!("Gradients cannot be clipped to a norm of {given}."),
            "Choose a number above 0; 1 is usual. Leave it out to turn clipping off.",
        ),
        ConfigProblem::Accumulation { given } => Message::new(
            format!("The gradients of {given} batches cannot be gathered for one step."),
            "Choose between 1 and 1024 batches; 1 takes a step after each.",
        ),
        ConfigProblem::WeightAveraging { given } => Message::new(
            format!("Weights cannot be averaged with a decay of {given}."),
            "Choose a number above 0 and below 1; 0.999 is usual. Leave it out to turn averaging off.",
        ),
        ConfigProblem::EarlyStopping { given } => Message::new(
            format!("Training cannot stop after {given} epochs without progress."),
            "Choose between 1 and 1000 epochs, or leave it out to train them all.",
        ),
        ConfigProblem::MemoryLimit { given } => Message::new(
            format!("Nothing fits into {given} MB of memory."),
            "Give a number of MB, such as 500, or leave it out for no limit.",
        ),
        ConfigProblem::Threads { given } => {
            Message::new(format!("{given} threads cannot be used."), "Choose between 1 and 1024, or leave it out for one per core.")
        }
        ConfigProblem::InitialWeights { path, found, asked } => Message::new(
            format!("The weights in {} are those of {found}, and not of {asked}.", path.display()),
            "Train the network the weights belong to, or start without them.",
        ),
        ConfigProblem::PrecisionUnavailable { precision, reason } => Message::new(
            format!("The precision {precision} cannot be used here: {}", sentence(reason)),
            if *precision == Precision::F32 { "Choose another precision." } else { "Choose f32, which works everywhere." },
        ),
        ConfigProblem::DeviceUnavailable { device, reason } => {
            Message::new(format!("The device {device} cannot be used here: {}", sentence(reason)), "Choose the device cpu or auto.")
        }
    }
}

fn of_data(error: &DataError) -> Message {
    match error {
        DataError::NotFound { set, searched } if searched.is_empty() => Message::new(
            format!("The data set {set} was not found: there is no data folder to look in."),
            "Choose the folder that holds its four IDX files.",
        ),
        DataError::NotFound { set, searched } => Message::new(
            format!("The data set {set} was not found in {}.", list(searched.iter().map(AsRef::as_ref))),
            format!("Put its four IDX files (gzipped or not) into a folder named {set} in there, or choose the folder that holds them."),
        ),
        DataError::Missing { path } => Message::new(
            format!("There is no file or folder {}.", path.display()),
            "Check the spelling, and that the disk it is on is connected.",
        ),
        DataError::Unreadable { path, reason } => Message::new(
            format!("{} could not be read: {}", path.display(), sentence(reason)),
            "Check that the file is there and that you may read it.",
        ),
        DataError::Malformed { path, reason } => Message::new(
            format!("{} is damaged or not what its name says: {}", path.display(), sentence(reason)),
            "Fetch or make the file again, or choose another data set.",
        ),
        DataError::TooLarge { path, reason } => Message::new(
            format!("{} is larger than Inkling takes: {}", path.display(), sentence(reason)),
            "Choose a smaller set; if it should be small, the file is damaged.",
        ),
        DataError::NoData { path, reason } => Message::new(
            format!("{} holds no data set that Inkling understands: {}", path.display(), sentence(reason)),
            "Choose a folder with the four IDX files, a folder of class folders of pictures, a CSV file (label, then 784 pixels) or an ink file with labels.",
        ),
        DataError::Unknown => Message::new("It is not known what this model was trained on.", "Choose a data set."),
        DataError::Cancelled => Message::new("Reading the data was cancelled.", ""),
    }
}

fn of_ink(error: &InkError) -> Message {
    match error {
        InkError::Unreadable { path, reason } => Message::new(
            format!("{} could not be read: {}", path.display(), sentence(reason)),
            "Check that the file is there and that you may read it.",
        ),
        InkError::Malformed { path, reason } => Message::new(
            format!("{} is not a picture or an ink file that Inkling can read: {}", path.display(), sentence(reason)),
            "Use a PNG or JPEG picture, or ink as JSON: {\"strokes\": [[[x, y], …], …]}.",
        ),
    }
}

fn of_model(error: &ModelError) -> Message {
    match error {
        ModelError::Unreadable { path, reason } => Message::new(
            format!("The model {} could not be read: {}", path.display(), sentence(reason)),
            "Check that the file is there and that you may read it.",
        ),
        ModelError::Malformed { path, reason } => Message::new(
            format!("{} is not a model of Inkling's, or is damaged: {}", path.display(), sentence(reason)),
            "Choose the file model.safetensors in a run's folder, or train a model anew.",
        ),
    }
}

fn of_export(error: &ExportError) -> Message {
    match error {
        ExportError::InTheWay { path } => Message::new(
            format!(
                "{} would have to stand beside the export, but another file of that name is there. Nothing was written.",
                path.display()
            ),
            "Choose an empty folder, or move that file away.",
        ),
        ExportError::Lacks { parameter } => {
            Message::new(format!("The model could not be exported: it has no weights named {parameter}."), "Please report this as a bug.")
        }
        ExportError::Write(error) => of_write(error),
        ExportError::Failed { message } => {
            Message::new(format!("The model could not be exported: {}", sentence(message)), "Try again, and please report this as a bug.")
        }
    }
}

fn of_import(error: &ImportError) -> Message {
    match error {
        ImportError::Model(error) => of_model(error),
        ImportError::Infer(error) => Message::from(&Problem::from(error.clone())),
        ImportError::Compute(error) => of_compute(error),
        ImportError::Data(error) => of_data(error),
        ImportError::Unreadable { path, reason } => Message::new(
            format!("{} could not be read: {}", path.display(), sentence(reason)),
            "Check that the file is there and that you may read it.",
        ),
        ImportError::Malformed { path, reason } => Message::new(
            format!("{} holds no weights that Inkling can read: {}", path.display(), sentence(reason)),
            "Choose a safetensors file, or what torch.save(model.state_dict(), …) wrote.",
        ),
        ImportError::Mismatch { path, mismatch } => {
            let file = path.display();
            if let Some(name) = &mismatch.not_finite {
                let what = format!("The weights in {file} cannot be used: {name} holds numbers that are not finite.");
                return Message::new(what, "The network they come from has gone astray; train it again with a lower learning rate.");
            }
            Message::new(
                format!(
                    "The weights in {file} are of no network that Inkling can build. {} is closest; {}",
                    mismatch.closest.label(),
                    differences(mismatch)
                ),
                format!("Give the network the layers of one of these and train it again: {}.", names(ModelKind::ALL)),
            )
        }
    }
}

/// What does not fit, kind by kind.
fn differences(mismatch: &Mismatch) -> String {
    let size = |shape: &[u64]| {
        if shape.is_empty() { "one number".to_owned() } else { shape.iter().map(u64::to_string).collect::<Vec<_>>().join("x") }
    };
    let named = |weights: &[(String, Vec<u64>)]| some(weights.iter().map(|(name, shape)| format!("{name} ({})", size(shape))));
    let mut parts = Vec::new();
    if !mismatch.wrong.is_empty() {
        let wrong =
            mismatch.wrong.iter().map(|wrong| format!("{} is {} and not {}", wrong.name, size(&wrong.found), size(&wrong.expected)));
        parts.push(format!("of another shape: {}", some(wrong)));
    }
    if !mismatch.missing.is_empty() {
        parts.push(format!("missing: {}", named(&mismatch.missing)));
    }
    if !mismatch.unexpected.is_empty() {
        parts.push(format!("too many: {}", named(&mismatch.unexpected)));
    }
    format!("{}.", parts.join("; "))
}

/// The first few of a list.
fn some(items: impl Iterator<Item = String>) -> String {
    const FEW: usize = 6;
    let items: Vec<String> = items.collect();
    let shown = items.iter().take(FEW).cloned().collect::<Vec<_>>().join(", ");
    if items.len() > FEW { format!("{shown} and {} more", items.len() - FEW) } else { shown }
}

fn names(models: &[ModelKind]) -> String {
    models.iter().map(|model| model.label()).collect::<Vec<_>>().join(", ")
}

fn of_run(error: &RunError) -> Message {
    match error {
        RunError::Write(error) => of_write(error),
        RunError::Compute(error) => of_compute(error),
        RunError::Unreadable { folder, reason } => Message::new(
            format!("The run in {} could not be used: {}", folder.display(), sentence(reason)),
            "Check that the folder is there and that you may read and change it.",
        ),
        RunError::Malformed { folder, reason } => Message::new(
            format!("{} does not hold a whole run of Inkling's: {}", folder.display(), sentence(reason)),
            "Choose another run, or train it again.",
        ),
        RunError::InUse { folder } => Message::new(
            format!("The run in {} is going on already, perhaps in another window of Inkling's.", folder.display()),
            "Wait until it has finished, or stop it there.",
        ),
        RunError::Occupied { folder } => Message::new(
            format!("{} holds something other than a run of Inkling's, which would be overwritten.", folder.display()),
            "Choose a new or empty folder.",
        ),
    }
}

/// Somebody else's words, ended like a sentence of ours.
fn sentence(words: &str) -> String {
    let words = words.trim();
    if words.is_empty() {
        "no reason was given.".to_owned()
    } else if words.ends_with(['.', '!', '?']) {
        words.to_owned()
    } else {
        format!("{words}.")
    }
}

fn list<'p>(paths: impl Iterator<Item = &'p Path>) -> String {
    paths.map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}
