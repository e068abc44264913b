//! The end of a run: its model learns to distinguish digits from other drawings.

use crate::data::Split;
use crate::infer::{InferError, fit_digit_detector, measure};
use crate::nn::Net;
use crate::progress::{Progress, Unwatched};
use crate::records::Calibration;
use crate::run_config::{Classes, RunConfig};

/// This network with a digit detector, and its calibration on the validation split with that;
/// `None` when `between` interrupts the run. Without a detector, should that fail, the model is as
/// good as before.
pub fn with_digit_detector(
    net: &Net,
    calibration: Calibration,
    config: &RunConfig,
    classes: &Classes,
    train: &Split,
    validation: &Split,
    between: &mut impl Progress,
) -> Option<(Net, Calibration)> {
    let fitted = fit_digit_detector(net, &train.images, classes, config.seed, between).and_then(
        |detector| {
            let net = net.clone().with_digit_detector(Some(detector));
            let calibration = measure(&net, calibration.temperature, validation, &mut Unwatched)?
                .calibration(&validation.labels);
            Ok((net, calibration))
        },
    );
    match fitted {
        Ok(fitted) => Some(fitted),
        Err(InferError::Cancelled(_)) => None,
        Err(error) => {
            tracing::warn!(%error, "the digit detector could not be trained");
            Some((net.clone(), calibration))
        }
    }
}
