//! The end of a run: its model learns to tell digits from other drawings.

use super::observer::{EndRequest, Observer};
use super::run_clock::RunClock;
use crate::data::{DataSet, Split};
use crate::infer::{InferError, fit_digit_detector, measure};
use crate::nn::Net;
use crate::progress::{Cancelled, Unwatched};
use crate::records::Calibration;
use crate::run_config::RunConfig;

/// The network with a digit detector, and its calibration on the validation split with that; `None` when the observer interrupts the run. A run
/// that is stopped gets it as well: it takes a second or two. Without one, should that fail, the model is as good as before.
#[expect(clippy::too_many_arguments, reason = "the state of a run that ends")]
pub fn with_digit_detector(
    net: Net,
    calibration: Calibration,
    config: &RunConfig,
    data: &DataSet,
    validation: &Split,
    clock: &mut RunClock,
    observer: &mut dyn Observer,
    end: &mut Option<EndRequest>,
) -> Option<(Net, Calibration)> {
    let mut between = |_: f32| {
        if end.is_none() {
            *end = clock.pause(|| observer.between(&net)).err();
        }
        if *end == Some(EndRequest::Interrupt) { Err(Cancelled) } else { Ok(()) }
    };
    let fitted = fit_digit_detector(&net, &data.train.images, config.data.is_of_digits(), config.seed, &mut between).and_then(|detector| {
        let net = net.clone().with_digit_detector(Some(detector));
        let calibration = measure(&net, calibration.temperature, validation, &mut Unwatched)?.calibration(&validation.labels);
        Ok((net, calibration))
    });
    match fitted {
        Ok(fitted) => Some(fitted),
        Err(InferError::Cancelled(_)) => None,
        Err(error) => {
            tracing::warn!(%error, "the digit detector could not be trained");
            Some((net, calibration))
        }
    }
}
