//! Compares models on the same images: how many each classifies correctly, and how many only it
//! does, in tables and sentences for window, terminal and scripts.

use super::classifier::Classifier;
use crate::data::EvaluationSet;
use crate::math::statistics::{PairedResult, compare_with, wilson_interval};
use crate::problem::Problem;
use crate::progress::Progress;
use crate::records::{ComparedModel, ModelComparison};
use crate::run_config::{Classes, RunConfig, differing_settings};
use crate::text::format::{duration, grouped, percent};
use crate::text::table::{Line, Section};

/// Measures each of these models, which were trained with these settings in this many seconds if
/// that is known, on the images of `set`. `progress` gets the fraction done after each batch; an
/// error from it cancels.
pub fn compare_models(
    models: Vec<(Classifier, RunConfig, Option<f64>)>,
    set: &EvaluationSet,
    progress: &mut dyn Progress,
) -> Result<ModelComparison, Problem> {
    let labels = &set.images.labels;
    let classes = models
        .first()
        .map_or(0, |(classifier, ..)| classifier.info().classes.len());
    let digits = count_by_class(labels, classes, |_| true);
    let count = models.len() as f32;
    let mut correct: Vec<Vec<bool>> = Vec::with_capacity(models.len());
    let mut compared = Vec::with_capacity(models.len());
    for (index, (classifier, config, train_seconds)) in models.into_iter().enumerate() {
        let from = index as f32 / count;
        let measured = classifier.measure(&set.images, &mut |done: f32| {
            progress.report(from + done / count)
        })?;
        let right: Vec<bool> = measured
            .answers
            .iter()
            .zip(labels)
            .map(|(answer, label)| answer == label)
            .collect();
        compared.push(ComparedModel {
            model: classifier.info().clone(),
            config,
            train_seconds,
            correct: right.iter().filter(|right| **right).count() as u64,
            correct_digits: count_by_class(labels, classes, |image| {
                right.get(image).copied().unwrap_or_default()
            }),
            only_correct: Vec::new(),
        });
        correct.push(right);
    }
    for (model, right) in compared.iter_mut().zip(&correct) {
        let only = |other: &Vec<bool>| {
            right
                .iter()
                .zip(other)
                .filter(|(right, other)| **right && !**other)
                .count() as u64
        };
        model.only_correct = correct.iter().map(only).collect();
    }
    Ok(ModelComparison {
        data: set.data.clone(),
        split: set.split,
        images: labels.len() as u64,
        digits,
        models: compared,
    })
}

/// How many images of each of this many classes are counted, by their position.
fn count_by_class(labels: &[u8], classes: usize, counts: impl Fn(usize) -> bool) -> Vec<u64> {
    let mut digits = vec![0; classes];
    for (image, label) in labels.iter().enumerate() {
        if let Some(count) = digits.get_mut(usize::from(*label)) {
            *count += u64::from(counts(image));
        }
    }
    digits
}

/// The text if a figure is not known.
const UNKNOWN: &str = "–";

/// The short name of the model with this position: A, B, C.
pub fn letter(position: usize) -> String {
    char::from(b'A' + (position % 26) as u8).to_string()
}

/// The settings in which these runs differ.
pub fn settings_table(configs: &[&RunConfig]) -> Section {
    let rows = differing_settings(configs);
    let about = if rows.is_empty() {
        "no settings differ"
    } else {
        "all other settings are the same"
    };
    let line = |(name, values): (&str, Vec<String>)| row(name.to_owned(), values);
    table(
        "Settings that differ",
        about.to_owned(),
        "setting",
        configs.len(),
        rows.into_iter().map(line).collect(),
    )
}

/// Accuracy with its interval, parameters and training time of each model.
pub fn results_table(comparison: &ModelComparison) -> Section {
    let models = &comparison.models;
    let of = |name: &str, value: &dyn Fn(&ComparedModel) -> String| {
        row(name.to_owned(), models.iter().map(value).collect())
    };
    let interval = |model: &ComparedModel| {
        let (low, high) = wilson_interval(model.correct, comparison.images);
        format!("{} to {}", percent(low, 2), percent(high, 2))
    };
    let about = format!(
        "accuracy on {} with the 95% interval of Wilson (1927)",
        images_of(comparison)
    );
    let lines = vec![
        of("accuracy", &|model| {
            share(model.correct, comparison.images, 2)
        }),
        of("95% interval", &interval),
        of("network", &|model| model.model.network.label()),
        of("parameters", &|model| grouped(model.model.parameters)),
        of("epochs", &|model| grouped(model.model.epochs.into())),
        of("training time", &|model| {
            model
                .train_seconds
                .map_or_else(|| UNKNOWN.to_owned(), duration)
        }),
    ];
    table("Results", about, "figure", models.len(), lines)
}

/// The accuracy by digit of each model, and of all but the baseline, the model with this position,
/// by how many points that is higher than the baseline's.
pub fn digits_table(comparison: &ModelComparison, baseline: usize) -> Section {
    let (models, classes) = (&comparison.models, comparison.classes());
    let images_of_class = |digit: usize| comparison.digits.get(digit).copied().unwrap_or_default();
    let cell = |position: usize, digit: usize| {
        let images = images_of_class(digit);
        let accuracy = |model: &ComparedModel| {
            model.correct_digits.get(digit).copied().unwrap_or_default() as f64 / images as f64
        };
        let (Some(base), Some(model)) = (models.get(baseline), models.get(position)) else {
            return String::new();
        };
        match images {
            0 => UNKNOWN.to_owned(),
            _ if position == baseline => percent(accuracy(model), 1),
            _ => format!(
                "{} ({:+.1})",
                percent(accuracy(model), 1),
                (accuracy(model) - accuracy(base)) * 100.0
            ),
        }
    };
    let line = |digit: usize| {
        let cells = (0..models.len())
            .map(|position| cell(position, digit))
            .collect();
        row(
            format!(
                "{} ({} images)",
                classes.name(digit),
                grouped(images_of_class(digit))
            ),
            cells,
        )
    };
    let about = format!(
        "in brackets the difference from {} in percentage points",
        letter(baseline)
    );
    let noun = classes.noun();
    let title = match classes {
        Classes::Digits => "Accuracy by digit",
        Classes::Letters => "Accuracy by letter",
        _ => "Accuracy by class",
    };
    table(
        title,
        about,
        noun,
        models.len(),
        (0..comparison.digits.len()).map(line).collect(),
    )
}

/// How each model but the baseline compares with the baseline, in their order, with its position.
pub fn against(comparison: &ModelComparison, baseline: usize) -> Vec<(usize, PairedResult)> {
    let others = (0..comparison.models.len()).filter(|position| *position != baseline);
    let (positions, counts): (Vec<_>, Vec<_>) = others
        .filter_map(|position| Some((position, comparison.pair(position, baseline)?)))
        .unzip();
    positions.into_iter().zip(compare_with(&counts)).collect()
}

/// The same in sentences: "B against A: better by 0.21 points; 95% interval 0.05 to 0.37 (p =
/// 0.012).", and how that was found.
pub fn sentences(comparison: &ModelComparison, baseline: usize) -> Vec<String> {
    let results = against(comparison, baseline);
    let p = |p: f64| {
        if p < 0.001 {
            "p < 0.001".to_owned()
        } else {
            format!("p = {p:.3}")
        }
    };
    let sentence = |(position, result): &(usize, PairedResult)| {
        format!(
            "{} against {}: {} ({}).",
            letter(*position),
            letter(baseline),
            result.sentence(),
            p(result.p)
        )
    };
    let adjusted = if results.len() > 1 {
        format!(", adjusted for {} comparisons (Holm 1979)", results.len())
    } else {
        String::new()
    };
    let how = format!(
        "All models classified the same images. Intervals of differences: Newcombe (1998); p: McNemar's exact test{adjusted}. Each is a single run; variance between seeds is not included."
    );
    results.iter().map(sentence).chain([how]).collect()
}

/// "10,000 images of MNIST (test split)".
pub fn images_of(comparison: &ModelComparison) -> String {
    format!(
        "{} images of {} ({})",
        grouped(comparison.images),
        comparison.data.label(),
        comparison.split.label()
    )
}

fn share(part: u64, whole: u64, places: usize) -> String {
    if whole == 0 {
        UNKNOWN.to_owned()
    } else {
        percent(part as f64 / whole as f64, places)
    }
}

fn row(name: String, values: Vec<String>) -> Line {
    Line::of(std::iter::once(name).chain(values))
}

/// A table with a column for each model.
fn table(
    title: &'static str,
    about: String,
    first: &str,
    models: usize,
    lines: Vec<Line>,
) -> Section {
    let columns = std::iter::once(first.to_owned()).chain((0..models).map(letter));
    Section::plain(title, about, columns, lines)
}
