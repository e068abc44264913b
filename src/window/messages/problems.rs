//! The message for every problem: one exhaustive match per module's errors. Windows and terminals
//! show the same text, so remedies name settings rather than buttons.

use std::path::Path;

use super::Message;
use super::downloads::of_download;
use super::notices::diverged;
use crate::data::{DataError, DataPart};
use crate::export::ExportError;
use crate::import::{ImportError, Mismatch, Trials};
use crate::infer::{ComparisonError, EnsembleProblem};
use crate::ink::{IMAGE_FORMATS, InkError};
use crate::nn::ComputeError;
use crate::nn::ModelError;
use crate::problem::{EngineExit, Problem};
use crate::records::{COMPARED_MODELS, Doubt, Ensemble, KEPT_DAYS, MeasuredReading};
use crate::run_config::{
    CnnLayers, ConfigProblem, DataSpec, MAX_PARAMETERS, MAX_WIDTH, ModelKind, Precision,
};
use crate::runs::RunError;
use crate::system::{TargetError, WriteError, WriteErrorKind};
use crate::text::format::{capitalised, count, file_size, grouped, percent};

impl From<&Problem> for Message {
    fn from(problem: &Problem) -> Self {
        match problem {
            Problem::Config(problem) => of_config(problem),
            Problem::Data(error) => of_data(error),
            Problem::Cancelled(_) => cancelled(),
            Problem::Ink(error) => of_ink(error),
            Problem::Model(error) => of_model(error),
            Problem::Run(error) => of_run(error),
            Problem::Comparison(error) => of_comparison(error),
            Problem::Ensemble(problem) => of_ensemble(problem),
            Problem::DifferentClasses { model, data } => Self::new(
                format!(
                    "This model recognises {}, and the images are of {}.",
                    model.plural(),
                    data.plural()
                ),
                "Choose a model that was trained on such images, or another data set.",
            ),
            Problem::NotOneModel => Self::new(
                "An ensemble cannot be exported or fine-tuned.",
                "Choose one of its models.",
            ),
            Problem::Export(error) => of_export(error),
            Problem::Import(error) => of_import(error),
            Problem::Download(error) => of_download(error),
            Problem::Write(error) => of_write(error),
            Problem::Target(error) => of_target(error),
            Problem::Show { path, reason } => Self::new(
                format!(
                    "{} could not be opened: {}",
                    path.display(),
                    sentence(reason)
                ),
                "Open the folder in your file manager.",
            ),
            Problem::Busy => Self::new(
                "Another run is already in progress.",
                "Stop it or wait until it has finished.",
            ),
            Problem::NoSuchRun => Self::new(
                "That run has ended, so its live model is no longer available.",
                "Choose a saved model.",
            ),
            Problem::Diverged { step, cause } => Self::new(
                format!(
                    "Training diverged: {}, even after three rollbacks with lower learning rates.",
                    diverged(*cause, *step)
                ),
                "Lower the learning rate, for example to a tenth, and train again.",
            ),
            Problem::DataChanged { part } => Self::new(
                format!(
                    "This run cannot be resumed: the {} are not the ones it was started with.",
                    data_part(*part)
                ),
                "Restore the data set as it was, or name the folder that contains it with --data-dir. Otherwise start a new run.",
            ),
            Problem::NotResumable { reason } => Self::new(
                format!("This run cannot be resumed: {}", sentence(reason)),
                "Start a new run.",
            ),
            Problem::Interrupted {
                checkpoint: Some(_),
            } => Self::new(
                "Training was interrupted.",
                "It can be resumed: with `inkling train --resume`, or in the window under Models.",
            ),
            Problem::Interrupted { checkpoint: None } => Self::new(
                "Training was interrupted and has no checkpoint: nothing was saved.",
                "Start it again.",
            ),
            Problem::Compute(error) => of_compute(error),
            Problem::Panicked { message } => Self::new(
                format!("Inkling's engine crashed: {}", sentence(message)),
                "Saved models are safe. Try again, and please report this as a bug.",
            ),
            Problem::SelfTest { reason } => Self::new(
                format!("The self-test could not be completed: {}", sentence(reason)),
                "Run it again. If it keeps failing, the CPU, its memory or a driver may be faulty.",
            ),
            Problem::NotSent { reason } => Self::new(
                format!(
                    "The files could not be sent to the other machine: {}",
                    sentence(reason)
                ),
                "Check that there is space on its disk, and try again.",
            ),
            Problem::NoConsent { drawings, machine } => Self::new(
                format!(
                    "This would send My digits to {machine}: {}. You have not agreed to that, so nothing was sent.",
                    drawings_and_stay(*drawings)
                ),
                "Agree with --send-my-digits, or in the window when you start it there; or train on this machine.",
            ),
            Problem::EngineExited(loss) => of_loss(loss),
            Problem::EngineGone => Self::new(
                "Inkling's engine has stopped and could not be restarted.",
                "Saved models are safe. Restart Inkling.",
            ),
        }
    }
}

/// What is sent of My digits and how long it stays, in words.
pub fn drawings_and_stay(drawings: u64) -> String {
    format!(
        "{}, as images with their labels, to be kept there for your account alone until {KEPT_DAYS} days after their last use",
        count(drawings, "drawing")
    )
}

fn of_comparison(error: &ComparisonError) -> Message {
    match error {
        ComparisonError::Count { given } => {
            let (least, most) = (COMPARED_MODELS.start(), COMPARED_MODELS.end());
            Message::new(
                format!(
                    "{} cannot be compared.",
                    capitalised(&count(*given as u64, "model"))
                ),
                format!("Choose {least} to {most} models."),
            )
        }
        ComparisonError::Repeated => Message::new(
            "A model cannot be compared with itself.",
            "Name each model once.",
        ),
        ComparisonError::DifferentData { sets } => Message::new(
            format!(
                "The models were trained on different data: {}.",
                sets.join(", ")
            ),
            "Choose the data set whose test images all of them are to classify.",
        ),
    }
}

fn of_ensemble(problem: &EnsembleProblem) -> Message {
    match problem {
        EnsembleProblem::Models { given } => {
            let (least, most) = (Ensemble::MODELS.start(), Ensemble::MODELS.end());
            Message::new(
                format!(
                    "{} cannot classify together.",
                    capitalised(&count(*given as u64, "model"))
                ),
                format!("Choose {least} to {most} models."),
            )
        }
        EnsembleProblem::DropoutPasses { given } => {
            let (least, most) = (
                Ensemble::DROPOUT_PASSES.start(),
                grouped(u64::from(*Ensemble::DROPOUT_PASSES.end())),
            );
            Message::new(
                format!("Dropout cannot take {} passes.", grouped(u64::from(*given))),
                format!("Choose {least} to {most} passes."),
            )
        }
        EnsembleProblem::DifferentClasses { first, other } => Message::new(
            format!(
                "These models do not belong together: one recognises {}, another {}.",
                first.plural(),
                other.plural()
            ),
            "Choose models that were trained on images of the same things.",
        ),
        EnsembleProblem::NoDropout { path, model } => Message::new(
            format!(
                "{} is {}, which has no dropout layer.",
                path.display(),
                model.label()
            ),
            "Leave dropout off, or use a ConvNet.",
        ),
    }
}

fn data_part(part: DataPart) -> &'static str {
    match part {
        DataPart::TrainImages => "training images",
        DataPart::TrainLabels => "labels of the training images",
        DataPart::Test => "test images or their labels",
    }
}

fn of_loss(loss: &EngineExit) -> Message {
    let safe = "Saved models are safe.";
    match loss {
        EngineExit::NotStarted { reason } => Message::new(
            format!(
                "Inkling's engine could not be started: {}",
                sentence(reason)
            ),
            "Close other programs, then restart Inkling.",
        ),
        EngineExit::Ended { status, words } if words.is_empty() => {
            Message::new(format!("Inkling's engine crashed ({status})."), safe)
        }
        EngineExit::Ended { status, words } => Message::new(
            format!(
                "Inkling's engine crashed ({status}). Last output: {}",
                sentence(words)
            ),
            safe,
        ),
        EngineExit::Hung { seconds } => Message::new(
            format!("Inkling's engine did not respond for {seconds} s and was terminated."),
            safe,
        ),
        EngineExit::Version { ours, theirs } => Message::new(
            format!(
                "The engine (Inkling {theirs}) and the window (Inkling {ours}) are different versions."
            ),
            "Restart Inkling. It was probably updated while it was running.",
        ),
        EngineExit::Disconnected { machine, reason } => Message::new(
            format!("The connection to {machine} failed: {}", sentence(reason)),
            format!(
                "Check that `ssh {machine} inkling --version` prints {} without asking for anything.",
                concat!("“inkling ", env!("CARGO_PKG_VERSION"), "”")
            ),
        ),
        EngineExit::Slurm { reason } => Message::new(
            format!("Slurm failed: {}", sentence(reason)),
            "Check the sbatch options, and use `squeue` to see whether the job is still in the queue.",
        ),
        EngineExit::Garbled { reason } => Message::new(
            format!(
                "Inkling's engine sent an invalid message: {}",
                sentence(reason)
            ),
            safe,
        ),
    }
}

pub(super) fn of_write(WriteError { path, kind, reason }: &WriteError) -> Message {
    let remedy = match kind {
        WriteErrorKind::NoSpace => {
            "Free some space on that disk, or choose a folder on another one."
        }
        WriteErrorKind::TooLarge => {
            "Raise the limit on the size of files (see `ulimit -f`), or choose a disk that takes larger ones."
        }
        WriteErrorKind::NotPermitted => {
            "Choose a folder that you may write to, or change its permissions."
        }
        WriteErrorKind::NotRegular => {
            "Choose another path: Inkling replaces nothing but regular files."
        }
        WriteErrorKind::Other => {
            "Check that the disk works and that you have permission to write there, or choose another folder."
        }
    };
    Message::new(
        format!(
            "{} could not be written: {}",
            path.display(),
            sentence(reason)
        ),
        remedy,
    )
}

fn of_target(error: &TargetError) -> Message {
    match error {
        TargetError::Exist { paths } => Message::new(
            match paths.as_slice() {
                [path] => format!("{} exists already. Nothing was written.", path.display()),
                _ => format!(
                    "{} exist already. Nothing was written.",
                    list(paths.iter().map(AsRef::as_ref))
                ),
            },
            "Choose another name or an empty folder, or replace what is there (on the command line: --force).",
        ),
        TargetError::Source { path } => Message::new(
            format!(
                "{} is the file that is read, and would be replaced. Nothing was written.",
                path.display()
            ),
            "Choose another name.",
        ),
        TargetError::Clash { path } => Message::new(
            format!(
                "Two of the files would have the name {}. Nothing was written.",
                path.display()
            ),
            "Choose another name.",
        ),
        TargetError::Write(error) => of_write(error),
    }
}

fn of_compute(error: &ComputeError) -> Message {
    match error {
        ComputeError::Failed { message } => Message::new(
            format!("A computation failed: {}", sentence(message)),
            "If memory is low, choose a smaller batch size or model. Otherwise please report this as a bug.",
        ),
        ComputeError::NoThread { reason } => Message::new(
            format!("No further thread could be started: {}", sentence(reason)),
            "Close other programs, raise the limit on processes (`ulimit -u`), or train with fewer threads.",
        ),
        ComputeError::NotFinite => Message::new(
            "The model gives no valid probabilities: its weights are too large, or damaged.",
            "Choose another model, or train this one again with a lower learning rate.",
        ),
        ComputeError::OutOfMemory { message } => Message::new(
            format!(
                "There is not enough memory for this run: {}",
                sentence(message)
            ),
            "Close other programs, raise the memory limit if you set one, or choose a smaller model.",
        ),
    }
}

fn of_config(problem: &ConfigProblem) -> Message {
    match problem {
        ConfigProblem::NewerVersion { version } => Message::new(
            format!(
                "These settings were saved by a newer version of Inkling (format version {version})."
            ),
            "Update Inkling, or choose a preset.",
        ),
        ConfigProblem::OutOfRange { setting, given } => setting.row().range.map_or_else(
            || {
                Message::new(
                    format!("{given} is not a valid setting."),
                    "Choose another value.",
                )
            },
            |range| {
                Message::new(
                    format!("{} is out of range (got {given}).", capitalised(range.name)),
                    format!("Choose {}.", range.hint()),
                )
            },
        ),
        ConfigProblem::BatchLargerThanSet { given, images } => Message::new(
            format!("The batch size ({given}) is larger than the training set ({images} images)."),
            format!("Choose a batch size of at most {images}, or a larger data set."),
        ),
        ConfigProblem::NotTrainable { model } => Message::new(
            format!("{} cannot be trained.", model.label()),
            "Choose another network.",
        ),
        ConfigProblem::Widths { model, given } => Message::new(
            format!("{} cannot have the layer widths {given}.", model.label()),
            widths_hint(*model),
        ),
        ConfigProblem::Layers { model, given } => Message::new(
            format!("{} cannot have the layers {given}.", model.label()),
            format!(
                "Choose the network {}, or leave them empty.",
                ModelKind::Cnn.label()
            ),
        ),
        ConfigProblem::TooManyParameters { parameters } => Message::new(
            format!(
                "A network with these layers has {} parameters: more than the {} that Inkling trains.",
                grouped(*parameters),
                grouped(MAX_PARAMETERS)
            ),
            "Choose fewer or narrower ones.",
        ),
        ConfigProblem::RepeatedData { data } => Message::new(
            format!(
                "The data set {data} is given twice, so that images would be in both the training and the validation set."
            ),
            "Name each data set once.",
        ),
        ConfigProblem::MixedClasses { first, other } => Message::new(
            format!(
                "{first} and {other} cannot be mixed: their classes stand for different things."
            ),
            "Choose one of them, or data sets of the same things.",
        ),
        ConfigProblem::MemoryLimitTooLow { given, needed } => Message::new(
            format!(
                "A memory limit of {given} MiB is too low: this run needs at least about {needed} MiB."
            ),
            "Raise the limit, leave it empty, or choose a smaller model.",
        ),
        ConfigProblem::InitialWeights { path, found, asked } => Message::new(
            format!(
                "The weights in {} belong to {found}, not to {asked}.",
                path.display()
            ),
            "Choose that network, or start without these weights.",
        ),
        ConfigProblem::InitialClasses { path, found, asked } => Message::new(
            format!(
                "The model in {} distinguishes {found} classes, and the data has {asked}.",
                path.display()
            ),
            "Choose data with as many classes, or start without these weights.",
        ),
        ConfigProblem::PrecisionUnavailable { precision, reason } => Message::new(
            format!(
                "Precision {precision} is not available: {}",
                sentence(reason)
            ),
            if *precision == Precision::F32 {
                "Choose another precision."
            } else {
                "Choose f32, which works everywhere."
            },
        ),
        ConfigProblem::DeviceUnavailable { device, reason } => Message::new(
            format!("Device {device} is not available: {}", sentence(reason)),
            "Choose the device cpu or auto.",
        ),
    }
}

/// What a model's layer widths can be.
pub(super) fn widths_hint(model: ModelKind) -> String {
    let (least, most) = model.width_counts().into_inner();
    let usual: Vec<String> = model.widths().iter().map(ToString::to_string).collect();
    match (least, most) {
        (_, 0) => "Leave them empty: the widths of this model are fixed.".to_owned(),
        (least, most) => {
            let count = if least == most {
                most.to_string()
            } else {
                format!("{least} to {most}")
            };
            let noun = if most == 1 { "width" } else { "widths" };
            format!(
                "Give {count} {noun} from 1 to {MAX_WIDTH}, such as {}, or leave them empty.",
                usual.join("-")
            )
        }
    }
}

pub(super) fn layers_hint() -> String {
    format!(
        "Give layers such as {}-128, or leave them empty.",
        CnnLayers::DEFAULT
    )
}

fn cancelled() -> Message {
    Message::new("The job was cancelled.", "")
}

fn of_data(error: &DataError) -> Message {
    match error {
        DataError::NotFound { set, searched } if searched.is_empty() => Message::new(
            format!("The data set {set} was not found: there is no data folder to search."),
            "Choose the folder that contains its four IDX files.",
        ),
        DataError::NotFound { set, searched } => Message::new(
            format!(
                "The data set {set} was not found in {}.",
                list(searched.iter().map(AsRef::as_ref))
            ),
            format!(
                "Put its four IDX files (gzipped or not) into a folder named {set} there, or choose the folder that contains them."
            ),
        ),
        DataError::Missing { path } => Message::new(
            format!("{} does not exist.", path.display()),
            "Check the spelling, and that the drive is connected.",
        ),
        DataError::Unreadable { path, reason } => Message::new(
            format!("{} could not be read: {}", path.display(), sentence(reason)),
            "Check that the file exists and that you have permission to read it.",
        ),
        DataError::Malformed { path, reason } => Message::new(
            format!(
                "{} is damaged or has an unexpected format: {}",
                path.display(),
                sentence(reason)
            ),
            "Download or create the file again, or choose another data set.",
        ),
        DataError::TooLarge { path, reason } => Message::new(
            format!("{} is too large: {}", path.display(), sentence(reason)),
            "Choose a smaller data set. If it is supposed to be small, the file is damaged.",
        ),
        DataError::NoData { path, reason } => Message::new(
            format!(
                "{} does not contain a data set in a supported format: {}",
                path.display(),
                sentence(reason)
            ),
            "Choose a folder with IDX files or one of its files of images, an .npz archive, Parquet files, a folder of images with one subfolder per class or with the digit in each name (7_0001.png), a CSV file (label, then 784 pixels; or file and label), or an ink file with labels.",
        ),
        DataError::NoDrawings { .. } => Message::new(
            "You have not kept any drawings yet.",
            "In Draw, draw a digit and press Enter if it was recognised correctly, or type the digit that it is.",
        ),
        DataError::DifferentClasses {
            other,
            found,
            wanted,
        } => Message::new(
            format!(
                "{other} cannot be mixed with the other data: its images are of {}, theirs of {}.",
                found.plural(),
                wanted.plural()
            ),
            "Choose one of them, or data sets of the same things.",
        ),
        DataError::MissingDigits { digits } => Message::new(
            format!(
                "Your drawings have no {}, so a model could not learn to recognise it.",
                either(digits)
            ),
            "Draw it too, or add other digits: mine+builtin, or mine+mnist.",
        ),
        DataError::Unknown => Message::new(
            "The training data of this model is unknown.",
            "Choose a data set, on the command line with --data.",
        ),
        DataError::NotTrusted { data } => Message::new(
            format!(
                "This model names {data} as its training data. Such a path is opened only for models among Inkling's own runs."
            ),
            "Choose the data set, on the command line with --data.",
        ),
        DataError::SingleClass { class } => Message::new(
            format!(
                "All training images are of the same class, {class}, so there is nothing to tell apart."
            ),
            "Choose data with at least two classes, or add another data set.",
        ),
        DataError::Cancelled(_) => cancelled(),
    }
}

/// "3", "3 or 7", "1, 3 or 7".
fn either(digits: &[u8]) -> String {
    let names: Vec<String> = digits.iter().map(u8::to_string).collect();
    match names.as_slice() {
        [rest @ .., last] if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => names.concat(),
    }
}

fn of_ink(error: &InkError) -> Message {
    match error {
        InkError::Unreadable { path, reason } => Message::new(
            format!("{} could not be read: {}", path.display(), sentence(reason)),
            "Check that the file exists and that you have permission to read it.",
        ),
        InkError::Malformed { path, reason } => Message::new(
            format!(
                "{} is not an image or an ink file that Inkling can read: {}",
                path.display(),
                sentence(reason)
            ),
            format!(
                "Use an image ({IMAGE_FORMATS}), or ink as JSON: {{\"strokes\": [[[x, y], …], …]}}."
            ),
        ),
        InkError::TooLarge { path, reason } => Message::new(
            format!("{} is too large: {}", path.display(), sentence(reason)),
            "Use a smaller file. If it is supposed to be small, it is damaged.",
        ),
    }
}

fn of_model(error: &ModelError) -> Message {
    match error {
        ModelError::Unreadable { path, reason } => Message::new(
            format!(
                "The model {} could not be read: {}",
                path.display(),
                sentence(reason)
            ),
            "Check that the file exists and that you have permission to read it.",
        ),
        ModelError::Foreign { path } => Message::new(
            format!(
                "{} contains weights that were not saved by Inkling.",
                path.display()
            ),
            "Import them first, with “inkling import FILE” or under Models in the window, and then use the model of the new run.",
        ),
        ModelError::Malformed { path, reason } => Message::new(
            format!(
                "{} is not an Inkling model, or is damaged: {}",
                path.display(),
                sentence(reason)
            ),
            "Choose the file model.safetensors in a run's folder, or train a new model.",
        ),
    }
}

fn of_export(error: &ExportError) -> Message {
    match error {
        ExportError::UnsupportedNetwork => Message::new(
            "An imported ONNX network cannot be exported in this format.",
            "Export it as ONNX without 8-bit weights, which gives the original file, or as safetensors for use in Inkling.",
        ),
        ExportError::Write(error) => of_write(error),
        ExportError::Target(error) => of_target(error),
        ExportError::Failed { message } => Message::new(
            format!("The model could not be exported: {}", sentence(message)),
            "Try again, and please report this as a bug.",
        ),
    }
}

fn of_import(error: &ImportError) -> Message {
    match error {
        ImportError::Model(error) => of_model(error),
        ImportError::Infer(error) => Message::from(&Problem::from(error.clone())),
        ImportError::Compute(error) => of_compute(error),
        ImportError::Data(error) => of_data(error),
        ImportError::Cancelled(_) => cancelled(),
        ImportError::Unreadable { path, reason } => Message::new(
            format!("{} could not be read: {}", path.display(), sentence(reason)),
            "Check that the file exists and that you have permission to read it.",
        ),
        ImportError::Malformed { path, reason } => Message::new(
            format!(
                "{} does not contain weights that Inkling can read: {}",
                path.display(),
                sentence(reason)
            ),
            "Choose a safetensors file, a file written by torch.save(model.state_dict(), …), or an ONNX file.",
        ),
        ImportError::Classes { data, given } => Message::new(
            format!(
                "{data} has {given} classes, and only weights of networks with ten can be imported."
            ),
            "Leave out what the network was trained on, or import weights that tell ten classes apart.",
        ),
        ImportError::Undecided { path, trials } => undecided(path, trials),
        ImportError::Graph { path, reason } => Message::new(
            format!(
                "The network in {} is not one that Inkling can train, and it cannot be used without training either: {}",
                path.display(),
                sentence(reason)
            ),
            format!(
                "Export it again for one 28x28 image and ten classes, or train one of these: {}.",
                names(ModelKind::ALL)
            ),
        ),
        ImportError::Mismatch { path, mismatch } => {
            let file = path.display();
            if let Some(name) = &mismatch.not_finite {
                let what = format!(
                    "The weights in {file} cannot be used: {name} contains NaN or infinite values."
                );
                return Message::new(
                    what,
                    "The source network diverged during training; retrain it with a lower learning rate.",
                );
            }
            Message::new(
                format!(
                    "The weights in {file} do not match any network that Inkling supports. Closest match: {}. Differences: {}",
                    mismatch.closest.label(),
                    differences(mismatch)
                ),
                format!(
                    "Retrain the network with the layers of one of these: {}.",
                    names(ModelKind::ALL)
                ),
            )
        }
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
fn undecided(path: &Path, trials: &Trials) -> Message {
    let Trials {
        model,
        doubt,
        images,
        tried_on,
        readings,
        supported,
    } = trials;
    let why = match doubt {
        Doubt::NotSupported => format!(
            "they were probably trained with settings that Inkling's {} does not have",
            model.label()
        ),
        Doubt::Close => "more than one way to read them is as accurate".to_owned(),
        Doubt::LowAccuracy => {
            "they recognise too few images to tell how the network was built".to_owned()
        }
    };
    let measured = |it: &MeasuredReading| {
        format!(
            "{} with {}",
            percent(it.accuracy, 1),
            trials.describe(&it.reading)
        )
    };
    let readings = readings.iter().map(measured).collect::<Vec<_>>().join("; ");
    let reason = if model.is_trainable() {
        format!("its weights fit {}, but {why}", model.label())
    } else {
        "it is not clear how its network expects pixels to be normalised".to_owned()
    };
    // It has learned from MNIST most likely.
    let download = if *tried_on == DataSpec::builtin() {
        "Download MNIST, which networks are usually trained on, and import it again: on its images more can be told. "
    } else {
        ""
    };
    let options = match (model.is_trainable(), supported.reading.layers) {
        (false, _) => "--mean and --std",
        (true, Some(_)) => "--layers, --activation, --mean and --std",
        (true, None) => "--activation, --mean and --std",
    };
    Message::new(
        format!(
            "{} was not imported: {reason}. Accuracy on {}: {readings}.",
            path.display(),
            trial_images(*images, tried_on)
        ),
        format!(
            "{download}To import it with {}, use --accept. If you know what it was trained with, name it with {options}.",
            trials.describe(&supported.reading)
        ),
    )
}

/// The differences by kind: wrong shapes, missing and unexpected weights.
fn differences(mismatch: &Mismatch) -> String {
    let size = |shape: &[u64]| {
        if shape.is_empty() {
            "scalar".to_owned()
        } else {
            shape
                .iter()
                .map(u64::to_string)
                .collect::<Vec<_>>()
                .join("x")
        }
    };
    let named = |weights: &[(String, Vec<u64>)]| {
        some(
            weights
                .iter()
                .map(|(name, shape)| format!("{name} ({})", size(shape))),
        )
    };
    let mut parts = Vec::new();
    if !mismatch.wrong.is_empty() {
        let wrong = mismatch.wrong.iter().map(|wrong| {
            format!(
                "{} is {} instead of {}",
                wrong.name,
                size(&wrong.found),
                size(&wrong.expected)
            )
        });
        parts.push(format!("wrong shape: {}", some(wrong)));
    }
    if !mismatch.missing.is_empty() {
        parts.push(format!("missing: {}", named(&mismatch.missing)));
    }
    if !mismatch.unexpected.is_empty() {
        parts.push(format!("unexpected: {}", named(&mismatch.unexpected)));
    }
    format!("{}.", parts.join("; "))
}

/// The first items of a list, and how many more there are.
fn some(items: impl Iterator<Item = String>) -> String {
    const FEW: usize = 6;
    let items: Vec<String> = items.collect();
    let shown = items
        .iter()
        .take(FEW)
        .cloned()
        .collect::<Vec<_>>()
        .join(", ");
    if items.len() > FEW {
        format!("{shown} and {} more", items.len() - FEW)
    } else {
        shown
    }
}

fn names(models: &[ModelKind]) -> String {
    models
        .iter()
        .map(|model| model.label())
        .collect::<Vec<_>>()
        .join(", ")
}

fn of_run(error: &RunError) -> Message {
    match error {
        RunError::Write(error) => of_write(error),
        RunError::Compute(error) => of_compute(error),
        RunError::Unreadable { folder, reason } => Message::new(
            format!(
                "The run in {} could not be used: {}",
                folder.display(),
                sentence(reason)
            ),
            "Check that the folder exists and that you have permission to read and change it.",
        ),
        RunError::Malformed { folder, reason } => Message::new(
            format!(
                "{} does not contain a complete run: {}",
                folder.display(),
                sentence(reason)
            ),
            "Choose another run, or train again.",
        ),
        RunError::InUse { folder } => Message::new(
            format!(
                "The run in {} is already in progress, perhaps in another window.",
                folder.display()
            ),
            "Wait until it has finished, or stop it there.",
        ),
        RunError::NoRoom {
            folder,
            needed,
            available,
        } => Message::new(
            format!(
                "No space left for the run: it needs {}, but only {} are free where {} is.",
                file_size(*needed),
                file_size(*available),
                folder.display()
            ),
            format!(
                "Free {} there, or choose another folder.",
                file_size(needed.saturating_sub(*available))
            ),
        ),
        RunError::Occupied { folder } => Message::new(
            format!(
                "{} contains other files, which would be overwritten.",
                folder.display()
            ),
            "Choose a new or empty folder.",
        ),
    }
}

/// An external error message in one line, ended with a full stop.
pub fn sentence(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.is_empty() {
        "unknown error.".to_owned()
    } else if text.ends_with(['.', '!', '?']) {
        text
    } else {
        format!("{text}.")
    }
}

fn list<'p>(paths: impl Iterator<Item = &'p Path>) -> String {
    paths
        .map(|path| path.display().to_string())
        .collect::<Vec<_>>()
        .join(", ")
}
