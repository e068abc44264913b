//! What somebody does to a run while it trains, and one of its steps as it is looked at closely.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::text::format::grouped;

/// A change of the learning rate while a run trains.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct LearningRateChange {
    /// Steps that were done.
    pub step: u64,
    /// The factor on the scheduled learning rate in the steps after that.
    pub factor: f32,
}

impl LearningRateChange {
    /// The smallest and the largest factor.
    pub const FACTORS: [f32; 2] = [0.01, 100.0];

    /// "× 0.1 after step 300".
    pub fn phrase(&self) -> String {
        format!("× {} after step {}", self.factor, grouped(self.step))
    }

    /// Its label in plots: "rate × 0.1".
    pub fn label(&self) -> String {
        format!("rate × {}", self.factor)
    }

    /// True if the factor is one that is allowed.
    pub fn is_valid(&self) -> bool {
        let [least, most] = Self::FACTORS;
        (least..=most).contains(&self.factor)
    }
}

/// A unit with weights: a filter of a convolution, or a row of a dense layer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnitName {
    /// The name of the layer's parameters.
    pub layer: String,
    /// The index in the layer.
    pub unit: usize,
}

/// One optimizer step, and what it did to a unit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SingleStep {
    /// Its number, from 1.
    pub step: u64,
    /// The learning rate of the update.
    pub learning_rate: f32,
    /// Images of the batch.
    pub images: usize,
    /// Mean cross-entropy of the batch before and after the update, in nats.
    pub losses: [f32; 2],
    /// The unit that was asked for; `None` if there is none with weights.
    pub unit: Option<UnitUpdate>,
}

/// A unit before and after a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnitUpdate {
    /// Which unit.
    pub name: UnitName,
    /// Its weights, in the order of the model file.
    pub weights: Update,
    /// Its bias, one number; `None` if it has none.
    pub bias: Option<Update>,
}

/// Parameters before and after a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Update {
    /// The numbers before it.
    pub before: Vec<f32>,
    /// The gradient of the loss with respect to each.
    pub gradient: Vec<f32>,
    /// The numbers after it.
    pub after: Vec<f32>,
}

impl Update {
    /// The update of each number.
    pub fn change(&self) -> Vec<f32> {
        let both = self.after.iter().zip(&self.before);
        both.map(|(after, before)| after - before).collect()
    }
}
