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
        ("Picture", subject.preprocessing()),
        ("Answer", format!("a logit for each of {}; softmax makes probabilities of them", card.labels.join(", "))),
        ("No digit", format!("where the log of the summed exponentials of the logits is below {:.3}", card.digit_threshold)),
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
            let images = format!("{} to learn from, {} for validation", grouped(plan.train_images), grouped(plan.validation_images));
            facts.push(("Images", images));
            facts.push(("Epochs", format!("{} of {}, weights of epoch {}", run.epochs.len(), run.config.epochs, card.epochs)));
            facts.push(("Time", format!("{} ({} images/s)", duration(run.train_seconds), grouped(run.images_per_second.round() as u64))));
            if !run.machine.is_empty() {
                facts.push(("Machine", run.machine.clone()));
            }
            facts.push(("Device", format!("{}, {} threads, {}", plan.device.label(), plan.threads, plan.precision.name())));
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
        OptimizerKind::Sgd => format!("{}, {}", config.optimizer.label(), config.momentum),
        _ => config.optimizer.label().to_owned(),
    };
    let optional = |value: Option<String>| value.unwrap_or_else(|| "off".to_owned());
    vec![
        ("Network", format!("{}, {}", config.model.label(), config.activation.label())),
        ("Preset", config.preset.map_or_else(|| "own settings".to_owned(), |preset| preset.label().to_owned())),
        ("Batch size", grouped(u64::from(config.batch_size) * u64::from(config.accumulation))),
        ("Optimiser", optimizer),
        ("Learning rate", format!("{} ({})", config.learning_rate, config.schedule.label())),
        ("Weight decay", config.weight_decay.to_string()),
        ("Label smoothing", config.label_smoothing.to_string()),
        ("Gradients clipped", optional(config.clip_norm.map(|norm| format!("to a norm of {norm}")))),
        ("Weights averaged", optional(config.weight_averaging.map(|decay| format!("with a decay of {decay} per step")))),
        ("Pictures varied", config.augmentation.label().to_owned()),
        ("Seed", config.seed.to_string()),
    ]
}
