//! `inkling record`: several seeds, a sealed test, and the card.

use std::fs;
use std::path::Path;

use inkling::records::RecordCard;
use inkling::run_config::RunConfig;
use serde_json::Value;

use super::{
    assert_nothing_is_saved, exits, fails, home_with_set, last_object, objects, run, says, stdout,
    succeed,
};
use crate::support::write_idx_set;

/// Three runs of a small network, as a card with this name.
fn record(home: impl AsRef<Path>, name: &str, options: &str) -> Vec<Value> {
    let line = format!(
        "record quick --data set --epochs 1 --threads 1 --repeats 3 --out {name} --json {options}"
    );
    objects(&succeed(home, &line))
}

#[test]
fn a_record_counts_all_seeds_and_leaves_nothing_but_its_card() {
    let home = home_with_set(600, 100);
    let events = record(&home, "first.json", "");
    let (finished, runs) = events.split_last().unwrap();
    assert!(runs.len() == 3 && runs.iter().all(|run| run["event"] == "run"));
    let card = RecordCard::load(&home.path().join("first.json")).unwrap();
    assert_eq!(finished["path"], "first.json");
    assert_eq!(finished["runs"], serde_json::to_value(&card.runs).unwrap());
    for (number, (run, told)) in (1..).zip(card.runs.iter().zip(runs)) {
        assert_eq!((run.seed, told["seed"].as_u64()), (number, Some(number)));
        let seconds = run.seconds;
        assert!(
            seconds.preparation > 0.0
                && seconds.training > 0.0
                && seconds.preparation + seconds.training <= seconds.total,
            "{seconds:?}"
        );
    }
    // The model of a seed is the one that the same settings give, and so is its test accuracy.
    let train =
        "train --preset quick --data set --epochs 1 --threads 1 --seed 2 --out alone --json";
    let alone = last_object(&succeed(&home, train));
    assert_eq!(alone["test_accuracy"], card.runs[1].test_accuracy);
    assert_eq!(alone["parameters"], card.parameters);

    let text = fs::read_to_string(home.path().join("first.md")).unwrap();
    for words in [
        "3 seeds, Student's t",
        "--repeats 3",
        "| 2 | ",
        "# MLP on set",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert_nothing_is_saved(home.path());
    let kept = fs::read_dir(home.path().join("records")).unwrap().count();
    assert_eq!(kept, 0, "the runs of the record are gone");
    let again = "record quick --data set --out first.json";
    fails(&home, again, 1, "first.json exists already");
}

/// Nothing can be created in /proc, which shows only when the card is written.
#[cfg(target_os = "linux")]
#[test]
fn a_card_that_cannot_be_written_where_it_was_to_be_is_in_the_usual_place() {
    let home = home_with_set(600, 100);
    let nowhere =
        "record quick --data set --epochs 1 --threads 1 --repeats 2 --out /proc/card.json";
    let output = run(&home, nowhere);
    exits(&output, 1);
    says(&output, "/proc");
    assert!(stdout(&output).contains("2 seeds"), "{}", stdout(&output));
    let kept = RecordCard::list(&home.path().join("records"));
    assert_eq!(kept.len(), 1);
}

#[test]
fn the_files_of_the_test_images_are_not_opened_before_the_last_run_has_ended() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("data/kmnist");
    write_idx_set(&folder, 600, 100);
    fs::write(folder.join("t10k-images-idx3-ubyte"), "no images").unwrap();
    let output = run(
        &home,
        "record quick --data kmnist --epochs 1 --threads 1 --repeats 2 --json",
    );
    exits(&output, 1);
    says(&output, "t10k-images-idx3-ubyte");
    assert_eq!(objects(&output).len(), 2, "both runs ended before");

    let train = "train --preset quick --data kmnist --epochs 1 --threads 1 --json";
    let sealed = last_object(&succeed(&home, &format!("{train} --sealed-test")));
    assert_eq!(sealed["test_accuracy"], Value::Null);
    fails(&home, train, 1, "t10k-images-idx3-ubyte");
}

#[test]
fn cards_are_compared_like_models() {
    let home = home_with_set(600, 100);
    record(&home, "a.json", "");
    record(&home, "b.json", "--learning-rate 1e-6 --seed 4");
    let found = last_object(&succeed(&home, "compare a.json b.json --json"));
    let cards = found["cards"].as_array().unwrap();
    let [a, b] =
        ["a.json", "b.json"].map(|name| RecordCard::load(&home.path().join(name)).unwrap());
    let mean = |card: &RecordCard| card.mean(|run| run.test_accuracy).unwrap().mean;
    let difference = cards[1]["difference"]["accuracy"].as_f64().unwrap();
    assert!((difference - (mean(&b) - mean(&a))).abs() < 1e-12);
    assert!(difference < -0.2 && cards[1]["difference"]["interval"][1].as_f64().unwrap() < 0.0);
    let text = stdout(&succeed(&home, "compare a.json b.json"));
    for words in ["Learning rate", "B minus A", "significant"] {
        assert!(text.contains(words), "{words}: {text}");
    }
    fs::write(home.path().join("none.json"), "{}").unwrap();
    fails(&home, "compare a.json none.json", 1, "none.json");
}

#[test]
fn the_command_of_a_card_measures_the_same_settings() {
    let home = home_with_set(600, 100);
    record(&home, "card.json", "--label-smoothing 0.2");
    let card = RecordCard::load(&home.path().join("card.json")).unwrap();
    let command = card.command();
    let settings = command
        .strip_prefix("inkling record")
        .and_then(|options| options.strip_suffix(" --repeats 3"))
        .unwrap();
    let again = RunConfig::from_command(&format!("inkling train{settings}")).unwrap();
    let sealed = RunConfig {
        sealed_test: true,
        device: card.config.device,
        ..again
    };
    assert_eq!(sealed, card.config);
}
