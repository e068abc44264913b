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
use crate::ink::{CandidateImage, Image, Ink, PIXELS, PlacedInk, Placement, Steps, Writing};
use crate::problem::Problem;
use crate::progress::Unwatched;
use crate::records::{
    Attribution, Counterfactual, DigitPrediction, Explanation, Prediction, PredictionDetails,
    Recognition, WhySpec,
};

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
    /// What this prediction comes with for a drawing, of which these steps made the image: the
    /// details that are wanted.
    pub fn explain(
        &self,
        prediction: Prediction,
        (ink, steps): (&Ink, &Steps),
        details: &PredictionDetails,
    ) -> Result<Recognition, Problem> {
        let start = Instant::now();
        let explanation = details
            .why
            .map(|why| self.explain_drawing(&prediction, (ink, steps), why));
        let explanation = explanation.transpose()?;
        let inspection = if details.inspection {
            self.inspect(&prediction.image, details.look)?
        } else {
            None
        };
        Ok(Recognition {
            inspection,
            explanation,
            neighborhood: None,
            micros: prediction.micros + start.elapsed().as_micros() as u32,
            prediction,
        })
    }

    /// Explains the digits that were read in a drawing.
    pub fn explain_number(
        &self,
        digits: &mut [DigitPrediction],
        writing: &Writing,
        why: WhySpec,
    ) -> Result<(), Problem> {
        for (index, digit) in digits.iter_mut().enumerate() {
            if let Some((ink, steps)) = writing.drawing(digit.pieces.clone()) {
                let (prediction, why) = (&digit.prediction, why.of_digit(index));
                digit.explanation = Some(self.explain_drawing(prediction, (&ink, &steps), why)?);
            }
        }
        Ok(())
    }

    /// Explains the digits that were read in an image file.
    pub fn explain_candidates(
        &self,
        digits: &mut [DigitPrediction],
        candidates: &[CandidateImage],
        why: WhySpec,
    ) -> Result<(), Problem> {
        for (index, digit) in digits.iter_mut().enumerate() {
            let is_it = |it: &&CandidateImage| it.candidate.pieces == digit.pieces;
            let placement = candidates.iter().find(is_it).and_then(|it| it.placement);
            let (prediction, why) = (&digit.prediction, why.of_digit(index));
            digit.explanation = Some(self.explain_image(prediction, placement, why)?);
        }
        Ok(())
    }

    /// Why it takes a drawing for what it does, and what would make it another class.
    fn explain_drawing(
        &self,
        prediction: &Prediction,
        (ink, steps): (&Ink, &Steps),
        why: WhySpec,
    ) -> Result<Explanation, Problem> {
        let start = Instant::now();
        let placement = PlacedInk::new(ink, steps).map(|placed| placed.placement);
        let explanation = self.explain_image(prediction, placement, why)?;
        let class = explanation.attribution.class;
        let is_other = class != prediction.digit || !prediction.is_digit;
        let counterfactual = if why.counterfactual && is_other {
            let change = Search::new(self, steps, class).change(ink)?;
            Some(Counterfactual { class, change })
        } else {
            None
        };
        Ok(Explanation {
            counterfactual,
            micros: start.elapsed().as_micros() as u32,
            ..explanation
        })
    }

    /// Why it takes an image for what it does.
    fn explain_image(
        &self,
        prediction: &Prediction,
        placement: Option<Placement>,
        why: WhySpec,
    ) -> Result<Explanation, Problem> {
        let start = Instant::now();
        let attribution = self.attribution(&prediction.image, why.explained(prediction))?;
        Ok(Explanation {
            attribution,
            placement,
            counterfactual: None,
            micros: start.elapsed().as_micros() as u32,
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

    /// The outputs for this class on each of these images, 784 bytes each.
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
