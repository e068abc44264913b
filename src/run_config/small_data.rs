//! Settings that fit little data: those of the presets are meant for tens of thousands of images.

use super::RunConfig;

/// Fewer steps than this teach a network little.
const STEPS: u64 = 400;
/// Batches of an epoch there are to be, so that a batch is a sample and not the whole set.
const BATCHES: u64 = 4;
/// A smaller batch says too little of the gradient.
const MIN_BATCH: u64 = 8;
/// No more epochs than this, however few images there are.
const MAX_EPOCHS: u64 = 200;

/// What a person has chosen, and what may therefore not be changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Chosen {
    /// The batch size.
    pub batch_size: bool,
    /// The epochs.
    pub epochs: bool,
}

impl RunConfig {
    /// The same for this many training images: a smaller batch where it would be more than a
    /// quarter of them, and more epochs where there would be few steps. `None` if it fits already.
    pub fn fit_to(&self, images: u64, chosen: Chosen) -> Option<Self> {
        let mut fitted = self.clone();
        if !chosen.batch_size && u64::from(self.batch_size) > images / BATCHES {
            let share = (images / BATCHES).max(MIN_BATCH).min(images).max(1);
            // The largest power of two that is no larger.
            fitted.batch_size = self.batch_size.min(1 << share.ilog2().min(31));
        }
        let steps =
            images.div_ceil((u64::from(fitted.batch_size) * u64::from(self.accumulation)).max(1));
        if !chosen.epochs && steps > 0 && steps * u64::from(self.epochs) < STEPS {
            let epochs = STEPS.div_ceil(steps).min(MAX_EPOCHS) as u32;
            fitted.epochs = self.epochs.max(epochs);
        }
        fitted.preset = fitted.matching_preset();
        ((fitted.batch_size, fitted.epochs) != (self.batch_size, self.epochs)).then_some(fitted)
    }
}
