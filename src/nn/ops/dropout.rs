//! Owns inverted dropout (Srivastava et al. 2014). Must not know when it is used: reading leaves it out.

use candle_core::{CpuStorage, CustomOp1, Device, Layout, Result, Shape, Tensor};
use rayon::prelude::*;

use super::{Context, PIECE, elsewhere, floats, tape, with_floats};
use crate::math::random::Random;

/// Sets each number to 0 with this probability (0 ≤ p < 1) and multiplies the others by `1 / (1 - p)`.
pub fn dropout(x: &Tensor, probability: f32, random: &mut Random, context: Context) -> Result<Tensor> {
    let draw = Draw::new(probability, random);
    if context.is_elsewhere() {
        elsewhere::dropout(x, draw, context)
    } else {
        tape::apply1(x, Dropout { factors: draw.factors(x.elem_count()) }, context.gradient)
    }
}

/// Which numbers are dropped, the same on every device: sixteen bits decide well enough, so that one draw serves four numbers.
#[derive(Clone, Copy, Debug)]
pub struct Draw {
    /// Of `Random::at`.
    pub seed: u64,
    /// Of 65,536 values of these bits, those that drop a number: the lowest.
    pub dropped: u32,
    /// What is not dropped is multiplied by this.
    pub scale: f32,
}

impl Draw {
    fn new(probability: f32, random: &mut Random) -> Self {
        Self { seed: random.next_u64(), dropped: (probability * 65536.0).round() as u32, scale: 1.0 / (1.0 - probability) }
    }

    /// What each of so many numbers is multiplied by.
    pub fn factors(self, count: usize) -> Vec<f32> {
        let mut factors = vec![self.scale; count];
        factors.par_chunks_mut(PIECE).enumerate().for_each(|(piece, factors)| {
            for (index, four) in (piece * PIECE / 4..).zip(factors.chunks_mut(4)) {
                let bits = Random::at(self.seed, index as u64);
                for (factor, shift) in four.iter_mut().zip([0, 16, 32, 48]) {
                    *factor = if (bits >> shift & 0xffff) < u64::from(self.dropped) { 0.0 } else { self.scale };
                }
            }
        });
        factors
    }
}

struct Dropout {
    factors: Vec<f32>,
}

impl Dropout {
    fn apply(&self, values: &[f32]) -> Vec<f32> {
        let mut result = vec![0.0; values.len()];
        let pieces = result.par_chunks_mut(PIECE).zip(values.par_chunks(PIECE)).zip(self.factors.par_chunks(PIECE));
        pieces.for_each(|((result, values), factors)| {
            result.iter_mut().zip(values).zip(factors).for_each(|((result, value), factor)| *result = value * factor);
        });
        result
    }
}

impl CustomOp1 for Dropout {
    fn name(&self) -> &'static str {
        "dropout"
    }

    fn cpu_fwd(&self, x: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        Ok((CpuStorage::F32(self.apply(floats(x, layout)?)), layout.shape().clone()))
    }

    fn bwd(&self, x: &Tensor, _result: &Tensor, gradient: &Tensor) -> Result<Option<Tensor>> {
        let values = with_floats(gradient, |gradient| Ok(self.apply(gradient)))?;
        Tensor::from_vec(values, x.shape(), &Device::Cpu).map(Some)
    }
}
