//! What came of fine-tuning a model on a person's own drawings.

use serde::{Deserialize, Serialize};

use super::{Accuracy, RunSummary};
use crate::run_config::DataSpec;

/// An accuracy before and after.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BeforeAfter {
    /// Images classified.
    pub images: u64,
    /// How many of them correctly, before.
    pub before: u64,
    /// How many of them correctly, after.
    pub after: u64,
}

impl BeforeAfter {
    /// The accuracy before, from 0 to 1.
    pub fn before(self) -> f64 {
        self.before as f64 / self.images.max(1) as f64
    }

    /// The accuracy after, from 0 to 1.
    pub fn after(self) -> f64 {
        self.after as f64 / self.images.max(1) as f64
    }
}

/// What came of fine-tuning a model on a person's own drawings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FineTuned {
    /// On all of the drawings.
    pub mine: BeforeAfter,
    /// On those of them that it did not learn from; `None` where there were too few to keep any
    /// apart.
    pub held_out: Option<BeforeAfter>,
    /// On images of the data it learned from before, which it has not learned from.
    pub old: BeforeAfter,
    /// That data.
    pub old_data: DataSpec,
    /// The accuracy that stood for the model before.
    pub before: Option<Accuracy>,
    /// The model that was saved, measured on test images afterwards; `None` if it was not taken
    /// over because it had become worse.
    pub saved: Option<Box<RunSummary>>,
    /// How long it took, in seconds.
    pub seconds: f32,
}

impl FineTuned {
    /// The part of the old images that may be lost: 0.2 points.
    pub const TOLERANCE: f64 = 0.002;

    /// True if the model lost no more of the old data than [`Self::TOLERANCE`], and none of the
    /// drawings.
    pub fn is_better(&self) -> bool {
        let no_worse = |figures: BeforeAfter| figures.after >= figures.before;
        self.old.after() >= self.old.before() - Self::TOLERANCE
            && no_worse(self.mine)
            && self.held_out.is_none_or(no_worse)
    }
}
