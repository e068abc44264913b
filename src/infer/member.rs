//! A network of an ensemble: the probabilities that it gives, in one pass or in several with
//! dropout.

use candle_core::Result;

use super::outputs::Outputs;
use super::scores::Scores;
use crate::math::random::Random;
use crate::nn::{DeviceContext, Net};
use crate::records::{Calibration, Uncertainty};

/// The features that the passes drop are the same for every image: the same drawing gets the same
/// answer.
const DROPOUT_SEED: u64 = 1;

/// A network, and what was fitted for it.
#[derive(Clone, Debug)]
pub(super) struct Member {
    pub net: Net,
    pub calibration: Calibration,
}

/// What a member gives for images.
struct Predicted {
    passes: Vec<Vec<Vec<f32>>>,
    digit_scores: Vec<f32>,
}

impl Member {
    /// A copy on another device.
    pub fn to_device(&self, context: &DeviceContext) -> Result<Self> {
        Ok(Self {
            net: self.net.to_device(context)?,
            calibration: self.calibration,
        })
    }

    /// The probabilities of every image of 784 pixels in each pass, and the images' digit scores,
    /// which are those without dropout.
    fn predict(&self, pixels: &[u8], dropout_passes: Option<u32>) -> Result<Predicted> {
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
        Ok(Predicted {
            passes,
            digit_scores: plain.digit_scores,
        })
    }
}

/// Which members score how much a drawing looks like a digit: those with a digit detector, or all
/// where none has one. The score of the others is on another scale, and distinguishes less.
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
    let mut predictions = Vec::new();
    let mut digit_scores = Vec::new();
    let scores = scoring(members);
    let scorers = members.iter().filter(&scores).count() as f32;
    for member in members {
        let predicted = member.predict(pixels, dropout_passes)?;
        predictions.extend(predicted.passes);
        digit_scores.resize(predicted.digit_scores.len(), 0.0);
        if scores(&member) {
            digit_scores
                .iter_mut()
                .zip(predicted.digit_scores)
                .for_each(|(sum, score)| *sum += score / scorers);
        }
    }
    let (mut logits, mut uncertainties) = (Vec::new(), Vec::new());
    for image in 0..digit_scores.len() {
        let (uncertainty, mean) = Uncertainty::of(
            &predictions
                .iter()
                .filter_map(|pass: &Vec<Vec<f32>>| pass.get(image).map(Vec::as_slice))
                .collect::<Vec<_>>(),
        );
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
