//! `inkling eval`: which images are measured, and what is said of them.

use std::fs;
use std::path::Path;

use inkling::run_config::{Activation, ModelKind};
use serde_json::Value;

use super::{
    Words, exits, fails, home_with_set, last_object, prints, run, run_in, says, stdout, succeed,
    words, write_model,
};
use crate::support::{model_file, write_idx_set};

/// A drawing: a single stroke, the same for all of a label.
fn drawing(label: &str, writer: Option<&str>) -> String {
    let height = 10 * (u32::from(label.as_bytes()[0] % 10) + 1);
    let writer = writer.map_or_else(String::new, |writer| format!(r#","writer":"{writer}""#));
    format!(r#"{{"label":"{label}","strokes":[[[0,0],[40,{height}],[0,60]]]{writer}}}"#) + "\n"
}

/// A home with an MLP in the file `m.safetensors`.
fn home_with_model() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let model = model_file(ModelKind::Mlp, Activation::Relu);
    write_model(&home, "m.safetensors", &model);
    home
}

/// A file of this many drawings, of each digit in turn.
fn write_drawings(home: &Path, count: u32) {
    let of = |index: u32| drawing(&(index % 10).to_string(), None);
    fs::write(
        home.join("pens.jsonl"),
        (0..count).map(of).collect::<String>(),
    )
    .unwrap();
}

/// `digits.csv`, whose first column counts the rows.
pub fn write_table_with_index(home: &Path) {
    let names: String = (0..784).map(|pixel| format!(",pixel{pixel}")).collect();
    let row = |row: usize| {
        let digit = row % 10;
        format!("{row},{digit}{}\n", format!(",{}", digit * 20).repeat(784))
    };
    let rows: String = (0..140).map(row).collect();
    fs::write(
        home.join("digits.csv"),
        format!("index,label{names}\n{rows}"),
    )
    .unwrap();
}

fn eval<'a>(home: impl AsRef<Path>, arguments: impl Words<'a>) -> Value {
    let usual = words("eval --model m.safetensors --json --data");
    last_object(&succeed(home, &[usual, arguments.words()].concat()))
}

#[test]
fn a_run_is_named_by_its_folder_and_finds_its_data_from_anywhere() {
    let home = home_with_set(300, 50);
    succeed(
        &home,
        "train --data set --network mlp --epochs 1 --out first",
    );
    let elsewhere = home.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let from = |arguments: &str| run_in(home.path(), &elsewhere, arguments);
    let measured = from("eval --model ../first --data ../set --json");
    exits(&measured, 0);
    assert_eq!(last_object(&measured)["images"], 50);
    exits(&from("train --reproduce ../first"), 0);
    let further = from("train --initial-weights ../first --data ../set --epochs 1");
    exits(&further, 0);
    exits(&from("train --config ../first --seed 3"), 0);
    // Of a run that is not among the others, the path is not opened unasked.
    let compared = from("compare ../first/model.safetensors ../first/model.safetensors");
    exits(&compared, 2);
    succeed(
        &home,
        "train --data set --network mlp --epochs 1 --seed 2 --out second",
    );
    let compared = from("compare ../first ../second");
    exits(&compared, 1);
    says(&compared, "names set as its training data");
    exits(&from("compare ../first ../second --data ../set"), 0);
}

#[test]
fn images_that_any_of_the_models_learned_from_are_not_measured_unasked() {
    let home = home_with_set(300, 50);
    let row = |digit: usize| format!("{digit}{}\n", format!(",{}", digit * 20).repeat(784));
    let rows: String = (0..140).map(|index| row(index % 10)).collect();
    fs::write(home.path().join("digits.csv"), rows).unwrap();
    let elsewhere = home.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    for (data, out) in [("set", "first"), ("digits.csv", "second")] {
        let train = format!("train --data ../{data} --network mlp --epochs 1 --out ../{out}");
        exits(&run_in(home.path(), &elsewhere, &train), 0);
    }
    for models in ["--model second", "--model first --model second"] {
        let measured = succeed(&home, &format!("eval --data digits.csv --json {models}"));
        assert_eq!(last_object(&measured)["split"], "test");
    }
}

#[test]
fn what_was_done_to_images_is_said_where_they_are_measured_as_where_they_are_learned_from() {
    let home = home_with_model();
    write_table_with_index(home.path());
    let said = "The column of row numbers was ignored.";
    for command in [
        "train --network mlp --epochs 1 --data digits.csv --out run",
        "find-lr --network linear --data digits.csv",
        "find-batch-size --network linear --data digits.csv --accuracy 20",
        "eval --model m.safetensors --data digits.csv",
        "eval --model m.safetensors --data digits.csv --json",
        "compare m.safetensors run --data digits.csv",
    ] {
        says(&run(&home, command), said);
    }
    let mixed = "eval --model m.safetensors --split all --data mine+digits.csv";
    fs::create_dir_all(home.path().join("data")).unwrap();
    fs::write(home.path().join("data/my-digits.jsonl"), drawing("1", None)).unwrap();
    says(&succeed(&home, mixed), &format!("digits.csv: {said}"));
}

#[test]
fn a_labeled_ink_file_is_measured_whole() {
    let home = home_with_model();
    let home = home.path();
    let lines: String = (0..70)
        .map(|index| {
            drawing(
                &(index % 10).to_string(),
                Some(if index < 20 { "Ada" } else { "Ben" }),
            )
        })
        .collect();
    fs::write(home.join("pens.jsonl"), &lines).unwrap();
    let measured = eval(home, &["pens.jsonl"]);
    assert_eq!(measured["images"], 70);
    assert_eq!(measured["split"], "all");
    assert!(
        measured["calibration_error"]
            .as_f64()
            .is_some_and(|error| (0.0..=1.0).contains(&error))
    );
    let digits = measured["digits"].as_array().unwrap();
    assert!(digits.iter().all(|digit| digit["images"] == 7) && digits.len() == 10);
    let accuracy = |of: &Value| of["accuracy"].as_f64().unwrap();
    let mean = digits.iter().map(accuracy).sum::<f64>() / 10.0;
    assert!((mean - accuracy(&measured)).abs() < 1e-9);
    let writers = measured["writers"].as_array().unwrap();
    let images = writers.iter().map(|writer| writer["images"].as_u64());
    let total: u64 = images.map(Option::unwrap).sum();
    let accuracies: Vec<f64> = writers.iter().map(accuracy).collect();
    assert!(
        writers.len() == 2 && total == 70 && accuracies[0] <= accuracies[1],
        "{writers:?}"
    );
    // What was asked for counts.
    for (split, images) in [("test", 10), ("train", 50), ("validation", 10), ("all", 70)] {
        let measured = eval(home, &["pens.jsonl", "--split", split]);
        assert_eq!(measured["images"], images);
        assert_eq!(measured["split"], split);
    }
    let text = run(home, "eval --model m.safetensors --data pens.jsonl");
    prints(&text, "70 images of pens.jsonl (all images)");
    prints(&text, "calibration error");
    prints(&text, "Accuracy by writer, the lowest of 2");
    prints(&text, "Ada");
    let uncalibrated = eval(home, &["pens.jsonl", "--uncalibrated"]);
    assert!(
        uncalibrated["uncalibrated"] == true && uncalibrated["accuracy"] == measured["accuracy"]
    );
    assert_ne!(
        uncalibrated["calibration_error"], measured["calibration_error"],
        "the model has a temperature"
    );
    let some = "eval --model m.safetensors --data pens.jsonl --split some";
    says(&run(home, some), "validation");
}

#[test]
fn a_model_is_not_measured_on_what_it_learned_from() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let mut file = model_file(ModelKind::Mlp, Activation::Relu);
    file.card.config.data = "pens.jsonl+builtin".parse().unwrap();
    write_model(home, "m.safetensors", &file);
    write_drawings(home, 70);
    let measured = eval(home, &["pens.jsonl"]);
    assert_eq!(measured["images"], 10);
    assert_eq!(measured["split"], "test");
    assert_eq!(measured.get("writers"), None);
}

#[test]
fn a_set_with_a_test_split_is_measured_on_that() {
    let home = home_with_model();
    let home = home.path();
    write_idx_set(&home.join("set"), 120, 40);
    assert_eq!(eval(home, &["set"])["images"], 40);
    for (split, count) in [
        ("all", 160),
        ("train", 110),
        ("validation", 10),
        ("test", 40),
    ] {
        let measured = eval(home, &["set", "--split", split]);
        assert_eq!(measured["images"], count, "{split}");
    }
}

#[test]
fn digits_are_told_from_other_drawings() {
    let home = home_with_model();
    let home = home.path();
    write_drawings(home, 20);
    let labels = ["A", "A", "x", "7"];
    fs::write(
        home.join("letters.jsonl"),
        labels.map(|label| drawing(label, None)).concat(),
    )
    .unwrap();
    let measured = eval(home, "pens.jsonl --not-digits letters.jsonl");
    let found = &measured["not_digits"];
    assert_eq!(found["drawings"], 3, "the 7 is a digit");
    assert!(
        (0.0..=1.0).contains(&found["auroc"].as_f64().unwrap()) && found["digits_kept"].is_number(),
        "{found}"
    );
    let labels = found["labels"].as_array().unwrap().iter();
    let by_label = labels.map(|of| (of["label"].as_str(), of["drawings"].as_u64()));
    assert!(by_label.eq([(Some("A"), Some(2)), (Some("x"), Some(1))]));
    let only = eval(
        home,
        "pens.jsonl --not-digits letters.jsonl --not-digits-labels xyz",
    );
    assert_eq!(only["not_digits"]["drawings"], 1);
    let measure = "eval --model m.safetensors --data pens.jsonl --not-digits letters.jsonl";
    fails(
        home,
        &format!("{measure} --not-digits-labels Q"),
        1,
        "no drawings other than digits with one of the labels Q",
    );
    let text = run(home, measure);
    prints(&text, "Digits distinguished from 3 other drawings: AUROC");
    prints(&text, "A  ");
}

#[test]
fn several_models_are_measured_together() {
    let home = home_with_model();
    let home = home.path();
    write_drawings(home, 20);
    let alone = eval(home, &["pens.jsonl"]);
    let twice = eval(home, "pens.jsonl --model m.safetensors");
    assert_eq!(alone["accuracy"], twice["accuracy"]);
    assert!((alone["loss"].as_f64().unwrap() - twice["loss"].as_f64().unwrap()).abs() < 1e-5);
    let text = run(
        home,
        "eval --model m.safetensors --model m.safetensors --data pens.jsonl",
    );
    assert!(stdout(&text).starts_with("Mean of 2 models ("));
    fails(
        home,
        "eval --model m.safetensors --dropout-passes 10 --data pens.jsonl",
        1,
        "no dropout layer",
    );
    let unsampled = "eval --model m.safetensors --posterior-samples --data pens.jsonl";
    assert!(!run(home, unsampled).status.success());
}

#[test]
fn the_samples_that_a_run_drew_are_measured_together() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    write_idx_set(home, 60, 20);
    succeed(
        home,
        "train --data . --network mlp --optimizer psgld --learning-rate 1e-4 --epochs 4 \
             --out run --json",
    );
    assert!(
        home.join("run/sample-02.safetensors").is_file()
            && !home.join("run/sample-03.safetensors").exists()
    );
    let output = run(
        home,
        "eval --model run/model.safetensors --posterior-samples --data .",
    );
    exits(&output, 0);
    assert!(stdout(&output).starts_with("Mean of 2 models ("));
    fs::write(home.join("seven.json"), drawing("7", None)).unwrap();
    let read = run(
        home,
        "predict --model run/model.safetensors --posterior-samples --json seven.json",
    );
    let line = last_object(&read);
    assert_eq!(line["uncertainty"]["members"], 2);
    let alone = last_object(&run(
        home,
        "predict --model run/model.safetensors --json seven.json",
    ));
    let scores = [&line, &alone].map(|line| line["digit_score"].as_f64().unwrap());
    assert!(
        (scores[0] - scores[1]).abs() < 1e-4,
        "only the last sample has a digit detector, the model's: {scores:?}"
    );
    let words = run(
        home,
        "predict --model run/model.safetensors --posterior-samples seven.json",
    );
    prints(&words, ", weights ");
}

#[test]
fn suspected_label_errors_are_counted_listed_and_saved() {
    let home = home_with_set(300, 50);
    let data = home.path().join("set");
    succeed(
        &home,
        "train --data set --network mlp --epochs 6 --out first",
    );
    let labels = data.join("t10k-labels-idx1-ubyte");
    let mut bytes = fs::read(&labels).unwrap();
    // After the header: 0, 1, 2, …, of which each gets the label of the next.
    bytes[8..18].rotate_left(1);
    fs::write(&labels, bytes).unwrap();
    let measured = "eval --model first --data set --json --suspects list.csv";
    let found = last_object(&succeed(&home, measured));
    assert_eq!(found["suspected"], 10, "{found}");
    for suspect in found["suspects"].as_array().unwrap() {
        let index = suspect["index"].as_u64().unwrap();
        assert_eq!(suspect["label"], ((index + 1) % 10).to_string());
        assert_eq!(suspect["suggestion"], index.to_string());
    }
    let table = fs::read_to_string(home.path().join("list.csv")).unwrap();
    assert_eq!(table.lines().count(), 11, "{table}");
    assert!(table.contains("\n3,test,4,3,"), "{table}");
    fails(&home, measured, 1, "list.csv");
    let again = "eval --model first --data set --suspects list.csv --force";
    let text = stdout(&succeed(&home, again));
    assert!(
        text.contains("10 suspected label errors") && text.contains("list.csv"),
        "{text}"
    );
    let labels = data.join("train-labels-idx1-ubyte");
    let mut bytes = fs::read(&labels).unwrap();
    bytes[8..18].rotate_left(1);
    fs::write(&labels, bytes).unwrap();
    let training = succeed(&home, "eval --model first --data set --split train");
    prints(&training, "held-out");
}
