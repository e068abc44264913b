//! `inkling compare`: what is compared, on which images, and what is said of it.

use std::fs;
use std::path::Path;

use inkling::run_config::{Activation, ModelKind};
use serde_json::Value;

use super::{exits, fails, last_object, run, stderr, stdout, write_model};
use crate::support::{model_file, write_idx_set};

/// Two models, `a.safetensors` and `b.safetensors`, that were trained on these data.
fn write_models(home: &Path, data: [&str; 2]) {
    for ((name, data), activation) in ["a", "b"]
        .into_iter()
        .zip(data)
        .zip([Activation::Relu, Activation::Gelu])
    {
        let mut file = model_file(ModelKind::Mlp, activation);
        file.card.data = data.parse().unwrap();
        file.card.config.data = file.card.data.clone();
        file.card.config.seed = if name == "a" { 1 } else { 7 };
        write_model(home, &format!("{name}.safetensors"), &file);
    }
}

#[test]
fn models_are_compared_and_every_figure_follows_from_the_answers() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    write_models(home, ["builtin", "mnist"]);
    write_idx_set(&home.join("set"), 120, 40);
    let compare = "compare a.safetensors b.safetensors --data set";
    let found = last_object(&run(home, &format!("{compare} --json")));
    assert_eq!(found["images"], 40);
    assert_eq!(found["split"], "test");
    assert_eq!(found["data"], "set");
    let models = found["models"].as_array().unwrap();
    let accuracy: Vec<f64> = models
        .iter()
        .map(|model| model["accuracy"].as_f64().unwrap())
        .collect();
    for (model, name) in models.iter().zip(["a", "b"]) {
        let alone = run(
            home,
            &[
                "eval",
                "--model",
                &format!("{name}.safetensors"),
                "--data",
                "set",
                "--json",
            ],
        );
        let alone = last_object(&alone);
        assert_eq!(
            (&model["accuracy"], &model["digits"]),
            (&alone["accuracy"], &alone["digits"]),
            "as `inkling eval` measures it"
        );
        assert_eq!(&model["train_seconds"], &Value::Null);
        assert_eq!(model["network"], "mlp");
    }
    let against = &found["against_first"].as_array().unwrap()[..];
    let [against] = against else {
        panic!("{found}")
    };
    assert!((against["difference"].as_f64().unwrap() - (accuracy[1] - accuracy[0])).abs() < 1e-9);
    let settings: Vec<&str> = found["settings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["setting"].as_str().unwrap())
        .collect();
    for setting in ["Data", "Activation", "Seed"] {
        assert!(settings.contains(&setting), "{setting}: {settings:?}");
    }
    assert!(!settings.contains(&"Batch size"), "it is the same");

    let text = stdout(&run(home, compare));
    for words in [
        "Compared on 40 images of set (test split):",
        "A  a.safetensors",
        "Settings that differ",
        "95% interval",
        "Accuracy by digit",
        "B against A: ",
        "McNemar's exact test",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
}

#[test]
fn the_data_set_is_what_both_were_trained_on_or_has_to_be_named() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let sentence = |data| {
        write_models(home, data);
        let output = run(home, "compare a.safetensors b.safetensors");
        exits(&output, 1);
        stderr(&output)
    };
    let different = sentence(["builtin", "mnist"]);
    assert!(
        different.contains("trained on different data: ") && different.contains("MNIST"),
        "{different}"
    );
    assert!(
        sentence(["mnist", "mnist+builtin"]).contains("mnist"),
        "the first source counts, and is not there"
    );
    // A path that a file names is not looked for.
    write_idx_set(&home.join("set"), 120, 40);
    let path = home.join("set").display().to_string();
    assert!(sentence([&path, &path]).contains("names set as its training data"));
}

#[test]
fn what_cannot_be_compared_is_said() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    write_models(home, ["builtin", "builtin"]);
    fs::create_dir(home.join("empty")).unwrap();
    for (runs, status, words) in [
        (
            &["a.safetensors"][..],
            2,
            "1 model cannot be compared. Choose 2 to 8",
        ),
        (&["a.safetensors"; 9], 2, "9 models cannot be compared"),
        (
            &["a.safetensors", "a.safetensors"],
            2,
            "cannot be compared with itself",
        ),
        (&["a.safetensors", "missing"], 2, "no run or file"),
        (
            &["a.safetensors", "missing.safetensors"],
            1,
            "missing.safetensors",
        ),
        (&["a.safetensors", "empty"], 1, "run.json is missing"),
    ] {
        let output = fails(home, &[&["compare"], runs].concat(), status, words);
        assert!(stdout(&output).is_empty(), "{runs:?}");
    }
}
