//! Compares models on the same images: how many each classifies correctly, and how many only it
//! does.

use super::InferError;
use super::classifier::Classifier;
use crate::data::EvaluationSet;
use crate::progress::Progress;
use crate::records::{ComparedModel, ModelComparison};
use crate::run_config::RunConfig;

/// Measures each of these models, which were trained with these settings in this many seconds where
/// that is known, on the images of `set`. `progress` gets the share done after each batch; an error
/// from it cancels.
pub fn compare_models(
    models: Vec<(Classifier, RunConfig, Option<f64>)>,
    set: &EvaluationSet,
    progress: &mut dyn Progress,
) -> Result<ModelComparison, InferError> {
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
