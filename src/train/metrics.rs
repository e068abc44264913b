//! Loss and accuracy of a step, and summed over an epoch.

use candle_core::{Result, Tensor};
use serde::{Deserialize, Serialize};

use crate::nn::BackendKind;

/// Sums over a step or an epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Metrics {
    /// Of a step: its loss. Of an epoch: the sum of its steps'.
    pub loss: f64,
    /// Images classified correctly.
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

    /// Share of images classified correctly.
    pub fn accuracy(&self) -> f32 {
        (self.correct / self.images.max(1) as f64) as f32
    }
}

/// Adds up the metrics of a step's micro-batches: on a GPU without waiting for it.
#[derive(Clone, Debug)]
pub struct MetricAccumulator {
    backend: BackendKind,
    /// Loss and correct images that are known.
    known: [f64; 2],
    /// `[loss, correct]` that a GPU computes.
    on_device: Option<Tensor>,
    /// Images seen.
    pub images: usize,
}

impl MetricAccumulator {
    /// Of nothing yet.
    pub const fn new(backend: BackendKind) -> Self {
        Self {
            backend,
            known: [0.0; 2],
            on_device: None,
            images: 0,
        }
    }

    /// Adds what `cross_entropy` gave for this many images.
    pub fn add(&mut self, loss_and_correct: &Tensor, images: usize) -> Result<()> {
        self.images += images;
        match (self.backend, self.on_device.take()) {
            (BackendKind::Cpu, _) => self.add_known(&loss_and_correct.to_vec1()?),
            (_, None) => self.on_device = Some(loss_and_correct.detach()),
            (_, Some(sums)) => self.on_device = Some((sums + loss_and_correct.detach())?),
        }
        Ok(())
    }

    /// `[loss, correct]` where a GPU computes them.
    pub const fn on_device(&self) -> Option<&Tensor> {
        self.on_device.as_ref()
    }

    /// The metrics of the step. Waits for the device.
    pub fn read(mut self) -> Result<Metrics> {
        if let Some(sums) = self.on_device.take() {
            self.add_known(&sums.to_vec1()?);
        }
        let [loss, correct] = self.known;
        Ok(Metrics {
            loss,
            correct,
            images: self.images,
            steps: 0,
        })
    }

    fn add_known(&mut self, sums: &[f32]) {
        for (known, sum) in self.known.iter_mut().zip(sums) {
            *known += f64::from(*sum);
        }
    }
}
