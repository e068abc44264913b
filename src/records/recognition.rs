//! The prediction for a drawing, and what explains it.

use serde::{Deserialize, Serialize};

use super::{Inspection, Neighborhood, Prediction, UnitSelection};
use crate::ink::{Placement, Stroke};

/// Optional parts of the answer for a drawing of one digit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PredictionDetails {
    /// The feature maps.
    pub inspection: bool,
    /// The unit that is looked at closely.
    pub look: Option<UnitSelection>,
    /// The explanation of the prediction.
    pub why: Option<WhySpec>,
    /// How many of the nearest images, and with them where the drawing is on the map; none for 0.
    pub nearest: u8,
}

/// The explanations to compute for a drawing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WhySpec {
    /// Of several digits the one that the rest is about, from 0 on the left.
    pub digit: usize,
    /// The class that is explained; `None` for the one that is predicted.
    pub class: Option<u8>,
    /// Whether to look for the smallest change with which that class would be predicted, if another
    /// is.
    pub counterfactual: bool,
}

impl WhySpec {
    /// The class that is explained of a drawing for which this is predicted. One that the model
    /// does not have stands for the one that is predicted.
    pub fn explained(&self, prediction: &Prediction) -> u8 {
        let has = |class: &u8| usize::from(*class) < prediction.probabilities.len();
        self.class.filter(has).unwrap_or(prediction.digit)
    }

    /// The explanations to compute for this one of several digits.
    #[must_use]
    pub fn of_digit(self, index: usize) -> Self {
        if index == self.digit {
            self
        } else {
            Self::default()
        }
    }
}

/// The prediction for a drawing of one digit, with the details that were asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recognition {
    pub prediction: Prediction,
    /// The feature maps; `None` for an ensemble or another model without a single network.
    pub inspection: Option<Inspection>,
    /// Why it is read as that.
    pub explanation: Option<Explanation>,
    /// Where the drawing is on the map, once there is one.
    pub neighborhood: Option<Neighborhood>,
    /// How long all of it took, in microseconds.
    pub micros: u32,
}

/// Why a model takes a digit for what it does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Explanation {
    /// Which ink speaks for a class.
    pub attribution: Attribution,
    /// Where the digit is in the model's input; `None` if all of it is in one point.
    pub placement: Option<Placement>,
    /// The change that makes it another class; `None` if that was not asked, and for images.
    pub counterfactual: Option<Counterfactual>,
    /// How long all of it took, in microseconds.
    pub micros: u32,
}

/// How much each pixel of an image speaks for a class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attribution {
    pub class: u8,
    /// For each pixel of the image how much its ink adds to the log-odds of the class, in nats: its
    /// Shapley value. Their sum is `log_odds - blank`.
    pub values: Vec<f32>,
    /// The log-odds of the class for the drawing, ln(p / (1 - p)).
    pub log_odds: f32,
    /// The same for an empty image.
    pub blank: f32,
}

/// A small change of a drawing with which another class is predicted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Counterfactual {
    pub class: u8,
    /// `None` if no small change was found.
    pub change: Option<Change>,
}

/// A change of a drawing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// Strokes to add, in the units of the drawing.
    pub added: Vec<Stroke>,
    /// The parts of strokes to erase.
    pub erased: Vec<Stroke>,
    /// The changed drawing.
    pub strokes: Vec<Stroke>,
    /// The probability of the class then, from 0 to 1.
    pub probability: f32,
}
