//! Why a model takes a drawing for what it does: which ink speaks for a class, and which small
//! change would make it another one. Both only ask the model for its outputs, so that they explain
//! every model: a network, an ensemble, an imported graph.

mod attribution;
mod counterfactual;
mod edit;

use std::time::Instant;

use self::attribution::shapley_values;
use self::counterfactual::Search;
use super::classifier::Classifier;
use super::outputs::{Outputs, Scores};
use crate::ink::{Image, Ink, PIXELS, PlacedInk, Steps};
use crate::problem::Problem;
use crate::progress::Unwatched;
use crate::records::{Attribution, Counterfactual, Details, Prediction, Recognition};

/// The output of a model for an image, as far as one class is concerned.
struct ClassOutput {
    /// ln(p / (1 - p)) of the class.
    log_odds: f32,
    /// Its probability, from 0 to 1.
    probability: f32,
    /// Whether the image is taken for a digit, and for this class.
    is_class: bool,
}

impl Classifier {
    /// What explains this prediction for a drawing, of which these steps made the image: the
    /// details that are wanted.
    pub fn explain(
        &self,
        prediction: Prediction,
        (ink, steps): (&Ink, &Steps),
        details: &Details,
    ) -> Result<Recognition, Problem> {
        let start = Instant::now();
        let class = details.explained(&prediction);
        let attribution = if details.attribution {
            Some(self.attribution(&prediction.image, class)?)
        } else {
            None
        };
        let placement = attribution
            .as_ref()
            .and_then(|_| Some(PlacedInk::new(ink, steps)?.placement));
        let is_other = class != prediction.digit || !prediction.is_digit;
        let counterfactual = if details.counterfactual && is_other {
            let change = Search::new(self, steps, class).change(ink)?;
            Some(Counterfactual { class, change })
        } else {
            None
        };
        let inspection = if details.inspection {
            self.inspect(&prediction.image, details.look)?
        } else {
            None
        };
        Ok(Recognition {
            inspection,
            placement,
            attribution,
            counterfactual,
            neighborhood: None,
            micros: prediction.micros + start.elapsed().as_micros() as u32,
            prediction,
        })
    }

    /// How much the ink of each pixel speaks for a class.
    pub fn attribution(&self, image: &Image, class: u8) -> Result<Attribution, Problem> {
        let orders = attribution::orders(self.flops());
        let (values, [blank, log_odds]) = shapley_values(image, orders, |images| {
            let outputs = self.class_outputs(images, class)?;
            Ok(outputs.iter().map(|output| output.log_odds).collect())
        })?;
        Ok(Attribution {
            class,
            values,
            log_odds,
            blank,
        })
    }

    /// What it makes of each of these images, 784 bytes each, as far as this class is concerned.
    fn class_outputs(&self, images: &[u8], class: u8) -> Result<Vec<ClassOutput>, Problem> {
        let outputs: Outputs = self.all_outputs(images, &mut Unwatched)?;
        outputs.check_finite()?;
        let rows = outputs.scores(self.temperature());
        let images = images.chunks_exact(PIXELS);
        let all = rows.zip(&outputs.digit_scores).zip(images);
        Ok(all
            .map(|((scores, &digit_score), pixels)| {
                let Scores {
                    probabilities,
                    digit,
                    ..
                } = scores;
                let others = probabilities.iter().enumerate();
                let others = others.filter(|(other, _)| *other != usize::from(class));
                let others: f32 = others.map(|(_, probability)| probability).sum();
                let probability = probabilities.get(usize::from(class)).copied();
                let probability = probability.unwrap_or_default();
                // Neither 0 nor 1, whose odds are infinite.
                let [p, q] = [probability, others].map(|share| share.max(f32::MIN_POSITIVE));
                ClassOutput {
                    log_odds: p.ln() - q.ln(),
                    probability,
                    is_class: digit == usize::from(class) && self.is_digit(pixels, digit_score),
                }
            })
            .collect())
    }
}
