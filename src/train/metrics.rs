//! Owns sums of losses and right answers over a step or an epoch. Must not know how they are computed.

use candle_core::{Result, Tensor};

use crate::device::Kernels;

/// MetricAccumulator over a step or an epoch.
#[derive(Clone, Copy, Debug, Default)]
pub struct Metrics {
    /// Of the losses of its parts.
    pub loss: f64,
    /// Right answers.
    pub correct: f64,
    /// Images seen.
    pub images: usize,
    /// Steps added.
    pub steps: u32,
}

impl Metrics {
    /// Adds a whole step.
    pub fn add_step(&mut self, step: &Self) {
        self.loss += step.loss;
        self.correct += step.correct;
        self.images += step.images;
        self.steps += 1;
    }

    /// Mean of the steps' losses.
    pub fn mean_loss(&self) -> f32 {
        (self.loss / f64::from(self.steps.max(1))) as f32
    }

    /// Share of right answers.
    pub fn accuracy(&self) -> f32 {
        (self.correct / self.images.max(1) as f64) as f32
    }
}

/// The sums of a step under way, which stay on the device where candle's ops compute.
#[derive(Clone, Debug)]
pub struct MetricAccumulator {
    kernels: Kernels,
    /// Losses and right answers read so far.
    known: [f64; 2],
    /// Those yet to be read, added up.
    there: Option<Tensor>,
    /// Images seen.
    pub images: usize,
}

impl MetricAccumulator {
    /// Of nothing yet.
    pub const fn new(kernels: Kernels) -> Self {
        Self { kernels, known: [0.0; 2], there: None, images: 0 }
    }

    /// Adds what `cross_entropy` gave for so many images.
    pub fn add(&mut self, loss_and_correct: &Tensor, images: usize) -> Result<()> {
        self.images += images;
        match (self.kernels, self.there.take()) {
            (Kernels::Ours, _) => self.take_in(&loss_and_correct.to_vec1()?),
            (_, None) => self.there = Some(loss_and_correct.detach()),
            (_, Some(sums)) => self.there = Some((sums + loss_and_correct.detach())?),
        }
        Ok(())
    }

    /// `[loss, correct]` on the device, where they are there.
    pub const fn there(&self) -> Option<&Tensor> {
        self.there.as_ref()
    }

    /// The sums. Waits for the device.
    pub fn read(mut self) -> Result<Metrics> {
        if let Some(sums) = self.there.take() {
            self.take_in(&sums.to_vec1()?);
        }
        let [loss, correct] = self.known;
        Ok(Metrics { loss, correct, images: self.images, steps: 0 })
    }

    fn take_in(&mut self, sums: &[f32]) {
        for (known, sum) in self.known.iter_mut().zip(sums) {
            *known += f64::from(*sum);
        }
    }
}
