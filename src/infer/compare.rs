//! Owns comparing the devices a model can read on: the same pictures, one at a time, on the processor and on each device in its turn, so
//! that what slows the machine down for a moment slows all of them. Must not know which device is wanted.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use super::InferError;
use super::classifier::{Classifier, Classify};
use super::findings::{Agreement, DeviceReading, ReadingFigures, ReadingFlaw};
use crate::data::builtin;
use crate::ink::Image;
use crate::math::quantiles::{median, quantile};
use crate::nn::ComputeError;
use crate::records::Prediction;
use crate::run_config::DeviceChoice;

/// Pictures that devices are compared on.
pub const PICTURES: usize = 256;
/// Pictures read before any is timed: kernels are compiled, buffers made, threads woken.
const WARM_UP: usize = 8;

/// A model, or why it could not be had, on a device.
pub type Candidate = (DeviceChoice, Result<Box<dyn Classify>, InferError>);

/// A device that was tried, and the model on it where it reads rightly.
pub type Tried = (DeviceReading, Option<Box<dyn Classify>>);

/// Compares `candidates` with the processor, which comes first in what is found. A device that takes longer than `patience` for the pictures
/// that are timed is given up. `attend` is called after each picture; `None` when it breaks the comparison off.
pub fn compare(
    processor: &Classifier,
    candidates: Vec<Candidate>,
    patience: Duration,
    attend: &mut dyn FnMut() -> ControlFlow<()>,
) -> Result<Option<Vec<Tried>>, InferError> {
    let pictures = builtin::generate(1, 0, PICTURES, &mut |_| ControlFlow::Continue(()))?.test;
    let mut here = Times::default();
    let mut there: Vec<_> = candidates.into_iter().map(|(device, classifier)| Side::new(device, classifier)).collect();
    for turn in 0..WARM_UP + PICTURES {
        let index = turn.checked_sub(WARM_UP);
        let Ok(picture) = Image::try_from(pictures.image(index.unwrap_or(turn))) else { continue };
        let reading = here.classify(processor, picture.clone(), index.is_some())?;
        for side in &mut there {
            side.read(&picture, &reading, index.is_some(), patience);
        }
        if attend().is_break() {
            return Ok(None);
        }
    }
    let same = Agreement { pictures: PICTURES as u32, alike: PICTURES as u32, largest_difference: 0.0 };
    let processor = DeviceReading { device: DeviceChoice::Cpu, outcome: Ok(here.figures(same)) };
    Ok(Some(std::iter::once((processor, None)).chain(there.into_iter().map(Side::found)).collect()))
}

/// Does what a driver may break in: a panic there is a problem like any other.
pub fn guarded<T>(work: impl FnOnce() -> Result<T, InferError>) -> Result<T, InferError> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err(ComputeError::failed(&"the device's library broke").into()))
}

/// The seconds that readings took.
#[derive(Default)]
struct Times(Vec<f64>);

impl Times {
    fn classify(&mut self, classifier: &dyn Classify, picture: Image, timed: bool) -> Result<Prediction, InferError> {
        let start = Instant::now();
        let reading = guarded(|| classifier.classify(picture))?;
        if timed {
            self.0.push(start.elapsed().as_secs_f64());
        }
        Ok(reading)
    }

    fn figures(&self, agreement: Agreement) -> ReadingFigures {
        let micros = |seconds: f64| (seconds * 1e6) as f32;
        ReadingFigures { median_microseconds: micros(median(&self.0)), p99_microseconds: micros(quantile(&self.0, 0.99)), agreement }
    }
}

/// One device's part of the comparison.
struct Side {
    device: DeviceChoice,
    classifier: Result<Box<dyn Classify>, ReadingFlaw>,
    times: Times,
    agreement: Agreement,
}

impl Side {
    fn new(device: DeviceChoice, classifier: Result<Box<dyn Classify>, InferError>) -> Self {
        Self { device, classifier: classifier.map_err(ReadingFlaw::Failed), times: Times::default(), agreement: Agreement::default() }
    }

    fn read(&mut self, picture: &Image, here: &Prediction, timed: bool, patience: Duration) {
        let Ok(classifier) = &self.classifier else { return };
        match self.times.classify(classifier.as_ref(), picture.clone(), timed) {
            Ok(there) if timed => self.agreement.add(&here.probabilities, &there.probabilities),
            Ok(_) => {}
            Err(problem) => self.classifier = Err(ReadingFlaw::Failed(problem)),
        }
        let seconds: f64 = self.times.0.iter().sum();
        if seconds > patience.as_secs_f64() {
            self.classifier = Err(ReadingFlaw::Slow { drawings: self.times.0.len() as u32, seconds: seconds as f32 });
        }
    }

    fn found(self) -> Tried {
        let Self { device, classifier, times, agreement } = self;
        let sound =
            classifier.and_then(|classifier| if agreement.is_close() { Ok(classifier) } else { Err(ReadingFlaw::Disagrees(agreement)) });
        match sound {
            Ok(classifier) => (DeviceReading { device, outcome: Ok(times.figures(agreement)) }, Some(classifier)),
            Err(flaw) => (DeviceReading { device, outcome: Err(flaw) }, None),
        }
    }
}
