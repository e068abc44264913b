//! Owns which epoch's weights a run keeps, and when it has waited long enough for a better one.
//! Must not know how an epoch is measured.

use serde::{Deserialize, Serialize};

use crate::nn::Net;
use crate::records::EpochRecord;

/// The state after an epoch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BestEpoch {
    /// Its figures.
    pub record: EpochRecord,
    /// Weights and buffers.
    pub weights: Vec<Vec<f32>>,
    /// 99 % of the validation images have a digit score of at least this.
    pub digit_threshold: f32,
}

/// Keeps the last epoch, or with a patience the best one.
pub struct BestCheckpoint {
    patience: Option<u32>,
    kept: Option<BestEpoch>,
}

impl BestCheckpoint {
    /// One that waits so many epochs for a better validation, and keeps this until then.
    pub const fn new(patience: Option<u32>, kept: Option<BestEpoch>) -> Self {
        Self { patience, kept }
    }

    /// Takes in an epoch that is over.
    pub fn offer(&mut self, record: &EpochRecord, net: &Net, digit_threshold: f32) -> candle_core::Result<()> {
        if self.patience.is_none() || self.kept.as_ref().is_none_or(|kept| is_better(record, &kept.record)) {
            self.kept = Some(BestEpoch { record: *record, weights: net.weights()?, digit_threshold });
        }
        Ok(())
    }

    /// The best epoch, if by this one it has waited for a better one long enough.
    pub fn patience_exhausted(&self, epoch: u32) -> Option<u32> {
        let best = self.kept.as_ref()?.record.epoch;
        self.patience.is_some_and(|patience| epoch - best >= patience).then_some(best)
    }

    /// What is kept, if any epoch was completed.
    pub const fn kept(&self) -> Option<&BestEpoch> {
        self.kept.as_ref()
    }

    /// What was kept, if any epoch was completed.
    pub fn into_kept(self) -> Option<BestEpoch> {
        self.kept
    }
}

/// More of the validation images are read rightly, or as many with a lower loss.
fn is_better(record: &EpochRecord, than: &EpochRecord) -> bool {
    let [new, old] = [record, than].map(|record| (record.validation_accuracy, -record.validation_loss));
    new > old
}
