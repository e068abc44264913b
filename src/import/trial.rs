//! Weights do not tell their activation and normalisation, nor how their network pools and pads. Each usual combination classifies digits that
//! Inkling generates. Where that leaves doubt, nothing is imported unless somebody accepts it: weights that are misread would lose accuracy
//! without a word.

use super::cnn::choose_network;
use super::tried::{Tried, choose, doubt, try_readings, undecided};
use super::{Candidate, ImportError, Trials};
use crate::data::{Split, builtin};
use crate::infer::{fit_digit_detector, measure};
use crate::nn::onnx::OnnxGraph;
use crate::nn::{Net, flops};
use crate::progress::{Progress, Unwatched};
use crate::records::{Calibration, ImportSpec, Normalization};
use crate::run_config::{Activation, Classes, DataSpec, Network};

/// Digits classified in the last round of trials.
const DIGITS: usize = 1_000;
/// Another seed than that of the built-in digits, which the model may have been trained on.
const SEED: u64 = 0x1196;
/// A less accurate model does not recognise digits, so that the most accurate combination says nothing.
pub const MIN_ACCURACY: f64 = 0.5;

/// Images to try readings of weights on.
#[derive(Clone, Debug)]
pub struct TrialImages {
    /// What they are.
    pub data: DataSpec,
    /// They, with their labels.
    pub images: Split,
}

/// Loads images that a network may have learned from, if there are any.
pub type MoreImages<'a> = dyn FnMut(&mut dyn Progress) -> Result<Option<TrialImages>, ImportError> + 'a;

/// A model with an activation and a normalisation, and how well it does.
#[derive(Clone)]
pub struct Trial {
    /// The network.
    pub net: Net,
    /// The activation between its layers.
    pub activation: Activation,
    /// What was fitted on the digits.
    pub calibration: Calibration,
    /// Its accuracy on the images that it was tried on.
    pub accuracy: f64,
    /// How many these are.
    pub images: u64,
    /// What they are.
    pub tried_on: DataSpec,
    /// True if the trials leave no doubt.
    pub sure: bool,
}

/// The temperature of this network, fitted on digits; `None` if it does not recognise them.
pub fn temperature(net: &Net, progress: &mut impl Progress) -> Result<Option<f32>, ImportError> {
    let digits = builtin::generate(SEED, 0, DIGITS, &mut progress.part(0.0, 0.5))?.test;
    let measured = measure(net, Calibration::NONE.temperature, &digits, &mut progress.part(0.5, 1.0))?;
    let recognises = measured.evaluation.accuracy >= MIN_ACCURACY;
    Ok(recognises.then(|| measured.calibration(&digits.labels).temperature))
}

/// Images that all readings of a network's weights can be tried on within seconds.
fn affordable_images(network: Network) -> usize {
    const OPERATIONS: u64 = 10_000_000_000;
    ((OPERATIONS / flops(network).forward.max(1)) as usize).max(DIGITS)
}

/// Which of the networks these are the weights of, the most usual one or one of the others, and its settings as [`find_settings`] finds them.
pub fn find_network(
    (usual, others): (Network, &[Network]),
    values: &[Vec<f32>],
    spec: &ImportSpec,
    more_images: &mut MoreImages<'_>,
    progress: &mut impl Progress,
) -> Result<(Network, Result<Trial, Trials>), ImportError> {
    let digits = builtin::generate(SEED, 0, DIGITS, &mut progress.part(0.0, 0.1))?.test;
    if others.is_empty() {
        return Ok((usual, find_settings(Candidate::Weights(usual, values), spec, &digits, more_images, &mut progress.part(0.1, 1.0))?));
    }
    let networks: Vec<Network> = std::iter::once(usual).chain(others.iter().copied()).collect();
    let chosen = choose_network(&networks, values, spec, &digits, more_images, &mut progress.part(0.1, 0.6))?;
    match chosen {
        Ok(layers) => {
            let network = usual.with_layers(Some(layers));
            Ok((network, find_settings(Candidate::Weights(network, values), spec, &digits, more_images, &mut progress.part(0.6, 1.0))?))
        }
        Err(trials) => Ok((usual, Err(trials))),
    }
}

/// How the network of an ONNX file takes pixels. The inner error as in [`find_settings`].
pub fn find_normalization(
    graph: &OnnxGraph,
    spec: &ImportSpec,
    more_images: &mut MoreImages<'_>,
    progress: &mut impl Progress,
) -> Result<Result<Trial, Trials>, ImportError> {
    let digits = builtin::generate(SEED, 0, DIGITS, &mut progress.part(0.0, 0.1))?.test;
    // Its operators are its activations.
    let spec = ImportSpec { activation: Some(Activation::default()), ..spec.clone() };
    find_settings(Candidate::Graph(graph), &spec, &digits, more_images, &mut progress.part(0.1, 1.0))
}

/// Finds the activation and the normalisation, unless they are given. Where a network that learned from other images does not recognise enough of the
/// built-in digits to tell, `more_images` may have such images. The inner error says what was measured where that leaves doubt, and
/// nobody accepts it.
fn find_settings(
    candidate: Candidate<'_>,
    spec: &ImportSpec,
    digits: &Split,
    more_images: &mut MoreImages<'_>,
    progress: &mut impl Progress,
) -> Result<Result<Trial, Trials>, ImportError> {
    let network = candidate.network();
    let model = network.model();
    let mut tried_on = TrialImages { data: DataSpec::builtin(), images: digits.clone() };
    let mut tried = try_readings(candidate, spec, digits, &mut progress.part(0.0, 0.4))?;
    let usual = (spec.activation.unwrap_or_default(), spec.normalization.unwrap_or(Normalization::MNIST));
    let given = spec.activation.is_some() && spec.normalization.is_some();
    let (mut settings, mut sure) = (usual, given);
    let is_clear = |tried: &[Tried]| choose(model, tried).is_none_or(|chosen| doubt(model, tried, chosen, given).is_none());
    let others = if is_clear(&tried) { None } else { more_images(&mut progress.part(0.4, 0.5))? };
    if let Some(others) = others {
        let others = TrialImages { images: others.images.first(affordable_images(network)), ..others };
        let again = try_readings(candidate, spec, &others.images, &mut progress.part(0.5, 0.8))?;
        let accuracy = |tried: &[Tried]| tried.iter().map(Tried::accuracy).fold(0.0, f64::max);
        if accuracy(&again) > accuracy(&tried) {
            (tried, tried_on) = (again, others);
        }
    }
    if let Some(chosen) = choose(model, &tried) {
        let doubt = doubt(model, &tried, chosen, given);
        if let Some(doubt) = doubt.filter(|_| !spec.accept) {
            return Ok(Err(undecided(model, doubt, tried_on, &tried, chosen)));
        }
        sure = doubt.is_none();
        // Where digits are not recognised, the most accurate combination is one of chance.
        settings = chosen.reading.settings().filter(|_| chosen.accuracy() >= MIN_ACCURACY).unwrap_or(usual);
    }
    let (activation, normalization) = settings;
    let net = candidate.net(activation, normalization)?;
    let without = measure(&net, Calibration::NONE.temperature, digits, &mut progress.part(0.8, 0.85))?;
    let detector = fit_digit_detector(&net, &[], &Classes::Digits, SEED, &mut progress.part(0.85, 0.95))?;
    let net = net.with_digit_detector(Some(detector));
    let measured = measure(&net, Calibration::NONE.temperature, digits, &mut progress.part(0.95, 1.0))?;
    // The detector changes no logits. Digits say nothing of how sure a network may be that does not recognise them.
    let fitted = if without.evaluation.accuracy >= MIN_ACCURACY { without.calibration(&digits.labels) } else { Calibration::NONE };
    let calibration = Calibration { digit_threshold: measured.digit_threshold(), ..fitted };
    let on_these = measure(&net, Calibration::NONE.temperature, &tried_on.images, &mut Unwatched)?.evaluation;
    let (accuracy, images) = (on_these.accuracy, on_these.images);
    Ok(Ok(Trial { net, activation, calibration, accuracy, images, tried_on: tried_on.data, sure }))
}
