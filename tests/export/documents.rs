//! Card and report: what is known of a model, in words.

use std::path::PathBuf;

use inkling::export::ExportedModel;
use inkling::records::{ExportSpec, QuantizedAccuracy};
use inkling::run_config::{
    Activation, DataSpec, ExportFormat, Initialization, ModelKind, OptimizerKind, RunConfig,
};

use super::{file, untrained_model};
use crate::fake_engine::{summary, tested_on};

/// A model with a run of two epochs and a test.
fn trained() -> ExportedModel {
    let mut exported = untrained_model(ModelKind::LeNet, Activation::Relu);
    let record = |epoch| inkling::records::EpochRecord {
        epoch,
        step: 70 * u64::from(epoch),
        train_loss: 0.3,
        train_accuracy: 0.9,
        validation_loss: 0.25,
        validation_accuracy: 0.92,
        seconds: 10.0,
    };
    exported.run = Some(summary(
        &exported.file.card.config,
        vec![record(1), record(2)],
        false,
    ));
    exported.quantized = Some(QuantizedAccuracy {
        images: 100,
        original: 0.99,
        quantized: 0.98,
    });
    exported
}

fn text(exported: &ExportedModel, format: ExportFormat, name: &str) -> String {
    String::from_utf8(file(exported, &ExportSpec::new(format), name)).unwrap()
}

#[test]
fn the_card_says_what_there_is_to_know() {
    let exported = trained();
    let words = text(&exported, ExportFormat::Card, "model");
    for part in [
        "LeNet-5 on Built-in digits",
        "Test accuracy: 99.00% on 100 test images of Built-in digits (95% confidence interval",
        "98.00%",
        "A processor, 2 cores",
        "20 s",
        "## Limits",
        "| **9** |",
        "| 92.0% | 95.0% | 20 |",
    ] {
        assert!(words.contains(part), "{part} is missing:\n{words}");
    }
    let json: serde_json::Value =
        serde_json::from_str(&text(&exported, ExportFormat::Card, "model.json")).unwrap();
    assert_eq!(json["test"]["images"], 100);
    let interval = &json["test"]["accuracy_interval_95"];
    assert!(
        interval[0].as_f64().unwrap() < 0.99 && interval[1].as_f64().unwrap() > 0.99,
        "{interval}"
    );
    assert_eq!(json["training"]["epochs"].as_array().unwrap().len(), 2);
    assert_eq!(json["config"]["model"], "lenet");
    assert_eq!(json["quantization"]["quantized"], 0.98);
}

#[test]
fn the_card_has_every_setting_of_the_run() {
    let mut exported = trained();
    let config = &mut exported.file.card.config;
    *config = RunConfig {
        initial_weights: Some(PathBuf::from("before.safetensors")),
        initialization: Initialization::Lsuv,
        optimizer: OptimizerKind::Sgd,
        nesterov: true,
        batch_size: 48,
        growing_batches: true,
        label_smoothing: 0.1,
        accumulation: 4,
        early_stopping: Some(3),
        clip_norm: Some(1.5),
        weight_averaging: Some(0.99),
        ..config.clone()
    };
    let settings = config.training_settings();
    let words = text(&exported, ExportFormat::Card, "model");
    for (name, value) in settings {
        let Some(value) = value else { continue };
        assert!(
            words.contains(&format!("| {name} | {value} |")),
            "{name}, {value}:\n{words}"
        );
    }
}

#[test]
fn the_accuracy_is_on_the_test_images_of_the_source_that_has_them() {
    let mut exported = trained();
    let mix: DataSpec = "mnist+builtin".parse().unwrap();
    exported.file.card.data = mix.clone();
    exported.run.as_mut().unwrap().test = Some(tested_on(&mix));
    for (format, name) in [
        (ExportFormat::Card, "model"),
        (ExportFormat::Report, "model"),
    ] {
        let words = text(&exported, format, name);
        assert!(
            words.contains("on 100 test images of MNIST (95")
                && !words.contains("images of MNIST +"),
            "{words}"
        );
    }
    let json: serde_json::Value =
        serde_json::from_str(&text(&exported, ExportFormat::Card, "model.json")).unwrap();
    assert_eq!(
        (&json["test"]["data"], &json["data"]),
        (&"mnist".into(), &"mnist+builtin".into())
    );
    // Without its run, a model is still known by that accuracy.
    exported.run = None;
    exported.file.card.test = Some(tested_on(&mix).accuracy());
    assert!(
        text(&exported, ExportFormat::Card, "model").contains("99.00% on 100 test images of MNIST")
    );
}

#[test]
fn the_report_needs_nothing_beside_it() {
    let page = text(&trained(), ExportFormat::Report, "model");
    for part in [
        "<svg",
        "polyline",
        "Confusion matrix",
        "Accuracy by confidence",
        "99.00%",
        "Learning rate",
    ] {
        assert!(page.contains(part), "{part} is missing");
    }
    let dots = page
        .split("<h2>Reliability</h2>")
        .nth(1)
        .unwrap()
        .split("</svg>")
        .next()
        .unwrap()
        .matches("<circle")
        .count();
    assert_eq!(dots, 2, "one for each bin with images");
    for outside in ["http://", "https://", "<script", "<link", "@import", "url("] {
        assert!(!page.contains(outside), "the page asks for {outside}");
    }
}

#[test]
fn without_a_run_neither_claims_one() {
    let exported = untrained_model(ModelKind::Tiny, Activation::Relu);
    assert!(text(&exported, ExportFormat::Card, "model").contains("Not evaluated"));
    let page = text(&exported, ExportFormat::Report, "model");
    assert!(!page.contains("<svg") && page.contains("Not evaluated"));
}

#[test]
fn what_people_name_their_data_does_not_become_markup() {
    let mut exported = trained();
    exported.file.card.data = "/tmp/<b>\"x\"&.csv".parse().unwrap();
    assert!(!text(&exported, ExportFormat::Report, "model").contains("<b>"));
}

#[test]
fn the_card_begins_with_what_hugging_face_reads() {
    let front = |exported: &ExportedModel| {
        let card = text(exported, ExportFormat::Card, "model");
        let (front, rest) = card
            .strip_prefix("---\n")
            .unwrap()
            .split_once("\n---\n")
            .unwrap();
        assert!(rest.trim_start().starts_with("# "), "{rest}");
        front.to_owned()
    };
    let mut exported = trained();
    let words = front(&exported);
    assert!(!words.contains("datasets"), "{words}");
    for part in [
        "license: unknown\nlibrary_name: inkling\npipeline_tag: image-classification\n",
        "      name: \"Built-in digits\"\n      type: \"builtin\"\n      split: test\n",
        "    - type: accuracy\n      name: Test accuracy\n      value: 0.9900",
    ] {
        assert!(words.contains(part), "{part} is missing in {words}");
    }
    exported.file.card.data = "mnist+builtin".parse().unwrap();
    exported.run.as_mut().unwrap().test = Some(tested_on(&exported.file.card.data));
    let words = front(&exported);
    for part in [
        "datasets:\n- ylecun/mnist\n",
        "- name: lenet-mnist-builtin\n",
        "      name: \"MNIST\"\n      type: \"ylecun/mnist\"\n",
    ] {
        assert!(words.contains(part), "{part} is missing in {words}");
    }
    // Nothing that a stranger has named gets into it.
    exported.file.card.data = "/tmp/x: [y]\n---\nz".parse().unwrap();
    exported.run.as_mut().unwrap().test = Some(tested_on(&exported.file.card.data));
    let words = front(&exported);
    assert!(
        !words.contains("x: [") && words.contains("      name: \"x---y--n----nz\"\n"),
        "{words}"
    );
    // Of an imported model, what is known.
    exported.run = None;
    assert!(!front(&exported).contains("model-index"));
    exported.file.card.test = Some(tested_on(&"fashion-mnist".parse().unwrap()).accuracy());
    let words = front(&exported);
    assert!(words.contains("type: \"zalando-datasets/fashion_mnist\"") && words.contains("0.9900"));
}

#[test]
fn the_digit_is_a_number_in_every_program() {
    let exported = trained();
    let onnx =
        inkling::export::export(&exported, &ExportSpec::new(ExportFormat::Zip), "all.zip").unwrap();
    for name in ["predict.py", "model.py", "main.rs"] {
        let file = onnx
            .files()
            .iter()
            .find(|file| file.info.name == name)
            .unwrap();
        let program = String::from_utf8(file.bytes.clone()).unwrap();
        assert!(
            program.contains("\"digit\": best") || program.contains("\"digit\": {best}"),
            "{name} prints something else"
        );
    }
}
