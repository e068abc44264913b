//! Models out of Inkling and into it, from the terminal.

use std::fs;

use super::targets::home_with_model;
use super::{fails, keys, objects, run, says, stdout, succeed};

#[test]
fn an_export_tells_scripts_and_people_what_it_holds() {
    let home = home_with_model();
    let output = succeed(
        &home,
        "export --model m.safetensors --format onnx --out out/digits.onnx --json",
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
        "export --model m.safetensors --format pytorch --weights f16 --preview",
    );
    assert!(
        stdout(&said).contains("conv1.weight")
            && stdout(&said).contains("f16")
            && !home.path().join("model.pt").exists()
    );
}

#[test]
fn a_single_file_goes_to_standard_output() {
    let home = home_with_model();
    for format in ["safetensors", "html", "report", "zip"] {
        let export = format!("export --model m.safetensors --format {format} --out");
        let sent = succeed(&home, &format!("{export} -"));
        succeed(&home, &format!("{export} file.{format}"));
        let written = fs::read(home.path().join(format!("file.{format}"))).unwrap();
        // A folder in the archive is called like the file.
        let same = sent.stdout == written || format == "zip" && sent.stdout.starts_with(b"PK");
        assert!(same, "{format}");
    }
    for (arguments, why) in [
        (
            "pytorch --out -",
            "has several files, and standard output takes one",
        ),
        ("candle --out -", "such as zip"),
        // It would be measured on data that does not exist.
        (
            "onnx --quantize --data missing --out -",
            "has several files",
        ),
        ("zip --out - --json", "leave out --json"),
    ] {
        let sent = fails(
            &home,
            &format!("export --model m.safetensors --format {arguments}"),
            2,
            why,
        );
        assert!(sent.stdout.is_empty());
    }
    assert!(!home.path().join("-").exists());
}

#[test]
fn what_was_exported_is_imported_and_read_with() {
    let home = home_with_model();
    succeed(
        &home,
        "export --model m.safetensors --format pytorch --out digits.pt",
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
        predict("m.safetensors")
    );
    // It stands among the runs, with what is known of it and no more.
    let imported = object["model_path"].as_str().unwrap();
    let eval = run(&home, &["eval", "--data", "unknown", "--model", imported]);
    says(&eval, "is unknown");
}

#[test]
fn what_cannot_be_done_is_said_and_ends_with_status_1() {
    let home = home_with_model();
    fs::write(home.path().join("Cargo.toml"), "mine").unwrap();
    fs::write(home.path().join("letter.txt"), "dear reader").unwrap();
    let (absent, no_model) = ("none.safetensors", "not an Inkling model");
    for (arguments, word) in [
        (
            "export --model none.safetensors --format onnx --out a",
            absent,
        ),
        (
            "export --model letter.txt --format onnx --out a.onnx",
            no_model,
        ),
        (
            "export --model m.safetensors --format candle --out main.rs",
            "Cargo.toml",
        ),
        (
            "export --model m.safetensors --format zip --out letter.txt/a.zip",
            "letter.txt",
        ),
        ("import none.pt", "none.pt"),
        ("import letter.txt", "neither a safetensors file"),
        ("train --initial-weights letter.txt", no_model),
    ] {
        fails(&home, arguments, 1, word);
    }
    assert_eq!(
        fs::read_to_string(home.path().join("Cargo.toml")).unwrap(),
        "mine"
    );
}

#[test]
fn another_network_than_that_of_the_weights_is_bad_usage() {
    let home = home_with_model();
    let output = fails(
        &home,
        "train --initial-weights m.safetensors --network mlp --epochs 1",
        2,
        "LeNet-5",
    );
    says(&output, "MLP");
}

#[test]
fn weights_of_other_programs_are_to_be_imported_first() {
    let home = home_with_model();
    succeed(
        &home,
        "export --model m.safetensors --format pytorch --out weights.pt",
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
            "eval --data builtin --model",
            "predict one.json --model",
            "export --format card --out card.md --model",
            "compare --data builtin m.safetensors",
            "train --initial-weights",
        ] {
            let arguments = format!("{arguments} {file}");
            let advice = "Import them first, with “inkling import FILE”";
            says(&fails(&home, &arguments, 1, advice), file);
        }
    }
}
