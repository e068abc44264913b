//! `inkling train --tensorboard`: the curves of a run in event files.

use std::time::Duration;

use super::{exits, home_with_set, kill_after_checkpoint, objects, run, says, succeed, words};
use crate::export::tensorboard::{events_of_run, scalars};

/// The lines of a table of numbers below its head, all of them as they are written.
fn rows(file: &std::path::Path) -> Vec<Vec<f32>> {
    let text = std::fs::read_to_string(file).unwrap();
    text.lines()
        .skip(1)
        .map(|line| {
            line.split(',')
                .map(|number| number.parse().unwrap())
                .collect()
        })
        .collect()
}

/// Columns 0 and `column` of these rows: steps and figures.
fn column(rows: &[Vec<f32>], step: usize, column: usize) -> Vec<(i64, f32)> {
    rows.iter()
        .map(|row| (row[step] as i64, row[column]))
        .collect()
}

#[test]
fn every_step_and_epoch_of_a_run_is_in_its_event_file() {
    let home = home_with_set(600, 100);
    let train = words(
        "train --data set --preset quick --epochs 3 --out out --tensorboard boards/mine \
             --json",
    );
    let output = succeed(&home, &train);
    let files = events_of_run(&home.path().join("boards/mine"));
    assert_eq!(files.len(), 1);
    let events = &files[0];
    let steps = rows(&home.path().join("out/steps.csv"));
    assert!(steps.len() >= 12);
    for (tag, place) in [
        ("loss/train", 1),
        ("accuracy/train", 2),
        ("learning_rate", 3),
    ] {
        assert_eq!(scalars(events, tag), column(&steps, 0, place), "{tag}");
    }
    let epochs = rows(&home.path().join("out/history.csv"));
    let tags = [
        ("loss/train_epoch", 2),
        ("accuracy/train_epoch", 3),
        ("loss/validation", 4),
        ("accuracy/validation", 5),
    ];
    for (tag, place) in tags {
        assert_eq!(scalars(events, tag), column(&epochs, 1, place), "{tag}");
    }
    let test = objects(&output).last().unwrap()["test_accuracy"]
        .as_f64()
        .unwrap() as f32;
    assert_eq!(
        scalars(events, "accuracy/test"),
        [(steps.len() as i64, test)]
    );
    let rates = scalars(events, "images_per_second");
    assert!(
        !rates.is_empty() && rates.iter().all(|(_, rate)| *rate > 0.0),
        "{rates:?}"
    );
    says(&output, "Curves for TensorBoard");
}

#[test]
fn a_resumed_run_goes_on_in_the_same_folder_with_the_steps_before() {
    let home = home_with_set(1200, 50);
    kill_after_checkpoint(
        home.path(),
        "train --data set --network mlp --epochs 60 --threads 1 --batch-size 20 --tensorboard board",
    );
    // File names have the second in them: the order of the files is that of the runs.
    std::thread::sleep(Duration::from_millis(1100));
    succeed(&home, "train --resume --tensorboard board --out out");
    let files = events_of_run(&home.path().join("board"));
    assert_eq!(files.len(), 2, "one for each process");
    // The later file makes void what the earlier one says, and has all of the run.
    let validated = scalars(&files[1], "accuracy/validation");
    assert_eq!(
        validated,
        column(&rows(&home.path().join("out/history.csv")), 1, 5)
    );
    assert_eq!(validated.len(), 60);
    let steps = scalars(&files[1], "loss/train");
    assert!(
        steps.windows(2).all(|two| two[0].0 < two[1].0),
        "no step comes twice"
    );
    assert_eq!(steps.last().unwrap().0, validated.last().unwrap().0);
}

#[test]
fn a_folder_that_cannot_be_written_to_is_found_before_training() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("file"), "a file").unwrap();
    let output = run(&home, "train --preset quick --tensorboard file --json");
    exits(&output, 1);
    assert!(output.stdout.is_empty(), "no run was started");
    says(&output, "file");
}
