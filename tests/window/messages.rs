//! Every problem has a friendly sentence that names what it is about.

use std::io;
use std::path::{Path, PathBuf};

use inkling::data::{DataError, DataPart};
use inkling::download::DownloadError;
use inkling::export::ExportError;
use inkling::import::{ImportError, Mismatch};
use inkling::infer::{ComparisonError, EnsembleProblem, InferError};
use inkling::ink::InkError;
use inkling::nn::{ComputeError, ModelError};
use inkling::problem::{EngineExit, Problem};
use inkling::progress::Cancelled;
use inkling::records::{Divergence, Intervention};
use inkling::run_config::{Classes, ConfigProblem, DeviceChoice, ModelKind, Precision, Setting};
use inkling::runs::RunError;
use inkling::system::{TargetError, WriteError};
use inkling::window::messages::Message;

fn downloads() -> Vec<(Problem, Vec<&'static str>)> {
    let address = || "https://example.org/file.gz".to_owned();
    let reason = || "Permission denied (os error 13)".to_owned();
    let set = inkling::run_config::NamedSet::EmnistDigits;
    let errors = vec![
        (
            DownloadError::NoConnection {
                address: address(),
                reason: reason(),
            },
            vec![
                "https://example.org/file.gz",
                "Permission denied",
                "HTTPS_PROXY",
            ],
        ),
        (
            DownloadError::Status {
                address: address(),
                status: 404,
            },
            vec![
                "https://example.org/file.gz",
                "does not exist",
                "INKLING_DATA_MIRROR",
            ],
        ),
        (
            DownloadError::Status {
                address: address(),
                status: 503,
            },
            vec!["https://example.org/file.gz", "503", "INKLING_DATA_MIRROR"],
        ),
        (
            DownloadError::Redirects { address: address() },
            vec!["https://example.org/file.gz", "INKLING_DATA_MIRROR"],
        ),
        (
            DownloadError::WebPage { address: address() },
            vec!["https://example.org/file.gz", "login"],
        ),
        (
            DownloadError::Broken {
                address: address(),
                reason: reason(),
            },
            vec![
                "https://example.org/file.gz",
                "Permission denied",
                "Try again",
            ],
        ),
        (
            DownloadError::TooLarge {
                address: address(),
                largest: 57_762,
            },
            vec!["https://example.org/file.gz", "58 kB"],
        ),
        (
            DownloadError::NotPublishedFile { address: address() },
            vec!["https://example.org/file.gz", "deleted"],
        ),
        (
            DownloadError::Occupied {
                path: PathBuf::from("some folder/file.bin"),
            },
            vec!["some folder/file.bin", "rename"],
        ),
        (DownloadError::InProgress { set }, vec!["EMNIST digits"]),
        (
            DownloadError::NoRanges { address: address() },
            vec![
                "https://example.org/file.gz",
                "does not send parts",
                "by hand",
            ],
        ),
        (
            DownloadError::NotInArchive {
                address: address(),
                name: "images.gz".to_owned(),
            },
            vec!["https://example.org/file.gz", "images.gz", "by hand"],
        ),
        (DownloadError::NoMirror, vec!["INKLING_DATA_MIRROR"]),
        (
            DownloadError::Address {
                address: "example".to_owned(),
            },
            vec!["example", "https://"],
        ),
    ];
    errors
        .into_iter()
        .map(|(error, words)| (Problem::Download(error), words))
        .collect()
}

/// Every problem there is, with words its sentence must hold.
fn every_problem() -> Vec<(Problem, Vec<&'static str>)> {
    let path = || PathBuf::from("some folder/file.bin");
    let reason = || "Permission denied (os error 13)".to_owned();
    let both = || vec!["some folder/file.bin", "Permission denied"];
    let mut all: Vec<(Problem, Vec<&'static str>)> = vec![
        (
            Problem::Write(WriteError::new(&path(), &io::Error::other(reason()))),
            both(),
        ),
        (
            Problem::Show {
                path: path(),
                reason: reason(),
            },
            both(),
        ),
        (Problem::Busy, vec![]),
        (
            Problem::Interrupted {
                checkpoint: Some(path()),
            },
            vec!["resume"],
        ),
        (
            Problem::Interrupted { checkpoint: None },
            vec!["nothing was saved"],
        ),
        (Problem::NoSuchRun, vec![]),
        (
            Problem::Diverged {
                step: 417,
                cause: Divergence::NotFinite,
            },
            vec!["NaN", "417", "three rollbacks", "learning rate"],
        ),
        (
            Problem::Diverged {
                step: 417,
                cause: Divergence::Exploded,
            },
            vec!["exploded", "417", "learning rate"],
        ),
        (
            Problem::DataChanged {
                part: DataPart::TrainImages,
            },
            vec!["training images", "--data-dir"],
        ),
        (
            Problem::DataChanged {
                part: DataPart::TrainLabels,
            },
            vec!["labels of the training images", "--data-dir"],
        ),
        (
            Problem::DataChanged {
                part: DataPart::Test,
            },
            vec!["test images", "--data-dir"],
        ),
        (
            Problem::Compute(ComputeError::Failed {
                message: "shape mismatch".to_owned(),
            }),
            vec!["shape mismatch"],
        ),
        (
            Problem::Compute(ComputeError::OutOfMemory {
                message: "CUDA_ERROR_OUT_OF_MEMORY".to_owned(),
            }),
            vec!["CUDA_ERROR_OUT_OF_MEMORY"],
        ),
        (
            Problem::Compute(ComputeError::NoThread { reason: reason() }),
            vec!["thread", "Permission denied"],
        ),
        (
            Problem::NotResumable {
                reason: "its data set has changed".to_owned(),
            },
            vec!["its data set has changed"],
        ),
        (
            Problem::SelfTest {
                reason: "it took longer than 180 s".to_owned(),
            },
            vec!["180 s"],
        ),
        (
            Problem::Panicked {
                message: "index out of bounds".to_owned(),
            },
            vec!["index out of bounds"],
        ),
        (Problem::EngineGone, vec![]),
        (Problem::Cancelled(Cancelled), vec![]),
        (Problem::Data(DataError::Cancelled(Cancelled)), vec![]),
    ];
    let config = [
        (ConfigProblem::NewerVersion { version: 77 }, vec!["77"]),
        (
            ConfigProblem::OutOfRange {
                setting: Setting::Epochs,
                given: "0".to_owned(),
            },
            vec![
                "The number of epochs is out of range (got 0)",
                "from 1 to 1000",
            ],
        ),
        (
            ConfigProblem::OutOfRange {
                setting: Setting::BatchSize,
                given: "9000".to_owned(),
            },
            vec!["9000", "8192"],
        ),
        (
            ConfigProblem::MixedClasses {
                first: "MNIST".to_owned(),
                other: "Fashion-MNIST".to_owned(),
            },
            vec!["MNIST and Fashion-MNIST", "mixed"],
        ),
        (
            ConfigProblem::MemoryLimitTooLow {
                given: 1,
                needed: 187,
            },
            vec!["1 MiB", "187 MiB"],
        ),
        (
            ConfigProblem::BatchLargerThanSet {
                given: 512,
                images: 300,
            },
            vec!["512", "300"],
        ),
        (
            ConfigProblem::OutOfRange {
                setting: Setting::LearningRate,
                given: "NaN".to_owned(),
            },
            vec!["NaN"],
        ),
        (
            ConfigProblem::OutOfRange {
                setting: Setting::WeightDecay,
                given: "-1".to_owned(),
            },
            vec!["-1"],
        ),
        (
            ConfigProblem::OutOfRange {
                setting: Setting::Momentum,
                given: "1".to_owned(),
            },
            vec!["momentum", "got 1", "0.9"],
        ),
        (
            ConfigProblem::OutOfRange {
                setting: Setting::LabelSmoothing,
                given: "0.7".to_owned(),
            },
            vec!["0.7", "0.5"],
        ),
        (
            ConfigProblem::OutOfRange {
                setting: Setting::ClipNorm,
                given: "-3".to_owned(),
            },
            vec!["-3", "above 0"],
        ),
        (
            ConfigProblem::OutOfRange {
                setting: Setting::Accumulation,
                given: "0".to_owned(),
            },
            vec!["a whole number of batches from 1 to 1024", "got 0"],
        ),
        (
            ConfigProblem::OutOfRange {
                setting: Setting::WeightAveraging,
                given: "1.5".to_owned(),
            },
            vec!["1.5", "below 1"],
        ),
        (
            ConfigProblem::OutOfRange {
                setting: Setting::EarlyStopping,
                given: "0".to_owned(),
            },
            vec!["a whole number of epochs from 1 to 1000", "got 0"],
        ),
        (
            ConfigProblem::OutOfRange {
                setting: Setting::Threads,
                given: "0".to_owned(),
            },
            vec!["threads", "got 0"],
        ),
        (
            ConfigProblem::OutOfRange {
                setting: Setting::MemoryLimit,
                given: "0".to_owned(),
            },
            vec!["memory", "MiB", "got 0"],
        ),
        (
            ConfigProblem::InitialWeights {
                path: path(),
                found: "LeNet-5 with tanh".to_owned(),
                asked: "MLP with ReLU".to_owned(),
            },
            vec!["some folder/file.bin", "LeNet-5 with tanh", "MLP with ReLU"],
        ),
        (
            ConfigProblem::Widths {
                model: ModelKind::LeNet,
                given: "7-9".parse().unwrap(),
            },
            vec!["LeNet-5", "7-9", "6-16-120-84"],
        ),
        (
            ConfigProblem::NotTrainable {
                model: ModelKind::Onnx,
            },
            vec!["ONNX network cannot be trained"],
        ),
        (
            ConfigProblem::Layers {
                model: ModelKind::LeNet,
                given: "8C3-MP2".to_owned(),
            },
            vec!["LeNet-5", "8C3-MP2", "CNN"],
        ),
        (
            ConfigProblem::TooManyParameters {
                parameters: 12_345_678,
            },
            vec!["12,345,678", "10,000,000"],
        ),
        (
            ConfigProblem::RepeatedData {
                data: "MNIST".to_owned(),
            },
            vec!["MNIST", "twice"],
        ),
        (
            ConfigProblem::InitialClasses {
                path: path(),
                found: 10,
                asked: 26,
            },
            vec!["some folder/file.bin", "10 classes", "has 26"],
        ),
        (
            ConfigProblem::PrecisionUnavailable {
                precision: Precision::Bf16,
                reason: reason(),
            },
            vec!["bf16", "Permission denied"],
        ),
        (
            ConfigProblem::DeviceUnavailable {
                device: DeviceChoice::Cuda,
                reason: reason(),
            },
            vec!["cuda", "Permission denied"],
        ),
    ];
    all.extend(config.map(|(problem, words)| (problem.into(), words)));
    let data = [
        (
            DataError::NotFound {
                set: "mnist".to_owned(),
                searched: vec![path(), "other".into()],
            },
            vec!["mnist", "some folder/file.bin", "other"],
        ),
        (
            DataError::NotFound {
                set: "mnist".to_owned(),
                searched: vec![],
            },
            vec!["mnist"],
        ),
        (
            DataError::Missing { path: path() },
            vec!["some folder/file.bin"],
        ),
        (
            DataError::Unreadable {
                path: path(),
                reason: reason(),
            },
            both(),
        ),
        (
            DataError::Malformed {
                path: path(),
                reason: reason(),
            },
            both(),
        ),
        (
            DataError::TooLarge {
                path: path(),
                reason: reason(),
            },
            both(),
        ),
        (
            DataError::NoData {
                path: path(),
                reason: reason(),
            },
            both(),
        ),
        (DataError::Unknown, vec!["data set"]),
        (
            DataError::NoDrawings { path: path() },
            vec!["not kept any drawings"],
        ),
        (
            DataError::DifferentClasses {
                other: "shapes".to_owned(),
                found: Classes::Letters,
                wanted: Classes::Digits,
            },
            vec!["shapes cannot be mixed", "letters", "digits"],
        ),
        (
            DataError::MissingDigits {
                digits: vec![1, 3, 7],
            },
            vec!["no 1, 3 or 7", "mine+builtin"],
        ),
        (
            DataError::NotTrusted {
                data: "letters.csv".to_owned(),
            },
            vec!["letters.csv", "--data"],
        ),
        (
            DataError::SingleClass {
                class: "3".to_owned(),
            },
            vec!["the same class, 3"],
        ),
    ];
    all.extend(data.map(|(error, words)| (error.into(), words)));
    let ink = [
        InkError::Unreadable {
            path: path(),
            reason: reason(),
        },
        InkError::Malformed {
            path: path(),
            reason: reason(),
        },
        InkError::TooLarge {
            path: path(),
            reason: reason(),
        },
    ];
    all.extend(ink.map(|error| (error.into(), both())));
    let model = [
        ModelError::Unreadable {
            path: path(),
            reason: reason(),
        },
        ModelError::Malformed {
            path: path(),
            reason: reason(),
        },
    ];
    all.extend(model.map(|error| (error.into(), both())));
    all.push((
        ModelError::Foreign { path: path() }.into(),
        vec!["some folder/file.bin", "inkling import FILE"],
    ));
    let run = [
        RunError::Unreadable {
            folder: path(),
            reason: reason(),
        },
        RunError::Malformed {
            folder: path(),
            reason: reason(),
        },
    ];
    all.extend(run.map(|error| (error.into(), both())));
    let taken = [
        RunError::Occupied { folder: path() },
        RunError::InUse { folder: path() },
    ];
    all.push((
        RunError::NoRoom {
            folder: path(),
            needed: 5_000_000,
            available: 2_000_000,
        }
        .into(),
        vec!["some folder/file.bin", "5.0 MB", "2.0 MB", "3.0 MB"],
    ));
    all.extend(taken.map(|error| (error.into(), vec!["some folder/file.bin"])));
    let write = || WriteError::new(&path(), &io::Error::other(reason()));
    let compute = || ComputeError::Failed { message: reason() };
    // These come to people as problems of their own; a message for each there is all the same.
    all.extend(downloads());
    all.push((Problem::Run(RunError::Write(write())), both()));
    all.push((
        Problem::Run(RunError::Compute(compute())),
        vec!["Permission denied"],
    ));
    let export = [
        (
            ExportError::Target(TargetError::Source { path: path() }),
            vec!["some folder/file.bin"],
        ),
        (ExportError::UnsupportedNetwork, vec!["ONNX"]),
        (
            ExportError::Failed { message: reason() },
            vec!["Permission denied"],
        ),
        (ExportError::Write(write()), both()),
    ];
    all.extend(export.map(|(error, words)| (Problem::Export(error), words)));
    let comparison = [
        (
            ComparisonError::Count { given: 9 },
            vec!["9 models", "2 to 8"],
        ),
        (ComparisonError::Repeated, vec!["itself"]),
        (
            ComparisonError::DifferentData {
                sets: vec!["MNIST".to_owned(), "pens".to_owned()],
            },
            vec!["MNIST, pens"],
        ),
    ];
    all.extend(comparison.map(|(error, words)| (error.into(), words)));
    let targets = [
        (
            TargetError::Exist {
                paths: vec![path(), PathBuf::from("other.py")],
            },
            vec!["some folder/file.bin", "other.py", "--force"],
        ),
        (
            TargetError::Source { path: path() },
            vec!["some folder/file.bin"],
        ),
        (
            TargetError::Clash { path: path() },
            vec!["some folder/file.bin"],
        ),
        (TargetError::Write(write()), both()),
    ];
    all.extend(targets.map(|(error, words)| (error.into(), words)));
    all.push((ComputeError::NotFinite.into(), vec!["probabilities"]));
    let mismatch = |not_finite: Option<&str>| Mismatch {
        closest: ModelKind::LeNet,
        wrong: Vec::new(),
        missing: vec![("conv2.bias".to_owned(), vec![16])],
        unexpected: Vec::new(),
        not_finite: not_finite.map(str::to_owned),
    };
    let import = [
        (
            ImportError::Unreadable {
                path: path(),
                reason: reason(),
            },
            both(),
        ),
        (
            ImportError::Malformed {
                path: path(),
                reason: reason(),
            },
            both(),
        ),
        (
            ImportError::Mismatch {
                path: path(),
                mismatch: Box::new(mismatch(None)),
            },
            vec!["some folder/file.bin", "conv2.bias (16)"],
        ),
        (
            ImportError::Mismatch {
                path: path(),
                mismatch: Box::new(mismatch(Some("fc1.bias"))),
            },
            vec!["some folder/file.bin", "fc1.bias"],
        ),
        (
            ImportError::Undecided {
                path: path(),
                trials: Box::new(crate::fake_engine::trials()),
            },
            vec![
                "some folder/file.bin",
                "93.5 % with Tanh, average pooling",
                "--accept",
            ],
        ),
        (
            ImportError::Model(ModelError::Unreadable {
                path: path(),
                reason: reason(),
            }),
            both(),
        ),
        (
            ImportError::Infer(InferError::Compute(compute())),
            vec!["Permission denied"],
        ),
        (ImportError::Compute(compute()), vec!["Permission denied"]),
        (
            ImportError::Data(DataError::Missing { path: path() }),
            vec!["some folder/file.bin"],
        ),
        (
            ImportError::Graph {
                path: path(),
                reason: reason(),
            },
            both(),
        ),
        (
            ImportError::Classes {
                data: "EMNIST letters".to_owned(),
                given: 26,
            },
            vec!["EMNIST letters has 26 classes"],
        ),
        (ImportError::Cancelled(Cancelled), Vec::new()),
    ];
    all.extend(import.map(|(error, words)| (Problem::Import(error), words)));
    let status = || "signal: 9 (SIGKILL)".to_owned();
    let exits = [
        (
            EngineExit::NotStarted { reason: reason() },
            vec!["Permission denied"],
        ),
        (
            EngineExit::Ended {
                status: status(),
                words: String::new(),
            },
            vec!["SIGKILL"],
        ),
        (
            EngineExit::Ended {
                status: status(),
                words: "a driver said something".to_owned(),
            },
            vec!["SIGKILL", "a driver said something"],
        ),
        (EngineExit::Hung { seconds: 30 }, vec!["30 s"]),
        (
            EngineExit::Version {
                ours: "1.2.3".to_owned(),
                theirs: "1.2.4".to_owned(),
            },
            vec!["1.2.3", "1.2.4"],
        ),
        (
            EngineExit::Disconnected {
                machine: "gpu-box".to_owned(),
                reason: reason(),
            },
            vec!["gpu-box", "Permission denied"],
        ),
        (
            EngineExit::Slurm { reason: reason() },
            vec!["Slurm", "Permission denied"],
        ),
        (
            EngineExit::Garbled { reason: reason() },
            vec!["Permission denied"],
        ),
    ];
    let ensembles = [
        (
            EnsembleProblem::Models { given: 65 },
            vec!["65 models", "1 to 64"],
        ),
        (
            EnsembleProblem::DifferentClasses {
                first: Classes::Digits,
                other: Classes::Clothing,
            },
            vec!["digits", "articles of clothing"],
        ),
        (
            EnsembleProblem::DropoutPasses { given: 1 },
            vec!["1 passes", "2 to 1,000"],
        ),
        (
            EnsembleProblem::NoDropout {
                path: path(),
                model: ModelKind::Mlp,
            },
            vec!["some folder/file.bin", "dropout"],
        ),
    ];
    all.extend(ensembles.map(|(problem, words)| (problem.into(), words)));
    all.push((Problem::NotOneModel, vec!["ensemble"]));
    all.push((
        Problem::DifferentClasses {
            model: Classes::Hiragana,
            data: Classes::Digits,
        },
        vec!["hiragana", "digits"],
    ));
    all.push((
        Problem::NotSent { reason: reason() },
        vec!["Permission denied"],
    ));
    all.push((
        Problem::NoConsent {
            drawings: 1234,
            machine: "gpu-box".to_owned(),
        },
        vec!["1,234 drawings", "gpu-box", "--send-my-digits"],
    ));
    all.extend(exits.map(|(exit, words)| (exit.into(), words)));
    all
}

/// The names of an error's kinds, and which of them an error is. A kind that is not listed does not
/// compile.
macro_rules! kinds {
    ($error:ident: $($kind:ident),*) => {{
        fn kind(error: &$error) -> &'static str {
            match error {
                $($error::$kind { .. } => stringify!($kind),)*
            }
        }
        ([$(stringify!($kind)),*].as_slice(), kind as fn(&$error) -> &'static str)
    }};
}

/// Asserts that every kind is among these errors.
fn all_are_there<'e, E: 'e>(
    (kinds, kind): (&[&str], fn(&E) -> &'static str),
    errors: impl Iterator<Item = &'e E>,
) {
    let found: Vec<&str> = errors.map(kind).collect();
    let missing: Vec<_> = kinds.iter().filter(|kind| !found.contains(kind)).collect();
    assert!(
        missing.is_empty(),
        "{missing:?} are not among every problem"
    );
}

#[test]
fn every_problem_is_really_every_one() {
    let all: Vec<Problem> = every_problem()
        .into_iter()
        .map(|(problem, _)| problem)
        .collect();
    all_are_there(
        kinds!(Problem: Config, Data, Download, Ink, Model, Compute, Run, Comparison, Ensemble, DifferentClasses, NotOneModel, Export, Import, Write, Target, Show, NotSent, NoConsent, Busy, NoSuchRun, Diverged, DataChanged, NotResumable,
            Interrupted, Panicked, SelfTest, EngineExited, EngineGone, Cancelled),
        all.iter(),
    );
    macro_rules! inner {
        ($kind:ident) => {
            all.iter().filter_map(|problem| {
                if let Problem::$kind(error) = problem {
                    Some(error)
                } else {
                    None
                }
            })
        };
    }
    all_are_there(
        kinds!(ConfigProblem: NewerVersion, NotTrainable, Widths, Layers, TooManyParameters, OutOfRange, MixedClasses, RepeatedData, BatchLargerThanSet, MemoryLimitTooLow, InitialWeights, InitialClasses, PrecisionUnavailable, DeviceUnavailable),
        inner!(Config),
    );
    all_are_there(
        kinds!(DataError: NotFound, Missing, Unreadable, Malformed, TooLarge, NoData, NoDrawings, DifferentClasses, MissingDigits, Unknown, NotTrusted, SingleClass, Cancelled),
        inner!(Data),
    );
    all_are_there(
        kinds!(InkError: Unreadable, Malformed, TooLarge),
        inner!(Ink),
    );
    all_are_there(
        kinds!(ModelError: Unreadable, Foreign, Malformed),
        inner!(Model),
    );
    all_are_there(
        kinds!(ComputeError: Failed, NoThread, NotFinite, OutOfMemory),
        inner!(Compute),
    );
    all_are_there(
        kinds!(RunError: Unreadable, Malformed, InUse, NoRoom, Occupied, Write, Compute),
        inner!(Run),
    );
    all_are_there(
        kinds!(ExportError: Target, UnsupportedNetwork, Failed, Write),
        inner!(Export),
    );
    all_are_there(
        kinds!(ImportError: Unreadable, Malformed, Mismatch, Undecided, Graph, Classes, Model, Infer, Compute, Data, Cancelled),
        inner!(Import),
    );
    all_are_there(
        kinds!(ComparisonError: Count, Repeated, DifferentData),
        inner!(Comparison),
    );
    all_are_there(
        kinds!(EnsembleProblem: Models, DropoutPasses, DifferentClasses, NoDropout),
        inner!(Ensemble),
    );
    all_are_there(
        kinds!(TargetError: Exist, Source, Clash, Write),
        inner!(Target),
    );
    all_are_there(
        kinds!(EngineExit: NotStarted, Ended, Hung, Version, Disconnected, Slurm, Garbled),
        inner!(EngineExited),
    );
}

#[test]
fn every_problem_is_a_sentence_that_names_what_it_is_about() {
    for (problem, words) in every_problem() {
        let message = Message::from(&problem);
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
        let message = Message::from(&problem);
        if matches!(
            problem,
            Problem::Cancelled(_)
                | Problem::Data(DataError::Cancelled(_))
                | Problem::Import(ImportError::Cancelled(_))
        ) {
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
        Message::from(&Problem::Write(WriteError::new(
            Path::new("model.safetensors"),
            &io::Error::other(reason.to_owned()),
        )))
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
