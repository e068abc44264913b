//! The checks of whole networks: a short training must learn, and the starter model must classify
//! as it does on the CPU.

use super::SelfTestError;
use super::report::{Check, Subject};
use crate::data::{DataSet, builtin};
use crate::infer::{Agreement, COMPARED_IMAGES, Scores, TOLERANCE, starter_file};
use crate::ink::PIXELS;
use crate::nn::{DeviceContext, Mode, Net};
use crate::progress::Unwatched;
use crate::records::{Calibration, StepPoint, Telemetry};
use crate::run_config::{DeviceChoice, ModelKind, Precision, Preset, RunConfig};
use crate::train::{EndRequest, Observer, train};

/// Images of the short training, a twelfth of them for validation.
const TRAIN_IMAGES: usize = 1536;
/// The last loss of the short training must be at most this share of the first; on every machine so
/// far it was below a third.
const MAX_LOSS_RATIO: f32 = 0.6;

fn digits(train: usize, test: usize) -> Result<DataSet, SelfTestError> {
    Ok(builtin::generate(1, train, test, &mut Unwatched)?)
}

pub fn learns(device: DeviceChoice, context: &DeviceContext, precision: Precision) -> Check {
    let mut losses = Losses::default();
    let config = RunConfig {
        model: ModelKind::Speedrun,
        device,
        precision,
        epochs: 2,
        batch_size: 64,
        ..RunConfig::preset(Preset::OneEpoch)
    };
    let trained = digits(TRAIN_IMAGES, 0)
        .and_then(|data| Ok(train(&config, &data, context, None, &mut losses)?));
    let check = |found, detail: String| Check {
        subject: Subject::Training,
        precision,
        found,
        tolerance: MAX_LOSS_RATIO,
        detail,
    };
    match (trained, losses.0.first(), losses.0.last()) {
        (Err(error), ..) => check(None, error.to_string()),
        (Ok(_), Some(first), Some(last)) => check(
            Some(last / first),
            format!("loss fell from {first:.3} to {last:.3}"),
        ),
        _ => check(None, "no step was completed".to_owned()),
    }
}

/// The starter model on the device, many images at once, against the CPU, one image at a time.
pub fn classifies(context: &DeviceContext) -> Check {
    let check = |found, detail| Check {
        subject: Subject::Inference,
        precision: Precision::F32,
        found,
        tolerance: TOLERANCE,
        detail,
    };
    match agreement(context) {
        Ok(Agreement {
            images,
            matching,
            max_difference,
        }) => check(
            Some(max_difference),
            format!("same digit on {matching} of {images} images"),
        ),
        Err(error) => check(None, error.to_string()),
    }
}

fn agreement(context: &DeviceContext) -> Result<Agreement, SelfTestError> {
    let images = digits(0, COMPARED_IMAGES)?.test.images;
    let net = starter_file()?.net;
    let on_device = probabilities(&net.to_device(context)?, &images)?;
    let mut on_cpu = Vec::new();
    for image in images.chunks_exact(PIXELS) {
        on_cpu.extend(probabilities(&net, image)?);
    }
    Ok(Agreement::between(&on_cpu, &on_device))
}

fn probabilities(net: &Net, images: &[u8]) -> Result<Vec<Vec<f32>>, SelfTestError> {
    let logits = net
        .forward(images, Mode::Eval)?
        .flatten_all()?
        .to_vec1::<f32>()?;
    Ok(
        Scores::of_rows(&logits, net.classes(), Calibration::NONE.temperature)
            .map(|scores| scores.probabilities)
            .collect(),
    )
}

#[derive(Default)]
struct Losses(Vec<f32>);

impl Observer for Losses {
    fn between(&mut self, _: &Net) -> Result<(), EndRequest> {
        Ok(())
    }

    fn step(&mut self, point: StepPoint, _: Telemetry) {
        self.0.push(point.loss);
    }
}
