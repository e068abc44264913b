//! How fast digits are recognised: one at a time as on the canvas, and many at once as in an
//! evaluation.

use std::time::Duration;

use super::budget::BenchBudget;
use super::pools::Pool;
use super::rounds::{Case, interleave, timed};
use super::{BenchError, CLASSES};
use crate::data::Split;
use crate::infer::{Classifier, Classify, InferError, measure};
use crate::ink::Image;
use crate::math::statistics::{median, quantile};
use crate::nn::{Net, parameter_count};
use crate::progress::Unwatched;
use crate::records::benchmark::{Row, Subject};
use crate::records::{Calibration, ModelInfo, ModelRef};
use crate::run_config::{Activation, Classes, DataSpec, DeviceChoice, ModelKind};

/// Images classified, one at a time, between two reports.
const BURST: usize = 20;

/// How fast each of these models classifies `digits`, one at a time and all at once.
pub(super) fn inference(
    budget: &mut BenchBudget<'_>,
    seconds: f64,
    models: &[ModelKind],
    pools: &[Pool],
    digits: &Split,
) -> Result<Vec<Row>, BenchError> {
    let time = budget.start_part(Subject::Inference, seconds)? / (2 * models.len().max(1) as u32);
    let mut rows = Vec::new();
    for &model in models {
        rows.push(one_by_one(budget, time, model, digits)?);
    }
    let Some(all_threads) = pools.last() else {
        return Ok(rows);
    };
    for &model in models {
        let net = Net::new(model, Activation::default(), CLASSES, 1)?;
        let mut evaluate = || {
            let mut measured = None;
            let seconds = all_threads.pool.install(|| {
                timed(|| {
                    measured = Some(measure(
                        &net,
                        Calibration::NONE.temperature,
                        digits,
                        &mut Unwatched,
                    ))
                })
            });
            measured.transpose()?;
            Ok(seconds)
        };
        let samples = interleave(budget, time, &mut [Box::new(&mut evaluate) as Case<'_>])?;
        let images_per_second =
            digits.len() as f64 / median(samples.first().map_or(&[], Vec::as_slice));
        rows.push(Row::ClassifyMany {
            model,
            threads: all_threads.threads,
            images_per_second,
        });
    }
    Ok(rows)
}

fn one_by_one(
    budget: &mut BenchBudget<'_>,
    time: Duration,
    model: ModelKind,
    digits: &Split,
) -> Result<Row, BenchError> {
    let info = ModelInfo {
        reference: ModelRef::Starter,
        network: model.into(),
        parameters: parameter_count(model, CLASSES),
        classes: Classes::Digits,
        data: DataSpec::builtin(),
        epochs: 0,
        accuracy: None,
    };
    let classifier = Classifier::new(
        Net::new(model, Activation::default(), CLASSES, 1)?,
        DeviceChoice::Cpu,
        info,
        Calibration::NONE,
    );
    let images: Vec<Image> = (0..digits.len())
        .filter_map(|index| Image::try_from(digits.image(index)).ok())
        .collect();
    let mut images = images.iter().cycle();
    let mut samples = Vec::new();
    let mut burst = || -> Result<f64, BenchError> {
        let mut total = 0.0;
        for image in images.by_ref().take(BURST) {
            let mut classified: Result<(), InferError> = Ok(());
            let image = image.clone();
            let seconds = timed(|| classified = classifier.classify(image).map(drop));
            classified?;
            samples.push(seconds);
            total += seconds;
        }
        Ok(total)
    };
    interleave(budget, time, &mut [Box::new(&mut burst) as Case<'_>])?;
    // The first burst was the warm-up.
    let samples = samples.get(BURST..).unwrap_or_default();
    Ok(Row::ClassifyOne {
        model,
        median_microseconds: median(samples) * 1e6,
        p99_microseconds: quantile(samples, 0.99) * 1e6,
    })
}
