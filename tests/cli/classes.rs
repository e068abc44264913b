//! Data sets whose classes are no digits, from training to what is said and exported.

use std::fs;
use std::path::Path;

use image::GrayImage;

use super::{objects, run, stderr, stdout};
use crate::support::write_idx_set;

/// A small set in the place and under the name of Fashion-MNIST, and a model of it, beside one under MNIST's name.
fn trained(home: &Path) {
    write_idx_set(&home.join("data/fashion-mnist"), 400, 60);
    write_idx_set(&home.join("data/mnist"), 40, 20);
    let arguments = ["train", "--data", "fashion-mnist", "--model", "mlp", "--epochs", "3", "--out", "run"];
    let output = run(home, &arguments);
    assert!(output.status.success(), "{}", stderr(&output));
}

#[test]
fn fashion_mnist_has_names_of_its_own_wherever_results_are_told() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    trained(home);
    let model = ["--model", "run/model.safetensors"];

    let text = stdout(&run(home, &[&["eval", "--data", "fashion-mnist"], &model[..]].concat()));
    let names = ["T-shirt", "Trousers", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"];
    assert!(names.iter().all(|name| text.matches(name).count() >= 2), "{text}");
    // Every line of the table ends in the same column.
    let lines: Vec<usize> = text.lines().skip_while(|line| !line.contains("pred")).map(|line| line.chars().count()).collect();
    assert!(lines.len() == 11 && lines.iter().all(|length| *length == lines[0]), "{text}");
    let measured = objects(&run(home, &[&["eval", "--json", "--data", "fashion-mnist"], &model[..]].concat())).pop().unwrap();
    assert_eq!((&measured["digits"][9]["digit"], &measured["digits"][9]["label"]), (&9.into(), &"Ankle boot".into()));

    // A picture with dark things on white, three times as large as what the network takes: class 5 is low at the left.
    let boot = GrayImage::from_fn(84, 84, |x, y| [if (6..18).contains(&x) && (48..72).contains(&y) { 15 } else { 255 }].into());
    boot.save(home.join("thing.png")).unwrap();
    let read = objects(&run(home, &[&["predict", "--json"], &model[..], &["thing.png"]].concat())).pop().unwrap();
    assert_eq!((&read["digit"], &read["label"]), (&5.into(), &"Sandal".into()), "{read}");
    assert_eq!(read["digits"].as_array().map(Vec::len), Some(1));
    assert_eq!(read["digits"][0]["box"], serde_json::json!([0.0, 0.0, 84.0, 84.0]));

    let table = stdout(&run(home, &["data", "check", "fashion-mnist"]));
    assert!(table.contains("class") && table.contains("Ankle boot"), "{table}");

    for (format, file) in [("card", "card.md"), ("report", "report.html"), ("candle", "main.rs"), ("onnx", "net.onnx")] {
        let output = run(home, &[&["export", "--format", format, "--out", file], &model[..]].concat());
        assert!(output.status.success(), "{format}: {}", stderr(&output));
        let found = walk(home).into_iter().any(|path| fs::read(path).is_ok_and(|bytes| contains(&bytes, b"Ankle boot")));
        assert!(found, "{format}");
        assert!(!fs::read(home.join(file)).is_ok_and(|bytes| contains(&bytes, b"handwritten digit")), "{format}");
    }
}

fn contains(bytes: &[u8], wanted: &[u8]) -> bool {
    bytes.windows(wanted.len()).any(|window| window == wanted)
}

/// The exported files.
fn walk(home: &Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(home).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.is_file()).collect()
}

#[test]
fn what_a_model_does_not_know_is_not_asked_of_it() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    trained(home);
    let refused = |arguments: &[&str], words: &[&str]| {
        let output = run(home, arguments);
        let said = stderr(&output);
        assert!(!output.status.success() && words.iter().all(|word| said.contains(word)), "{arguments:?}: {said}");
    };
    refused(&["eval", "--data", "mnist", "--model", "run/model.safetensors"], &["articles of clothing", "digits"]);
    refused(&["eval", "--data", "fashion-mnist"], &["articles of clothing", "digits"]);
    refused(&["train", "--data", "mnist+fashion-mnist", "--epochs", "1"], &["MNIST and Fashion-MNIST cannot be mixed"]);
    refused(&["train", "--data", "builtin+kmnist", "--epochs", "1"], &["cannot be mixed"]);
    // A folder can hold anything.
    let output = run(home, &["eval", "--data", "data/mnist", "--model", "run/model.safetensors"]);
    assert!(output.status.success(), "{}", stderr(&output));
}
