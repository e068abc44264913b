//! The model card (Mitchell et al. 2019): what the model is, what it was trained on, how accurate
//! it is and where it fails, as Markdown and as JSON.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::ExportedModel;
use super::exported_model::{data_name, sections};
use super::untrusted::Untrusted;
use crate::math::statistics::{ClassScore, calibration_error, class_scores, wilson_interval};
use crate::records::{Evaluation, FileInfo, SplitEvaluation};
use crate::run_config::{Classes, DataSource, PublicDataset};
use crate::text::format::{grouped, joined, percent};

/// The limits of a model with these classes, for its users.
pub const fn limits(classes: &Classes) -> [&'static str; 5] {
    let [of_digits, form, rest @ ..] = LIMITS;
    let [only, form] = match classes {
        Classes::Digits => [of_digits, form],
        Classes::Clothing | Classes::Hiragana | Classes::Letters | Classes::Named(_) => {
            OF_OTHER_CLASSES
        }
    };
    let [tested, calibrated, meant] = rest;
    [only, form, tested, calibrated, meant]
}

/// The first sentence for a model of other classes than digits.
const OF_OTHER_CLASSES: [&str; 2] = [
    "It recognizes one object at a time, of the classes named here. For anything else it still predicts one of them. Inkling rejects most out-of-distribution images: those with a digit score below digit_threshold. Other programs have to compare the score themselves.",
    "It expects images like the ones in its data set: 28x28 pixels, light on a dark background, in the same frame. Accuracy is much lower on images in any other form.",
];

const LIMITS: [&str; 5] = [
    "It recognizes one digit at a time, 0 to 9. For a letter, several digits or no digit at all it still predicts a digit. Inkling rejects most out-of-distribution images: those with a digit score below digit_threshold. Other programs have to compare the score themselves.",
    "It expects images like MNIST's: light ink on a dark background, the digit 20 pixels tall and centered by mass in 28x28 pixels. Accuracy is much lower on images in any other form.",
    "The accuracy was measured on the test set named here. With other people's handwriting, pens and cameras it is usually lower.",
    "Its probabilities were calibrated on images like those it was trained on. They are not guarantees: a model can be confident and wrong.",
    "It is meant for learning, teaching and experimenting. Do not rely on it alone if mistakes are costly.",
];

pub fn json(model: &ExportedModel) -> Value {
    let card = &model.file.card;
    let test = model.run.as_ref().and_then(|run| run.test.as_ref()).map(|SplitEvaluation { data, evaluation: test, .. }| {
        let right = (test.accuracy * test.images as f64).round() as u64;
        let (low, high) = wilson_interval(right, test.images);
        json!({
            "data": data,
            "images": test.images,
            "accuracy": test.accuracy,
            "accuracy_interval_95": [low, high],
            "loss": test.loss,
            "calibration_error": calibration_error(test),
            "reliability": test.reliability,
            "accuracy_per_digit": class_scores(test).into_iter().map(ClassScore::accuracy).collect::<Vec<_>>(),
            "confusion": test.confusion,
        })
    });
    let training = model
        .run
        .as_ref()
        .filter(|run| !run.epochs.is_empty())
        .map(|run| {
            json!({
                "finished_at": run.finished_at,
                "machine": run.machine,
                "device": run.plan.device,
                "precision": run.plan.precision,
                "threads": run.plan.threads,
                "seconds": run.train_seconds,
                "images_per_second": run.images_per_second,
                "train_images": run.plan.train_images,
                "validation_images": run.plan.validation_images,
                "epochs": run.epochs,
            })
        });
    json!({
        "title": model.title().plain(),
        "description": model.description().plain(),
        "model": card.model,
        "parameters": model.file.net.parameter_count(),
        "labels": model.classes(),
        "input": { "height": 28, "width": 28, "channels": 1, "preprocessing": model.preprocessing(), "normalization": card.normalization },
        "temperature": card.calibration.temperature,
        "digit_threshold": card.calibration.digit_threshold,
        "data": card.data,
        "config": card.config,
        "kept_epoch": card.epochs,
        "validation_accuracy": card.validation_accuracy,
        "imported_from": model.run.as_ref().and_then(|run| run.imported.as_ref()),
        "training": training,
        "test": test,
        "quantization": model.quantized,
        "limits": limits(&model.classes()),
        "program": concat!("Inkling ", env!("CARGO_PKG_VERSION")),
    })
}

/// The card as Markdown; `files` lists the other files of the export.
pub fn markdown(model: &ExportedModel, files: &[FileInfo]) -> String {
    let mut text = front_matter(model);
    let _ = write!(
        text,
        "# {}\n\n{}\n",
        model.title().markdown(),
        model.description().markdown()
    );
    if !files.is_empty() {
        text += "\n## Files\n\n| file | what it is |\n|---|---|\n";
        for file in files {
            line(
                &mut text,
                &format!(
                    "| {} | {} |",
                    Untrusted::from(file.name.as_str()).markdown_code(),
                    file.about
                ),
            );
        }
    }
    text += "\n## Accuracy\n\n";
    match model.test_accuracy() {
        Some(tested) => line(
            &mut text,
            &format!(
                "Test accuracy: {}.",
                Untrusted::from(tested.as_str()).markdown()
            ),
        ),
        None => line(&mut text, "Not evaluated on a test set."),
    }
    if let Some(quantization) = model.quantization() {
        line(&mut text, &format!("\nQuantized weights: {quantization}."));
    }
    if let Some(test) = model.test() {
        confusion(&mut text, test, &model.classes());
        reliability(&mut text, test);
    }
    for (heading, rows) in sections(model) {
        let _ = write!(text, "\n## {heading}\n\n| | |\n|---|---|\n");
        for (name, value) in rows {
            line(&mut text, &format!("| {name} | {} |", value.markdown()));
        }
    }
    text += "\n## Limits\n\n";
    for limit in limits(&model.classes()) {
        line(&mut text, &format!("- {limit}"));
    }
    text += "\n## License\n\nNo license was chosen for the weights. Whoever trained them may choose one: replace `license: unknown` in this file with its name.\n";
    let _ = write!(
        text,
        "\nGenerated by Inkling {}.\n",
        env!("CARGO_PKG_VERSION")
    );
    text
}

/// The part of a model card that Hugging Face reads: YAML between two lines of dashes. Only names
/// that are Inkling's own or contain nothing but letters, digits and dashes go in.
fn front_matter(model: &ExportedModel) -> String {
    // Whoever trained a model chooses its license.
    let mut text =
        "---\nlicense: unknown\nlibrary_name: inkling\npipeline_tag: image-classification\ntags:\n"
            .to_owned();
    if model.classes().are_digits() {
        text += "- handwritten-digits\n";
    }
    text += "- onnx\n- safetensors\n";
    let sets: Vec<&str> = model
        .file
        .card
        .data
        .sources()
        .iter()
        .filter_map(published_at)
        .collect();
    if !sets.is_empty() {
        text += "datasets:\n";
        sets.iter()
            .for_each(|set| line(&mut text, &format!("- {set}")));
    }
    text += "metrics:\n- accuracy\n";
    if let Some(tested) = model.tested() {
        let name = data_name(&tested.data);
        let (label, set) = match tested.data.sources() {
            [DataSource::Path(_)] => (name.clone(), name),
            [source] if !matches!(source, DataSource::Path(_)) => (
                source.label(),
                published_at(source).map_or(name, str::to_owned),
            ),
            _ => (name.clone(), name),
        };
        let _ = write!(
            text,
            "model-index:\n- name: {}\n  results:\n  - task:\n      type: image-classification\n    dataset:\n      name: \"{label}\"\n      type: \"{set}\"\n      \
             split: {}\n    metrics:\n    - type: accuracy\n      name: {}\n      value: {:.4}\n",
            model.name(),
            tested.split.name(),
            tested.name(),
            tested.value
        );
    }
    text + "---\n\n"
}

/// Where Hugging Face has this data set, if its publishers put it there.
fn published_at(source: &DataSource) -> Option<&'static str> {
    match source {
        DataSource::Named(PublicDataset::Mnist) => Some("ylecun/mnist"),
        DataSource::Named(PublicDataset::FashionMnist) => Some("zalando-datasets/fashion_mnist"),
        DataSource::Named(
            PublicDataset::Kmnist | PublicDataset::EmnistDigits | PublicDataset::EmnistLetters,
        )
        | DataSource::Builtin
        | DataSource::Mine
        | DataSource::Path(_)
        | DataSource::Unknown => None,
    }
}

/// One row per true digit, one column per prediction.
fn confusion(text: &mut String, test: &Evaluation, classes: &Classes) {
    let name = |name: &str| Untrusted::from(name).markdown();
    let (noun, names) = (classes.noun(), joined(classes.names().map(name), " | "));
    let _ = write!(
        text,
        "\nConfusion matrix (rows: true {noun}, columns: prediction):\n\n|  | {names} | accuracy |\n"
    );
    let _ = writeln!(text, "|---{}|", "|---:".repeat(classes.len() + 1));
    for (score, row) in class_scores(test).into_iter().zip(&test.confusion) {
        let counts = row
            .iter()
            .map(u32::to_string)
            .collect::<Vec<_>>()
            .join(" | ");
        let share = score
            .accuracy()
            .map_or_else(|| "–".to_owned(), |share| percent(share, 1));
        line(
            text,
            &format!(
                "| **{}** | {counts} | {share} |",
                name(classes.name(score.digit))
            ),
        );
    }
}

/// One row per bin of the reliability diagram that has images.
fn reliability(text: &mut String, test: &Evaluation) {
    *text += "\nReliability (confidence and accuracy, by bin of confidence):\n\n| mean confidence | accuracy | images |\n|---:|---:|---:|\n";
    for bin in &test.reliability {
        if let Some(accuracy) = bin.accuracy() {
            let [confidence, accuracy] = [bin.confidence, accuracy].map(|share| percent(share, 1));
            line(
                text,
                &format!(
                    "| {confidence} | {accuracy} | {} |",
                    grouped(u64::from(bin.images))
                ),
            );
        }
    }
}

fn line(text: &mut String, line: &str) {
    *text += line;
    text.push('\n');
}
