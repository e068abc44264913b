//! Ctrl-C during a run: completed epochs are kept, an unfinished first one is not.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use super::{inkling, objects, stderr};
use crate::support::write_idx_set;

/// Starts a long run and presses Ctrl-C as soon as it printed the event `moment`.
fn interrupted_after(moment: &str, home: &Path, model: &str) -> Output {
    let arguments = ["train", "--data", "set", "--model", model, "--epochs", "1000", "--batch-size", "64", "--json"];
    interrupted(&arguments, moment, home)
}

/// Starts the program and presses Ctrl-C as soon as it printed the event `moment`.
fn interrupted(arguments: &[&str], moment: &str, home: &Path) -> Output {
    let mut child = inkling(home).args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut printed = String::new();
    while !printed.contains(&format!("\"event\":\"{moment}\"")) {
        assert!(out.read_line(&mut printed).unwrap() > 0, "it ended too soon: {printed}");
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    std::io::Read::read_to_string(&mut out, &mut printed).unwrap();
    let output = child.wait_with_output().unwrap();
    Output { stdout: printed.into_bytes(), ..output }
}

#[test]
fn completed_epochs_are_kept() {
    let home = tempfile::tempdir().unwrap();
    write_idx_set(&home.path().join("set"), 300, 50);
    let output = interrupted_after("epoch", home.path(), "lenet");
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    let events = objects(&output);
    let last = events.last().unwrap();
    assert_eq!((&last["event"], &last["stopped"], &last["test_accuracy"]), (&"finished".into(), &true.into(), &serde_json::Value::Null));
    assert!(Path::new(last["model_path"].as_str().unwrap()).is_file());
    assert!(stderr(&output).contains("saved"), "{}", stderr(&output));
}

#[test]
fn an_unfinished_first_epoch_is_not_kept() {
    let home = tempfile::tempdir().unwrap();
    write_idx_set(&home.path().join("set"), 20_000, 50);
    let output = interrupted_after("started", home.path(), "convnet");
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    assert_eq!(objects(&output).last().unwrap()["event"], "discarded");
    assert!(stderr(&output).contains("nothing was saved"), "{}", stderr(&output));
    let kept = std::fs::read_dir(home.path().join("runs")).map_or(0, Iterator::count);
    assert_eq!(kept, 0);
}

#[test]
fn a_benchmark_broken_off_keeps_nothing() {
    let home = tempfile::tempdir().unwrap();
    let output = interrupted(&["bench", "--json"], "figure", home.path());
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    assert!(objects(&output).iter().all(|object| object["event"] == "figure"));
    assert!(stderr(&output).contains("nothing was saved"), "{}", stderr(&output));
    assert!(!home.path().join("bench").exists());
}
