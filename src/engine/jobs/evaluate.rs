//! Measures a model on a data set, and how well it distinguishes digits from other drawings.

use std::collections::BTreeMap;

use super::{JobContext, Workspace};
use crate::data::{EvaluationSet, NotDigits, is_among, load_for_evaluation, read_not_digits};
use crate::infer::{Classifier, Measurement, model_files};
use crate::ink::PIXELS;
use crate::math::statistics::auroc;
use crate::nn::ModelFile;
use crate::problem::Problem;
use crate::progress::Progress;
use crate::protocol::{EngineError, JobResult};
use crate::records::{
    DigitDetection, EvaluationReport, EvaluationSpec, LabelRejection, MAX_WRITERS, ModelInfo,
    NotDigitsSpec, SplitEvaluation, WriterScore,
};
use crate::run_config::{DataSpec, RunConfig};

pub(super) fn run(
    workspace: &Workspace<'_>,
    context: &mut JobContext<'_, '_>,
    spec: &EvaluationSpec,
) -> Result<JobResult, Problem> {
    let EvaluationSpec {
        model,
        data,
        split,
        uncalibrated,
        not_digits,
    } = spec;
    let files = model_files(model)?.ok_or(EngineError::NoSuchRun)?;
    check_classes(&files, data)?;
    let trained = trained(&files, data);
    let classifier = Classifier::of_files(files, model)?;
    let classifier = if *uncalibrated {
        classifier.uncalibrated()
    } else {
        classifier
    };
    let set = load_for_evaluation(
        data,
        *split,
        &trained,
        &workspace.settings.data_folders,
        &mut context.part(0.0, 0.5),
    )?;
    context.queue.events.data_notes(context.id, &set.notes);
    check_loaded([classifier.info()], &set)?;
    let measured = classifier.measure(
        &set.images,
        &mut context.part(0.5, if not_digits.is_some() { 0.8 } else { 1.0 }),
    )?;
    let detection = match not_digits {
        Some(NotDigitsSpec { path, labels }) => {
            let drawings = read_not_digits(path, labels.as_deref(), &mut context.part(0.8, 0.9))?;
            let scores = classifier.digit_scores(&drawings.images, &mut context.part(0.9, 1.0))?;
            Some(detection(&classifier, &set, &measured, &drawings, &scores))
        }
        None => None,
    };
    let writers = writer_scores(&set, &measured);
    Ok(JobResult::Evaluate(EvaluationReport {
        model: classifier.info().clone(),
        measured: SplitEvaluation {
            data: set.data,
            split: set.split,
            evaluation: measured.evaluation,
        },
        writers,
        detection,
    }))
}

/// An error if one of these models recognizes something else than what the images of this data
/// set are known to show, before they are loaded.
pub(super) fn check_classes<'a>(
    models: impl IntoIterator<Item = &'a ModelFile>,
    data: &DataSpec,
) -> Result<(), Problem> {
    let Some(data) = data.known_classes() else {
        return Ok(());
    };
    let mut classes = models.into_iter().map(|file| file.card.labels.clone());
    classes
        .find(|model| *model != data)
        .map_or(Ok(()), |model| {
            Err(EngineError::DifferentClasses { model, data }.into())
        })
}

/// The same for images that are loaded.
pub(super) fn check_loaded<'a>(
    models: impl IntoIterator<Item = &'a ModelInfo>,
    set: &EvaluationSet,
) -> Result<(), Problem> {
    let mut classes = models.into_iter().map(|model| &model.classes);
    let other = classes.find(|classes| !classes.accept(&set.classes));
    other.map_or(Ok(()), |model| {
        Err(EngineError::DifferentClasses {
            model: model.clone(),
            data: set.classes.clone(),
        }
        .into())
    })
}

/// The settings that these models were trained with; of several, the first that was trained on some
/// of these data, if there is one.
fn trained(models: &[ModelFile], data: &DataSpec) -> RunConfig {
    let configs = || models.iter().map(|file| &file.card.config);
    let shares_data = |config: &&RunConfig| {
        data.sources()
            .iter()
            .any(|source| is_among(source, &config.data))
    };
    configs()
        .find(shares_data)
        .or(configs().next())
        .cloned()
        .unwrap_or_default()
}

/// The accuracy by writer, the least accurate first and of equals the one with most images.
fn writer_scores(set: &EvaluationSet, measured: &Measurement) -> Vec<WriterScore> {
    let mut counts = BTreeMap::<&str, (u64, u64)>::new();
    for (index, (answer, label)) in measured.answers.iter().zip(&set.images.labels).enumerate() {
        if let Some(writer) = set.writers.of(index) {
            let (images, correct) = counts.entry(writer).or_default();
            *images += 1;
            *correct += u64::from(answer == label);
        }
    }
    let score = |(writer, (images, correct)): (&str, (u64, u64))| WriterScore {
        writer: writer.to_owned(),
        images,
        correct,
    };
    let mut scores: Vec<WriterScore> = counts.into_iter().map(score).collect();
    let accuracy = |score: &WriterScore| score.correct as f64 / score.images as f64;
    scores.sort_by(|a, b| {
        accuracy(a)
            .total_cmp(&accuracy(b))
            .then(b.images.cmp(&a.images))
    });
    scores.truncate(MAX_WRITERS);
    scores
}

/// Whether each image counts as a digit, as on the canvas.
fn accepted(classifier: &Classifier, images: &[u8], scores: &[f32]) -> Vec<bool> {
    images
        .chunks_exact(PIXELS)
        .zip(scores)
        .map(|(pixels, &score)| classifier.is_digit(pixels, score))
        .collect()
}

fn detection(
    classifier: &Classifier,
    set: &EvaluationSet,
    measured: &Measurement,
    drawings: &NotDigits,
    scores: &[f32],
) -> DigitDetection {
    let count = |accepted: &[bool], wanted: bool| {
        accepted
            .iter()
            .filter(|&&accepted| accepted == wanted)
            .count() as u64
    };
    let kept = accepted(classifier, &set.images.images, measured.digit_scores());
    let taken_for_digits = accepted(classifier, &drawings.images, scores);
    let mut labels = BTreeMap::<char, (u64, u64)>::new();
    for (label, accepted) in drawings.labels.iter().zip(&taken_for_digits) {
        if let Some(label) = label {
            let (drawings, rejected) = labels.entry(*label).or_default();
            *drawings += 1;
            *rejected += u64::from(!accepted);
        }
    }
    DigitDetection {
        auroc: auroc(measured.digit_scores(), scores),
        digits: kept.len() as u64,
        kept: count(&kept, true),
        not_digits: taken_for_digits.len() as u64,
        rejected: count(&taken_for_digits, false),
        labels: labels
            .into_iter()
            .map(|(label, (drawings, rejected))| LabelRejection {
                label,
                drawings,
                rejected,
            })
            .collect(),
    }
}
