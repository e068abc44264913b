//! Choosing the device a model classifies drawings on: every device gets the same images, one at a
//! time as drawings come.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use super::classifier::{Classifier, Classify};
use super::device_comparison::{
    Agreement, DeviceComparison, DeviceRejection, DeviceTiming, DeviceTrial,
};
use crate::data::builtin;
use crate::ink::Image;
use crate::math::statistics::{median, quantile};
use crate::nn::ComputeError;
use crate::problem::Problem;
use crate::progress::Unwatched;
use crate::run_config::{DeviceChoice, InferenceChoice};

/// Images that each device classifies.
pub const COMPARED_IMAGES: usize = 256;
/// Images classified before any is timed: kernels are compiled, buffers allocated, threads woken.
const WARM_UP: usize = 8;

/// Tries `model`, which is on the CPU, on the `usable` devices that `choice` allows, and chooses
/// one. `load` copies the model to a device; a device that needs longer than `time_limit` for all
/// images is rejected. Returns the model on the chosen device as well, unless that is the CPU. An
/// error means that the CPU itself failed.
pub fn compare_devices(
    model: &Classifier,
    choice: InferenceChoice,
    usable: &[DeviceChoice],
    load: &dyn Fn(DeviceChoice) -> Result<Box<dyn Classify>, Problem>,
    time_limit: Duration,
) -> Result<(DeviceComparison, Option<Box<dyn Classify>>), Problem> {
    let images = builtin::generate(1, 0, COMPARED_IMAGES, &mut Unwatched)?.test;
    let images: Vec<Image> = (0..images.len())
        .filter_map(|index| Image::try_from(images.image(index)).ok())
        .collect();
    let on_cpu = Classified::all(model, &images, Duration::MAX)?;
    let with_itself = Agreement {
        images: images.len() as u32,
        matching: images.len() as u32,
        max_difference: 0.0,
    };
    let mut trials = vec![DeviceTrial {
        device: DeviceChoice::Cpu,
        outcome: Ok(on_cpu.timing(with_itself)),
    }];
    let mut loaded = Vec::new();
    for device in candidates(choice, usable) {
        let classified = catch_panic(|| load(device)).and_then(|classifier| {
            let classified = Classified::all(classifier.as_ref(), &images, time_limit)?;
            loaded.push((device, classifier));
            Ok(classified)
        });
        let outcome = classified
            .map_err(DeviceRejection::Failed)
            .and_then(|classified| classified.compared(&on_cpu));
        trials.push(DeviceTrial { device, outcome });
    }
    let device = choose_device(choice, &trials);
    let classifier = loaded
        .into_iter()
        .find(|(loaded, _)| *loaded == device)
        .map(|(_, classifier)| classifier);
    Ok((
        DeviceComparison {
            model: model.info().reference.clone(),
            device,
            trials,
        },
        classifier,
    ))
}

/// Calls a driver, which may panic: that becomes a problem like any other.
pub fn catch_panic<T>(work: impl FnOnce() -> Result<T, Problem>) -> Result<T, Problem> {
    catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|_| Err(ComputeError::failed(&"the device's library crashed").into()))
}

/// The outputs of one device for the images.
#[derive(Default)]
struct Classified {
    seconds: Vec<f64>,
    probabilities: Vec<Vec<f32>>,
}

impl Classified {
    /// Classifies one image after the other, until all are done or `time_limit` is over.
    fn all(
        classifier: &dyn Classify,
        images: &[Image],
        time_limit: Duration,
    ) -> Result<Self, Problem> {
        let classify = |image: &Image| catch_panic(|| classifier.classify(image.clone()));
        for image in images.iter().take(WARM_UP) {
            classify(image)?;
        }
        let mut classified = Self::default();
        let started = Instant::now();
        for image in images {
            let before = started.elapsed();
            classified
                .probabilities
                .push(classify(image)?.probabilities);
            let after = started.elapsed();
            classified
                .seconds
                .push(after.saturating_sub(before).as_secs_f64());
            if after > time_limit {
                break;
            }
        }
        Ok(classified)
    }

    /// Rejects what did not get through all images or does not agree with the CPU.
    fn compared(&self, on_cpu: &Self) -> Result<DeviceTiming, DeviceRejection> {
        let agreement = Agreement::between(&on_cpu.probabilities, &self.probabilities);
        if self.seconds.len() < on_cpu.seconds.len() {
            Err(DeviceRejection::Slow {
                images: agreement.images,
                seconds: self.seconds.iter().sum::<f64>() as f32,
            })
        } else if !agreement.is_close() {
            Err(DeviceRejection::Disagrees(agreement))
        } else {
            Ok(self.timing(agreement))
        }
    }

    fn timing(&self, agreement: Agreement) -> DeviceTiming {
        let microseconds = |seconds: f64| (seconds * 1e6) as f32;
        let (median, p99) = (median(&self.seconds), quantile(&self.seconds, 0.99));
        DeviceTiming {
            median_microseconds: microseconds(median),
            p99_microseconds: microseconds(p99),
            agreement,
        }
    }
}

/// The devices to try beside the CPU.
fn candidates(choice: InferenceChoice, usable: &[DeviceChoice]) -> Vec<DeviceChoice> {
    match choice {
        InferenceChoice::Automatic => usable.iter().copied().take(1).collect(),
        InferenceChoice::Fastest => usable.to_vec(),
        named => usable
            .iter()
            .copied()
            .filter(|&device| named.device() == Some(device))
            .collect(),
    }
}

/// The device to use: the fastest, or the first beside the CPU, of those that were not rejected.
pub fn choose_device(choice: InferenceChoice, trials: &[DeviceTrial]) -> DeviceChoice {
    let mut passed = trials.iter().filter_map(|trial| {
        Some((
            trial.device,
            trial.outcome.as_ref().ok()?.median_microseconds,
        ))
    });
    let chosen = match choice {
        InferenceChoice::Fastest => passed.min_by(|a, b| a.1.total_cmp(&b.1)),
        _ => passed.find(|(device, _)| *device != DeviceChoice::Cpu),
    };
    chosen.map_or(DeviceChoice::Cpu, |(device, _)| device)
}
