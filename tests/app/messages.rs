//! Every problem has a friendly sentence that names what it is about.

use std::path::PathBuf;

use inkling::app::messages::Message;
use inkling::data::DataError;
use inkling::ink::InkError;
use inkling::nn::ComputeError;
use inkling::nn::ModelError;
use inkling::problem::Problem;
use inkling::progress::Cancelled;
use inkling::records::Intervention;
use inkling::run_config::{ConfigProblem, DeviceChoice, Field, Precision};
use inkling::runs::RunError;
use inkling::system::WriteError;

/// Every problem there is, with words its sentence must hold.
fn every_problem() -> Vec<(Problem, Vec<&'static str>)> {
    let path = || PathBuf::from("some folder/file.bin");
    let reason = || "Permission denied (os error 13)".to_owned();
    let both = || vec!["some folder/file.bin", "Permission denied"];
    let mut all: Vec<(Problem, Vec<&'static str>)> = vec![
        (Problem::Write(WriteError { path: path(), reason: reason() }), both()),
        (Problem::Show { path: path(), reason: reason() }, both()),
        (Problem::Busy, vec![]),
        (Problem::NoSuchRun, vec![]),
        (Problem::Diverged { step: 417 }, vec!["417", "learning rate"]),
        (Problem::Compute(ComputeError::Failed { message: "shape mismatch".to_owned() }), vec!["shape mismatch"]),
        (Problem::Panicked { message: "index out of bounds".to_owned() }, vec!["index out of bounds"]),
        (Problem::EngineGone, vec![]),
    ];
    let config = [
        (ConfigProblem::NewerVersion { version: 77 }, vec!["77"]),
        (
            ConfigProblem::OutOfRange { field: Field::Epochs, given: "0".to_owned() },
            vec!["The number of epochs must be between 1 and 1000 (got 0)"],
        ),
        (ConfigProblem::OutOfRange { field: Field::BatchSize, given: "9000".to_owned() }, vec!["9000", "8192"]),
        (ConfigProblem::BatchLargerThanSet { given: 512, images: 300 }, vec!["512", "300"]),
        (ConfigProblem::OutOfRange { field: Field::LearningRate, given: "NaN".to_owned() }, vec!["NaN"]),
        (ConfigProblem::OutOfRange { field: Field::WeightDecay, given: "-1".to_owned() }, vec!["-1"]),
        (ConfigProblem::OutOfRange { field: Field::Momentum, given: "1".to_owned() }, vec!["momentum", "got 1", "0.9"]),
        (ConfigProblem::OutOfRange { field: Field::LabelSmoothing, given: "0.7".to_owned() }, vec!["0.7", "0.5"]),
        (ConfigProblem::OutOfRange { field: Field::ClipNorm, given: "-3".to_owned() }, vec!["-3", "above 0"]),
        (ConfigProblem::OutOfRange { field: Field::Accumulation, given: "0".to_owned() }, vec!["between 1 and 1024 batches", "got 0"]),
        (ConfigProblem::OutOfRange { field: Field::WeightAveraging, given: "1.5".to_owned() }, vec!["1.5", "below 1"]),
        (
            ConfigProblem::OutOfRange { field: Field::EarlyStopping, given: "0".to_owned() },
            vec!["must be between 1 and 1000 epochs (got 0)"],
        ),
        (ConfigProblem::OutOfRange { field: Field::Threads, given: "0".to_owned() }, vec!["threads", "got 0"]),
        (ConfigProblem::PrecisionUnavailable { precision: Precision::Bf16, reason: reason() }, vec!["bf16", "Permission denied"]),
        (ConfigProblem::DeviceUnavailable { device: DeviceChoice::Cuda, reason: reason() }, vec!["cuda", "Permission denied"]),
    ];
    all.extend(config.map(|(problem, words)| (problem.into(), words)));
    let data = [
        (
            DataError::NotFound { set: "mnist".to_owned(), searched: vec![path(), "other".into()] },
            vec!["mnist", "some folder/file.bin", "other"],
        ),
        (DataError::NotFound { set: "mnist".to_owned(), searched: vec![] }, vec!["mnist"]),
        (DataError::Missing { path: path() }, vec!["some folder/file.bin"]),
        (DataError::Unreadable { path: path(), reason: reason() }, both()),
        (DataError::Malformed { path: path(), reason: reason() }, both()),
        (DataError::TooLarge { path: path(), reason: reason() }, both()),
        (DataError::NoData { path: path(), reason: reason() }, both()),
        (DataError::Cancelled(Cancelled), vec![]),
    ];
    all.extend(data.map(|(error, words)| (error.into(), words)));
    let ink = [InkError::Unreadable { path: path(), reason: reason() }, InkError::Malformed { path: path(), reason: reason() }];
    all.extend(ink.map(|error| (error.into(), both())));
    let model = [ModelError::Unreadable { path: path(), reason: reason() }, ModelError::Malformed { path: path(), reason: reason() }];
    all.extend(model.map(|error| (error.into(), both())));
    let run = [RunError::Unreadable { folder: path(), reason: reason() }, RunError::Malformed { folder: path(), reason: reason() }];
    all.extend(run.map(|error| (error.into(), both())));
    all.push((RunError::Occupied { folder: path() }.into(), vec!["some folder/file.bin"]));
    all
}

#[test]
fn every_problem_is_a_sentence_that_names_what_it_is_about() {
    for (problem, words) in every_problem() {
        let message = Message::from(&problem);
        assert!(message.what.len() > 10 && message.what.ends_with('.'), "{problem:?}: {}", message.what);
        assert!(!message.what.contains(".."), "{problem:?}: {}", message.what);
        let text = message.to_string();
        for word in words {
            assert!(text.contains(word), "{problem:?} does not say {word:?}: {text}");
        }
    }
}

#[test]
fn every_problem_but_a_wish_to_stop_has_a_remedy() {
    for (problem, _) in every_problem() {
        let message = Message::from(&problem);
        if problem == DataError::Cancelled(Cancelled).into() {
            assert_eq!(message.remedy, "");
        } else {
            assert!(message.remedy.len() > 10 && message.remedy.ends_with('.'), "{problem:?}: {}", message.remedy);
        }
    }
}

#[test]
fn foreign_words_end_once() {
    let with =
        |reason: &str| Message::from(&Problem::Write(WriteError { path: "model.safetensors".into(), reason: reason.to_owned() })).what;
    assert_eq!(with("disk full"), "model.safetensors could not be written: disk full.");
    assert_eq!(with("disk full."), "model.safetensors could not be written: disk full.");
    assert_eq!(with(""), "model.safetensors could not be written: unknown error.");
}

#[test]
fn what_a_run_does_by_itself_is_said_with_its_figures() {
    let skipped = Intervention::SkippedStep { step: 7, loss_scale: 32_768.0 };
    let back = |left| Intervention::RolledBack { step: 1450, to_step: 1400, rate_factor: 0.25, left };
    let from_the_start = Intervention::RolledBack { step: 3, to_step: 0, rate_factor: 0.5, left: 2 };
    for (intervention, words) in [
        (skipped, &["Step 7 ", "f16", "32,768"][..]),
        (back(2), &["step 1,450", "step 1,400", "1/4 of the learning rate", "2 more rollbacks are allowed"]),
        (back(1), &["One more rollback"]),
        (back(0), &["No more rollbacks are allowed"]),
        (from_the_start, &["step 3 ", "the start", "1/2"]),
        (Intervention::StoppedEarly { epoch: 9, best_epoch: 6 }, &["epoch 9", "epoch 6 were saved"]),
    ] {
        let message = Message::intervened(&intervention);
        assert!(message.what.ends_with('.') && message.remedy.ends_with('.'), "{message}");
        for word in words {
            assert!(message.to_string().contains(word), "{intervention:?} does not say {word:?}: {message}");
        }
    }
}
