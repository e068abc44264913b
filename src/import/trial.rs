//! Owns finding out what weights do not tell: activation and normalisation. Digits that Inkling writes itself are read with each that is
//! usual; what reads them best is taken. Must not know where the weights come from.

use super::ImportError;
use super::net_of;
use crate::data::builtin;
use crate::infer::{Measurement, measure};
use crate::nn::Net;
use crate::progress::Unwatched;
use crate::records::Normalization;
use crate::run_config::{Activation, ModelKind};

/// Digits read for each trial.
const DIGITS: usize = 1_000;
/// Another seed than that of the built-in set, so that nothing was learned by heart.
const SEED: u64 = 0x1196;
/// Below this share a model hardly reads digits, and what reads them best says nothing.
const READS: f64 = 0.5;
/// So much more of the digits has to be read rightly than with what is more usual.
const CLEARLY: f64 = 0.005;
/// What pixels are usually made of: as is common for MNIST, from 0 to 1, and from -1 to 1.
const USUAL: [Normalization; 3] = [Normalization::MNIST, Normalization { mean: 0.0, std: 1.0 }, Normalization { mean: 0.5, std: 0.5 }];

/// What a model reads best with.
pub struct Trial {
    /// The network.
    pub net: Net,
    /// The nonlinearity between its layers.
    pub activation: Activation,
    /// 99 % of the digits have a digit score of at least this.
    pub digit_threshold: f32,
    /// Share of the digits read rightly.
    pub accuracy: f64,
    /// How many digits.
    pub images: u64,
    /// True where activation and normalisation were named, or reading well shows that they are right.
    pub sure: bool,
}

/// Tries what is not named.
pub fn try_out(
    model: ModelKind,
    values: &[Vec<f32>],
    activation: Option<Activation>,
    normalization: Option<Normalization>,
) -> Result<Trial, ImportError> {
    let digits = builtin::generate(SEED, 0, DIGITS, &mut Unwatched)?.test;
    let activations = activation.map_or_else(|| Activation::ALL.to_vec(), |named| vec![named]);
    let normalizations = normalization.map_or_else(|| USUAL.to_vec(), |named| vec![named]);
    let mut best: Option<(Activation, Net, Measurement)> = None;
    for &activation in &activations {
        for &normalization in &normalizations {
            let net = net_of(model, activation, normalization, values)?;
            let measured = measure(&net, &digits, &mut Unwatched)?;
            // The usual come first, and only what reads clearly better takes their place.
            if best.as_ref().is_none_or(|(_, _, best)| measured.evaluation.accuracy > best.evaluation.accuracy + CLEARLY) {
                best = Some((activation, net, measured));
            }
        }
    }
    let named = activation.is_some() && normalization.is_some();
    let reads = best.as_ref().is_some_and(|(_, _, measured)| measured.evaluation.accuracy >= READS);
    let (activation, net, measured) = if let Some(best) = best.filter(|_| named || reads) {
        best
    } else {
        let (activation, normalization) = (activation.unwrap_or_default(), normalization.unwrap_or(Normalization::MNIST));
        let net = net_of(model, activation, normalization, values)?;
        let measured = measure(&net, &digits, &mut Unwatched)?;
        (activation, net, measured)
    };
    Ok(Trial {
        net,
        activation,
        digit_threshold: measured.digit_threshold(),
        accuracy: measured.evaluation.accuracy,
        images: measured.evaluation.images,
        sure: named || reads,
    })
}
