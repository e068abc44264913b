//! The details of a model that the model card and the report have in common.

use super::ExportedModel;
use super::untrusted::Untrusted;
use crate::math::statistics::{calibration_error, reliability_sentence};
use crate::records::Calibration;
use crate::run_config::OptimizerKind;
use crate::text::format::{duration, grouped, local_time, percent};

/// A name and its value.
type Row = (&'static str, Untrusted);
/// A heading and its rows.
pub type Section = (&'static str, Vec<Row>);

/// All sections, the most important first.
pub fn sections(model: &ExportedModel) -> Vec<Section> {
    let mut sections = vec![("Input and output", signature(model)), ("Training", training(model))];
    if model.run.as_ref().is_none_or(|run| run.imported.is_none() || !run.epochs.is_empty()) {
        sections.push(("Configuration", configuration(model)));
    }
    sections
}

fn signature(model: &ExportedModel) -> Vec<Row> {
    let card = &model.file.card;
    let Calibration { temperature, digit_threshold } = card.calibration;
    let labels = model.classes().names().collect::<Vec<_>>().join(", ");
    let score = if model.file.net.digit_detector().is_some() {
        "score of the digit detector, whose weights are in model.safetensors,"
    } else {
        "log-sum-exp of the logits, before they are divided,"
    };
    vec![
        ("Input", model.preprocessing().into()),
        ("Output", format!("one logit for each of {labels}; softmax of the logits divided by the temperature gives probabilities").into()),
        ("Temperature", format!("{temperature:.3}, fitted on validation images (Guo et al. 2017)").into()),
        (
            if model.classes().are_digits() { "Not a digit" } else { "None of the classes" },
            format!("if the {score} is below {digit_threshold:.3}").into(),
        ),
        ("Parameters", grouped(model.file.net.parameter_count()).into()),
    ]
}

fn training(model: &ExportedModel) -> Vec<Row> {
    let card = &model.file.card;
    let mut rows = vec![("Data", model.data())];
    if let Some(run) = &model.run {
        if let Some(file) = &run.imported {
            rows.push(("Imported from", file.as_str().into()));
        }
        if !run.epochs.is_empty() {
            let plan = &run.plan;
            let images = format!("{} for training, {} for validation", grouped(plan.train_images), grouped(plan.validation_images));
            rows.push(("Images", images.into()));
            rows.push(("Epochs", format!("{} of {}; weights from epoch {}", run.epochs.len(), run.config.epochs, card.epochs).into()));
            rows.push((
                "Training time",
                format!("{} ({} images/s)", duration(run.train_seconds), grouped(run.images_per_second.round() as u64)).into(),
            ));
            if !run.machine.is_empty() {
                rows.push(("Machine", run.machine.as_str().into()));
            }
            let threads = if plan.threads == 1 { "1 thread".to_owned() } else { format!("{} threads", plan.threads) };
            rows.push(("Device", format!("{}, {threads}, {}", plan.device.label(), plan.precision.name()).into()));
            rows.push(("Finished", local_time(&run.finished_at).into()));
        }
    }
    if let Some(error) = model.test().and_then(calibration_error) {
        rows.push(("Calibration error", format!("{} on the test set (expected calibration error, 15 bins)", percent(error, 2)).into()));
        rows.extend(model.test().and_then(reliability_sentence).map(|sentence| ("Reliability", sentence.into())));
    }
    if let Some(accuracy) = card.validation_accuracy {
        rows.push(("Validation accuracy", percent(f64::from(accuracy), 2).into()));
    }
    rows
}

fn configuration(model: &ExportedModel) -> Vec<Row> {
    let config = &model.file.card.config;
    let optimizer = match config.optimizer {
        OptimizerKind::Sgd => format!("{} {}", config.optimizer.label(), config.momentum),
        _ => config.optimizer.label().to_owned(),
    };
    let optional = |value: Option<String>| value.unwrap_or_else(|| "off".to_owned());
    let rows = [
        ("Network", format!("{}, {}", config.network().label(), config.activation.label())),
        ("Preset", config.preset.map_or_else(|| "custom settings".to_owned(), |preset| preset.label().to_owned())),
        ("Batch size", grouped(u64::from(config.batch_size) * u64::from(config.accumulation))),
        ("Optimiser", optimizer),
        ("Learning rate", format!("{} ({})", config.learning_rate, config.schedule.label().to_lowercase())),
        ("Weight decay", config.weight_decay.to_string()),
        ("Label smoothing", config.label_smoothing.to_string()),
        ("Gradient clipping", optional(config.clip_norm.map(|norm| format!("global norm {norm}")))),
        ("Weight averaging", optional(config.weight_averaging.map(|decay| format!("decay {decay} per step")))),
        ("Augmentation", config.augmentation.label().to_lowercase()),
        ("Seed", config.seed.to_string()),
    ];
    rows.into_iter().map(|(name, value)| (name, value.into())).collect()
}
