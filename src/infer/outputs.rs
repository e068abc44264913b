//! What a network gives for images: logits, and how much each looks like a digit.

use candle_core::Result;

use super::scores::Scores;
use crate::nn::{Mode, Net};
use crate::records::Calibration;

/// What a network gives for images, in their order.
#[derive(Clone, Debug, Default)]
pub(super) struct Outputs {
    /// `[n, classes]`.
    pub logits: Vec<f32>,
    /// For each image the higher, the more it looks like a digit: the log odds that the network's
    /// detector gives, or, where it has none, the energy score of the logits.
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

    /// What they say about each image, with probabilities at this temperature.
    pub fn scores(&self, temperature: f32) -> impl Iterator<Item = Scores> + '_ {
        Scores::of_rows(
            &self.logits,
            self.logits.len() / self.digit_scores.len().max(1),
            temperature,
        )
    }

    /// True where every number is one.
    pub fn are_finite(&self) -> bool {
        self.logits
            .iter()
            .chain(&self.digit_scores)
            .all(|value| value.is_finite())
    }
}
