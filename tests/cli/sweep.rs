//! Sweeps from the terminal.

use std::path::Path;
use std::process::Output;

use super::{
    Words, events_of, exits, fails, home_with_set, last_object, objects, run, stderr, stdout,
    succeed, words,
};

const SPACE: [&str; 4] = [
    "--set",
    "learning-rate=1e-4..1e-2:log",
    "--set",
    "batch-size=20,50",
];

fn sweep<'a>(home: impl AsRef<Path>, more: impl Words<'a>) -> Output {
    let usual = words("sweep --data set --preset quick --set epochs=3 --trials 5 --parallel 2");
    run(home, &[&usual[..], &SPACE, &more.words()].concat())
}

#[test]
fn a_sweep_for_scripts_reports_every_trial_and_the_best() {
    let home = home_with_set(600, 100);
    let output = sweep(&home, "--json --out here");
    exits(&output, 0);
    let events = objects(&output);
    let number = |name: &str| events_of(&events, name).len();
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
    let begun = events_of(&objects(&again), "trial_started").len();
    assert_eq!(begun, 0, "it is complete");
    assert_eq!(last_object(&again)["best"], *best);
}

#[test]
fn a_sweep_for_people_ends_with_a_table_and_a_command_that_gives_the_same_accuracy() {
    let home = home_with_set(600, 100);
    let output = sweep(&home, "--sampler random --pruner none");
    exits(&output, 0);
    let said = stdout(&output);
    let head: Vec<&str> = said.lines().nth(1).unwrap().split_whitespace().collect();
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
    let best: Vec<&str> = said.lines().nth(2).unwrap().split_whitespace().collect();
    let command = said.lines().last().unwrap().trim();
    let said = stderr(&output);
    let of_trials = said.lines().filter(|line| line.starts_with("Trial "));
    assert_eq!(of_trials.count(), 5, "{said}");

    let arguments = command.strip_prefix("inkling").unwrap();
    let run = succeed(&home, &format!("{arguments} --json"));
    let accuracy = last_object(&run)["validation_accuracy"].as_f64().unwrap();
    assert_eq!(format!("{:.2}%", accuracy * 100.0), best[1], "{command}");
}

#[test]
fn what_was_done_to_the_data_is_said_once() {
    let home = tempfile::tempdir().unwrap();
    let row = |index: usize| {
        let pixels = (0..64).map(|pixel| (pixel * index % 17).to_string());
        let label = (index % 10).to_string();
        std::iter::once(label)
            .chain(pixels)
            .collect::<Vec<_>>()
            .join(",")
    };
    let rows: Vec<String> = (0..200).map(row).collect();
    std::fs::write(home.path().join("small.csv"), rows.join("\n")).unwrap();
    let output = run(
        &home,
        "sweep --data small.csv --preset quick --set epochs=1 --set learning-rate=1e-3,1e-2 --sampler grid --parallel 2",
    );
    exits(&output, 0);
    let said = stderr(&output);
    for note in ["Pixels from 0 to 16", "8x8 pixels"] {
        assert_eq!(said.matches(note).count(), 1, "{note}: {said}");
    }
}

#[test]
fn only_the_best_settings_meet_the_test_split_and_only_once() {
    let home = home_with_set(600, 100);
    let output = sweep(&home, "--test --json --out here");
    exits(&output, 0);
    let events = objects(&output);
    let tested = events.last().unwrap();
    assert_eq!(tested["event"], "tested");
    assert!(tested["test_accuracy"].as_f64().unwrap() > 0.5, "{tested}");
    let runs = || std::fs::read_dir(home.path().join("runs")).unwrap().count();
    assert_eq!(runs(), 1);
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
    assert_eq!(runs(), 1);
}

#[test]
fn a_file_describes_a_sweep_and_options_override_it() {
    let home = home_with_set(600, 100);
    let text = "preset = \"quick\"\ndata = \"set\"\ntrials = 9\nsampler = \"grid\"\nparallel = 1\npruner = \"none\"\n[set]\nepochs = 1\nlr = [0.001, 0.01]\nmodel = [\"mlp\", \"tiny\"]\n";
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
    let home = home_with_set(600, 100);
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
            "sweep --set learning-rate=1e-4..1e-2 --parallel 0",
            "The number of parallel trials is out of range",
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
        fails(&home, arguments, 2, words);
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
        fails(&home, arguments, 1, words);
    }
}
