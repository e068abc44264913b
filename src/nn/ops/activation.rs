//! Owns the nonlinearities between layers and their slopes. Must not know which layer uses one.

use candle_core::{CpuStorage, CustomOp1, Device, Layout, Result, Shape, Tensor};
use rayon::prelude::*;

use super::elementary::{logistic, normal, tanh};
use super::{Context, PIECE, elsewhere, floats, tape, vectorized, with_floats};
use crate::run_config::Activation;

/// The slope of leaky `ReLU` below zero: `torch.nn.LeakyReLU`'s.
const LEAK: f32 = 0.01;

/// The activation of every number of `x`.
pub fn activate(x: &Tensor, activation: Activation, context: Context) -> Result<Tensor> {
    if context.is_elsewhere() {
        return elsewhere::activate(x, activation, context);
    }
    let op = Activate { activation };
    tape::apply1(x, op, context.gradient)
}

/// Replaces every number by its activation.
pub fn apply(activation: Activation, values: &mut [f32]) {
    vectorized!(match activation {
        Activation::Relu => values.iter_mut().for_each(|x| *x = if *x <= 0.0 { 0.0 } else { *x }),
        Activation::LeakyRelu => values.iter_mut().for_each(|x| *x = if *x <= 0.0 { LEAK * *x } else { *x }),
        Activation::Gelu => values.iter_mut().for_each(|x| *x *= normal(*x).0),
        Activation::Silu => values.iter_mut().for_each(|x| *x *= logistic(*x)),
        Activation::Tanh => values.iter_mut().for_each(|x| *x = tanh(*x)),
    });
}

/// Multiplies each gradient of a result by the activation's slope at `x`, what it was applied to. `ReLU` and its leaky form
/// have at 0 the slope from below.
pub fn apply_slope(activation: Activation, x: &[f32], gradient: &mut [f32]) {
    let pairs = x.iter().zip(gradient);
    vectorized!(match activation {
        Activation::Relu => pairs.for_each(|(&x, g)| *g = if x <= 0.0 { 0.0 } else { *g }),
        Activation::LeakyRelu => pairs.for_each(|(&x, g)| *g = if x <= 0.0 { LEAK * *g } else { *g }),
        Activation::Gelu => pairs.for_each(|(&x, g)| {
            let (share, density) = normal(x);
            *g *= share + x * density;
        }),
        Activation::Silu => pairs.for_each(|(&x, g)| {
            let share = logistic(x);
            *g *= share * (1.0 + x * (1.0 - share));
        }),
        Activation::Tanh => pairs.for_each(|(&x, g)| {
            let y = tanh(x);
            *g *= 1.0 - y * y;
        }),
    });
}

struct Activate {
    activation: Activation,
}

impl CustomOp1 for Activate {
    fn name(&self) -> &'static str {
        "activate"
    }

    fn cpu_fwd(&self, x: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let mut values = floats(x, layout)?.to_vec();
        values.par_chunks_mut(PIECE).for_each(|values| apply(self.activation, values));
        Ok((CpuStorage::F32(values), layout.shape().clone()))
    }

    fn bwd(&self, x: &Tensor, _result: &Tensor, gradient: &Tensor) -> Result<Option<Tensor>> {
        let mut values = with_floats(gradient, |gradient| Ok(gradient.to_vec()))?;
        with_floats(x, |x| {
            x.par_chunks(PIECE).zip(values.par_chunks_mut(PIECE)).for_each(|(x, values)| apply_slope(self.activation, x, values));
            Ok(())
        })?;
        Tensor::from_vec(values, x.shape(), &Device::Cpu).map(Some)
    }
}
