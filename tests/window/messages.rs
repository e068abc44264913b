//! Every problem has a friendly sentence that names what it is about.

use std::io;
use std::path::{Path, PathBuf};

use inkling::data::{DataError, DataPart};
use inkling::download::DownloadError;
use inkling::export::ExportError;
use inkling::import::ImportError;
use inkling::infer::{ComparisonError, EnsembleError};
use inkling::ink::InkError;
use inkling::nn::{ComputeError, ModelError};
use inkling::problem::{Code, Explain, Message, Problem};
use inkling::progress::Cancelled;
use inkling::protocol::{EngineError, EngineExit};
use inkling::records::{Divergence, Intervention};
use inkling::run_config::{Classes, ConfigError, DeviceChoice, ModelKind, Precision, Setting};
use inkling::runs::RunError;
use inkling::self_test::NoResult;
use inkling::system::{TargetError, WriteError};
use inkling::train::TrainError;

const FILE: &str = "some folder/file.bin";
const DENIED: &str = "Permission denied";
const ADDRESS: &str = "https://example.org/file.gz";

/// What an error's sentence must say: `ERROR => WORDS;`.
macro_rules! says {
    ($($error:expr => $($word:expr),*;)*) => {
        vec![$((Problem::from($error), vec![$($word),*])),*]
    };
}

fn downloads() -> Vec<(Problem, Vec<&'static str>)> {
    let address = || ADDRESS.to_owned();
    let reason = || "Permission denied (os error 13)".to_owned();
    let set = inkling::run_config::PublicDataset::EmnistDigits;
    says! {
        DownloadError::NoConnection { address: address(), reason: reason() } =>
            ADDRESS, DENIED, "HTTPS_PROXY";
        DownloadError::Status { address: address(), status: 404 } =>
            ADDRESS, "does not exist", "INKLING_DATA_MIRROR";
        DownloadError::Status { address: address(), status: 503 } =>
            ADDRESS, "503", "INKLING_DATA_MIRROR";
        DownloadError::Redirects { address: address() } => ADDRESS, "INKLING_DATA_MIRROR";
        DownloadError::WebPage { address: address() } => ADDRESS, "login";
        DownloadError::Broken { address: address(), reason: reason() } =>
            ADDRESS, DENIED, "Try again";
        DownloadError::TooLarge { address: address(), largest: 57_762 } => ADDRESS, "58 kB";
        DownloadError::NotPublishedFile { address: address() } => ADDRESS, "deleted";
        DownloadError::Occupied { path: PathBuf::from(FILE) } => FILE, "rename";
        DownloadError::InProgress { set } => "EMNIST digits";
        DownloadError::NoRanges { address: address() } => ADDRESS, "does not support range requests", "manually";
        DownloadError::NotInArchive { address: address(), name: "images.gz".to_owned() } =>
            ADDRESS, "images.gz", "manually";
        DownloadError::NoMirror => "INKLING_DATA_MIRROR";
        DownloadError::Address { address: "example".to_owned() } => "example", "https://";
        DownloadError::Write(WriteError::new(Path::new(FILE), &io::Error::other(reason()))) =>
            FILE, DENIED;
        DownloadError::Cancelled(Cancelled) =>;
    }
}

/// Every problem there is, with words its sentence must hold.
fn every_problem() -> Vec<(Problem, Vec<&'static str>)> {
    let path = || PathBuf::from(FILE);
    let reason = || "Permission denied (os error 13)".to_owned();
    let mut all = says! {
        WriteError::new(&path(), &io::Error::other(reason())) => FILE, DENIED;
        EngineError::Busy =>;
        EngineError::Interrupted { checkpoint: Some(path()) } => "resume";
        EngineError::Interrupted { checkpoint: None } => "nothing was saved";
        EngineError::NoSuchRun =>;
        TrainError::Diverged { step: 417, cause: Divergence::NotFinite } =>
            "NaN", "417", "three rollbacks", "learning rate";
        TrainError::Diverged { step: 417, cause: Divergence::Exploded } =>
            "exploded", "417", "learning rate";
        TrainError::DataChanged { part: DataPart::TrainImages } => "training images", "--data-dir";
        TrainError::DataChanged { part: DataPart::TrainLabels } =>
            "labels of the training images", "--data-dir";
        TrainError::DataChanged { part: DataPart::Test } => "test images", "--data-dir";
        ComputeError::Failed { message: "shape mismatch".to_owned() } =>
            "shape mismatch";
        ComputeError::OutOfMemory { message: "CUDA_ERROR_OUT_OF_MEMORY".to_owned() } =>
            "CUDA_ERROR_OUT_OF_MEMORY";
        ComputeError::NoThread { reason: reason() } => "thread", DENIED;
        TrainError::NotResumable { reason: "its data set has changed".to_owned() } =>
            "its data set has changed";
        NoResult { reason: "it took longer than 180 s".to_owned() } => "180 s";
        EngineError::Panicked { message: "index out of bounds".to_owned() } => "index out of bounds";
        EngineError::Gone =>;
        EngineError::NotOneModel => "ensemble";
        EngineError::DifferentClasses { model: Classes::Hiragana, data: Classes::Digits } =>
            "hiragana", "digits";
        EngineError::NotSent { reason: reason() } => DENIED;
        EngineError::NoConsent { drawings: 1234, machine: "gpu-box".to_owned() } =>
            "1,234 drawings", "gpu-box", "--send-my-digits";
        ComputeError::NotFinite => "probabilities";
        Cancelled =>;
        DataError::Cancelled(Cancelled) =>;
    };
    all.extend(says! {
        ConfigError::NewerVersion { version: 77 } => "77";
        ConfigError::OutOfRange { setting: Setting::Epochs, given: "0".to_owned() } =>
            "The number of epochs is out of range (got 0)", "from 1 to 1000";
        ConfigError::OutOfRange { setting: Setting::BatchSize, given: "9000".to_owned() } =>
            "9000", "8192";
        ConfigError::MixedClasses { first: "MNIST".to_owned(), other: "Fashion-MNIST".to_owned() } =>
            "MNIST and Fashion-MNIST", "combined";
        ConfigError::MemoryLimitTooLow { given: 1, needed: 187 } => "1 MiB", "187 MiB";
        ConfigError::BatchLargerThanSet { given: 512, images: 300 } => "512", "300";
        ConfigError::OutOfRange { setting: Setting::LearningRate, given: "NaN".to_owned() } => "NaN";
        ConfigError::OutOfRange { setting: Setting::WeightDecay, given: "-1".to_owned() } => "-1";
        ConfigError::OutOfRange { setting: Setting::Momentum, given: "1".to_owned() } =>
            "momentum", "got 1", "0.9";
        ConfigError::OutOfRange { setting: Setting::LabelSmoothing, given: "0.7".to_owned() } =>
            "0.7", "0.5";
        ConfigError::OutOfRange { setting: Setting::ClipNorm, given: "-3".to_owned() } =>
            "-3", "above 0";
        ConfigError::OutOfRange { setting: Setting::Accumulation, given: "0".to_owned() } =>
            "a whole number of batches from 1 to 1024", "got 0";
        ConfigError::OutOfRange { setting: Setting::WeightAveraging, given: "1.5".to_owned() } =>
            "1.5", "below 1";
        ConfigError::OutOfRange { setting: Setting::EarlyStopping, given: "0".to_owned() } =>
            "a whole number of epochs from 1 to 1000", "got 0";
        ConfigError::OutOfRange { setting: Setting::Threads, given: "0".to_owned() } =>
            "threads", "got 0";
        ConfigError::OutOfRange { setting: Setting::MemoryLimit, given: "0".to_owned() } =>
            "memory", "MiB", "got 0";
        ConfigError::InitialWeights { path: path(), found: "LeNet-5 with tanh".to_owned(), asked: "MLP with ReLU".to_owned() } =>
            FILE, "LeNet-5 with tanh", "MLP with ReLU";
        ConfigError::Widths { model: ModelKind::LeNet, given: "7-9".parse().unwrap() } =>
            "LeNet-5", "7-9", "6-16-120-84";
        ConfigError::NotTrainable { model: ModelKind::Onnx } => "ONNX network cannot be trained";
        ConfigError::Layers { model: ModelKind::LeNet, given: "8C3-MP2".to_owned() } =>
            "LeNet-5", "8C3-MP2", "CNN";
        ConfigError::TooManyParameters { parameters: 12_345_678 } => "12,345,678", "10,000,000";
        ConfigError::RepeatedData { data: "MNIST".to_owned() } => "MNIST", "twice";
        ConfigError::InitialClasses { path: path(), found: 10, asked: 26 } =>
            FILE, "10 classes", "has 26";
        ConfigError::PrecisionUnavailable { precision: Precision::Bf16, reason: reason() } =>
            "bf16", DENIED;
        ConfigError::DeviceUnavailable { device: DeviceChoice::Cuda, reason: reason() } =>
            "cuda", DENIED;
    });
    all.extend(says! {
        DataError::NotFound { set: "mnist".to_owned(), searched: vec![path(), "other".into()] } =>
            "mnist", FILE, "other";
        DataError::NotFound { set: "mnist".to_owned(), searched: vec![] } => "inkling data fetch mnist";
        DataError::Missing { path: path() } => FILE;
        DataError::Unreadable { path: path(), reason: reason() } => FILE, DENIED;
        DataError::Malformed { path: path(), reason: reason() } => FILE, DENIED;
        DataError::TooLarge { path: path(), reason: reason() } => FILE, DENIED;
        DataError::NoData { path: path() } => FILE;
        DataError::NotASet { path: path(), reason: reason() } => FILE, DENIED;
        DataError::Refused { path: path(), reason: "it is a MATLAB file".to_owned(), remedy: "Save it as .npz.".to_owned() } =>
            FILE, "it is a MATLAB file", "Save it as .npz.";
        DataError::Unknown => "data set";
        DataError::NoDrawings { path: path() } => "not kept any drawings";
        DataError::DifferentClasses { other: "shapes".to_owned(), found: Classes::Letters, wanted: Classes::Digits } =>
            "shapes cannot be combined", "letters", "digits";
        DataError::MissingDigits { digits: vec![1, 3, 7] } => "no 1, 3 or 7", "mine+builtin";
        DataError::NotTrusted { data: "letters.csv".to_owned() } => "letters.csv", "--data";
        DataError::SingleClass { class: "3".to_owned() } => "the same class, 3";
    });
    all.extend(says! {
        InkError::Unreadable { path: path(), reason: reason() } => FILE, DENIED;
        InkError::Malformed { path: path(), reason: reason() } => FILE, DENIED;
        InkError::TooLarge { path: path(), reason: reason() } => FILE, DENIED;
    });
    all.extend(says! {
        ModelError::Unreadable { path: path(), reason: reason() } => FILE, DENIED;
        ModelError::Malformed { path: path(), reason: reason() } => FILE, DENIED;
        ModelError::Foreign { path: path() } => FILE, "inkling import FILE";
    });
    all.extend(says! {
        RunError::Unreadable { folder: path(), reason: reason() } => FILE, DENIED;
        RunError::Malformed { folder: path(), reason: reason() } => FILE, DENIED;
        RunError::NoRoom { folder: path(), needed: 5_000_000, available: 2_000_000 } =>
            FILE, "5.0 MB", "2.0 MB", "3.0 MB";
        RunError::Occupied { folder: path() } => FILE;
        RunError::InUse { folder: path() } => FILE;
    });
    let write = || WriteError::new(&path(), &io::Error::other(reason()));
    let compute = || ComputeError::Failed { message: reason() };
    // These come to people as problems of their own; a message for each there is all the same.
    all.extend(downloads());
    all.extend(says! {
        RunError::Write(write()) => FILE, DENIED;
        RunError::Compute(compute()) => DENIED;
    });
    all.extend(says! {
        ExportError::Target(TargetError::Source { path: path() }) => FILE;
        ExportError::UnsupportedNetwork => "ONNX";
        ExportError::Failed { message: reason() } => DENIED;
        ExportError::Write(write()) => FILE, DENIED;
    });
    all.extend(says! {
        ComparisonError::Count { given: 9 } => "9 models", "2 to 8";
        ComparisonError::Repeated => "itself";
        ComparisonError::DifferentData { sets: vec!["MNIST".to_owned(), "pens".to_owned()] } =>
            "MNIST, pens";
    });
    all.extend(says! {
        TargetError::Exist { paths: vec![path(), PathBuf::from("other.py")] } =>
            FILE, "other.py", "--force";
        TargetError::Source { path: path() } => FILE;
        TargetError::Clash { path: path() } => FILE;
        TargetError::Write(write()) => FILE, DENIED;
    });
    all.extend(says! {
        ImportError::Unreadable { path: path(), reason: reason() } => FILE, DENIED;
        ImportError::Malformed { path: path(), reason: reason() } => FILE, DENIED;
        ImportError::Mismatch {
            path: path(),
            network: "LeNet-5".to_owned(),
            weights: "conv2.bias (16)".to_owned(),
        } => FILE, "do not match LeNet-5: conv2.bias (16)";
        ImportError::NotFinite { path: path(), name: "fc1.bias".to_owned() } => FILE, "fc1.bias";
        ImportError::Undecided { path: path(), trials: Box::new(crate::fake_engine::trials()) } =>
            FILE, "90.3% with Tanh", "--accept", "torch.onnx.export";
        ImportError::Other(compute().into()) => DENIED;
        ImportError::Graph { path: path(), reason: reason() } => FILE, DENIED;
        ImportError::OtherNetwork { path: path(), network: ModelKind::LeNet.label().to_owned() } =>
            FILE, "LeNet-5", "without naming a network";
        ImportError::Classes { data: "EMNIST letters".to_owned(), given: 26 } =>
            "EMNIST letters has 26 classes";
    });
    let status = || "signal: 9 (SIGKILL)".to_owned();
    all.extend(says! {
        EngineExit::NotStarted { reason: reason() } => DENIED;
        EngineExit::Ended { status: status(), words: String::new() } => "SIGKILL";
        EngineExit::Ended { status: status(), words: "a driver said something".to_owned() } =>
            "SIGKILL", "a driver said something";
        EngineExit::Hung { seconds: 30 } => "30 s";
        EngineExit::Version { ours: "1.2.3".to_owned(), theirs: "1.2.4".to_owned() } =>
            "1.2.3", "1.2.4";
        EngineExit::Disconnected { machine: "gpu-box".to_owned(), reason: reason() } =>
            "gpu-box", DENIED;
        EngineExit::Slurm { reason: reason() } => "Slurm", DENIED;
        EngineExit::Garbled { reason: reason() } => DENIED;
    });
    all.extend(says! {
        EnsembleError::Models { given: 65 } => "65 models", "1 to 64";
        EnsembleError::DifferentClasses { first: Classes::Digits, other: Classes::Clothing } =>
            "digits", "articles of clothing";
        EnsembleError::DropoutPasses { given: 1 } => "1 passes", "2 to 1,000";
        EnsembleError::NoDropout { path: path(), model: ModelKind::Mlp } => FILE, "dropout";
    });
    all
}

/// Asserts that every kind of this error is among every problem.
macro_rules! all_are_there {
    ($all:ident, $error:ident: $($kind:ident),*) => {{
        // A kind that is not listed does not compile.
        let _ = |error: &$error| match error {
            $($error::$kind { .. } => (),)*
        };
        for kind in [$(stringify!($kind)),*] {
            // Whatever was cancelled has one name.
            let name = match kind {
                "Cancelled" => kind.to_owned(),
                _ => format!("{}::{kind}", stringify!($error)),
            };
            assert!(
                $all.iter().any(|(problem, _)| {
                    let rest = problem.name.strip_prefix(&name);
                    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('('))
                }),
                "{name} is not among every problem"
            );
        }
    }};
}

#[test]
fn every_problem_is_really_every_one() {
    let all = every_problem();
    all_are_there!(all, EngineError: Busy, NoSuchRun, DifferentClasses, NotOneModel, NotSent, NoConsent, Interrupted, Panicked, Gone);
    all_are_there!(all, TrainError: Diverged, DataChanged, NotResumable);
    all_are_there!(all, ConfigError: NewerVersion, NotTrainable, Widths, Layers, TooManyParameters, OutOfRange, MixedClasses, RepeatedData, BatchLargerThanSet, MemoryLimitTooLow, InitialWeights, InitialClasses, PrecisionUnavailable, DeviceUnavailable);
    all_are_there!(all, DataError: NotFound, Missing, Unreadable, Malformed, TooLarge, NoData, NotASet, Refused, NoDrawings, DifferentClasses, MissingDigits, Unknown, NotTrusted, SingleClass, Cancelled);
    all_are_there!(all, InkError: Unreadable, Malformed, TooLarge);
    all_are_there!(all, ModelError: Unreadable, Foreign, Malformed);
    all_are_there!(all, ComputeError: Failed, NoThread, NotFinite, OutOfMemory);
    all_are_there!(all, RunError: Unreadable, Malformed, InUse, NoRoom, Occupied, Write, Compute);
    all_are_there!(all, ExportError: Target, UnsupportedNetwork, Failed, Write);
    all_are_there!(all, ImportError: Unreadable, Malformed, Mismatch, NotFinite, Undecided, Graph, OtherNetwork, Classes, Other);
    all_are_there!(all, ComparisonError: Count, Repeated, DifferentData);
    all_are_there!(all, EnsembleError: Models, DropoutPasses, DifferentClasses, NoDropout);
    all_are_there!(all, TargetError: Exist, Source, Clash, Write);
    all_are_there!(all, EngineExit: NotStarted, Ended, Hung, Version, Disconnected, Slurm, Garbled);
    all_are_there!(all, DownloadError: NoConnection, Status, Redirects, WebPage, Broken, TooLarge, NotPublishedFile, Occupied, InProgress, NoRanges, NotInArchive, NoMirror, Address, Write, Cancelled);
}

#[test]
fn every_problem_is_a_sentence_that_names_what_it_is_about() {
    for (problem, words) in every_problem() {
        let message = &problem.message;
        assert!(
            message.what.len() > 10 && message.what.ends_with('.'),
            "{problem:?}: {}",
            message.what
        );
        assert!(
            !message.what.contains(".."),
            "{problem:?}: {}",
            message.what
        );
        let text = message.to_string();
        for word in words {
            assert!(
                text.contains(word),
                "{problem:?} does not say {word:?}: {text}"
            );
        }
    }
}

#[test]
fn every_problem_but_a_wish_to_stop_has_a_remedy() {
    for (problem, _) in every_problem() {
        let message = &problem.message;
        if problem.code == Code::Cancelled {
            assert_eq!(message.remedy, "");
        } else {
            assert!(
                message.remedy.len() > 10 && message.remedy.ends_with('.'),
                "{problem:?}: {}",
                message.remedy
            );
        }
    }
}

#[test]
fn foreign_words_end_once() {
    let with = |reason: &str| {
        WriteError::new(
            Path::new("model.safetensors"),
            &io::Error::other(reason.to_owned()),
        )
        .message()
        .what
    };
    assert_eq!(
        with("disk full"),
        "model.safetensors could not be written: disk full."
    );
    assert_eq!(
        with("disk full."),
        "model.safetensors could not be written: disk full."
    );
    assert_eq!(
        with(""),
        "model.safetensors could not be written: unknown error."
    );
}

#[test]
fn what_a_run_does_by_itself_is_said_with_its_figures() {
    let skipped = Intervention::SkippedStep {
        step: 7,
        loss_scale: 32_768.0,
    };
    let back = |left| Intervention::RolledBack {
        step: 1450,
        to_step: 1400,
        lr_factor: 0.25,
        left,
        cause: Divergence::NotFinite,
    };
    let from_the_start = Intervention::RolledBack {
        step: 3,
        to_step: 0,
        lr_factor: 0.5,
        left: 2,
        cause: Divergence::Exploded,
    };
    for (intervention, words) in [
        (skipped, &["Step 7 ", "f16", "32,768"][..]),
        (
            back(2),
            &[
                "step 1,450",
                "step 1,400",
                "1/4 of the learning rate",
                "2 more rollbacks are allowed",
            ],
        ),
        (back(1), &["One more rollback"]),
        (back(0), &["No more rollbacks are allowed"]),
        (from_the_start, &["step 3.", "the start", "1/2"]),
        (
            Intervention::LargerBatches {
                epoch: 3,
                batch_size: 1024,
                noise_scale: Some(1834.6),
            },
            &["epoch 3", "1,024 images", "1,835"],
        ),
        (
            Intervention::WorseThanChance {
                validation_loss: 77.55,
                chance_loss: 3.258,
            },
            &["77.6", "3.26"],
        ),
        (
            Intervention::StoppedEarly {
                epoch: 9,
                best_epoch: 6,
            },
            &["epoch 9", "epoch 6 were saved"],
        ),
    ] {
        let message = Message::intervened(&intervention);
        assert!(
            message.what.ends_with('.') && message.remedy.ends_with('.'),
            "{message}"
        );
        for word in words {
            assert!(
                message.to_string().contains(word),
                "{intervention:?} does not say {word:?}: {message}"
            );
        }
    }
}
