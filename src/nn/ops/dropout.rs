//! Owns inverted dropout (Srivastava et al. 2014). Must not know when it is used: reading leaves it out.

use candle_core::{CpuStorage, CustomOp1, Device, Layout, Result, Shape, Tensor};
use rayon::prelude::*;

use super::{Context, PIECE, floats, tape, with_floats};
#[cfg(feature = "cuda")]
use super::{Kernels, cuda};
use crate::random::Random;

/// What the factors are drawn for.
const PURPOSE: &str = "dropout";

/// Sets each number to 0 with this probability (0 ≤ p < 1) and multiplies the others by `1 / (1 - p)`.
pub fn dropout(x: &Tensor, probability: f32, random: &mut Random, context: Context) -> Result<Tensor> {
    let scale = 1.0 / (1.0 - probability);
    // Sixteen bits decide well enough; one draw serves four numbers.
    let dropped = (probability * 65536.0).round() as u64;
    let seed = random.next_u64();
    #[cfg(feature = "cuda")]
    if context.kernels == Kernels::Cuda {
        return cuda::dropout(x, Random::purpose(seed, PURPOSE), dropped as u32, scale, context);
    }
    let mut factors = vec![scale; x.elem_count()];
    factors.par_chunks_mut(PIECE).enumerate().for_each(|(index, piece)| {
        let mut random = Random::stream(seed, PURPOSE, index as u64);
        for four in piece.chunks_mut(4) {
            let bits = random.next_u64();
            for (factor, shift) in four.iter_mut().zip([0, 16, 32, 48]) {
                *factor = if (bits >> shift & 0xffff) < dropped { 0.0 } else { scale };
            }
        }
    });
    if context.is_elsewhere() {
        return x * Tensor::from_vec(factors, x.shape(), x.device())?;
    }
    tape::apply1(x, Dropout { factors }, context.gradient)
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
