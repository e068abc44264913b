//! The outputs of networks for images, and what follows from them: logits, probabilities, how much
//! each image looks like a digit, and of an ensemble how unsure it is.

use candle_core::Result;

use crate::math::random::Random;
use crate::nn::{ComputeError, Mode, Net};
use crate::records::{Calibration, Uncertainty};

/// The outputs of a network for images, in their order.
#[derive(Clone, Debug, Default)]
pub(super) struct Outputs {
    /// `[n, classes]`.
    pub logits: Vec<f32>,
    /// For each image the higher, the more it looks like a digit: the log odds that the network's
    /// detector gives, or, if it has none, the energy score of the logits.
    pub digit_scores: Vec<f32>,
}

impl Outputs {
    /// The outputs for images of 784 pixels.
    pub fn of(net: &Net, pixels: &[u8]) -> Result<Self> {
        let Some(detector) = net.digit_detector() else {
            let logits = net
                .forward(pixels, Mode::Eval)?
                .flatten_all()?
                .to_vec1::<f32>()?;
            let digit_scores =
                Scores::of_rows(&logits, net.classes(), Calibration::NONE.temperature)
                    .map(|scores| scores.energy_score)
                    .collect();
            return Ok(Self {
                logits,
                digit_scores,
            });
        };
        let (features, logits) = net.features_and_logits(pixels)?;
        let digit_scores = detector.scores(&features, &logits)?;
        Ok(Self {
            logits: logits.flatten_all()?.to_vec1()?,
            digit_scores,
        })
    }

    /// The prediction for each image, with probabilities at this temperature.
    pub fn scores(&self, temperature: f32) -> impl Iterator<Item = Scores> + '_ {
        Scores::of_rows(
            &self.logits,
            self.logits.len() / self.digit_scores.len().max(1),
            temperature,
        )
    }

    pub fn check_finite(&self) -> std::result::Result<(), ComputeError> {
        let mut values = self.logits.iter().chain(&self.digit_scores);
        if values.all(|value| value.is_finite()) {
            Ok(())
        } else {
            Err(ComputeError::NotFinite)
        }
    }
}

/// The prediction by the logits of one image.
pub struct Scores {
    /// Softmax of the logits, divided by the temperature: a probability per class.
    pub probabilities: Vec<f32>,
    /// The likeliest class; of equals the first. The temperature does not change it.
    pub digit: usize,
    /// The log of the summed exponentials of the logits: the negative free energy of Liu et al.
    /// 2020. Higher means more like the images the model was trained on. It is computed from the raw logits
    /// at any temperature: what distinguishes digits from other drawings depends
    /// on how large logits are, and its threshold is set on the same score.
    pub energy_score: f32,
}

impl Scores {
    /// The scores of one image.
    pub fn new(logits: &[f32], temperature: f32) -> Self {
        let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let digit = logits
            .iter()
            .position(|&logit| logit == largest)
            .unwrap_or_default();
        let energy: f32 = logits.iter().map(|logit| (logit - largest).exp()).sum();
        let largest_scaled = largest / temperature;
        let mut probabilities: Vec<f32> = logits
            .iter()
            .map(|logit| (logit / temperature - largest_scaled).exp())
            .collect();
        let sum: f32 = probabilities.iter().sum();
        probabilities
            .iter_mut()
            .for_each(|probability| *probability /= sum);
        Self {
            probabilities,
            digit,
            energy_score: largest + energy.ln(),
        }
    }

    /// The scores of each row of `[n, classes]` logits.
    pub fn of_rows(
        logits: &[f32],
        classes: usize,
        temperature: f32,
    ) -> impl Iterator<Item = Self> + '_ {
        logits
            .chunks_exact(classes.max(1))
            .map(move |row| Self::new(row, temperature))
    }
}

/// The features that the passes drop are the same for every image: the same drawing gets the same
/// answer.
const DROPOUT_SEED: u64 = 1;

/// A network, and what was fitted for it.
#[derive(Clone, Debug)]
pub(super) struct Member {
    pub net: Net,
    pub calibration: Calibration,
}

/// The probabilities of every image in each pass.
type Passes = Vec<Vec<Vec<f32>>>;

impl Member {
    /// The probabilities of every image of 784 pixels in each pass, and the images' digit scores,
    /// which are those without dropout.
    fn predict(&self, pixels: &[u8], dropout_passes: Option<u32>) -> Result<(Passes, Vec<f32>)> {
        let plain = Outputs::of(&self.net, pixels)?;
        let of_logits = |logits: &[f32]| {
            Scores::of_rows(logits, self.net.classes(), self.calibration.temperature)
                .map(|scores| scores.probabilities)
                .collect()
        };
        let passes = match dropout_passes {
            None => vec![of_logits(&plain.logits)],
            Some(passes) => {
                let mut random = Random::stream(DROPOUT_SEED, "monte carlo dropout", 0);
                let logits = self.net.forward_with_dropout(pixels, passes, &mut random)?;
                logits
                    .iter()
                    .map(|logits| Ok(of_logits(&logits.flatten_all()?.to_vec1::<f32>()?)))
                    .collect::<Result<_>>()?
            }
        };
        Ok((passes, plain.digit_scores))
    }
}

/// Which members score how much a drawing looks like a digit: those with a digit detector, or all
/// if none has one. The score of the others is on another scale, and distinguishes less.
fn scoring(members: &[Member]) -> impl Fn(&&Member) -> bool + use<> {
    let some_detect = members
        .iter()
        .any(|member| member.net.digit_detector().is_some());
    move |member| !some_detect || member.net.digit_detector().is_some()
}

/// What members give together, as the outputs of a single network at temperature 1: their mean
/// digit scores, and as logits the logarithms of their mean probabilities. For each image how
/// unsure they are as well.
pub(super) fn outputs(
    members: &[Member],
    dropout_passes: Option<u32>,
    pixels: &[u8],
) -> Result<(Outputs, Vec<Uncertainty>)> {
    let mut predictions: Passes = Vec::new();
    let mut digit_scores = Vec::new();
    let scores = scoring(members);
    let scorers = members.iter().filter(&scores).count() as f32;
    for member in members {
        let (passes, of_member) = member.predict(pixels, dropout_passes)?;
        predictions.extend(passes);
        digit_scores.resize(of_member.len(), 0.0);
        if scores(&member) {
            digit_scores
                .iter_mut()
                .zip(of_member)
                .for_each(|(sum, score)| *sum += score / scorers);
        }
    }
    let (mut logits, mut uncertainties) = (Vec::new(), Vec::new());
    for image in 0..digit_scores.len() {
        let passes = predictions.iter().filter_map(|pass| pass.get(image));
        let passes: Vec<&[f32]> = passes.map(Vec::as_slice).collect();
        let (uncertainty, mean) = Uncertainty::of(&passes);
        logits.extend(
            mean.into_iter()
                .map(|probability| probability.max(f32::MIN_POSITIVE).ln()),
        );
        uncertainties.push(uncertainty);
    }
    Ok((
        Outputs {
            logits,
            digit_scores,
        },
        uncertainties,
    ))
}

/// What is fitted for members together: their probabilities are calibrated already, and their
/// threshold is the mean of theirs, as their digit score is.
pub(super) fn calibration(members: &[Member]) -> Calibration {
    let thresholds: Vec<_> = members
        .iter()
        .filter(scoring(members))
        .map(|member| member.calibration.digit_threshold)
        .collect();
    let mean = thresholds.iter().sum::<f32>() / thresholds.len().max(1) as f32;
    Calibration {
        temperature: Calibration::NONE.temperature,
        digit_threshold: mean,
    }
}
