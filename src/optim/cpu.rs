//! An optimizer's step on the CPU: one pass in place over weights, gradients, slots and the running
//! average.
//!
//! The numbers of a parameter are split into chunks that threads share. The split does not depend
//! on the number of threads, and sums over chunks are added in their order, so results do not
//! either.

use candle_core::Result;
use rayon::prelude::*;

use super::adafactor::{Adafactor, OnCpu};
use super::optimizer::{
    Buffers, LazyScalar, MAX_SLOTS, OptimizerConfig, Snapshot, Update, slot_lens,
};
use super::rule::{Rule, Visitor, dispatch, langevin_noise};
use crate::nn::Parameter;
use crate::profiler::RecordedIterator;

/// An optimizer's numbers in this program's memory.
pub(super) struct CpuBuffers {
    parameters: Vec<Parameter>,
    slots: [Vec<Vec<f32>>; MAX_SLOTS],
    ema: Option<Vec<Vec<f32>>>,
}

impl CpuBuffers {
    pub fn new(
        config: &OptimizerConfig,
        parameters: &[Parameter],
        ema: Option<Vec<Vec<f32>>>,
    ) -> Self {
        let zeros = |slot: usize| {
            parameters
                .iter()
                .map(|parameter| vec![0.0; slot_lens(config, parameter)[slot]])
                .collect()
        };
        Self {
            parameters: parameters.to_vec(),
            slots: std::array::from_fn(zeros),
            ema,
        }
    }
}

impl Buffers for CpuBuffers {
    fn gradient_norm(&self) -> Result<LazyScalar> {
        let squares = self
            .parameters
            .iter()
            .map(|parameter| parameter.add_to_grad(|grad| squares(grad)));
        Ok(LazyScalar::Known(squares.sum::<Result<f64>>()?.sqrt()))
    }

    fn step(&mut self, config: &OptimizerConfig, update: &Update) -> Result<LazyScalar> {
        let factor = match update.clip {
            None => 1.0,
            Some(most) => {
                (most / (self.gradient_norm()?.read()? * f64::from(update.grad_scale)).max(most))
                    as f32
            }
        };
        let pass = Pass {
            buffers: self,
            config,
            update,
            grad_scale: update.grad_scale * factor,
        };
        let norm = dispatch(config, update.step, pass)?;
        Ok(LazyScalar::Known(norm * f64::from(update.grad_scale)))
    }

    fn zero_grad(&self) {
        for parameter in &self.parameters {
            parameter.zero_grad();
        }
    }

    fn swap_ema(&mut self) -> Result<()> {
        let Some(ema) = &mut self.ema else {
            return Ok(());
        };
        let mut both = self.parameters.iter().zip(ema);
        both.try_for_each(|(parameter, ema)| {
            parameter.update_values(|weights| weights.swap_with_slice(ema))
        })
    }

    fn read(&self) -> Result<Snapshot> {
        Ok(Snapshot {
            slots: self.slots.clone(),
            ema: self.ema.clone(),
        })
    }

    fn write(&mut self, Snapshot { slots, ema }: Snapshot) -> Result<()> {
        (self.slots, self.ema) = (slots, ema);
        Ok(())
    }
}

/// The pass over all parameters, which returns the norm their gradients had.
struct Pass<'a> {
    buffers: &'a mut CpuBuffers,
    config: &'a OptimizerConfig,
    update: &'a Update,
    grad_scale: f32,
}

impl Visitor for Pass<'_> {
    type Output = Result<f64>;

    fn visit<const SLOTS: usize>(self, rule: &impl Rule<SLOTS>) -> Result<f64> {
        let Self {
            buffers:
                CpuBuffers {
                    parameters,
                    slots,
                    ema,
                },
            config,
            update,
            grad_scale,
        } = self;
        let (mut chunk_index, mut sum) = (0, 0.0);
        for (index, parameter) in parameters.iter().enumerate() {
            let trainable = parameter.role().is_trainable();
            let decay = parameter.decay(config.weight_decay);
            parameter.update(|weights, grad| {
                let mut slots = slots.iter_mut().map(|slot| slot[index].as_mut_slice());
                let slots: [&mut [f32]; SLOTS] =
                    std::array::from_fn(|_| slots.next().unwrap_or_default());
                let ema = ema
                    .as_mut()
                    .map_or(&mut [][..], |ema| ema[index].as_mut_slice());
                let chunks = Chunk::split(chunk_index, weights, grad, slots, ema);
                let update = |chunk: Chunk<'_, SLOTS>| {
                    let ema_weight = update.ema_weight.unwrap_or_default();
                    if !trainable {
                        average(chunk.ema, chunk.weights, ema_weight);
                        return 0.0;
                    }
                    let noise = (config.seed, update.step.number);
                    pulp::Arch::new().dispatch(UpdateChunk {
                        rule,
                        chunk,
                        decay,
                        grad_scale,
                        ema_weight,
                        noise,
                    })
                };
                // Handing a single chunk to another thread would take longer than updating it.
                if chunks.len() == 1 {
                    sum += chunks.into_iter().map(update).sum::<f64>();
                } else {
                    sum += chunks
                        .into_par_iter()
                        .map_recorded(update)
                        .collect::<Vec<_>>()
                        .iter()
                        .sum::<f64>();
                }
            })?;
            chunk_index += count(parameter.len());
        }
        Ok(sum.sqrt())
    }

    fn visit_adafactor(self, rule: &Adafactor) -> Result<f64> {
        let Self {
            buffers:
                CpuBuffers {
                    parameters,
                    slots: [first, second],
                    ema,
                },
            config,
            update,
            grad_scale,
        } = self;
        let mut sum = 0.0;
        for (index, parameter) in parameters.iter().enumerate() {
            parameter.update(|weights, grad| {
                if parameter.role().is_trainable() {
                    sum += squares(grad);
                    let dims = parameter.dims();
                    let slots = [&mut first[index][..], &mut second[index][..]];
                    let decay = parameter.decay(config.weight_decay);
                    rule.update(OnCpu {
                        dims,
                        weights,
                        grad,
                        grad_scale,
                        slots,
                        decay,
                    });
                }
                if let Some(ema) = ema {
                    average(
                        &mut ema[index],
                        weights,
                        update.ema_weight.unwrap_or_default(),
                    );
                }
            })?;
        }
        Ok(sum.sqrt())
    }
}

/// Updates a chunk with the best instructions this CPU has, leaves its gradient at zero and adds
/// its weights to the average. Returns the sum of the squares its gradient had. What is computed
/// does not depend on which instructions these are.
struct UpdateChunk<'a, R, const SLOTS: usize> {
    rule: &'a R,
    chunk: Chunk<'a, SLOTS>,
    decay: f32,
    grad_scale: f32,
    ema_weight: f32,
    noise: (u64, u64),
}

impl<R: Rule<SLOTS>, const SLOTS: usize> pulp::NullaryFnOnce for UpdateChunk<'_, R, SLOTS> {
    type Output = f64;

    #[inline(always)]
    fn call(self) -> f64 {
        let Self {
            rule,
            chunk:
                Chunk {
                    index,
                    weights,
                    grad,
                    slots,
                    ema,
                },
            decay,
            grad_scale,
            ema_weight,
            noise: (seed, step),
        } = self;
        let squares = sum_of_squares(grad);
        let mut random = langevin_noise(seed, step, index);
        // Equal lengths that the compiler sees: it leaves out what checks them and computes many
        // weights at once.
        let len = weights.len();
        let grad = &mut grad[..len];
        let mut slots = slots.map(|slot| &mut slot[..len]);
        for i in 0..len {
            let old = std::array::from_fn(|slot| slots[slot][i]);
            let (weight, new) = rule.update(weights[i], grad_scale * grad[i], old, decay, || {
                random.normal()
            });
            weights[i] = weight;
            grad[i] = 0.0;
            for (slot, new) in slots.iter_mut().zip(new) {
                slot[i] = new;
            }
        }
        average(ema, weights, ema_weight);
        squares
    }
}

/// Moves the average towards the weights; nothing if there is none.
#[inline(always)]
fn average(ema: &mut [f32], weights: &[f32], weight: f32) {
    for (a, w) in ema.iter_mut().zip(weights) {
        *a += weight * (*w - *a);
    }
}

/// Numbers in a chunk: four arrays of them fit a core's own cache.
pub(super) const CHUNK: usize = 1 << 14;

/// The same numbers of a parameter in every array an update reads or writes.
pub(super) struct Chunk<'a, const SLOTS: usize> {
    /// Which chunk it is, counted over all parameters.
    pub index: u64,
    pub weights: &'a mut [f32],
    pub grad: &'a mut [f32],
    /// The numbers the optimizer keeps for them.
    pub slots: [&'a mut [f32]; SLOTS],
    /// Their running average; empty if there is none.
    pub ema: &'a mut [f32],
}

impl<'a, const SLOTS: usize> Chunk<'a, SLOTS> {
    /// Splits the arrays of one parameter; its chunks are counted from `index` on.
    pub fn split(
        index: u64,
        weights: &'a mut [f32],
        grad: &'a mut [f32],
        slots: [&'a mut [f32]; SLOTS],
        ema: &'a mut [f32],
    ) -> Vec<Self> {
        let mut slots = slots.map(|slot| slot.chunks_mut(CHUNK));
        let mut ema = ema.chunks_mut(CHUNK);
        let weights = weights.chunks_mut(CHUNK).zip(grad.chunks_mut(CHUNK));
        (index..)
            .zip(weights)
            .map(|(index, (weights, grad))| Chunk {
                index,
                weights,
                grad,
                slots: slots.each_mut().map(|slot| slot.next().unwrap_or_default()),
                ema: ema.next().unwrap_or_default(),
            })
            .collect()
    }
}

/// The number of chunks of a parameter with this many numbers.
pub(super) const fn count(len: usize) -> u64 {
    len.div_ceil(CHUNK) as u64
}

/// The sum of the squares of a chunk; not finite exactly if one of its numbers is not (or is beyond
/// 1e18).
#[inline(always)]
pub(super) fn sum_of_squares(values: &[f32]) -> f64 {
    const LANES: usize = 32;
    let mut lanes = [0.0_f32; LANES];
    let (blocks, rest) = values.as_chunks::<LANES>();
    for block in blocks {
        for (lane, value) in lanes.iter_mut().zip(block) {
            *lane += value * value;
        }
    }
    let sum = |squares: &mut dyn Iterator<Item = f32>| squares.map(f64::from).sum::<f64>();
    sum(&mut lanes.into_iter()) + sum(&mut rest.iter().map(|value| value * value))
}

/// The sum of the squares of any count of numbers.
pub(super) fn squares(values: &[f32]) -> f64 {
    let chunks: Vec<f64> = values
        .par_chunks(CHUNK)
        .map_recorded(|chunk| pulp::Arch::new().dispatch(Squares(chunk)))
        .collect();
    chunks.iter().sum()
}

/// A separate type: what is in a closure is not compiled for the instructions it is dispatched
/// to.
struct Squares<'a>(&'a [f32]);

impl pulp::NullaryFnOnce for Squares<'_> {
    type Output = f64;

    #[inline(always)]
    fn call(self) -> f64 {
        sum_of_squares(self.0)
    }
}
