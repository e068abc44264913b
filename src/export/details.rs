//! The details of a model that the model card and the report have in common.

use super::ExportedModel;
use super::untrusted::Untrusted;
use crate::math::statistics::{calibration_error, reliability_sentence};
use crate::records::Calibration;
use crate::text::format::{duration, grouped, local_time, percent};

type Row = (&'static str, Untrusted);
pub type Section = (&'static str, Vec<Row>);

/// All sections, the most important first.
pub fn sections(model: &ExportedModel) -> Vec<Section> {
    let mut sections = vec![
        ("Input and output", signature(model)),
        ("Training", training(model)),
    ];
    if model
        .run
        .as_ref()
        .is_none_or(|run| run.imported.is_none() || !run.epochs.is_empty())
    {
        sections.push(("Configuration", configuration(model)));
    }
    sections
}

fn signature(model: &ExportedModel) -> Vec<Row> {
    let card = &model.file.card;
    let Calibration {
        temperature,
        digit_threshold,
    } = card.calibration;
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
            let images = format!(
                "{} for training, {} for validation",
                grouped(plan.train_images),
                grouped(plan.validation_images)
            );
            rows.push(("Images", images.into()));
            rows.push((
                "Epochs",
                format!(
                    "{} of {}; weights from epoch {}",
                    run.epochs.len(),
                    run.config.epochs,
                    card.epochs
                )
                .into(),
            ));
            rows.push((
                "Training time",
                format!(
                    "{} ({} images/s)",
                    duration(run.train_seconds),
                    grouped(run.images_per_second.round() as u64)
                )
                .into(),
            ));
            if !run.machine.is_empty() {
                rows.push(("Machine", run.machine.as_str().into()));
            }
            let threads = if plan.threads == 1 {
                "1 thread".to_owned()
            } else {
                format!("{} threads", plan.threads)
            };
            rows.push((
                "Device",
                format!(
                    "{}, {threads}, {}",
                    plan.device.label(),
                    plan.precision.name()
                )
                .into(),
            ));
            rows.push(("Finished", local_time(&run.finished_at).into()));
        }
    }
    if let Some(error) = model.test().and_then(calibration_error) {
        rows.push((
            "Calibration error",
            format!(
                "{} on the test set (expected calibration error, 15 bins)",
                percent(error, 2)
            )
            .into(),
        ));
        rows.extend(
            model
                .test()
                .and_then(reliability_sentence)
                .map(|sentence| ("Reliability", sentence.into())),
        );
    }
    if let Some(accuracy) = card.validation_accuracy {
        rows.push((
            "Validation accuracy",
            percent(f64::from(accuracy), 2).into(),
        ));
    }
    rows
}

fn configuration(model: &ExportedModel) -> Vec<Row> {
    let config = &model.file.card.config;
    let mut rows = vec![
        ("Network", config.network().label()),
        (
            "Preset",
            config.preset.map_or_else(
                || "custom settings".to_owned(),
                |preset| preset.label().to_owned(),
            ),
        ),
    ];
    // What is turned off is left out.
    rows.extend(
        config
            .training_settings()
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    rows.push(("Seed", config.seed.to_string()));
    rows.into_iter()
        .map(|(name, value)| (name, value.into()))
        .collect()
}
