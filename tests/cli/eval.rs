//! `inkling eval`: which images are measured, and what is said of them.

use std::fs;
use std::path::Path;

use inkling::run_config::{Activation, ModelKind, WeightFormat};
use serde_json::Value;

use super::{
    Words, exits, fails, home_with_set, last_object, objects, prints, run, stderr, stdout, succeed,
    words,
};
use crate::support::{model_file, write_idx_set};

/// A drawing: a single stroke, the same for all of a label.
fn drawing(label: &str, writer: Option<&str>) -> String {
    let height = 10
        * label
            .bytes()
            .next()
            .map_or(1, |byte| u32::from(byte % 10) + 1);
    let writer = writer.map_or_else(String::new, |writer| format!(r#","writer":"{writer}""#));
    format!(r#"{{"label":"{label}","strokes":[[[0,0],[40,{height}],[0,60]]]{writer}}}"#) + "\n"
}

fn write_model(home: &Path) {
    fs::write(
        home.join("m.safetensors"),
        model_file(ModelKind::Mlp, Activation::Relu)
            .to_bytes(WeightFormat::F32)
            .unwrap(),
    )
    .unwrap();
}

fn eval<'a>(home: impl AsRef<Path>, arguments: impl Words<'a>) -> Value {
    let usual = words("eval --model m.safetensors --json --data");
    let output = run(home, &[usual, arguments.words()].concat());
    objects(&output)
        .pop()
        .unwrap_or_else(|| panic!("{}", stderr(&output)))
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
    let from = |arguments: &[&str]| {
        crate::cli::inkling(home.path())
            .current_dir(&elsewhere)
            .args(arguments)
            .output()
            .unwrap()
    };
    let measured = from(&["eval", "--model", "../first", "--data", "../set", "--json"]);
    assert_eq!(
        objects(&measured)
            .pop()
            .map(|found| found["images"].clone()),
        Some(50.into()),
        "{}",
        stderr(&measured)
    );
    let again = from(&["train", "--reproduce", "../first"]);
    exits(&again, 0);
    let further = from(&[
        "train",
        "--initial-weights",
        "../first",
        "--data",
        "../set",
        "--epochs",
        "1",
    ]);
    exits(&further, 0);
    let alike = from(&["train", "--config", "../first", "--seed", "3"]);
    exits(&alike, 0);
    // Of a run that is not among the others, the path is not opened unasked.
    let compared = from(&[
        "compare",
        "../first/model.safetensors",
        "../first/model.safetensors",
    ]);
    exits(&compared, 2);
    succeed(
        &home,
        "train --data set --network mlp --epochs 1 --seed 2 --out second",
    );
    let compared = from(&["compare", "../first", "../second"]);
    assert!(
        compared.status.code() == Some(1)
            && stderr(&compared).contains("names set as its training data"),
        "{}",
        stderr(&compared)
    );
    assert_eq!(
        from(&["compare", "../first", "../second", "--data", "../set"])
            .status
            .code(),
        Some(0)
    );
}

#[test]
fn images_that_any_of_the_models_learned_from_are_not_measured_unasked() {
    let home = tempfile::tempdir().unwrap();
    let row = |index: usize| {
        format!(
            "{}{}\n",
            index % 10,
            format!(",{}", index % 10 * 20).repeat(784)
        )
    };
    fs::write(
        home.path().join("digits.csv"),
        (0..140).map(row).collect::<String>(),
    )
    .unwrap();
    write_idx_set(&home.path().join("set"), 300, 50);
    let elsewhere = home.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let from = |arguments: &[&str]| {
        crate::cli::inkling(home.path())
            .current_dir(&elsewhere)
            .args(arguments)
            .output()
            .unwrap()
    };
    for (data, out) in [("../set", "../first"), ("../digits.csv", "../second")] {
        let trained = from(&[
            "train",
            "--data",
            data,
            "--network",
            "mlp",
            "--epochs",
            "1",
            "--out",
            out,
        ]);
        exits(&trained, 0);
    }
    for arguments in ["--model second", "--model first --model second"] {
        let measured = run(
            &home,
            &[words("eval --data digits.csv --json"), words(arguments)].concat(),
        );
        assert_eq!(
            objects(&measured).pop().map(|found| found["split"].clone()),
            Some("test".into()),
            "{}",
            stderr(&measured)
        );
    }
}

#[test]
fn a_labelled_ink_file_is_measured_whole() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    write_model(home);
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
    let mean: f64 = digits
        .iter()
        .map(|digit| digit["accuracy"].as_f64().unwrap())
        .sum::<f64>()
        / 10.0;
    assert!((mean - measured["accuracy"].as_f64().unwrap()).abs() < 1e-9);
    let writers = measured["writers"].as_array().unwrap();
    let total: u64 = writers
        .iter()
        .map(|writer| writer["images"].as_u64().unwrap())
        .sum();
    let accuracies: Vec<f64> = writers
        .iter()
        .map(|writer| writer["accuracy"].as_f64().unwrap())
        .collect();
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
    let text = stdout(&run(home, "eval --model m.safetensors --data pens.jsonl"));
    for words in [
        "70 images of pens.jsonl (all images)",
        "calibration error",
        "Accuracy by writer, the lowest of 2",
        "Ada",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let uncalibrated = eval(home, &["pens.jsonl", "--uncalibrated"]);
    assert!(
        uncalibrated["uncalibrated"] == true && uncalibrated["accuracy"] == measured["accuracy"]
    );
    assert_ne!(
        uncalibrated["calibration_error"], measured["calibration_error"],
        "the model has a temperature"
    );
    assert!(
        stderr(&run(
            home,
            "eval --model m.safetensors --data pens.jsonl --split some"
        ))
        .contains("validation")
    );
}

#[test]
fn a_model_is_not_measured_on_what_it_learned_from() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let mut file = model_file(ModelKind::Mlp, Activation::Relu);
    file.card.config.data = "pens.jsonl+builtin".parse().unwrap();
    fs::write(
        home.join("m.safetensors"),
        file.to_bytes(WeightFormat::F32).unwrap(),
    )
    .unwrap();
    fs::write(
        home.join("pens.jsonl"),
        (0..70)
            .map(|index| drawing(&(index % 10).to_string(), None))
            .collect::<String>(),
    )
    .unwrap();
    let measured = eval(home, &["pens.jsonl"]);
    assert_eq!(measured["images"], 10);
    assert_eq!(measured["split"], "test");
    assert_eq!(measured.get("writers"), None);
}

#[test]
fn a_set_with_a_test_split_is_measured_on_that() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    write_model(home);
    write_idx_set(&home.join("set"), 120, 40);
    assert_eq!(eval(home, &["set"])["images"], 40);
    for (split, images) in [
        ("all", 160),
        ("train", 110),
        ("validation", 10),
        ("test", 40),
    ] {
        assert_eq!(
            eval(home, &["set", "--split", split])["images"],
            images,
            "{split}"
        );
    }
}

#[test]
fn digits_are_told_from_other_drawings() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    write_model(home);
    fs::write(
        home.join("pens.jsonl"),
        (0..20)
            .map(|index| drawing(&(index % 10).to_string(), None))
            .collect::<String>(),
    )
    .unwrap();
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
    let by_label: Vec<(&str, u64)> = found["labels"]
        .as_array()
        .unwrap()
        .iter()
        .map(|of| {
            (
                of["label"].as_str().unwrap(),
                of["drawings"].as_u64().unwrap(),
            )
        })
        .collect();
    assert_eq!(by_label, [("A", 2), ("x", 1)]);
    let only = eval(
        home,
        "pens.jsonl --not-digits letters.jsonl --not-digits-labels xyz",
    );
    assert_eq!(only["not_digits"]["drawings"], 1);
    let none = words(
        "eval --model m.safetensors --data pens.jsonl --not-digits letters.jsonl \
             --not-digits-labels Q",
    );
    let refused = run(home, &none);
    assert!(
        refused.status.code() == Some(1)
            && stderr(&refused).contains("no drawings other than digits with one of the labels Q")
    );
    let text = stdout(&run(
        home,
        "eval --model m.safetensors --data pens.jsonl --not-digits letters.jsonl",
    ));
    assert!(
        text.contains("Digits distinguished from 3 other drawings: AUROC") && text.contains("A  "),
        "{text}"
    );
}

#[test]
fn several_models_are_measured_together() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    write_model(home);
    let lines: String = (0..20)
        .map(|index| drawing(&(index % 10).to_string(), None))
        .collect();
    fs::write(home.join("pens.jsonl"), &lines).unwrap();
    let alone = eval(home, &["pens.jsonl"]);
    let twice = eval(home, "pens.jsonl --model m.safetensors");
    assert_eq!(alone["accuracy"], twice["accuracy"]);
    assert!((alone["loss"].as_f64().unwrap() - twice["loss"].as_f64().unwrap()).abs() < 1e-5);
    let text = run(
        home,
        "eval --model m.safetensors --model m.safetensors --data pens.jsonl",
    );
    assert!(
        stdout(&text).starts_with("Mean of 2 models ("),
        "{}",
        stdout(&text)
    );
    fails(
        home,
        "eval --model m.safetensors --dropout-passes 10 --data pens.jsonl",
        1,
        "no dropout layer",
    );
    let unsampled = run(
        home,
        "eval --model m.safetensors --posterior-samples --data pens.jsonl",
    );
    assert_ne!(unsampled.status.code(), Some(0));
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
    assert!(
        stdout(&output).starts_with("Mean of 2 models ("),
        "{}{}",
        stdout(&output),
        stderr(&output)
    );
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
