//! Weights do not tell their activation and normalization, nor how their network pools and pads.
//! Each usual combination classifies digits that Inkling generates. Where that leaves doubt,
//! nothing is imported unless somebody accepts it: weights that are misread would lose accuracy
//! without a word. The reading that is offered then is the one that is imported when it is
//! accepted.

use super::cnn::choose_network;
use super::tried::{Tried, choose, doubt, enough, try_reading, try_readings, undecided};
use super::{CLASSES, Candidate, ImportError, Trials};
use crate::data::{Split, builtin};
use crate::infer::{Scores, fit_digit_detector, measure};
use crate::nn::onnx::OnnxGraph;
use crate::nn::{Net, flops};
use crate::progress::{Progress, Unwatched};
use crate::records::{Calibration, Doubt, ImportSpec, Normalization, Reading};
use crate::run_config::{Activation, Classes, DataSpec, Network};

/// Digits classified in the last round of trials.
const DIGITS: usize = 1_000;
/// Another seed than that of the built-in digits, which the model may have been trained on.
const SEED: u64 = 0x1196;
/// Images that an ONNX file's network and one of Inkling's are compared on.
const COMPARED: usize = 100;
/// Networks whose probabilities all differ by less are the same.
const SAME_PROBABILITY: f32 = 0.01;
/// A less accurate model does not recognize digits, so that the most accurate combination says
/// nothing.
pub const MIN_ACCURACY: f64 = 0.5;

/// Images to try readings of weights on.
#[derive(Clone, Debug)]
pub struct TrialImages {
    pub data: DataSpec,
    pub images: Split,
}

/// Loads images that a network may have learned from, if there are any.
pub type MoreImages<'a> =
    dyn FnMut(&mut dyn Progress) -> Result<Option<TrialImages>, ImportError> + 'a;

/// The reading that is imported, or offered if there is doubt about it.
pub struct Decided {
    pub net: Net,
    activation: Activation,
    tried_on: TrialImages,
    /// The measurements, if they leave doubt.
    pub doubt: Option<Trials>,
    /// True if activation and normalization were both given, so that nothing was guessed but how
    /// the network pools and pads.
    given: bool,
}

/// A model with an activation and a normalization, and how well it does.
#[derive(Clone)]
pub struct Trial {
    pub net: Net,
    pub activation: Activation,
    pub calibration: Calibration,
    /// Its accuracy on the images that it was tried on.
    pub accuracy: f64,
    pub images: u64,
    pub tried_on: DataSpec,
    /// True if the trials leave no doubt.
    pub sure: bool,
}

/// The temperature of this network, fitted on digits; `None` if it does not recognize them.
pub fn temperature(net: &Net, progress: &mut impl Progress) -> Result<Option<f32>, ImportError> {
    let digits = trial_digits(&mut progress.part(0.0, 0.5))?;
    let measured = measure(
        net,
        Calibration::NONE.temperature,
        &digits,
        &mut progress.part(0.5, 1.0),
    )?;
    let recognises = measured.evaluation.accuracy >= MIN_ACCURACY;
    Ok(recognises.then(|| measured.calibration(&digits.labels).temperature))
}

/// Images that all readings of a network's weights can be tried on within seconds.
fn affordable_images(network: Network) -> usize {
    const OPERATIONS: u64 = 10_000_000_000;
    ((OPERATIONS / flops(network).forward.max(1)) as usize).max(DIGITS)
}

/// Which of the networks these are the weights of, the most usual one or one of the others, and its
/// settings.
pub fn find_network(
    (usual, others): (Network, &[Network]),
    values: &[Vec<f32>],
    spec: &ImportSpec,
    more_images: &mut MoreImages<'_>,
    progress: &mut impl Progress,
) -> Result<Decided, ImportError> {
    let digits = trial_digits(&mut progress.part(0.0, 0.1))?;
    if others.is_empty() {
        return find_settings(
            Candidate::Weights(usual, values),
            spec,
            &digits,
            more_images,
            &mut progress.part(0.1, 1.0),
        );
    }
    let networks: Vec<Network> = std::iter::once(usual)
        .chain(others.iter().copied())
        .collect();
    let chosen = choose_network(
        &networks,
        values,
        spec,
        &digits,
        more_images,
        &mut progress.part(0.1, 0.6),
    )?;
    let layers = chosen.reading.layers;
    let candidate = Candidate::Weights(usual.with_layers(layers), values);
    if chosen.doubt.is_some() {
        return Decided::new(candidate, chosen, false);
    }
    let mut decided = find_settings(
        candidate,
        spec,
        &digits,
        more_images,
        &mut progress.part(0.6, 1.0),
    )?;
    if let Some(trials) = &mut decided.doubt {
        trials
            .readings
            .iter_mut()
            .chain([&mut trials.supported])
            .for_each(|measured| measured.reading.layers = layers);
    }
    Ok(decided)
}

/// How the network of an ONNX file takes pixels.
pub fn find_normalization(
    graph: &OnnxGraph,
    spec: &ImportSpec,
    more_images: &mut MoreImages<'_>,
    progress: &mut impl Progress,
) -> Result<Decided, ImportError> {
    let digits = trial_digits(&mut progress.part(0.0, 0.1))?;
    // Its operators are its activations.
    let spec = ImportSpec {
        activation: Some(Activation::default()),
        ..spec.clone()
    };
    find_settings(
        Candidate::Graph(graph),
        &spec,
        &digits,
        more_images,
        &mut progress.part(0.1, 1.0),
    )
}

/// Finds the activation and the normalization, unless they are given. Where a network that learned
/// from other images does not recognize enough of the built-in digits to tell, `more_images` may
/// have such images.
fn find_settings(
    candidate: Candidate<'_>,
    spec: &ImportSpec,
    digits: &Split,
    more_images: &mut MoreImages<'_>,
    progress: &mut impl Progress,
) -> Result<Decided, ImportError> {
    let network = candidate.network();
    let model = network.model();
    let mut tried_on = TrialImages {
        data: DataSpec::builtin(),
        images: digits.clone(),
    };
    let mut tried = try_readings(candidate, spec, digits, &mut progress.part(0.0, 0.5))?;
    let given = spec.activation.is_some() && spec.normalization.is_some();
    let is_clear = |tried: &[Tried]| {
        choose(model, tried).is_none_or(|chosen| doubt(model, tried, chosen, given).is_none())
    };
    let others = if is_clear(&tried) {
        None
    } else {
        more_images(&mut progress.part(0.5, 0.6))?
    };
    if let Some(others) = others {
        let others = TrialImages {
            images: others.images.first(affordable_images(network)),
            ..others
        };
        let again = try_readings(
            candidate,
            spec,
            &others.images,
            &mut progress.part(0.6, 0.9),
        )?;
        let accuracy = |tried: &[Tried]| tried.iter().map(Tried::accuracy).fold(0.0, f64::max);
        if accuracy(&again) > accuracy(&tried) {
            (tried, tried_on) = (again, others);
        }
    }
    let best = choose(model, &tried);
    let doubt = best.and_then(|best| doubt(model, &tried, best, false));
    // Where digits are not recognized, the most accurate combination is one of chance.
    let chosen = match best.filter(|best| best.accuracy() >= MIN_ACCURACY) {
        Some(best) => best.clone(),
        None => try_reading(
            candidate,
            usual_reading(spec),
            &tried_on.images,
            &mut progress.part(0.9, 1.0),
        )?,
    };
    let doubt = doubt.map(|doubt| undecided(model, doubt, &tried_on, &tried, &chosen));
    Decided::new(
        candidate,
        Chosen {
            reading: chosen.reading,
            tried_on,
            doubt,
        },
        given,
    )
}

/// The reading of weights of which nothing else is known than what was given.
pub fn usual_reading(spec: &ImportSpec) -> Reading {
    Reading::own(
        spec.activation.unwrap_or_default(),
        spec.normalization.unwrap_or(Normalization::MNIST),
    )
}

/// A reading that was chosen of those that were tried.
pub struct Chosen {
    /// The reading, one that Inkling can build.
    pub reading: Reading,
    pub tried_on: TrialImages,
    /// The measurements, if they leave doubt.
    pub doubt: Option<Trials>,
}

impl Decided {
    fn new(candidate: Candidate<'_>, chosen: Chosen, given: bool) -> Result<Self, ImportError> {
        let Chosen {
            reading,
            tried_on,
            doubt,
        } = chosen;
        let (net, activation) = candidate.net(&reading)?;
        Ok(Self {
            net,
            activation,
            tried_on,
            doubt,
            given,
        })
    }

    /// Why it is not imported unless somebody accepts it: where everything is given, only because
    /// other layers would do better.
    pub fn refusal(&self) -> Option<&Trials> {
        self.doubt
            .as_ref()
            .filter(|trials| !self.given || trials.doubt == Doubt::NotSupported)
    }

    /// Leaves no doubt about the layers; how they do on digits may still be in doubt.
    pub fn rule_out_other_layers(&mut self) {
        if let Some(trials) = self
            .doubt
            .as_mut()
            .filter(|trials| trials.doubt == Doubt::NotSupported)
        {
            trials.doubt = Doubt::LowAccuracy;
        }
        self.doubt.take_if(|trials| {
            trials.doubt == Doubt::LowAccuracy && trials.supported.accuracy >= enough(trials.model)
        });
    }

    /// Whether it gives the same probabilities as the network of an ONNX file.
    pub fn computes_the_same_as(
        &self,
        graph: &OnnxGraph,
        progress: &mut impl Progress,
    ) -> Result<bool, ImportError> {
        let images = self.tried_on.images.first(COMPARED);
        let graph = Net::of_graph(graph.clone(), self.net.normalization());
        let mut probabilities = |net: &Net| -> Result<Vec<f32>, ImportError> {
            let measured = measure(net, Calibration::NONE.temperature, &images, progress)?;
            let rows = Scores::of_rows(measured.logits(), CLASSES, Calibration::NONE.temperature);
            Ok(rows.flat_map(|scores| scores.probabilities).collect())
        };
        let (own, of_graph) = (probabilities(&self.net)?, probabilities(&graph)?);
        Ok(own
            .iter()
            .zip(&of_graph)
            .all(|(own, of_graph)| (own - of_graph).abs() < SAME_PROBABILITY))
    }

    pub fn trial(self, progress: &mut impl Progress) -> Result<Trial, ImportError> {
        let sure = self.refusal().is_none();
        let Self {
            net,
            activation,
            tried_on,
            ..
        } = self;
        let digits = trial_digits(&mut progress.part(0.0, 0.1))?;
        let without = measure(
            &net,
            Calibration::NONE.temperature,
            &digits,
            &mut progress.part(0.1, 0.3),
        )?;
        let detector = fit_digit_detector(
            &net,
            &[],
            &Classes::Digits,
            SEED,
            &mut progress.part(0.3, 0.8),
        )?;
        let net = net.with_digit_detector(Some(detector));
        let measured = measure(
            &net,
            Calibration::NONE.temperature,
            &digits,
            &mut progress.part(0.8, 1.0),
        )?;
        // The detector changes no logits. Digits say nothing of how sure a network may be that does
        // not recognize them.
        let fitted = if without.evaluation.accuracy >= MIN_ACCURACY {
            without.calibration(&digits.labels)
        } else {
            Calibration::NONE
        };
        let calibration = Calibration {
            digit_threshold: measured.digit_threshold(),
            ..fitted
        };
        let on_these = measure(
            &net,
            Calibration::NONE.temperature,
            &tried_on.images,
            &mut Unwatched,
        )?
        .evaluation;
        let (accuracy, images) = (on_these.accuracy, on_these.images);
        Ok(Trial {
            net,
            activation,
            calibration,
            accuracy,
            images,
            tried_on: tried_on.data,
            sure,
        })
    }
}

fn trial_digits(progress: &mut impl Progress) -> Result<Split, ImportError> {
    Ok(builtin::generate(SEED, 0, DIGITS, progress)?.test)
}
