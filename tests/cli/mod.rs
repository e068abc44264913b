//! Tests of the command line: the real program, as a script or a person in a terminal meets it.

mod bench;
mod classes;
mod compare;
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
mod resume;
mod schema;
mod schema_values;
mod sweep;
mod targets;
mod tensorboard;
mod terminal;
mod train;
mod train_command;
mod usage;

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

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

/// Runs the program to its end. What it prints for scripts is what its schema says.
fn run(home: &Path, arguments: &[&str]) -> Output {
    let output = inkling(home).args(arguments).output().unwrap();
    schema::check_output(arguments, &String::from_utf8_lossy(&output.stdout));
    output
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
