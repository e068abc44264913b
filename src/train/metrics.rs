//! Loss and accuracy of steps, and summed over an epoch.
//!
//! A GPU computes ahead while the next steps are queued: their figures are read together, a few
//! times per displayed frame. On the CPU they are known immediately.

use std::time::{Duration, Instant};

use candle_core::{Result, Tensor};
use serde::{Deserialize, Serialize};

use crate::nn::BackendKind;
use crate::optim::LazyScalar;
use crate::records::Intervention;

/// Sums over a step or an epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Metrics {
    /// Of a step: its loss. Of an epoch: the sum of its steps'.
    pub loss: f64,
    pub correct: f64,
    pub images: usize,
    pub steps: u32,
}

impl Metrics {
    pub fn add_step(&mut self, step: &Self) {
        self.loss += step.loss;
        self.correct += step.correct;
        self.images += step.images;
        self.steps += 1;
    }

    pub fn mean_loss(&self) -> f32 {
        (self.loss / f64::from(self.steps.max(1))) as f32
    }

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
    pub images: usize,
}

impl MetricAccumulator {
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

    /// `[loss, correct]` if a GPU computes them.
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

#[derive(Clone, Copy, Debug)]
pub struct CompletedStep {
    pub step: u64,
    pub learning_rate: f32,
    pub metrics: Metrics,
}

/// News about steps.
#[derive(Clone, Debug, Default)]
pub struct StepReport {
    /// Steps that count, oldest first.
    pub completed: Vec<CompletedStep>,
    /// The change after them that lets training continue.
    pub intervention: Option<Intervention>,
}

impl StepReport {
    /// This, and what became known later.
    pub fn and(mut self, later: Self) -> Self {
        self.completed.extend(later.completed);
        Self {
            completed: self.completed,
            intervention: later.intervention.or(self.intervention),
        }
    }
}
