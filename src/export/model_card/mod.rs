//! The model card (Mitchell et al. 2019): what the model is, what it was trained on, how accurate
//! it is and where it fails, as Markdown and as JSON.

mod markdown;

use serde_json::{Value, json};

use super::ExportedModel;
use crate::math::statistics::{ClassScore, calibration_error, class_scores, wilson_interval};
use crate::records::SplitEvaluation;
use crate::run_config::Classes;

pub use markdown::markdown;

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

/// What is said of a model of other classes than digits first.
const OF_OTHER_CLASSES: [&str; 2] = [
    "It recognises one thing at a time, of the classes named here, and nothing else. For anything else it still answers with one of them. Inkling notices most of these with a digit score, which it compares with digit_threshold; other programs have to look for it themselves.",
    "It expects images like those of its data set: 28x28 pixels, light on a dark background, in the same frame. Accuracy is much lower on images in any other form.",
];

const LIMITS: [&str; 5] = [
    "It recognises one digit at a time, 0 to 9, and nothing else. For a letter, several digits or no digit at all it still answers with a digit. Inkling notices most of these with a digit score, which it compares with digit_threshold; other programs have to look for it themselves.",
    "It expects images like those of MNIST: light ink on a dark background, the digit 20 pixels tall and centred by mass in 28x28 pixels. Accuracy is much lower on images in any other form.",
    "The accuracy was measured on the test set named here. With other people's handwriting, pens and cameras it is usually lower.",
    "Its probabilities were calibrated on images like those it was trained on. They are not guarantees: a model can be confident and wrong.",
    "It is meant for learning, teaching and experimenting. Do not rely on it alone where mistakes are costly.",
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
