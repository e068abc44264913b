//! Which epoch's weights become the model, and when to stop waiting for a better one.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::math::packed;
use crate::nn::Net;
use crate::records::{Calibration, EpochRecord};

/// The state after an epoch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EpochWeights {
    /// Its metrics.
    pub record: EpochRecord,
    /// Weights and buffers of the network.
    #[serde(with = "packed")]
    pub weights: Vec<Vec<f32>>,
    /// What was fitted for these weights on the validation split.
    #[serde(flatten)]
    pub calibration: Calibration,
}

/// The weights of the last epoch, or with early stopping of the best one.
pub struct BestCheckpoint {
    patience: Option<u32>,
    best: Option<Arc<EpochWeights>>,
}

impl BestCheckpoint {
    /// With `patience`, waits this many epochs for a better one than `best`.
    pub const fn new(patience: Option<u32>, best: Option<Arc<EpochWeights>>) -> Self {
        Self { patience, best }
    }

    /// Takes the weights of an epoch if they are to be kept.
    pub fn offer(
        &mut self,
        record: &EpochRecord,
        net: &Net,
        calibration: Calibration,
    ) -> candle_core::Result<()> {
        if self.patience.is_none()
            || self
                .best
                .as_ref()
                .is_none_or(|best| is_better(record, &best.record))
        {
            self.best = Some(Arc::new(EpochWeights {
                record: *record,
                weights: net.weights()?,
                calibration,
            }));
        }
        Ok(())
    }

    /// The best epoch, if patience for a better one is exhausted after `epoch`.
    pub fn patience_exhausted(&self, epoch: u32) -> Option<u32> {
        let best = self.best.as_ref()?.record.epoch;
        self.patience
            .is_some_and(|patience| epoch - best >= patience)
            .then_some(best)
    }

    /// The epoch that is kept; `None` before the first is completed.
    pub fn best(&self) -> Option<Arc<EpochWeights>> {
        self.best.clone()
    }
}

/// A higher validation accuracy, or the same with a lower loss.
fn is_better(record: &EpochRecord, than: &EpochRecord) -> bool {
    let [new, old] =
        [record, than].map(|record| (record.validation_accuracy, -record.validation_loss));
    new > old
}
