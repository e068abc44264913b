//! Tests of the command line: the real program, as a script or a person in a terminal meets it.

mod bench;
mod classes;
mod compare;
mod completions;
mod data;
mod eval;
mod find_batch_size;
mod find_lr;
mod hardware;
#[cfg(unix)]
mod hosts;
mod import_export;
#[cfg(unix)]
mod interrupt;
mod log;
mod predict;
mod profile;
mod record;
mod reference;
mod resume;
mod runs;
mod schema;
mod schema_values;
mod sweep;
mod targets;
mod tensorboard;
mod terminal;
mod train;
mod train_command;
mod usage;
mod verbosity;

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use inkling::nn::ModelFile;
use inkling::run_config::WeightFormat;
use serde_json::Value;

use crate::support::write_idx_set;

/// A home with a small data set in the folder `set`.
fn home_with_set(train_images: usize, test_images: usize) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    write_idx_set(&home.path().join("set"), train_images, test_images);
    home
}

/// Writes a model as the file with this name.
fn write_model(home: impl AsRef<Path>, name: &str, file: &ModelFile) {
    let bytes = file.to_bytes(WeightFormat::F32).unwrap();
    std::fs::write(home.as_ref().join(name), bytes).unwrap();
}

/// No run was saved, and none can be resumed.
#[track_caller]
fn assert_nothing_is_saved(home: &Path) {
    for folder in ["runs", "checkpoints"] {
        let entries = std::fs::read_dir(home.join(folder)).map_or(0, Iterator::count);
        assert_eq!(entries, 0, "{folder} is not empty");
    }
}

/// The program, at home in `home`, away from any display and from what this machine has set.
fn inkling(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_inkling"));
    command.env("INKLING_HOME", home).current_dir(home);
    for name in [
        "DISPLAY",
        "WAYLAND_DISPLAY",
        "WAYLAND_SOCKET",
        "INKLING_DATA_DIR",
        "RUST_LOG",
    ] {
        command.env_remove(name);
    }
    command
}

/// The words of a command line: a string of them, or a list if one has a space in it.
trait Words<'a> {
    fn words(self) -> Vec<&'a str>;
}

impl<'a> Words<'a> for &'a str {
    fn words(self) -> Vec<&'a str> {
        words(self)
    }
}

impl<'a> Words<'a> for &'a String {
    fn words(self) -> Vec<&'a str> {
        words(self)
    }
}

impl<'a> Words<'a> for &[&'a str] {
    fn words(self) -> Vec<&'a str> {
        self.to_vec()
    }
}

impl<'a, const N: usize> Words<'a> for &[&'a str; N] {
    fn words(self) -> Vec<&'a str> {
        self.to_vec()
    }
}

impl<'a> Words<'a> for &Vec<&'a str> {
    fn words(self) -> Vec<&'a str> {
        self.clone()
    }
}

fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

/// Runs the program to its end. What it prints for scripts is what its schema says.
fn run<'a>(home: impl AsRef<Path>, arguments: impl Words<'a>) -> Output {
    let arguments = arguments.words();
    let output = inkling(home.as_ref()).args(&arguments).output().unwrap();
    schema::check_output(&arguments, &String::from_utf8_lossy(&output.stdout));
    output
}

/// Runs the program in this folder.
fn run_in<'a>(home: &Path, folder: &Path, arguments: impl Words<'a>) -> Output {
    let mut program = inkling(home);
    let program = program.args(arguments.words()).current_dir(folder);
    program.output().unwrap()
}

/// Starts the program and kills it after its first checkpoint.
fn kill_after_checkpoint<'a>(home: &Path, arguments: impl Words<'a>) {
    let mut child = started_until_checkpoint(home, arguments);
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Starts the program and waits for its first checkpoint.
fn started_until_checkpoint<'a>(home: &Path, arguments: impl Words<'a>) -> Child {
    let mut program = inkling(home);
    let program = program.args(arguments.words());
    let child = program.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    wait_for_checkpoint(home);
    child.unwrap()
}

fn wait_for_checkpoint(home: &Path) {
    let since = Instant::now();
    while !has_checkpoint(home) {
        assert!(since.elapsed() < Duration::from_mins(1), "it did not come");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn has_checkpoint(home: &Path) -> bool {
    let folders = std::fs::read_dir(home.join("checkpoints"));
    let mut folders = folders.into_iter().flatten().flatten();
    folders.any(|entry| entry.path().join("checkpoint").is_file())
}

/// Runs the program, which succeeds.
#[track_caller]
fn succeed<'a>(home: impl AsRef<Path>, arguments: impl Words<'a>) -> Output {
    let output = run(home, arguments);
    exits(&output, 0);
    output
}

/// Checks how the program ended.
#[track_caller]
fn exits(output: &Output, status: i32) {
    assert_eq!(output.status.code(), Some(status), "{}", stderr(output));
}

/// Checks that these words are on standard error.
#[track_caller]
fn says(output: &Output, words: &str) {
    assert!(stderr(output).contains(words), "{}", stderr(output));
}

/// Runs the program, which ends with this status and says these words.
#[track_caller]
fn fails<'a>(
    home: impl AsRef<Path>,
    arguments: impl Words<'a>,
    status: i32,
    words: &str,
) -> Output {
    let arguments = arguments.words();
    let output = run(home, &arguments);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(status), "{arguments:?}: {said}");
    assert!(
        said.contains(words),
        "{arguments:?} does not say {words:?}: {said}"
    );
    output
}

/// Checks that these words are on standard output.
#[track_caller]
fn prints(output: &Output, words: &str) {
    assert!(stdout(output).contains(words), "{}", stdout(output));
}

fn json_file(path: impl AsRef<Path>) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Standard output as JSON, an object a line and nothing else.
fn objects(output: &Output) -> Vec<Value> {
    stdout(output)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .inspect(|value: &Value| assert!(value.is_object()))
        .collect()
}

/// The last of them.
fn last_object(output: &Output) -> Value {
    objects(output).pop().unwrap()
}

/// Those of them that are this event.
fn events_of<'a>(objects: &'a [Value], event: &str) -> Vec<&'a Value> {
    let is_meant = |object: &&Value| object["event"] == event;
    objects.iter().filter(is_meant).collect()
}

/// The object's keys, in the order they were written.
fn keys(line: &str) -> Vec<String> {
    let object: Value = serde_json::from_str(line).unwrap();
    let mut keys: Vec<(usize, String)> = object
        .as_object()
        .unwrap()
        .keys()
        .map(|key| (line.find(&format!("\"{key}\":")).unwrap(), key.clone()))
        .collect();
    keys.sort();
    keys.into_iter().map(|(_, key)| key).collect()
}
