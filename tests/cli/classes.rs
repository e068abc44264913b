//! Data sets whose classes are not digits, from training to what is said and exported.

use std::fs;
use std::path::Path;

use image::GrayImage;

use super::{events_of, last_object, objects, prints, run, stderr, stdout, succeed};
use crate::support::write_idx_set;

/// A small set in the place and under the name of Fashion-MNIST, and a model of it, beside one
/// under MNIST's name.
fn trained(home: &Path) {
    write_idx_set(&home.join("data/fashion-mnist"), 400, 60);
    write_idx_set(&home.join("data/mnist"), 40, 20);
    succeed(
        home,
        "train --data fashion-mnist --network mlp --epochs 3 --out run",
    );
}

#[test]
fn fashion_mnist_has_names_of_its_own_wherever_results_are_told() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    trained(home);

    let text = stdout(&run(home, "eval --model run --data fashion-mnist"));
    let names = [
        "T-shirt",
        "Trousers",
        "Pullover",
        "Dress",
        "Coat",
        "Sandal",
        "Shirt",
        "Sneaker",
        "Bag",
        "Ankle boot",
    ];
    assert!(
        names.iter().all(|name| text.matches(name).count() >= 2),
        "{text}"
    );
    // Every line of the table ends in the same column.
    let lines: Vec<usize> = text
        .lines()
        .skip_while(|line| !line.contains("pred"))
        .map(|line| line.chars().count())
        .collect();
    assert!(
        lines.len() == 11 && lines.iter().all(|length| *length == lines[0]),
        "{text}"
    );
    let measured = last_object(&run(home, "eval --json --model run --data fashion-mnist"));
    assert_eq!(measured["digits"][9]["digit"], 9);
    assert_eq!(measured["digits"][9]["label"], "Ankle boot");

    // A picture with dark things on white, three times as large as what the network takes: class 5
    // is low at the left.
    let boot = GrayImage::from_fn(84, 84, |x, y| {
        [if (6..18).contains(&x) && (48..72).contains(&y) {
            15
        } else {
            255
        }]
        .into()
    });
    boot.save(home.join("thing.png")).unwrap();
    let read = last_object(&run(home, "predict --json --model run thing.png"));
    assert_eq!(
        (&read["digit"], &read["label"]),
        (&5.into(), &"Sandal".into()),
        "{read}"
    );
    assert_eq!(read["digits"].as_array().map(Vec::len), Some(1));
    assert_eq!(
        read["digits"][0]["box"],
        serde_json::json!([0.0, 0.0, 84.0, 84.0])
    );

    let table = stdout(&run(home, "data check fashion-mnist"));
    assert!(
        table.contains("class") && table.contains("Ankle boot"),
        "{table}"
    );

    for (format, file) in [
        ("card", "card.md"),
        ("report", "report.html"),
        ("html", "model.html"),
        ("candle", "main.rs"),
        ("onnx", "net.onnx"),
    ] {
        succeed(
            home,
            &format!("export --model run --format {format} --out {file}"),
        );
        let found = walk(home)
            .into_iter()
            .any(|path| fs::read(path).is_ok_and(|bytes| contains(&bytes, b"Ankle boot")));
        assert!(found, "{format}");
        assert!(
            !fs::read(home.join(file)).is_ok_and(|bytes| contains(&bytes, b"handwritten digit")),
            "{format}"
        );
    }
}

fn contains(bytes: &[u8], wanted: &[u8]) -> bool {
    bytes.windows(wanted.len()).any(|window| window == wanted)
}

/// The exported files.
fn walk(home: &Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(home)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    entries.filter(|path| path.is_file()).collect()
}

#[track_caller]
fn refused(home: &Path, arguments: &str, words: &[&str]) {
    let output = run(home, arguments);
    let said = stderr(&output);
    assert!(
        !output.status.success() && words.iter().all(|word| said.contains(word)),
        "{arguments:?}: {said}"
    );
}

#[test]
fn what_a_model_does_not_know_is_not_asked_of_it() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    trained(home);
    refused(
        home,
        "eval --data mnist --model run",
        &["articles of clothing", "digits"],
    );
    refused(
        home,
        "eval --data fashion-mnist",
        &["articles of clothing", "digits"],
    );
    refused(
        home,
        "train --data mnist+fashion-mnist --epochs 1",
        &["MNIST and Fashion-MNIST cannot be combined"],
    );
    refused(
        home,
        "train --data builtin+kmnist --epochs 1",
        &["cannot be combined"],
    );
    // A folder can hold anything.
    succeed(home, "eval --data data/mnist --model run/model.safetensors");
}

/// Class folders with these names. Images of a class show dark bars on white, those that the number
/// of the class has in binary, and a spine.
fn write_folders(folder: &Path, names: &[&str], of_each: u32) {
    for (class, name) in names.iter().enumerate() {
        for index in 0..of_each {
            let image = GrayImage::from_fn(84, 84, |x, y| {
                let bar = (y.saturating_sub(8) / 16) as usize;
                let has_bar = bar < 5
                    && (y - bar as u32 * 16) < 16
                    && class >> bar & 1 == 1
                    && (12..60 + index % 12).contains(&x);
                let spine = (8..18).contains(&x) && (6..78).contains(&y);
                [if spine || has_bar {
                    20
                } else {
                    250 - (index % 8) as u8
                }]
                .into()
            });
            let path = folder.join(name).join(format!("{index}.png"));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            image.save(path).unwrap();
        }
    }
}

#[test]
fn a_persons_own_classes_are_learned_recognized_and_exported_by_their_names() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    write_folders(&home.join("pets"), &["cat", "dog", "small horse"], 40);
    let train = "train --data pets --network mlp --epochs 12 --out run --json";
    let events = objects(&run(home, train));
    let plan = &events_of(&events, "started")[0]["plan"];
    assert_eq!(
        plan["classes"],
        serde_json::json!(["cat", "dog", "small horse"])
    );
    // 784 x 256, 256 x 256 and 256 x 3 weights.
    assert_eq!(
        plan["parameters"],
        784 * 256 + 256 + 256 * 256 + 256 + 3 * 256 + 3
    );

    let read = last_object(&run(
        home,
        &[
            "predict",
            "--json",
            "--model",
            "run",
            "pets/small horse/7.png",
        ],
    ));
    assert_eq!(
        (&read["digit"], &read["label"]),
        (&2.into(), &"small horse".into()),
        "{read}"
    );
    assert_eq!(read["probabilities"].as_array().map(Vec::len), Some(3));
    let text = stdout(&run(home, "eval --model run --data pets"));
    assert!(
        text.contains("small horse") && text.contains("accuracy 100.00%"),
        "{text}"
    );
    let checked = last_object(&run(home, "data check pets --json"));
    assert_eq!(checked["classes"], plan["classes"]);
    for (format, file) in [
        ("card", "card.md"),
        ("report", "report.html"),
        ("html", "model.html"),
        ("candle", "main.rs"),
        ("onnx", "net.onnx"),
        ("zip", "all.zip"),
    ] {
        succeed(
            home,
            &format!("export --model run --format {format} --out {file}"),
        );
        let told = walk(home)
            .into_iter()
            .any(|path| fs::read(path).is_ok_and(|bytes| contains(&bytes, b"small horse")));
        assert!(told, "{format}");
    }

    // Other things than it knows are refused, and so is a run that goes on with another number of
    // classes.
    write_folders(&home.join("shapes"), &["line", "ring"], 20);
    for (arguments, words) in [
        (
            "eval --data shapes --model run",
            ["cat, dog and 1 other class", "line and ring"],
        ),
        (
            "train --data shapes --initial-weights run/model.safetensors",
            ["distinguishes 3 classes", "has 2"],
        ),
        ("eval --data builtin --model run", ["cat, dog", "digits"]),
    ] {
        refused(home, arguments, &words);
    }
}

#[test]
fn letters_are_recognized_where_they_are_on_the_paper() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let names: Vec<String> = ('A'..='Z').map(String::from).collect();
    write_folders(
        &home.join("letters"),
        &names.iter().map(String::as_str).collect::<Vec<_>>(),
        20,
    );
    let train = "train --data letters --network mlp --epochs 20 --out run --json";
    let events = objects(&run(home, train));
    assert_eq!(events_of(&events, "started")[0]["plan"]["classes"][25], "Z");
    let measured = last_object(&run(
        home,
        "eval --data letters --model run/model.safetensors --json",
    ));
    assert!(measured["accuracy"].as_f64().unwrap() > 0.9, "{measured}");
    assert_eq!(measured["digits"].as_array().map(Vec::len), Some(26));
    assert_eq!(measured["digits"][25]["label"], "Z");
    // Of a page, a model of letters is shown what is written on it.
    let page = GrayImage::from_fn(400, 300, |x, y| {
        [if (200..210).contains(&x) && (106..178).contains(&y) {
            20
        } else {
            250
        }]
        .into()
    });
    page.save(home.join("page.png")).unwrap();
    let read = last_object(&run(
        home,
        "predict --json --model run/model.safetensors page.png",
    ));
    assert_eq!(read["label"], "A", "{read}");
    let sheet = run(home, "data show letters --out sheet.png");
    prints(&sheet, "per letter");
    assert_eq!(
        image::open(home.join("sheet.png")).unwrap().height(),
        26 * 32 + 4
    );
}
