//! Owns measuring how fast digits are read: one at a time as the canvas does, and many as measuring a model does.
//! Must not read itself: `infer` does.

use std::ops::ControlFlow;

use super::clock::{Clock, Ended};
use super::pools::Pool;
use super::rounds::{Side, take, timed};
use crate::data::Split;
use crate::infer::{Classifier, Classify, InferError, measure};
use crate::ink::Image;
use crate::math::quantiles::{median, quantile};
use crate::nn::{Net, parameter_count};
use crate::records::benchmark::{Row, Subject};
use crate::records::{ModelInfo, ModelRef};
use crate::run_config::{Activation, DataSpec, DeviceChoice, ModelKind};

/// Digits read between two looks at whoever waits.
const BURST: usize = 20;

/// How fast every model reads.
pub(super) fn reading(
    clock: &mut Clock<'_>,
    seconds: f64,
    models: &[ModelKind],
    pools: &[Pool],
    digits: &Split,
) -> Result<Vec<Row>, Ended> {
    let time = clock.part(Subject::Reading, seconds)? / (2 * models.len().max(1) as u32);
    let mut rows = Vec::new();
    for &model in models {
        rows.push(one(clock, time, model, digits)?);
    }
    let Some(all) = pools.last() else { return Ok(rows) };
    for &model in models {
        let net = Net::new(model, Activation::default(), 1)?;
        let mut read = || {
            let mut measured = Ok(None);
            let took = all.pool.install(|| timed(|| measured = measure(&net, digits, &mut |_| ControlFlow::Continue(()))));
            measured?;
            Ok(took)
        };
        let taken = take(clock, time, &mut [Box::new(&mut read) as Side<'_>])?;
        let images_per_second = digits.len() as f64 / median(taken.first().map_or(&[], Vec::as_slice));
        rows.push(Row::ReadMany { model, threads: all.threads, images_per_second });
    }
    Ok(rows)
}

fn one(clock: &mut Clock<'_>, time: std::time::Duration, model: ModelKind, digits: &Split) -> Result<Row, Ended> {
    let info = ModelInfo {
        reference: ModelRef::Starter,
        kind: model,
        parameters: parameter_count(model),
        data: DataSpec::builtin(),
        epochs: 0,
        validation_accuracy: None,
    };
    let classifier = Classifier::new(Net::new(model, Activation::default(), 1)?, DeviceChoice::Cpu, info, f32::NEG_INFINITY);
    let pictures: Vec<Image> = (0..digits.len()).filter_map(|index| Image::try_from(digits.image(index)).ok()).collect();
    let mut pictures = pictures.iter().cycle();
    let mut seconds = Vec::new();
    let mut burst = || -> Result<f64, Ended> {
        let mut all = 0.0;
        for picture in pictures.by_ref().take(BURST) {
            let mut read: Result<(), InferError> = Ok(());
            let picture = picture.clone();
            let took = timed(|| read = classifier.classify(picture).map(drop));
            read?;
            seconds.push(took);
            all += took;
        }
        Ok(all)
    };
    take(clock, time, &mut [Box::new(&mut burst) as Side<'_>])?;
    // The first burst warmed up.
    let seconds = seconds.get(BURST..).unwrap_or_default();
    Ok(Row::ReadOne { model, median_microseconds: median(seconds) * 1e6, p99_microseconds: quantile(seconds, 0.99) * 1e6 })
}
