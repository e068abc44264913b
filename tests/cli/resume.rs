//! `inkling train --resume`: a run whose process was killed goes on, and comes to the same weights.

use std::path::Path;
use std::time::{Duration, Instant};

use super::{inkling, objects, run, stderr};
use crate::support::write_idx_set;

fn wait_for(found: impl Fn() -> bool) {
    let since = Instant::now();
    while !found() {
        assert!(since.elapsed() < Duration::from_mins(1), "it did not come");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn has_checkpoint(home: &Path) -> bool {
    let folders = std::fs::read_dir(home.join("checkpoints")).into_iter().flatten().filter_map(Result::ok);
    folders.into_iter().any(|entry| entry.path().join("checkpoint").is_file())
}

#[test]
fn a_killed_run_goes_on_to_the_same_weights() {
    let home = tempfile::tempdir().unwrap();
    write_idx_set(&home.path().join("set"), 1200, 50);
    let train = ["train", "--data", "./set", "--model", "mlp", "--epochs", "60", "--threads", "1", "--batch-size", "20", "--json"];
    let whole = run(home.path(), &[&train[..], &["--out", "whole"]].concat());
    assert!(whole.status.success(), "{}", stderr(&whole));
    assert!(!has_checkpoint(home.path()), "a run that is over leaves no checkpoint");

    let mut child =
        inkling(home.path()).args(train).stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn().unwrap();
    wait_for(|| has_checkpoint(home.path()));
    child.kill().unwrap();
    child.wait().unwrap();
    let resumed = run(home.path(), &["train", "--resume", "--json", "--out", "resumed"]);
    assert!(resumed.status.success(), "{}", stderr(&resumed));
    assert!(stderr(&resumed).contains("Resuming after epoch"), "{}", stderr(&resumed));
    let weights = |name: &str| {
        let file = std::fs::read(home.path().join(name).join("model.safetensors")).unwrap();
        let header = u64::from_le_bytes(file[..8].try_into().unwrap()) as usize;
        file[8 + header..].to_vec()
    };
    assert!(weights("whole") == weights("resumed"));
    let last = |output| objects(output).pop().unwrap();
    assert_eq!(last(&whole)["test_accuracy"], last(&resumed)["test_accuracy"]);
    assert_eq!(last(&resumed)["epoch_seconds"].as_array().unwrap().len(), 60);
    assert!(!has_checkpoint(home.path()));
}

#[test]
fn without_an_interrupted_run_it_says_so() {
    let home = tempfile::tempdir().unwrap();
    let none = run(home.path(), &["train", "--resume"]);
    assert_eq!(none.status.code(), Some(2));
    assert!(stderr(&none).contains("no interrupted run"), "{}", stderr(&none));
    let nowhere = run(home.path(), &["train", "--resume", "nowhere"]);
    assert_eq!(nowhere.status.code(), Some(1));
    assert!(stderr(&nowhere).contains("nowhere"), "{}", stderr(&nowhere));
    let both = run(home.path(), &["train", "--resume", "--epochs", "3"]);
    assert_eq!(both.status.code(), Some(2), "its settings are the run's");
}
