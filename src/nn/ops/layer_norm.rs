//! Owns layer normalisation (Ba et al. 2016). Must not know models.

use candle_core::{CpuStorage, CustomOp3, Device, Layout, Result, Shape, Tensor};
use rayon::prelude::*;

use super::{Context, PIECE, elsewhere, floats, tape, vectorized, with_floats, with_slices};
use crate::nn::Parameter;

/// Added to the variance: `torch.nn.LayerNorm`'s.
pub(super) const EPSILON: f32 = 1e-5;

/// `(x - mean) / √(variance + 1e-5) · weight + bias`, with mean and biased variance over the last dimension of `x`, as
/// `torch.nn.LayerNorm`.
pub fn layer_norm(x: &Tensor, weight: &Parameter, bias: &Parameter, context: Context) -> Result<Tensor> {
    let features = x.dims().last().copied().unwrap_or_default();
    if features == 0 || weight.len() != features || bias.len() != features {
        candle_core::bail!("a layer normalisation of {} features does not fit {:?}", weight.len(), x.shape());
    }
    if context.is_elsewhere() {
        return elsewhere::layer_norm(x, weight, bias, context);
    }
    let op = LayerNorm { features, weight: weight.clone(), bias: bias.clone() };
    tape::apply3(x, weight.tracked(), bias.tracked(), op, context.gradient)
}

struct LayerNorm {
    features: usize,
    weight: Parameter,
    bias: Parameter,
}

/// Mean and inverse standard deviation of a row.
fn statistics(row: &[f32]) -> (f32, f32) {
    let count = row.len() as f32;
    let mean = row.iter().sum::<f32>() / count;
    let variance = row.iter().map(|x| (x - mean) * (x - mean)).sum::<f32>() / count;
    (mean, 1.0 / (variance + EPSILON).sqrt())
}

impl LayerNorm {
    /// Numbers of whole rows that one task takes.
    fn piece_len(&self) -> usize {
        (PIECE / self.features).max(1) * self.features
    }

    /// Turns the gradient of a piece's result into that of its `x`; gives the piece's share of those of weight and bias.
    fn backward(&self, x: &[f32], weight: &[f32], gradient: &mut [f32]) -> [Vec<f32>; 2] {
        let count = self.features as f32;
        let [mut of_weight, mut of_bias] = [vec![0.0; self.features], vec![0.0; self.features]];
        for (x, gradient) in x.chunks_exact(self.features).zip(gradient.chunks_exact_mut(self.features)) {
            let (mean, inverse) = statistics(x);
            let (mut plain, mut weighted) = (0.0, 0.0);
            let sums = of_weight.iter_mut().zip(&mut of_bias);
            for (((x, g), w), (of_weight, of_bias)) in x.iter().zip(&*gradient).zip(weight).zip(sums) {
                let normalized = (x - mean) * inverse;
                *of_weight += g * normalized;
                *of_bias += g;
                plain += g * w;
                weighted += g * w * normalized;
            }
            let (offset, slope) = (plain / count, weighted / count);
            for ((g, x), w) in gradient.iter_mut().zip(x).zip(weight) {
                *g = inverse * (*g * w - offset - (x - mean) * inverse * slope);
            }
        }
        [of_weight, of_bias]
    }
}

impl CustomOp3 for LayerNorm {
    fn name(&self) -> &'static str {
        "layer-norm"
    }

    fn cpu_fwd(
        &self,
        x: &CpuStorage,
        x_layout: &Layout,
        weight: &CpuStorage,
        weight_layout: &Layout,
        bias: &CpuStorage,
        bias_layout: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        let (x, weight, bias) = (floats(x, x_layout)?, floats(weight, weight_layout)?, floats(bias, bias_layout)?);
        let mut result = vec![0.0; x.len()];
        x.par_chunks(self.piece_len()).zip(result.par_chunks_mut(self.piece_len())).for_each(|(x, result)| {
            vectorized!({
                for (x, result) in x.chunks_exact(self.features).zip(result.chunks_exact_mut(self.features)) {
                    let (mean, inverse) = statistics(x);
                    let terms = x.iter().zip(weight).zip(bias);
                    result.iter_mut().zip(terms).for_each(|(y, ((x, w), b))| *y = (x - mean) * inverse * w + b);
                }
            });
        });
        Ok((CpuStorage::F32(result), x_layout.shape().clone()))
    }

    fn bwd(
        &self,
        x: &Tensor,
        weight: &Tensor,
        _bias: &Tensor,
        _result: &Tensor,
        gradient: &Tensor,
    ) -> Result<(Option<Tensor>, Option<Tensor>, Option<Tensor>)> {
        let mut values = with_floats(gradient, |gradient| Ok(gradient.to_vec()))?;
        let parts: Vec<[Vec<f32>; 2]> = with_slices([x, weight], |[x, weight]| {
            let pieces = x.par_chunks(self.piece_len()).zip(values.par_chunks_mut(self.piece_len()));
            pieces.map(|(x, gradient)| vectorized!(self.backward(x, weight, gradient))).collect()
        })?;
        let (mut of_weight, mut of_bias) = (self.weight.gradient(), self.bias.gradient());
        for [weight_part, bias_part] in &parts {
            of_weight.iter_mut().zip(weight_part).for_each(|(sum, part)| *sum += part);
            of_bias.iter_mut().zip(bias_part).for_each(|(sum, part)| *sum += part);
        }
        // The parameters' gradients went where `Parameter` gathers them.
        let x_gradient = x.track_op().then(|| Tensor::from_vec(values, x.shape(), &Device::Cpu)).transpose()?;
        Ok((x_gradient, None, None))
    }
}
