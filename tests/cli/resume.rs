//! `inkling train --resume`: a run whose process was killed goes on, and comes to the same weights.

use std::io::BufRead;
use std::path::Path;
use std::time::{Duration, Instant};

use super::{Words, exits, inkling, objects, run, says, stderr, succeed, words};
use crate::support::write_idx_set;

fn wait_for(found: impl Fn() -> bool) {
    let since = Instant::now();
    while !found() {
        assert!(since.elapsed() < Duration::from_mins(1), "it did not come");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn has_checkpoint(home: &Path) -> bool {
    let folders = std::fs::read_dir(home.join("checkpoints"))
        .into_iter()
        .flatten()
        .filter_map(Result::ok);
    folders
        .into_iter()
        .any(|entry| entry.path().join("checkpoint").is_file())
}

#[test]
fn a_killed_run_goes_on_to_the_same_weights() {
    let home = tempfile::tempdir().unwrap();
    write_idx_set(&home.path().join("set"), 1200, 50);
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

    let mut child = inkling(home.path())
        .args(train)
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    wait_for(|| has_checkpoint(home.path()));
    child.kill().unwrap();
    child.wait().unwrap();
    let resumed = run(&home, "train --resume --json --out resumed");
    assert!(resumed.status.success(), "{}", stderr(&resumed));
    says(&resumed, "Resuming after epoch");
    let weights = |name: &str| {
        let file = std::fs::read(home.path().join(name).join("model.safetensors")).unwrap();
        let header = u64::from_le_bytes(file[..8].try_into().unwrap()) as usize;
        file[8 + header..].to_vec()
    };
    assert!(weights("whole") == weights("resumed"));
    let last = |output| objects(output).pop().unwrap();
    assert_eq!(
        last(&whole)["test_accuracy"],
        last(&resumed)["test_accuracy"]
    );
    assert_eq!(
        last(&resumed)["epoch_seconds"].as_array().unwrap().len(),
        60
    );
    assert!(!has_checkpoint(home.path()));
}

/// Starts a run with these further options and kills it after its first checkpoint.
fn killed_run<'a>(home: impl AsRef<Path>, options: impl Words<'a>) {
    let train = words("train --network mlp --epochs 60 --threads 1 --batch-size 20");
    let home = home.as_ref();
    let mut child = inkling(home)
        .args(train)
        .args(options.words())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    wait_for(|| has_checkpoint(home));
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_run_in_progress_is_not_resumed_and_one_that_was_just_killed_is() {
    let home = tempfile::tempdir().unwrap();
    write_idx_set(&home.path().join("set"), 1200, 50);
    let train = words("train --data ./set --network mlp --epochs 1000 --threads 1 --batch-size 20");
    let mut child = inkling(home.path())
        .args(train)
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    wait_for(|| has_checkpoint(home.path()));
    let refused = run(&home, &["train", "--resume"]);
    child.kill().unwrap();
    exits(&refused, 1);
    says(&refused, "still in progress");
    // The system may still be taking its process apart.
    let mut resumed = inkling(home.path())
        .args(["train", "--resume"])
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = std::io::BufReader::new(resumed.stderr.take().unwrap()).lines();
    let line = said.find_map(|line| {
        line.ok()
            .filter(|line| line.contains("Resuming after") || line.contains("resume."))
    });
    resumed.kill().unwrap();
    resumed.wait().unwrap();
    child.wait().unwrap();
    assert!(
        line.as_ref()
            .is_some_and(|line| line.contains("Resuming after")),
        "{line:?}"
    );
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
    killed_run(&home, &["--data", "./set"]);
    let refused = |part: &str| {
        let resumed = run(&home, &["train", "--resume"]);
        exits(&resumed, 1);
        assert!(
            stderr(&resumed).contains(part) && stderr(&resumed).contains("--data-dir"),
            "{part}: {}",
            stderr(&resumed)
        );
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
    let missing = run(&home, &["train", "--resume"]);
    exits(&missing, 1);
    says(&missing, "set");
    std::fs::rename(&elsewhere, &set).unwrap();
    // From another folder, the relative path is still that of the folder it was started in.
    let resumed = inkling(home.path())
        .args(["train", "--resume"])
        .current_dir(std::env::temp_dir())
        .output()
        .unwrap();
    assert!(resumed.status.success(), "{}", stderr(&resumed));
}

#[test]
fn options_of_an_interrupted_run_are_remembered_and_may_be_given_anew() {
    let home = tempfile::tempdir().unwrap();
    // In two folders data sets of the same name; the usual one holds the wrong one.
    for (folder, images) in [("data", 600), ("mine", 1200)] {
        write_idx_set(&home.path().join(folder).join("kmnist"), images, 50);
    }
    let options = |out| {
        [
            "--data",
            "kmnist",
            "--data-dir",
            "mine",
            "--out",
            out,
            "--weights",
            "f16",
        ]
    };
    let size = |name: &str| {
        std::fs::metadata(home.path().join(name).join("model.safetensors"))
            .unwrap()
            .len()
    };
    killed_run(&home, &options("here"));
    let resumed = inkling(home.path())
        .args(["train", "--resume"])
        .current_dir(std::env::temp_dir())
        .output()
        .unwrap();
    assert!(resumed.status.success(), "{}", stderr(&resumed));
    let half = size("here");

    killed_run(&home, &options("not there"));
    let other = run(&home, "train --resume --data-dir data");
    exits(&other, 1);
    says(&other, "training images");
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
    let none = run(&home, &["train", "--resume"]);
    exits(&none, 1);
    says(&none, "no interrupted run");
    let nowhere = run(&home, "train --resume nowhere");
    exits(&nowhere, 1);
    says(&nowhere, "nowhere");
    let both = run(&home, "train --resume --epochs 3");
    assert_eq!(both.status.code(), Some(2), "its settings are the run's");
}

#[test]
fn an_interrupted_run_is_saved_as_it_was() {
    let home = tempfile::tempdir().unwrap();
    write_idx_set(&home.path().join("set"), 1200, 50);
    let none = run(&home, "train --resume --save");
    exits(&none, 1);
    let train = words("train --data ./set --network mlp --epochs 1000 --threads 1 --batch-size 20");
    let mut child = inkling(home.path())
        .args(train)
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    wait_for(|| has_checkpoint(home.path()));
    child.kill().unwrap();
    child.wait().unwrap();
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
    let home = tempfile::tempdir().unwrap();
    write_idx_set(&home.path().join("set"), 20_000, 50);
    let mut program = inkling(home.path());
    program
        .env("INKLING_ENGINE", "process")
        .stderr(std::process::Stdio::null())
        .stdout(std::process::Stdio::piped());
    // Its first epoch takes long, and so may a step.
    program.args(words(
        "train --data ./set --network convnet --epochs 1000 --batch-size 512 --json",
    ));
    let mut child = program.spawn().unwrap();
    let mut lines = std::io::BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("\"started\"")));
    assert!(!has_checkpoint(home.path()));
    child.kill().unwrap();
    child.wait().unwrap();
    let mut resumed = inkling(home.path())
        .args(["train", "--resume"])
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = std::io::BufReader::new(resumed.stderr.take().unwrap()).lines();
    let line = said.find_map(|line| {
        line.ok()
            .filter(|line| line.contains("Resuming after") || line.contains("no interrupted run"))
    });
    resumed.kill().unwrap();
    resumed.wait().unwrap();
    assert!(
        line.as_ref()
            .is_some_and(|line| line.contains("Resuming after")),
        "{line:?}"
    );
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
            .stderr(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped());
        program.args([
            "train", "--data", "./set", "--model", model, "--epochs", "1000", "--json",
        ]);
        let mut child = program.spawn().unwrap();
        let mut out = std::io::BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        while !line.contains(&format!("\"event\":\"{moment}\"")) {
            line.clear();
            assert!(out.read_line(&mut line).unwrap() > 0, "it ended too soon");
        }
        if moment == "epoch" {
            wait_for(|| has_checkpoint(home.path()));
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
