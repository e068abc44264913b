//! Owns the end of a residual block: the sum of two branches, optionally with an activation. Must not know the branches.

use candle_core::{CpuStorage, CustomOp2, Device, Layout, Result, Shape, Tensor};
use rayon::prelude::*;

use super::activation::{apply, apply_slope};
use super::kernels::Scratch;
use super::{Context, PIECE, elsewhere, floats, tape, vectorized, with_floats, with_slices};
use crate::run_config::Activation;

/// `activation(a + b)`, or the sum itself; the shapes are the same.
pub fn add(a: &Tensor, b: &Tensor, activation: Option<Activation>, context: Context) -> Result<Tensor> {
    if a.dims() != b.dims() {
        candle_core::bail!("branches of shapes {:?} and {:?} cannot be added", a.shape(), b.shape());
    }
    if context.is_elsewhere() {
        return elsewhere::add(a, b, activation, context);
    }
    let op = Add { activation };
    tape::apply2(a, b, op, context.gradient)
}

struct Add {
    activation: Option<Activation>,
}

/// `sums = a + b`.
pub fn sum_into(sums: &mut [f32], a: &[f32], b: &[f32]) {
    vectorized!(sums.iter_mut().zip(a).zip(b).for_each(|((sum, a), b)| *sum = a + b));
}

impl CustomOp2 for Add {
    fn name(&self) -> &'static str {
        "add"
    }

    fn cpu_fwd(&self, a: &CpuStorage, a_layout: &Layout, b: &CpuStorage, b_layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let (a, b) = (floats(a, a_layout)?, floats(b, b_layout)?);
        let mut result = vec![0.0; a.len()];
        let pieces = result.par_chunks_mut(PIECE).zip(a.par_chunks(PIECE)).zip(b.par_chunks(PIECE));
        pieces.for_each(|((result, a), b)| {
            sum_into(result, a, b);
            if let Some(activation) = self.activation {
                apply(activation, result);
            }
        });
        Ok((CpuStorage::F32(result), a_layout.shape().clone()))
    }

    fn bwd(&self, a: &Tensor, b: &Tensor, _result: &Tensor, gradient: &Tensor) -> Result<(Option<Tensor>, Option<Tensor>)> {
        let gradient = match self.activation {
            None => gradient.clone(),
            Some(activation) => {
                let mut values = with_floats(gradient, |gradient| Ok(gradient.to_vec()))?;
                with_slices([a, b], |[a, b]| {
                    let pieces = values.par_chunks_mut(PIECE).zip(a.par_chunks(PIECE)).zip(b.par_chunks(PIECE));
                    pieces.for_each(|((values, a), b)| {
                        let mut sums = Scratch::new(values.len());
                        sum_into(&mut sums, a, b);
                        apply_slope(activation, &sums, values);
                    });
                })?;
                Tensor::from_vec(values, a.shape(), &Device::Cpu)?
            }
        };
        Ok((a.track_op().then(|| gradient.clone()), b.track_op().then_some(gradient)))
    }
}
