//! `inkling train --resume`: a run whose process was killed goes on, and comes to the same weights.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;

use super::{
    exits, fails, has_checkpoint, home_with_set, inkling, kill_after_checkpoint, last_object,
    objects, run, run_in, says, started_until_checkpoint, stderr, succeed, wait_for_checkpoint,
    words,
};
use crate::support::write_idx_set;

/// Resumes the run, and asserts that it comes to its end.
#[track_caller]
fn resumed_in(home: &Path, folder: &Path) {
    exits(&run_in(home, folder, "train --resume"), 0);
}

/// Resumes the run until it says so, or one of these words.
#[track_caller]
fn assert_resumes_rather_than(home: &Path, words: &str) {
    let mut program = inkling(home);
    let program = program.args(["train", "--resume"]).stderr(Stdio::piped());
    let mut resumed = program.spawn().unwrap();
    let mut said = BufReader::new(resumed.stderr.take().unwrap()).lines();
    let is_meant = |line: &String| line.contains("Resuming after") || line.contains(words);
    let line = said.find_map(|line| line.ok().filter(is_meant)).unwrap();
    resumed.kill().unwrap();
    resumed.wait().unwrap();
    assert!(line.contains("Resuming after"), "{line}");
}

#[test]
fn a_killed_run_goes_on_to_the_same_weights() {
    let home = home_with_set(1200, 50);
    let train = words(
        "train --data ./set --network mlp --epochs 60 --threads 1 --batch-size 20 \
             --json",
    );
    let whole = run(&home, &[&train[..], &["--out", "whole"]].concat());
    assert!(whole.status.success(), "{}", stderr(&whole));
    assert!(
        !has_checkpoint(home.path()),
        "a run that is over leaves no checkpoint"
    );

    kill_after_checkpoint(home.path(), &train);
    let resumed = run(&home, "train --resume --json --out resumed");
    assert!(resumed.status.success(), "{}", stderr(&resumed));
    says(&resumed, "Resuming after epoch");
    let weights = |name: &str| {
        let file = std::fs::read(home.path().join(name).join("model.safetensors")).unwrap();
        let header = u64::from_le_bytes(file[..8].try_into().unwrap()) as usize;
        file[8 + header..].to_vec()
    };
    assert!(weights("whole") == weights("resumed"));
    assert_eq!(
        last_object(&whole)["test_accuracy"],
        last_object(&resumed)["test_accuracy"]
    );
    assert_eq!(
        last_object(&resumed)["epoch_seconds"]
            .as_array()
            .unwrap()
            .len(),
        60
    );
    assert!(!has_checkpoint(home.path()));
}

/// Starts a run with these further options and kills it after its first checkpoint.
fn killed_run(home: &Path, options: &[&str]) {
    let train = words("train --network mlp --epochs 60 --threads 1 --batch-size 20");
    kill_after_checkpoint(home, &[&train[..], options].concat());
}

/// A run that does not end soon.
const ENDLESS: &str = "train --data ./set --network mlp --epochs 1000 --threads 1 --batch-size 20";

#[test]
fn a_run_in_progress_is_not_resumed_and_one_that_was_just_killed_is() {
    let home = home_with_set(1200, 50);
    let mut child = started_until_checkpoint(home.path(), ENDLESS);
    let refused = run(&home, "train --resume");
    child.kill().unwrap();
    exits(&refused, 1);
    says(&refused, "still in progress");
    // The system may still be taking its process apart.
    assert_resumes_rather_than(home.path(), "resume.");
    child.wait().unwrap();
}

/// Replaces these bytes of a file.
fn change(file: &Path, at: usize, change: impl Fn(&mut [u8])) {
    let mut bytes = std::fs::read(file).unwrap();
    change(&mut bytes[at..]);
    std::fs::write(file, bytes).unwrap();
}

#[test]
fn changed_data_is_refused_and_said() {
    let home = tempfile::tempdir().unwrap();
    let set = home.path().join("set");
    write_idx_set(&set, 1200, 50);
    killed_run(home.path(), &["--data", "./set"]);
    let refused = |part: &str| {
        let resumed = run(&home, &["train", "--resume"]);
        exits(&resumed, 1);
        says(&resumed, part);
        says(&resumed, "--data-dir");
        assert!(has_checkpoint(home.path()), "what is refused stays");
    };
    // Headers of images have 16 bytes, those of labels 8.
    let flip = |bytes: &mut [u8]| bytes[0] ^= 1;
    for (file, at, part) in [
        ("train-images-idx3-ubyte", 16 + 700_000, "training images"),
        (
            "train-labels-idx1-ubyte",
            8 + 1100,
            "labels of the training images",
        ),
        ("t10k-images-idx3-ubyte", 16, "test images"),
        ("t10k-labels-idx1-ubyte", 8, "test images or their labels"),
    ] {
        change(&set.join(file), at, flip);
        refused(part);
        change(&set.join(file), at, flip);
    }
    // The same labels in another order.
    change(&set.join("train-labels-idx1-ubyte"), 8, |labels| {
        labels.swap(0, 1);
    });
    refused("labels of the training images");
    change(&set.join("train-labels-idx1-ubyte"), 8, |labels| {
        labels.swap(0, 1);
    });
    // More images than there were.
    let elsewhere = home.path().join("elsewhere");
    std::fs::rename(&set, &elsewhere).unwrap();
    write_idx_set(&set, 1320, 50);
    refused("training images");
    std::fs::remove_dir_all(&set).unwrap();
    fails(&home, &["train", "--resume"], 1, "set");
    std::fs::rename(&elsewhere, &set).unwrap();
    // From another folder, the relative path is still that of the folder it was started in.
    resumed_in(home.path(), &std::env::temp_dir());
}

#[test]
fn options_of_an_interrupted_run_are_remembered_and_may_be_given_anew() {
    let home = tempfile::tempdir().unwrap();
    // In two folders data sets of the same name; the usual one holds the wrong one.
    for (folder, images) in [("data", 600), ("mine", 1200)] {
        write_idx_set(&home.path().join(folder).join("kmnist"), images, 50);
    }
    let options = |out| {
        let usual = words("--data kmnist --data-dir mine --weights f16 --out");
        [&usual[..], &[out]].concat()
    };
    let size = |name: &str| {
        std::fs::metadata(home.path().join(name).join("model.safetensors"))
            .unwrap()
            .len()
    };
    killed_run(home.path(), &options("here"));
    resumed_in(home.path(), &std::env::temp_dir());
    let half = size("here");

    killed_run(home.path(), &options("not there"));
    fails(
        &home,
        "train --resume --data-dir data",
        1,
        "training images",
    );
    let resumed = run(&home, "train --resume --out there --weights f32");
    assert!(resumed.status.success(), "{}", stderr(&resumed));
    assert!(size("there") > half * 3 / 2, "{} and {half}", size("there"));
    let settings = run(&home, "train --resume --learning-rate 1");
    assert_eq!(
        settings.status.code(),
        Some(2),
        "its settings are the run's"
    );
}

#[test]
fn without_an_interrupted_run_it_says_so() {
    let home = tempfile::tempdir().unwrap();
    fails(&home, &["train", "--resume"], 1, "no interrupted run");
    fails(&home, "train --resume nowhere", 1, "nowhere");
    let both = run(&home, "train --resume --epochs 3");
    assert_eq!(both.status.code(), Some(2), "its settings are the run's");
}

#[test]
fn an_interrupted_run_is_saved_as_it_was() {
    let home = home_with_set(1200, 50);
    exits(&run(&home, "train --resume --save"), 1);
    kill_after_checkpoint(home.path(), ENDLESS);
    let saved = succeed(&home, "train --resume --save --json");
    let events = objects(&saved);
    assert!(
        events.iter().all(|event| event["event"] != "step"),
        "it trains on"
    );
    let last = events.last().unwrap();
    assert_eq!(last["event"], "finished");
    assert_eq!(last["stopped"], true);
    assert!(Path::new(last["model_path"].as_str().unwrap()).is_file());
    assert!(
        !has_checkpoint(home.path()),
        "it cannot be resumed any more"
    );
    let alone = run(&home, &["train", "--save"]);
    assert_eq!(
        alone.status.code(),
        Some(2),
        "there is nothing to save without --resume"
    );
}

#[cfg(unix)]
#[test]
fn a_run_whose_engine_still_writes_its_checkpoint_is_waited_for() {
    let home = home_with_set(20_000, 50);
    let mut program = inkling(home.path());
    program
        .env("INKLING_ENGINE", "process")
        .stderr(Stdio::null())
        .stdout(Stdio::piped());
    // Its first epoch takes long, and so may a step.
    program.args(words(
        "train --data ./set --network convnet --epochs 1000 --batch-size 512 --json",
    ));
    let mut child = program.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("\"started\"")));
    assert!(!has_checkpoint(home.path()));
    child.kill().unwrap();
    child.wait().unwrap();
    assert_resumes_rather_than(home.path(), "no interrupted run");
}

#[cfg(unix)]
#[test]
fn whether_a_run_whose_engine_crashed_can_be_resumed_is_said() {
    for (moment, words) in [
        ("started", "cannot be resumed"),
        ("epoch", "inkling train --resume"),
    ] {
        let home = tempfile::tempdir().unwrap();
        // Before the first checkpoint or after it: a first epoch that takes long, or many short
        // ones.
        let (images, model) = if moment == "started" {
            (20_000, "convnet")
        } else {
            (1200, "mlp")
        };
        write_idx_set(&home.path().join("set"), images, 50);
        let mut program = inkling(home.path());
        program
            .env("INKLING_ENGINE", "process")
            .stderr(Stdio::piped())
            .stdout(Stdio::piped());
        program.args([
            "train", "--data", "./set", "--model", model, "--epochs", "1000", "--json",
        ]);
        let mut child = program.spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        while !line.contains(&format!("\"event\":\"{moment}\"")) {
            line.clear();
            assert!(out.read_line(&mut line).unwrap() > 0, "it ended too soon");
        }
        if moment == "epoch" {
            wait_for_checkpoint(home.path());
        }
        let engine = String::from_utf8(
            std::process::Command::new("pgrep")
                .args(["-P", &child.id().to_string()])
                .output()
                .unwrap()
                .stdout,
        );
        assert!(
            std::process::Command::new("kill")
                .args(["-KILL", engine.unwrap().trim()])
                .status()
                .unwrap()
                .success()
        );
        std::io::copy(&mut out, &mut std::io::sink()).unwrap();
        let output = child.wait_with_output().unwrap();
        exits(&output, 1);
        let said = stderr(&output);
        assert!(
            said.contains("crashed") && said.contains(words),
            "{moment}: {said}"
        );
    }
}
