//! Sweeps from the terminal.

use std::path::Path;
use std::process::Output;

use super::{Words, exits, fails, objects, run, stderr, stdout, succeed, words};
use crate::support::write_idx_set;

const SPACE: [&str; 4] = [
    "--set",
    "learning-rate=1e-4..1e-2:log",
    "--set",
    "batch-size=20,50",
];

/// A home with a small data set in the folder `set`.
fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    write_idx_set(&home.path().join("set"), 600, 100);
    home
}

fn sweep<'a>(home: impl AsRef<Path>, more: impl Words<'a>) -> Output {
    let usual = words("sweep --data set --preset quick --set epochs=3 --trials 5 --at-once 2");
    run(home, &[&usual[..], &SPACE, &more.words()].concat())
}

#[test]
fn a_sweep_for_scripts_reports_every_trial_and_the_best() {
    let home = home();
    let output = sweep(&home, "--json --out here");
    exits(&output, 0);
    let events = objects(&output);
    let number = |name: &str| events.iter().filter(|event| event["event"] == name).count();
    assert_eq!(number("started"), 1);
    assert_eq!(number("trial_started"), 5);
    assert_eq!(number("trial_ended"), 5);
    assert_eq!(number("finished"), 1);
    assert!(number("epoch") >= 5);
    let last = events.last().unwrap();
    let best = &last["best"];
    assert_eq!(last["complete"], true);
    let accuracies = events
        .iter()
        .filter(|event| event["outcome"] == "completed")
        .map(|event| event["validation_accuracy"].as_f64().unwrap());
    assert_eq!(
        best["validation_accuracy"].as_f64(),
        accuracies.max_by(f64::total_cmp)
    );
    assert!(
        best["command"]
            .as_str()
            .unwrap()
            .starts_with("inkling train --preset quick --data"),
        "{best}"
    );
    assert!(home.path().join("here/journal.jsonl").is_file());
    assert!(
        !home.path().join("runs").exists(),
        "trials are not saved among the runs"
    );
    assert!(
        !home.path().join("checkpoints").exists(),
        "and have no checkpoints"
    );

    let again = succeed(&home, "sweep --resume here --json");
    assert_eq!(
        objects(&again)
            .iter()
            .filter(|event| event["event"] == "trial_started")
            .count(),
        0,
        "it is complete"
    );
    assert_eq!(objects(&again).last().unwrap()["best"], *best);
}

#[test]
fn a_sweep_for_people_ends_with_a_table_and_a_command_that_gives_the_same_accuracy() {
    let home = home();
    let output = sweep(&home, "--sampler random --pruner none");
    exits(&output, 0);
    let said = stdout(&output);
    let head: Vec<&str> = said.lines().next().unwrap().split_whitespace().collect();
    assert_eq!(
        head,
        [
            "trial",
            "validation",
            "epochs",
            "time",
            "learning-rate",
            "batch-size"
        ]
    );
    let best: Vec<&str> = said.lines().nth(1).unwrap().split_whitespace().collect();
    let command = said.lines().last().unwrap().trim();
    assert_eq!(
        stderr(&output)
            .lines()
            .filter(|line| line.starts_with("Trial "))
            .count(),
        5,
        "{}",
        stderr(&output)
    );

    let words: Vec<&str> = command
        .split_whitespace()
        .skip(1)
        .chain(["--json"])
        .collect();
    let run = run(&home, &words);
    assert_eq!(run.status.code(), Some(0), "{command}: {}", stderr(&run));
    let accuracy = objects(&run).last().unwrap()["validation_accuracy"]
        .as_f64()
        .unwrap();
    assert_eq!(format!("{:.2}", accuracy * 100.0), best[1], "{command}");
}

#[test]
fn only_the_best_settings_meet_the_test_split_and_only_once() {
    let home = home();
    let output = sweep(&home, "--test --json --out here");
    exits(&output, 0);
    let events = objects(&output);
    let tested = events.last().unwrap();
    assert_eq!(tested["event"], "tested");
    assert!(tested["test_accuracy"].as_f64().unwrap() > 0.5, "{tested}");
    assert_eq!(
        std::fs::read_dir(home.path().join("runs")).unwrap().count(),
        1
    );
    assert!(
        Path::new(tested["run"].as_str().unwrap())
            .join("model.safetensors")
            .is_file()
    );
    let of_trials = events
        .iter()
        .take_while(|event| event["event"] != "finished");
    assert!(
        of_trials
            .into_iter()
            .all(|event| !event.to_string().contains("test_")),
        "no trial has a test figure"
    );

    let again = run(&home, "sweep --resume here --test --json");
    assert_eq!(
        objects(&again).last().unwrap(),
        tested,
        "it is not read again"
    );
    assert_eq!(
        std::fs::read_dir(home.path().join("runs")).unwrap().count(),
        1
    );
}

#[test]
fn a_file_describes_a_sweep_and_options_override_it() {
    let home = home();
    let text = "preset = \"quick\"\ndata = \"set\"\ntrials = 9\nsampler = \"grid\"\nat-once = 1\npruner = \"none\"\n[set]\nepochs = 1\nlr = [0.001, 0.01]\nmodel = [\"mlp\", \"tiny\"]\n";
    std::fs::write(home.path().join("search.toml"), text).unwrap();
    let output = succeed(&home, "sweep search.toml --set model=mlp --json");
    let ended = objects(&output)
        .iter()
        .filter(|event| event["outcome"] == "completed")
        .count();
    assert_eq!(ended, 2, "a grid of what is left");
    assert_eq!(
        std::fs::read_dir(home.path().join("sweeps"))
            .unwrap()
            .count(),
        1
    );
}

#[test]
fn mistakes_are_bad_usage_with_a_sentence() {
    let home = home();
    for (arguments, words) in [
        ("sweep", "No setting varies."),
        ("sweep --set rate=1..2", "No setting is called \"rate\"."),
        (
            "sweep --set learning-rate=2..1",
            "Write the lower number first.",
        ),
        (
            "sweep --set learning-rate=1e-4..1e-2 --sampler grid",
            "A grid needs single values of learning-rate",
        ),
        (
            "sweep --set learning-rate=1e-4..1e-2 --time soon",
            "\"soon\" is not a duration.",
        ),
        (
            "sweep --set learning-rate=1e-4..1e-2 --at-once 0",
            "The number of trials at once is out of range",
        ),
        (
            "sweep --set learning-rate=1e-4..1e-2 --sampler bayes",
            "tpe",
        ),
        (
            "sweep --resume --set learning-rate=1",
            "cannot be used with",
        ),
    ] {
        let output = run(&home, arguments);
        fails(&output, 2, words, &arguments);
    }
    for (arguments, words) in [
        ("sweep --resume", "There is no sweep to resume"),
        ("sweep --resume set", "sweep.json could not be read"),
        ("sweep absent.toml", "absent.toml could not be read"),
        (
            "sweep --data kmnist --set learning-rate=1e-4..1e-2",
            "kmnist",
        ),
        (
            "sweep --set learning-rate=1e-4..1e-2 --out set",
            "is not empty",
        ),
    ] {
        let output = run(&home, arguments);
        fails(&output, 1, words, &arguments);
    }
}
