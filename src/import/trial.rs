//! Weights do not tell their activation and normalisation. Each usual combination classifies digits that Inkling generates; the most accurate
//! is taken.

use super::ImportError;
use super::net_of;
use crate::data::builtin;
use crate::infer::{fit_digit_detector, measure};
use crate::nn::Net;
use crate::progress::Progress;
use crate::records::{Calibration, Normalization};
use crate::run_config::{Activation, ModelKind};

/// Digits classified in each trial.
const DIGITS: usize = 1_000;
/// Another seed than that of the built-in digits, which the model may have been trained on.
const SEED: u64 = 0x1196;
/// A less accurate model does not recognise digits, so that the most accurate combination says nothing.
const MIN_ACCURACY: f64 = 0.5;
/// A less usual combination is taken only if it is this much more accurate.
const CLEAR_GAIN: f64 = 0.005;
/// The usual normalisations: with MNIST's mean and standard deviation, from 0 to 1, and from -1 to 1.
const NORMALIZATIONS: [Normalization; 3] =
    [Normalization::MNIST, Normalization { mean: 0.0, std: 1.0 }, Normalization { mean: 0.5, std: 0.5 }];

/// A model with an activation and a normalisation, and how well it does.
#[derive(Clone)]
pub struct Trial {
    /// The network.
    pub net: Net,
    /// The activation between its layers.
    pub activation: Activation,
    /// What was fitted on the digits.
    pub calibration: Calibration,
    /// Its accuracy on the digits.
    pub accuracy: f64,
    /// How many digits.
    pub images: u64,
    /// True if activation and normalisation were given, or the accuracy shows that they are right.
    pub sure: bool,
}

/// The temperature of this network, fitted on digits; `None` if it does not recognise them.
pub fn temperature(net: &Net, progress: &mut impl Progress) -> Result<Option<f32>, ImportError> {
    let digits = builtin::generate(SEED, 0, DIGITS, &mut progress.part(0.0, 0.5))?.test;
    let measured = measure(net, Calibration::NONE.temperature, &digits, &mut progress.part(0.5, 1.0))?;
    let recognises = measured.evaluation.accuracy >= MIN_ACCURACY;
    Ok(recognises.then(|| measured.calibration(&digits.labels).temperature))
}

/// Finds the activation and the normalisation, unless they are given; without success the most usual ones.
pub fn find_settings(
    model: ModelKind,
    values: &[Vec<f32>],
    activation: Option<Activation>,
    normalization: Option<Normalization>,
    progress: &mut impl Progress,
) -> Result<Trial, ImportError> {
    let digits = builtin::generate(SEED, 0, DIGITS, &mut progress.part(0.0, 0.1))?.test;
    let mut tried = 0;
    let trials = activation.map_or(Activation::ALL.len(), |_| 1) * normalization.map_or(NORMALIZATIONS.len(), |_| 1);
    let mut try_with = |activation, normalization| -> Result<Trial, ImportError> {
        let net = net_of(model, activation, normalization, values)?;
        let [start, end] = [tried, tried + 1].map(|done| 0.1 + 0.7 * done as f32 / trials as f32);
        tried += 1;
        let measured = measure(&net, Calibration::NONE.temperature, &digits, &mut progress.part(start, end.min(1.0)))?;
        let (accuracy, images) = (measured.evaluation.accuracy, measured.evaluation.images);
        Ok(Trial { net, activation, calibration: measured.calibration(&digits.labels), accuracy, images, sure: false })
    };
    let activations = activation.map_or_else(|| Activation::ALL.to_vec(), |given| vec![given]);
    let normalizations = normalization.map_or_else(|| NORMALIZATIONS.to_vec(), |given| vec![given]);
    let most_usual = (activation.unwrap_or_default(), normalization.unwrap_or(Normalization::MNIST));
    let usual = try_with(most_usual.0, most_usual.1)?;
    let mut best = usual.clone();
    for &activation in &activations {
        for &normalization in &normalizations {
            if (activation, normalization) == most_usual {
                continue;
            }
            let trial = try_with(activation, normalization)?;
            if trial.accuracy > best.accuracy + CLEAR_GAIN {
                best = trial;
            }
        }
    }
    let given = activation.is_some() && normalization.is_some();
    let sure = given || best.accuracy >= MIN_ACCURACY;
    let chosen = if sure { best } else { usual };
    let detector = fit_digit_detector(&chosen.net, &[], true, SEED, &mut progress.part(0.8, 0.95))?;
    let net = chosen.net.with_digit_detector(Some(detector));
    let measured = measure(&net, Calibration::NONE.temperature, &digits, &mut progress.part(0.95, 1.0))?;
    // The detector changes no logits. Digits say nothing of how sure a network may be that does not recognise them.
    let fitted = if chosen.accuracy >= MIN_ACCURACY { chosen.calibration } else { Calibration::NONE };
    let calibration = Calibration { digit_threshold: measured.digit_threshold(), ..fitted };
    Ok(Trial { net, calibration, sure, ..chosen })
}
