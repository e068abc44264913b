//! Owns the facts about a model that card and report show alike, in groups. Must not know how they are laid out.

use super::Subject;
use crate::nn::parameter_count;
use crate::run_config::OptimizerKind;
use crate::text::format::{duration, grouped, local_time, percent};

/// A group's heading, and names with values.
pub type Group = (&'static str, Vec<(&'static str, String)>);

/// Every group, the most important first.
pub fn groups(subject: &Subject) -> Vec<Group> {
    let mut groups = vec![("Input and output", signature(subject)), ("Training", training(subject))];
    if subject.run.as_ref().is_none_or(|run| run.imported.is_none() || !run.epochs.is_empty()) {
        groups.push(("Configuration", configuration(subject)));
    }
    groups
}

fn signature(subject: &Subject) -> Vec<(&'static str, String)> {
    let card = &subject.file.card;
    vec![
        ("Input", subject.preprocessing()),
        ("Output", format!("one logit for each of {}; softmax turns them into probabilities", card.labels.join(", "))),
        ("Not a digit", format!("if the log-sum-exp of the logits is below {:.3}", card.digit_threshold)),
        ("Parameters", grouped(parameter_count(card.model))),
    ]
}

fn training(subject: &Subject) -> Vec<(&'static str, String)> {
    let card = &subject.file.card;
    let mut facts = vec![("Data", card.data.label())];
    if let Some(run) = &subject.run {
        if let Some(file) = &run.imported {
            facts.push(("Imported from", file.clone()));
        }
        if !run.epochs.is_empty() {
            let plan = &run.plan;
            let images = format!("{} for training, {} for validation", grouped(plan.train_images), grouped(plan.validation_images));
            facts.push(("Images", images));
            facts.push(("Epochs", format!("{} of {}; weights from epoch {}", run.epochs.len(), run.config.epochs, card.epochs)));
            facts.push((
                "Training time",
                format!("{} ({} images/s)", duration(run.train_seconds), grouped(run.images_per_second.round() as u64)),
            ));
            if !run.machine.is_empty() {
                facts.push(("Machine", run.machine.clone()));
            }
            let threads = if plan.threads == 1 { "1 thread".to_owned() } else { format!("{} threads", plan.threads) };
            facts.push(("Device", format!("{}, {threads}, {}", plan.device.label(), plan.precision.name())));
            facts.push(("Finished", local_time(&run.finished_at)));
        }
    }
    if let Some(accuracy) = card.validation_accuracy {
        facts.push(("Validation accuracy", percent(f64::from(accuracy), 2)));
    }
    facts
}

fn configuration(subject: &Subject) -> Vec<(&'static str, String)> {
    let config = &subject.file.card.config;
    let optimizer = match config.optimizer {
        OptimizerKind::Sgd => format!("{} {}", config.optimizer.label(), config.momentum),
        _ => config.optimizer.label().to_owned(),
    };
    let optional = |value: Option<String>| value.unwrap_or_else(|| "off".to_owned());
    vec![
        ("Network", format!("{}, {}", config.model.label(), config.activation.label())),
        ("Preset", config.preset.map_or_else(|| "custom settings".to_owned(), |preset| preset.label().to_owned())),
        ("Batch size", grouped(u64::from(config.batch_size) * u64::from(config.accumulation))),
        ("Optimiser", optimizer),
        ("Learning rate", format!("{} ({})", config.learning_rate, config.schedule.label())),
        ("Weight decay", config.weight_decay.to_string()),
        ("Label smoothing", config.label_smoothing.to_string()),
        ("Gradient clipping", optional(config.clip_norm.map(|norm| format!("global norm {norm}")))),
        ("Weight averaging", optional(config.weight_averaging.map(|decay| format!("decay {decay} per step")))),
        ("Augmentation", config.augmentation.label().to_owned()),
        ("Seed", config.seed.to_string()),
    ]
}
