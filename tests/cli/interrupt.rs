//! Ctrl-C during a run: completed epochs are kept; before there is one, the run can be resumed, as
//! can one that the system ends.

use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;

use super::{events_of, exits, home_with_set, inkling, last_object, objects, says, stderr, words};
use crate::support::write_idx_set;

/// Starts a long run and presses Ctrl-C as soon as it printed the event `moment`.
fn interrupted_after(moment: &str, home: &Path, model: &str) -> Output {
    let train = format!("train --data set --model {model} --epochs 1000 --batch-size 64 --json");
    interrupted(inkling(home).args(words(&train)), moment, "INT")
}

/// Starts the program, in a process group of its own, and sends the group a signal as soon as the
/// program printed the event `moment`: as a terminal does.
fn interrupted(program: &mut Command, moment: &str, signal: &str) -> Output {
    let (mut child, mut out, mut printed) = started(program, moment);
    kill(signal, &format!("-{}", child.id()));
    std::io::Read::read_to_string(&mut out, &mut printed).unwrap();
    let mut errors = Vec::new();
    std::io::Read::read_to_end(&mut child.stderr.take().unwrap(), &mut errors).unwrap();
    Output {
        status: child.wait().unwrap(),
        stdout: printed.into_bytes(),
        stderr: errors,
    }
}

fn started(program: &mut Command, moment: &str) -> (Child, impl BufRead, String) {
    let mut child = program
        .process_group(0)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut printed = String::new();
    while !printed.contains(&format!("\"event\":\"{moment}\"")) {
        assert!(
            out.read_line(&mut printed).unwrap() > 0,
            "it ended too soon: {printed}"
        );
    }
    (child, out, printed)
}

fn kill(signal: &str, who: &str) {
    assert!(
        Command::new("kill")
            .args([&format!("-{signal}"), "--", who])
            .status()
            .unwrap()
            .success()
    );
}

#[test]
fn completed_epochs_are_kept() {
    let home = home_with_set(300, 50);
    let output = interrupted_after("epoch", home.path(), "lenet");
    exits(&output, 130);
    let events = objects(&output);
    let last = events.last().unwrap();
    assert_eq!(last["event"], "finished");
    assert_eq!(last["stopped"], true);
    assert!(
        last["test_accuracy"].is_number(),
        "the model that was saved is measured: {last}"
    );
    assert!(Path::new(last["model_path"].as_str().unwrap()).is_file());
    says(&output, "saved");
}

#[test]
fn a_profile_and_an_export_are_cancelled_without_a_trace() {
    let home = tempfile::tempdir().unwrap();
    let out = home.path().join("out");
    std::fs::create_dir(&out).unwrap();
    for (arguments, begun) in [
        ("profile --network resnet34 --batch-size 512", "Recording"),
        ("data export builtin --format png --out out/set", ""),
    ] {
        let mut child = inkling(home.path())
            .args(words(arguments))
            .process_group(0)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut errors = BufReader::new(child.stderr.take().unwrap());
        let mut said = String::new();
        if begun.is_empty() {
            // Its first files are there.
            while std::fs::read_dir(&out).unwrap().next().is_none() {
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
        } else {
            while !said.contains(begun) {
                assert!(
                    errors.read_line(&mut said).unwrap() > 0,
                    "it ended too soon: {said}"
                );
            }
        }
        kill("INT", &format!("-{}", child.id()));
        std::io::Read::read_to_string(&mut errors, &mut said).unwrap();
        assert_eq!(
            child.wait().unwrap().code(),
            Some(130),
            "{arguments:?}: {said}"
        );
        assert!(
            said.to_lowercase().contains("canceled"),
            "{arguments:?}: {said}"
        );
        assert_eq!(
            std::fs::read_dir(&out).unwrap().count(),
            0,
            "nothing is left of {arguments:?}"
        );
    }
}

/// A run of a second, with its engine on a thread or in a process.
fn short_run(home: &Path, engine: &str) -> Command {
    write_idx_set(&home.join("set"), 1200, 50);
    let mut program = inkling(home);
    program.env("INKLING_ENGINE", engine);
    program.args(words(
        "train --data set --network mlp --epochs 60 --threads 1 --batch-size 20 --json",
    ));
    program
}

/// Resumes the run that was interrupted there, and asserts that it comes to its end.
fn resumed(home: &Path) {
    let output = super::run(home, "train --resume --json");
    exits(&output, 0);
    let last = last_object(&output);
    assert_eq!(last["event"], "finished");
    assert_eq!(last["stopped"], false);
    assert_eq!(last["epoch_seconds"].as_array().unwrap().len(), 60);
    assert_eq!(
        std::fs::read_dir(home.join("runs")).unwrap().count(),
        1,
        "it was not saved before"
    );
}

#[test]
fn ctrl_c_reaches_an_engine_in_a_process_through_its_caller_alone() {
    let home = tempfile::tempdir().unwrap();
    let output = interrupted(&mut short_run(home.path(), "process"), "epoch", "INT");
    exits(&output, 130);
    let last = last_object(&output);
    assert_eq!(last["event"], "finished");
    assert_eq!(last["stopped"], true);
}

#[test]
fn a_run_that_the_system_ends_can_be_resumed() {
    crate::support::hangups_end_programs();
    for engine in ["thread", "process"] {
        for (signal, status) in [("TERM", 143), ("HUP", 129)] {
            let home = tempfile::tempdir().unwrap();
            let output = interrupted(&mut short_run(home.path(), engine), "epoch", signal);
            assert_eq!(
                output.status.code(),
                Some(status),
                "{engine}, {signal}: {}",
                stderr(&output)
            );
            says(&output, "inkling train --resume");
            resumed(home.path());
        }
    }
}

#[test]
fn a_hangup_that_is_to_be_ignored_is() {
    let home = tempfile::tempdir().unwrap();
    let run = short_run(home.path(), "thread");
    let mut program = Command::new("nohup");
    program
        .arg(run.get_program())
        .args(run.get_args())
        .current_dir(home.path())
        .env("INKLING_HOME", home.path());
    let output = interrupted(&mut program, "epoch", "HUP");
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(last_object(&output)["stopped"], false);
}

#[test]
fn killing_the_caller_of_an_engine_in_a_process_interrupts_the_run() {
    let home = tempfile::tempdir().unwrap();
    let mut run = short_run(home.path(), "process");
    let (mut child, out, _) = started(&mut run, "epoch");
    child.kill().unwrap();
    child.wait().unwrap();
    drop(out);
    let checkpoints = inkling::runs::Checkpoints::new(home.path().join("checkpoints"));
    let since = std::time::Instant::now();
    while checkpoints.list().is_empty() {
        assert!(
            since.elapsed() < std::time::Duration::from_mins(1),
            "it cannot be resumed"
        );
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    resumed(home.path());
}

#[test]
fn a_run_stopped_in_its_first_epoch_can_be_resumed() {
    let home = home_with_set(20_000, 50);
    let output = interrupted_after("started", home.path(), "convnet");
    exits(&output, 130);
    assert_eq!(objects(&output).last().unwrap()["event"], "unfinished");
    says(&output, "To resume the run: inkling train --resume");
    let kept = std::fs::read_dir(home.path().join("runs")).map_or(0, Iterator::count);
    assert_eq!(kept, 0);
    let interrupted = inkling::runs::Checkpoints::new(home.path().join("checkpoints")).list();
    assert!(interrupted[0].card.steps > 0 && interrupted[0].card.epochs.is_empty());
    assert_eq!(
        objects(&output).last().unwrap()["checkpoint"],
        interrupted[0].folder.display().to_string()
    );
}

#[test]
fn a_benchmark_broken_off_keeps_nothing() {
    let home = tempfile::tempdir().unwrap();
    let output = interrupted(
        inkling(home.path()).args(["bench", "--json"]),
        "figure",
        "INT",
    );
    exits(&output, 130);
    let mut printed = objects(&output).into_iter();
    assert!(printed.all(|object| object["event"] == "figure"));
    says(&output, "nothing was saved");
    assert!(!home.path().join("bench").exists());
}

/// A sweep of some seconds, with its engines on threads or in processes.
fn long_sweep(home: &Path, engine: &str) -> Command {
    write_idx_set(&home.join("set"), 1200, 50);
    let mut program = inkling(home);
    program.env("INKLING_ENGINE", engine);
    program.args(words(
        "sweep --data set --preset quick --set epochs=10 --set \
             learning-rate=1e-4..1e-2:log",
    ));
    program.args(words("--trials 8 --parallel 2 --json"));
    program
}

/// The trials that have these events.
fn trials(output: &Output, event: &str) -> Vec<u64> {
    let objects = objects(output);
    let events = events_of(&objects, event).into_iter();
    events
        .map(|event| event["trial"].as_u64().unwrap())
        .collect()
}

#[test]
fn a_sweep_that_is_interrupted_goes_on_where_it_was() {
    for (engine, signal, status) in [("thread", "INT", 130), ("process", "TERM", 143)] {
        let home = tempfile::tempdir().unwrap();
        let output = interrupted(&mut long_sweep(home.path(), engine), "trial_ended", signal);
        assert_eq!(
            output.status.code(),
            Some(status),
            "{engine}, {signal}: {}",
            stderr(&output)
        );
        says(&output, "To resume: inkling sweep --resume");
        assert_eq!(objects(&output).last().unwrap()["complete"], false);
        let again = super::run(&home, "sweep --resume --json");
        exits(&again, 0);
        let mut ended = [&output, &again]
            .map(|output| trials(output, "trial_ended"))
            .concat();
        ended.sort_unstable();
        assert_eq!(ended, (1..=8).collect::<Vec<_>>(), "each trial ended once");
    }
}

#[test]
fn killing_a_sweep_loses_no_trial_that_has_ended() {
    for engine in ["thread", "process"] {
        let home = tempfile::tempdir().unwrap();
        let mut sweep = long_sweep(home.path(), engine);
        let (mut child, mut out, mut printed) = started(&mut sweep, "trial_ended");
        kill("KILL", &format!("-{}", child.id()));
        std::io::Read::read_to_string(&mut out, &mut printed).unwrap();
        let killed = Output {
            status: child.wait().unwrap(),
            stdout: printed.into_bytes(),
            stderr: Vec::new(),
        };
        let again = super::run(&home, "sweep --resume --json");
        exits(&again, 0);
        assert_eq!(objects(&again).last().unwrap()["complete"], true);
        let [before, after] = [&killed, &again].map(|output| trials(output, "trial_ended"));
        assert!(
            before.iter().all(|trial| !after.contains(trial)),
            "{before:?}, {after:?}"
        );
        let ended = objects(&again)[0]["ended"].as_u64().unwrap() as usize;
        assert_eq!(ended + after.len(), 8);
    }
}

#[test]
fn repeated_runs_that_were_killed_go_on_with_those_that_are_missing() {
    let home = home_with_set(1200, 50);
    let mut program = inkling(home.path());
    program.args(words(
        "train --data set --preset quick --epochs 20 --repeats 3 --json",
    ));
    let output = interrupted(&mut program, "finished", "TERM");
    exits(&output, 143);
    let again = super::run(&home, "train --resume --json");
    exits(&again, 0);
    let last = last_object(&again);
    assert_eq!(last["event"], "repeated");
    assert_eq!(last["runs"], 3);
    let seeds = |output: &Output| -> Vec<u64> {
        let objects = objects(output);
        let finished = events_of(&objects, "finished").into_iter();
        let seed = |event: &Value| event["config"]["seed"].as_u64().unwrap();
        finished.map(seed).collect()
    };
    assert_eq!(
        [seeds(&output), seeds(&again)].concat(),
        [1, 2, 3],
        "each was saved once"
    );
}
