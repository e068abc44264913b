//! Owns the checks of whole networks: a short training must learn, and pictures must be read alike however they are read.
//! Must not know single ops.

use std::ops::ControlFlow;

use super::SelfTestError;
use super::report::{Check, Subject};
use crate::data::{DataSet, builtin};
use crate::infer::{APART, Agreement, Classifier, PICTURES, Scores};
use crate::ink::PIXELS;
use crate::nn::DeviceContext;
use crate::nn::{Mode, Net};
use crate::records::{StepPoint, Telemetry};
use crate::run_config::{DeviceChoice, ModelKind, Precision, Preset, RunConfig};
use crate::train::{Flow, Observer, train};

/// Pictures learned from, a twelfth of them held back.
const LEARNED: usize = 1536;
/// The share of its first loss that a training may have left: on every machine so far it was below a third.
const LEFT: f32 = 0.6;

fn pictures(train: usize, test: usize) -> Result<DataSet, SelfTestError> {
    Ok(builtin::generate(1, train, test, &mut |_| ControlFlow::Continue(()))?)
}

/// A short training on the device.
pub fn learns(device: DeviceChoice, context: &DeviceContext, precision: Precision) -> Check {
    let mut losses = Losses::default();
    let config =
        RunConfig { model: ModelKind::Speedrun, device, precision, epochs: 2, batch_size: 64, ..RunConfig::preset(Preset::Speedrun) };
    let trained = pictures(LEARNED, 0).and_then(|data| Ok(train(&config, &data, context, None, &mut losses)?));
    let check = |found, detail: String| Check { subject: Subject::Training, precision, found, tolerance: LEFT, detail };
    match (trained, losses.0.first(), losses.0.last()) {
        (Err(problem), ..) => check(None, problem.to_string()),
        (Ok(_), Some(first), Some(last)) => check(Some(last / first), format!("loss fell from {first:.3} to {last:.3}")),
        _ => check(None, "no step was completed".to_owned()),
    }
}

/// The starter model on the device, many pictures at a time, against the processor, one after the other.
pub fn reads(context: &DeviceContext) -> Check {
    let check = |found, detail| Check { subject: Subject::Reading, precision: Precision::F32, found, tolerance: APART, detail };
    match agreement(context) {
        Ok(Agreement { pictures, alike, largest_difference }) => {
            check(Some(largest_difference), format!("same digit on {alike} of {pictures} images"))
        }
        Err(problem) => check(None, problem.to_string()),
    }
}

fn agreement(context: &DeviceContext) -> Result<Agreement, SelfTestError> {
    let data = pictures(0, PICTURES)?;
    let classifier = Classifier::starter()?;
    let there = probabilities(&classifier.net().to_device(context)?, &data.test.images)?;
    let mut agreement = Agreement::default();
    for (picture, there) in data.test.images.chunks_exact(PIXELS).zip(&there) {
        for here in probabilities(classifier.net(), picture)? {
            agreement.add(&here.probabilities, &there.probabilities);
        }
    }
    Ok(agreement)
}

fn probabilities(net: &Net, pictures: &[u8]) -> Result<Vec<Scores>, SelfTestError> {
    let logits = net.forward(pictures, Mode::Eval)?.flatten_all()?.to_vec1::<f32>()?;
    Ok(Scores::of_rows(&logits).collect())
}

/// The losses of a run's steps.
#[derive(Default)]
struct Losses(Vec<f32>);

impl Observer for Losses {
    fn between(&mut self, _: &Net) -> Flow {
        Flow::Continue
    }

    fn step(&mut self, point: StepPoint, _: Telemetry) {
        self.0.push(point.loss);
    }
}
