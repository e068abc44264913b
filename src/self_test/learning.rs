//! Owns the checks of whole networks: a short training must learn, and pictures must be read alike however they are read.
//! Must not know single ops.

use std::ops::ControlFlow;

use super::report::{Check, Subject};
use crate::data::{DataSet, builtin};
use crate::device::Place;
use crate::infer::{Reader, Scores};
use crate::ink::PIXELS;
use crate::nn::{Net, Pass};
use crate::problem::Problem;
use crate::protocol::{StepPoint, Telemetry};
use crate::run_config::{DeviceChoice, ModelKind, Precision, Preset, RunConfig};
use crate::train::{Flow, Observer, train};

/// Pictures learned from, a twelfth of them held back.
const PICTURES: usize = 1536;
/// Pictures read.
const READ: usize = 256;
/// The share of its first loss that a training may have left: on every machine so far it was below a third.
const LEFT: f32 = 0.6;
/// Two orders of summing leave a probability this much apart at most.
const APART: f32 = 1e-3;

fn pictures(train: usize, test: usize) -> Result<DataSet, Problem> {
    Ok(builtin::write(1, train, test, &mut |_| ControlFlow::Continue(()))?)
}

/// A short training on the device.
pub fn learns(device: DeviceChoice, place: &Place, precision: Precision) -> Check {
    let mut losses = Losses::default();
    let config =
        RunConfig { model: ModelKind::Speedrun, device, precision, epochs: 2, batch_size: 64, ..RunConfig::preset(Preset::Speedrun) };
    let trained = pictures(PICTURES, 0).and_then(|data| train(&config, &data, place, None, &mut losses));
    let check = |found, detail: String| Check { subject: Subject::Training, precision, found, tolerance: LEFT, detail };
    match (trained, losses.0.first(), losses.0.last()) {
        (Err(problem), ..) => check(None, problem.to_string()),
        (Ok(_), Some(first), Some(last)) => check(Some(last / first), format!("a loss of {last:.3} after {first:.3}")),
        _ => check(None, "it took no step".to_owned()),
    }
}

/// The starter model on the device, many pictures at a time, against the processor, one after the other.
pub fn reads(place: &Place) -> Check {
    let check = |found, detail| Check { subject: Subject::Reading, precision: Precision::F32, found, tolerance: APART, detail };
    match largest_difference(place) {
        Ok((apart, agree)) => check(Some(apart), format!("{agree} of {READ} pictures are read alike")),
        Err(problem) => check(None, problem.to_string()),
    }
}

fn largest_difference(place: &Place) -> Result<(f32, usize), Problem> {
    let data = pictures(0, READ)?;
    let reader = Reader::starter()?;
    let there = probabilities(&reader.net().to_place(place)?, &data.test.images)?;
    let mut here = Vec::new();
    for picture in data.test.images.chunks_exact(PIXELS) {
        here.extend(probabilities(reader.net(), picture)?);
    }
    let differences = here.iter().zip(&there).flat_map(|(here, there)| here.probabilities.iter().zip(&there.probabilities));
    let apart =
        differences.map(|(a, b)| (a - b).abs()).fold(0.0, |most: f32, part| if part.is_nan() { f32::INFINITY } else { most.max(part) });
    Ok((apart, here.iter().zip(&there).filter(|(here, there)| here.digit == there.digit).count()))
}

fn probabilities(net: &Net, pictures: &[u8]) -> Result<Vec<Scores>, Problem> {
    let logits = net.forward(pictures, Pass::Read)?.flatten_all()?.to_vec1::<f32>()?;
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
