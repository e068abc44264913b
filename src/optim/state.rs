//! An optimiser's state as checkpoints store it.

use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};

use super::config::OptimizerConfig;
use crate::math::packed;
use crate::nn::Parameter;

/// The most numbers an optimiser keeps for each weight, or each row and column.
pub(super) const MAX_SLOTS: usize = 2;

/// What an optimiser keeps from step to step.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(from = "Stored")]
pub struct OptimizerState {
    /// Steps taken.
    pub(super) steps: u64,
    /// Each slot's numbers for each parameter; empty for slots the optimiser does not have and for
    /// parameters it does not update.
    pub(super) slots: [Vec<Vec<f32>>; MAX_SLOTS],
}

impl OptimizerState {
    /// True when it can be the state of this optimiser of these parameters.
    pub fn fits(&self, config: &OptimizerConfig, parameters: &[Parameter]) -> bool {
        self.slots.iter().enumerate().all(|(slot, numbers)| {
            numbers.iter().map(Vec::len).eq(parameters
                .iter()
                .map(|parameter| slot_lens(config, parameter)[slot]))
        })
    }
}

/// How many numbers each slot has for a parameter.
pub(super) fn slot_lens(config: &OptimizerConfig, parameter: &Parameter) -> [usize; MAX_SLOTS] {
    if parameter.role().is_trainable() {
        config.slot_lens(parameter.dims())
    } else {
        [0; MAX_SLOTS]
    }
}

/// The slots' names in files.
#[derive(Deserialize)]
struct Stored {
    steps: u64,
    #[serde(with = "packed")]
    first: Vec<Vec<f32>>,
    #[serde(with = "packed")]
    second: Vec<Vec<f32>>,
}

impl From<Stored> for OptimizerState {
    fn from(
        Stored {
            steps,
            first,
            second,
        }: Stored,
    ) -> Self {
        Self {
            steps,
            slots: [first, second],
        }
    }
}

// Not through `Stored`: that would copy what is as large as the model.
impl Serialize for OptimizerState {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let [first, second] = &self.slots;
        let mut state = serializer.serialize_struct("OptimizerState", 3)?;
        state.serialize_field("steps", &self.steps)?;
        state.serialize_field("first", &packed::Rows(first))?;
        state.serialize_field("second", &packed::Rows(second))?;
        state.end()
    }
}
