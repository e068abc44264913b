//! The end of a run with Langevin dynamics: its samples from the posterior of the weights are
//! calibrated for use together.

use std::sync::Arc;

use super::best_checkpoint::EpochWeights;
use crate::data::Split;
use crate::infer::{InferError, fit_shared_temperature, measure};
use crate::nn::{ComputeError, Net};
use crate::progress::Progress;
use crate::records::Calibration;

/// The samples with the temperature at which the mean of their probabilities is calibrated on the
/// validation split; `None` when `between` interrupts the run. `net` has other weights afterwards.
/// Should it fail, each sample keeps the temperature of its own.
pub fn calibrated_together(
    samples: Vec<Arc<EpochWeights>>,
    net: &Net,
    validation: &Split,
    between: &mut impl Progress,
) -> Option<Vec<Arc<EpochWeights>>> {
    match shared_temperature(&samples, net, validation, between) {
        Ok(temperature) => Some(
            samples
                .iter()
                .map(|sample| Arc::new(with_temperature(sample, temperature)))
                .collect(),
        ),
        Err(InferError::Cancelled(_)) => None,
        Err(error) => {
            tracing::warn!(%error, "the samples from the posterior could not be calibrated together");
            Some(samples)
        }
    }
}

fn with_temperature(sample: &EpochWeights, temperature: f32) -> EpochWeights {
    EpochWeights {
        calibration: Calibration {
            temperature,
            ..sample.calibration
        },
        ..sample.clone()
    }
}

fn shared_temperature(
    samples: &[Arc<EpochWeights>],
    net: &Net,
    validation: &Split,
    between: &mut impl Progress,
) -> Result<f32, InferError> {
    let mut logits = Vec::new();
    for sample in samples {
        net.set_weights(&sample.weights)
            .map_err(ComputeError::from)?;
        logits.push(
            measure(net, sample.calibration.temperature, validation, between)?
                .logits()
                .to_vec(),
        );
    }
    Ok(fit_shared_temperature(
        &logits.iter().map(Vec::as_slice).collect::<Vec<_>>(),
        &validation.labels,
    ))
}
