//! Owns sums of losses and right answers over a step or an epoch. Must not know how they are computed.

use candle_core::{Result, Tensor};

/// Sums over a step or an epoch.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    /// Of the losses of its parts.
    pub loss: f64,
    /// Right answers.
    pub hits: f64,
    /// Images seen.
    pub images: usize,
    /// Steps added.
    pub steps: u32,
}

impl Tally {
    /// Adds what `cross_entropy` gave for so many images.
    pub fn add(&mut self, loss_and_hits: &Tensor, images: usize) -> Result<()> {
        if let [loss, hits] = loss_and_hits.to_vec1::<f32>()?.as_slice() {
            self.loss += f64::from(*loss);
            self.hits += f64::from(*hits);
            self.images += images;
        }
        Ok(())
    }

    /// Adds a whole step.
    pub fn add_step(&mut self, step: &Self) {
        self.loss += step.loss;
        self.hits += step.hits;
        self.images += step.images;
        self.steps += 1;
    }

    /// Mean of the steps' losses.
    pub fn mean_loss(&self) -> f32 {
        (self.loss / f64::from(self.steps.max(1))) as f32
    }

    /// Share of right answers.
    pub fn accuracy(&self) -> f32 {
        (self.hits / self.images.max(1) as f64) as f32
    }
}
