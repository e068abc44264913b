//! Steps that were taken without waiting for their loss and gradient norm.
//!
//! A GPU computes ahead while the next steps are queued: their figures are read together, a few
//! times per displayed frame. On the CPU they are known at once.

use std::time::{Duration, Instant};

use candle_core::{Result, Tensor};

use super::metrics::{MetricAccumulator, Metrics};
use super::step_report::CompletedStep;
use crate::optim::LazyScalar;

/// The longest that steps stay unread, and the most of them.
const MAX_AGE: Duration = Duration::from_millis(40);
const MAX_STEPS: usize = 64;

struct PendingStep {
    step: u64,
    learning_rate: f32,
    images: usize,
    figures: Figures,
}

/// Loss, correct images and gradient norm.
enum Figures {
    Known([f64; 3]),
    OnDevice(Tensor),
}

/// The steps that are not read yet, oldest first.
pub struct PendingSteps {
    steps: Vec<PendingStep>,
    last_read: Instant,
}

impl PendingSteps {
    /// None yet.
    pub fn new() -> Self {
        Self {
            steps: Vec::new(),
            last_read: Instant::now(),
        }
    }

    /// Adds a step with the norm of its gradients.
    pub fn push(
        &mut self,
        step: u64,
        learning_rate: f32,
        metrics: MetricAccumulator,
        norm: LazyScalar,
    ) -> Result<()> {
        let images = metrics.images;
        let figures = match (norm, metrics.on_device()) {
            (LazyScalar::OnDevice(norm), Some(sums)) => {
                Figures::OnDevice(Tensor::cat(&[sums, &norm.reshape(1)?], 0)?)
            }
            (norm, _) => {
                let Metrics { loss, correct, .. } = metrics.read()?;
                Figures::Known([loss, correct, norm.read()?])
            }
        };
        self.steps.push(PendingStep {
            step,
            learning_rate,
            images,
            figures,
        });
        Ok(())
    }

    /// True when they should be read: when that takes no waiting, or they have waited long enough.
    pub fn are_due(&self) -> bool {
        let known = self
            .steps
            .last()
            .is_some_and(|step| matches!(step.figures, Figures::Known(_)));
        known || self.steps.len() >= MAX_STEPS || self.last_read.elapsed() >= MAX_AGE
    }

    /// All of them, each with the norm of its gradients; none are left. Waits for the device.
    pub fn read(&mut self) -> Result<Vec<(CompletedStep, f64)>> {
        self.last_read = Instant::now();
        let steps = std::mem::take(&mut self.steps);
        let on_device = steps.iter().filter_map(|step| match &step.figures {
            Figures::OnDevice(figures) => Some(figures),
            Figures::Known(_) => None,
        });
        // One transfer for all.
        let on_device: Vec<&Tensor> = on_device.collect();
        let rows = if on_device.is_empty() {
            Vec::new()
        } else {
            Tensor::stack(&on_device, 0)?.to_vec2::<f32>()?
        };
        let mut rows = rows.into_iter();
        let read = |PendingStep {
                        step,
                        learning_rate,
                        images,
                        figures,
                    }| {
            let [loss, correct, norm] = match figures {
                Figures::Known(figures) => figures,
                Figures::OnDevice(_) => {
                    let row = rows.next().unwrap_or_default();
                    std::array::from_fn(|index| {
                        row.get(index).map_or(f64::NAN, |&figure| f64::from(figure))
                    })
                }
            };
            (
                CompletedStep {
                    step,
                    learning_rate,
                    metrics: Metrics {
                        loss,
                        correct,
                        images,
                        steps: 0,
                    },
                },
                norm,
            )
        };
        Ok(steps.into_iter().map(read).collect())
    }

    /// Forgets them: they were rolled back.
    pub fn clear(&mut self) {
        self.steps.clear();
    }
}
