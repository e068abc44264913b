//! Training on other machines from the command line: what may be sent, what was sent, and deleting
//! it. `ssh` is a script that runs Inkling with another home.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Output;

use super::eval::write_table_with_index;
use super::{exits, objects, prints, says, schema, stderr, stdout, words};
use crate::support::write_idx_set;

/// This machine, the other one, and a folder with `ssh`.
struct Machines {
    here: tempfile::TempDir,
    there: tempfile::TempDir,
    bin: tempfile::TempDir,
}

impl Machines {
    fn new() -> Self {
        let [here, there, bin] = [(); 3].map(|()| tempfile::tempdir().unwrap());
        let machines = Self { here, there, bin };
        let program = env!("CARGO_BIN_EXE_inkling");
        std::os::unix::fs::symlink(program, machines.bin.path().join("inkling")).unwrap();
        // The last argument is the command.
        machines.script("ssh", "touch \"$0.called\"; for last; do :; done; INKLING_HOME=\"$THERE\" exec sh -c \"$last\"");
        let drawing = |digit: u8| {
            format!(
                "{{\"strokes\":[[[{digit}.0,0.0],[9.5,40.0]]],\"pen\":4.0,\"label\":\"{digit}\"}}\n"
            )
        };
        let drawings: String = (0..3).flat_map(|_| 0..10).map(drawing).collect();
        std::fs::create_dir_all(machines.here.path().join("data")).unwrap();
        std::fs::write(machines.here.path().join("data/my-digits.jsonl"), drawings).unwrap();
        write_idx_set(&machines.here.path().join("set"), 200, 20);
        machines
    }

    fn script(&self, name: &str, script: &str) {
        let path = self.bin.path().join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
    }

    fn run(&self, arguments: &str) -> Output {
        let arguments = words(arguments);
        let path = std::env::join_paths(
            [self.bin.path().to_owned()]
                .into_iter()
                .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
        );
        let mut program = super::inkling(self.here.path());
        let output = program
            .args(&arguments)
            .env("PATH", path.unwrap())
            .env("THERE", self.there.path())
            .output()
            .unwrap();
        schema::check_output(&arguments, &String::from_utf8_lossy(&output.stdout));
        output
    }

    fn was_called(&self, name: &str) -> bool {
        std::fs::remove_file(self.bin.path().join(format!("{name}.called"))).is_ok()
    }

    fn received(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.there.path().join("received"))
            .into_iter()
            .flatten();
        entries
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.is_dir() && path.file_name().unwrap().len() == 64)
            .collect()
    }
}

/// Asserts that it was refused, as bad usage, before anything was connected to.
#[track_caller]
fn assert_refused(machines: &Machines, arguments: &str, host: &str) {
    let refused = machines.run(arguments);
    exits(&refused, 2);
    for part in ["30 drawings", host, "--send-my-digits", "30 days"] {
        says(&refused, part);
    }
    assert!(
        !machines.was_called("ssh") && !machines.was_called("sbatch"),
        "{arguments:?} connected first"
    );
}

const SHORT: &str = "--network mlp --epochs 1 --batch-size 10 --threads 1 --precision f32";

#[test]
fn my_digits_are_sent_once_it_was_agreed_to_for_each_host() {
    let machines = Machines::new();
    machines.script("sbatch", "touch \"$0.called\"; exit 1");
    let train = |more: &str| format!("train --data mine {SHORT} {more}");
    assert_refused(&machines, &train("--hosts gpu-box"), "gpu-box");
    let mixed = "train --data set+mine --hosts gpu-box";
    assert_refused(&machines, mixed, "gpu-box");
    let twice = train("--repeats 2 --hosts gpu-box,other");
    assert_refused(&machines, &twice, "gpu-box, other");
    assert_refused(&machines, &train("--executor slurm"), "Slurm");
    let sweep = "sweep --data mine --set learning-rate=0.001,0.01 --set epochs=1 --sampler grid \
                 --hosts gpu-box";
    assert_refused(&machines, sweep, "gpu-box");
    assert!(
        !machines.here.path().join("sweeps").exists(),
        "a sweep that was refused is not there to be resumed"
    );

    let agreed = machines.run(&train("--hosts gpu-box --send-my-digits"));
    exits(&agreed, 0);
    says(&agreed, "Sending My digits to gpu-box: 30 images,");
    assert_eq!(machines.received().len(), 1);
    let again = machines.run(&train("--hosts gpu-box"));
    exits(&again, 0);
    assert!(!stderr(&again).contains("Sending"), "{}", stderr(&again));
    assert!(machines.was_called("ssh"));
    assert_refused(&machines, &train("--hosts other"), "other");

    let listed = objects(&machines.run("hosts list --json"));
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0]["host"].as_str(), Some("gpu-box"));
    assert_eq!(listed[0]["my_digits"].as_bool(), Some(true));
    let withdrawn = machines.run("hosts withdraw gpu-box");
    exits(&withdrawn, 0);
    prints(&withdrawn, "inkling hosts delete --on gpu-box --all");
    assert_refused(&machines, &train("--hosts gpu-box"), "gpu-box");
    // There is nothing to withdraw, and nothing is sent here.
    exits(&machines.run("hosts withdraw gpu-box"), 1);
    exits(&machines.run("train --send-my-digits"), 2);
}

#[test]
fn a_folder_that_is_named_is_sent_and_that_is_said() {
    let machines = Machines::new();
    let trained = machines.run(&format!("train --data set --hosts gpu-box {SHORT}"));
    exits(&trained, 0);
    let said: Vec<String> = stderr(&trained)
        .lines()
        .filter(|line| line.contains("Sending"))
        .map(str::to_owned)
        .collect();
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(
        said[0].contains("Sending set to gpu-box: 220 images, 173 kB."),
        "{said:?}"
    );
    let swept = machines
        .run("sweep --data set --set epochs=1,2 --sampler grid --pruner none --hosts other");
    exits(&swept, 0);
    assert!(
        !stderr(&swept).contains("Sending"),
        "it is there already: {}",
        stderr(&swept)
    );
}

#[test]
fn what_was_done_to_images_before_they_were_sent_is_said() {
    let machines = Machines::new();
    write_table_with_index(machines.here.path());
    let train = format!("train --data digits.csv --hosts gpu-box {SHORT}");
    // Also if it has been sent before.
    for _ in 0..2 {
        let trained = machines.run(&train);
        exits(&trained, 0);
        says(&trained, "The column of row numbers was ignored.");
    }
}

#[test]
fn what_was_sent_is_listed_and_deleted_from_here() {
    let machines = Machines::new();
    let delete = |what: &str| machines.run(&format!("hosts delete --on gpu-box --json {what}"));
    let nothing = machines.run("hosts received --on gpu-box");
    exits(&nothing, 0);
    prints(&nothing, "No data from other machines");
    machines.run(&format!("train --data set --hosts gpu-box {SHORT}"));
    machines.run(&format!(
        "train --data mine --hosts gpu-box --send-my-digits {SHORT}"
    ));
    let people = stdout(&machines.run("hosts received --on gpu-box"));
    assert!(
        people.contains("My digits (30 images)")
            && people.contains("set (220 images)")
            && people.contains("last used"),
        "{people}"
    );
    let listed = objects(&machines.run("hosts received --json --on gpu-box"));
    assert_eq!(listed.len(), 2);
    assert_eq!(
        listed[0]["what"].as_str(),
        Some("My digits (30 images)"),
        "the last one used is the first"
    );
    let id = listed[0]["id"].as_str().unwrap();
    let deleted = delete(&id[..12]);
    exits(&deleted, 0);
    assert!(objects(&deleted)[0]["problem"].is_null());
    assert_eq!(machines.received().len(), 1);
    let missing = delete(id);
    exits(&missing, 1);
    assert_eq!(objects(&missing)[0]["problem"], "it is not there");
    exits(&delete("ffff"), 1);
    exits(&delete(""), 2);
    exits(&delete("--all"), 0);
    assert!(machines.received().is_empty());
    assert_eq!(
        std::fs::read_dir(machines.there.path().join("received"))
            .unwrap()
            .count(),
        0
    );
    // An Inkling that is missing there.
    let unreachable = machines.run("hosts received --on gpu-box:/none/inkling");
    exits(&unreachable, 1);
    says(&unreachable, "gpu-box");
}

/// A file whose contents say that a host may receive anything is none.
#[test]
fn a_list_of_hosts_that_cannot_be_read_is_no_consent() {
    let machines = Machines::new();
    for contents in ["", "[1]", "{\"gpu-box\": true}", "[\"gpu-box\""] {
        std::fs::write(recipients(machines.here.path()), contents).unwrap();
        exits(&machines.run("train --data mine --hosts gpu-box"), 2);
        assert!(!machines.was_called("ssh"));
    }
}

fn recipients(home: &Path) -> PathBuf {
    home.join("my-digits-recipients.json")
}
