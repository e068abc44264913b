//! Runs that are repeated: the same settings with other seeds, so that what is due to chance shows.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::RunConfig;

/// Which of several repeated runs this is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Repetition {
    /// When the first of them was started, RFC 3339 in UTC: those with the same time belong
    /// together.
    pub begun: String,
    /// From 1.
    pub number: u32,
}

impl RunConfig {
    /// The runs that these settings ask for, each with the seed after the one before. They belong
    /// together by `begun`, the time now.
    pub fn repetitions(&self, begun: &str) -> Vec<Self> {
        let first = Self {
            repetition: None,
            ..self.clone()
        };
        if self.repeats <= 1 {
            return vec![first];
        }
        let repetition = Some(Repetition {
            begun: begun.to_owned(),
            number: 1,
        });
        let first = Self {
            repetition,
            ..first
        };
        let rest = first.next_repetitions();
        [vec![first], rest].concat()
    }

    /// Those that come after this one.
    pub fn next_repetitions(&self) -> Vec<Self> {
        let Some(Repetition { begun, number }) = &self.repetition else {
            return Vec::new();
        };
        let later = number.saturating_add(1)..=self.repeats;
        let run = |later: u32| Self {
            seed: self.seed.wrapping_add(u64::from(later - number)),
            repetition: Some(Repetition {
                begun: begun.clone(),
                number: later,
            }),
            ..self.clone()
        };
        later.map(run).collect()
    }
}
