//! Models out of Inkling and into it, from the terminal.

use std::fs;

use super::{exits, fails, keys, objects, run, says, stderr, stdout, succeed};

/// The model that comes with Inkling, as a file in `home`.
fn starter(home: &std::path::Path) -> &'static str {
    fs::copy(
        concat!(env!("CARGO_MANIFEST_DIR"), "/assets/starter.safetensors"),
        home.join("starter.safetensors"),
    )
    .unwrap();
    "starter.safetensors"
}

#[test]
fn an_export_tells_scripts_and_people_what_it_holds() {
    let home = tempfile::tempdir().unwrap();
    let model = starter(home.path());
    let output = succeed(
        &home,
        &[
            "export",
            "--model",
            model,
            "--format",
            "onnx",
            "--out",
            "out/digits.onnx",
            "--json",
        ],
    );
    assert_eq!(keys(&stdout(&output))[..2], ["format", "paths"]);
    let object = &objects(&output)[0];
    assert_eq!(object["files"][0]["tensors"][0]["name"], "conv1.weight");
    assert_eq!(
        object["files"][0]["tensors"][0]["shape"],
        serde_json::json!([6, 1, 5, 5])
    );
    assert_eq!(
        object["files"][0]["bytes"].as_u64().unwrap(),
        fs::metadata(home.path().join("out/digits.onnx"))
            .unwrap()
            .len()
    );
    assert!(home.path().join("out/predict.py").is_file());

    let said = succeed(
        &home,
        &[
            "export",
            "--model",
            model,
            "--format",
            "pytorch",
            "--weights",
            "f16",
            "--preview",
        ],
    );
    assert!(
        stdout(&said).contains("conv1.weight")
            && stdout(&said).contains("f16")
            && !home.path().join("model.pt").exists()
    );
}

#[test]
fn what_was_exported_is_imported_and_read_with() {
    let home = tempfile::tempdir().unwrap();
    let model = starter(home.path());
    assert_eq!(
        run(
            &home,
            &[
                "export",
                "--model",
                model,
                "--format",
                "pytorch",
                "--out",
                "digits.pt"
            ]
        )
        .status
        .code(),
        Some(0)
    );
    let output = succeed(&home, "import digits.pt --json");
    let object = &objects(&output)[0];
    assert_eq!(object["model"], "lenet");
    assert_eq!(object["activation"], "relu");
    assert_eq!(object["finding"]["sure"], true);
    fs::write(
        home.path().join("one.json"),
        r#"{"strokes": [[[50, 10], [50, 90]]]}"#,
    )
    .unwrap();
    let predict = |model: &str| {
        let output = run(&home, &["predict", "--model", model, "one.json", "--json"]);
        objects(&output)[0]["probabilities"].clone()
    };
    assert_eq!(
        predict(object["model_path"].as_str().unwrap()),
        predict(model)
    );
    // It stands among the runs, with what is known of it and no more.
    let eval = run(
        &home,
        &[
            "eval",
            "--model",
            object["model_path"].as_str().unwrap(),
            "--data",
            "unknown",
        ],
    );
    says(&eval, "is unknown");
}

#[test]
fn what_cannot_be_done_is_said_and_ends_with_status_1() {
    let home = tempfile::tempdir().unwrap();
    let model = starter(home.path());
    fs::write(home.path().join("Cargo.toml"), "mine").unwrap();
    fs::write(home.path().join("letter.txt"), "dear reader").unwrap();
    for (arguments, word) in [
        (
            &[
                "export",
                "--model",
                "none.safetensors",
                "--format",
                "onnx",
                "--out",
                "a.onnx",
            ][..],
            "none.safetensors",
        ),
        (
            &[
                "export",
                "--model",
                "letter.txt",
                "--format",
                "onnx",
                "--out",
                "a.onnx",
            ],
            "not an Inkling model",
        ),
        (
            &[
                "export", "--model", model, "--format", "candle", "--out", "main.rs",
            ],
            "Cargo.toml",
        ),
        (
            &[
                "export",
                "--model",
                model,
                "--format",
                "zip",
                "--out",
                "letter.txt/a.zip",
            ],
            "letter.txt",
        ),
        (&["import", "none.pt"], "none.pt"),
        (&["import", "letter.txt"], "neither a safetensors file"),
        (
            &["train", "--initial-weights", "letter.txt"],
            "not an Inkling model",
        ),
    ] {
        let output = run(&home, arguments);
        fails(&output, 1, word, &arguments);
    }
    assert_eq!(
        fs::read_to_string(home.path().join("Cargo.toml")).unwrap(),
        "mine"
    );
}

#[test]
fn another_network_than_that_of_the_weights_is_bad_usage() {
    let home = tempfile::tempdir().unwrap();
    let model = starter(home.path());
    let output = run(
        &home,
        &[
            "train",
            "--initial-weights",
            model,
            "--network",
            "mlp",
            "--epochs",
            "1",
        ],
    );
    exits(&output, 2);
    assert!(
        stderr(&output).contains("LeNet-5") && stderr(&output).contains("MLP"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn weights_of_other_programs_are_to_be_imported_first() {
    let home = tempfile::tempdir().unwrap();
    let model = starter(home.path());
    assert_eq!(
        run(
            &home,
            &[
                "export",
                "--model",
                model,
                "--format",
                "pytorch",
                "--out",
                "weights.pt"
            ]
        )
        .status
        .code(),
        Some(0)
    );
    let view =
        safetensors::tensor::TensorView::new(safetensors::Dtype::F32, vec![1], &[0; 4]).unwrap();
    fs::write(
        home.path().join("weights.safetensors"),
        safetensors::serialize([("fc.bias", view)], None).unwrap(),
    )
    .unwrap();
    fs::write(
        home.path().join("one.json"),
        r#"{"strokes": [[[50, 10], [50, 90]]]}"#,
    )
    .unwrap();
    for file in ["weights.pt", "weights.safetensors"] {
        for arguments in [
            &["eval", "--data", "builtin", "--model", file][..],
            &["predict", "one.json", "--model", file],
            &[
                "export", "--format", "card", "--out", "card.md", "--model", file,
            ],
            &["compare", model, file, "--data", "builtin"],
            &["train", "--initial-weights", file],
        ] {
            let output = run(&home, arguments);
            assert_eq!(
                output.status.code(),
                Some(1),
                "{arguments:?}: {}",
                stderr(&output)
            );
            let said = stderr(&output);
            assert!(
                said.contains(file)
                    && said.contains("Import them first, with “inkling import FILE”"),
                "{arguments:?}: {said}"
            );
        }
    }
}
