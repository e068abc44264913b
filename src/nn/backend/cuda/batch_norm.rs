//! Owns batch normalisation on a GPU, with the activation that follows. Must not know models.

use candle_core::{CudaDevice, DType, Result, Tensor};

use super::gpu::{gpu, launch, place, room, threads};
use super::pointwise::number_of;
use super::stripes::Stripes;
use crate::nn::Parameter;
use crate::nn::ops::batch_norm::{EPSILON, MOMENTUM};
use crate::nn::ops::tape::{self, Gradients};
use crate::nn::ops::{BatchNorm, Context, Gradient};
use crate::run_config::Activation;

/// `super::super::batch_norm`.
pub fn batch_norm(x: &Tensor, norm: BatchNorm<'_>, activation: Option<Activation>, context: Context) -> Result<Tensor> {
    let BatchNorm { weight, bias, running_mean, running_variance } = norm;
    let rows = x.contiguous()?;
    let (gpu, channels) = (gpu(x)?, weight.len());
    let pass =
        Normalize { weight: weight.clone(), bias: bias.clone(), kind: number_of(activation), channels, rows: x.elem_count() / channels };
    let statistics = room((2, channels), DType::F32, x)?;
    let running = (place(&running_mean.tensor())?, place(&running_variance.tensor())?);
    let (epsilon, momentum) = (EPSILON as f32, MOMENTUM as f32);
    match context.gradient {
        Gradient::None => {
            launch!(gpu, "running_moments", threads(channels), running.0, running.1, place(&statistics)?, channels as u32, epsilon);
        }
        Gradient::Kept => {
            let [means, squares] = pass.stripes().room(x)?;
            let (stripes, count) = (pass.stripes(), pass.rows as u32);
            launch!(gpu, "moments", stripes.blocks(), place(&rows)?, place(&means)?, place(&squares)?, count, channels as u32);
            let from = (place(&means)?, place(&squares)?);
            let to = place(&statistics)?;
            let sizes = (count, channels as u32, stripes.count() as u32);
            let kernel = "join_moments";
            launch!(gpu, kernel, stripes.joining(), from.0, from.1, to, running.0, running.1, sizes.0, sizes.1, sizes.2, epsilon, momentum);
        }
    }
    let result = pass.forward(gpu, &rows, &statistics)?;
    if context.gradient == Gradient::Kept {
        let of_x = tape::leads_back(x);
        tape::note_there(vec![x.clone()], &result, move |gradient| pass.backward(&rows, &statistics, &gradient.contiguous()?, of_x));
    }
    Ok(result)
}

struct Normalize {
    weight: Parameter,
    bias: Parameter,
    kind: u32,
    channels: usize,
    rows: usize,
}

impl Normalize {
    const fn stripes(&self) -> Stripes {
        Stripes { rows: self.rows, channels: self.channels }
    }

    fn forward(&self, gpu: &CudaDevice, x: &Tensor, statistics: &Tensor) -> Result<Tensor> {
        let (result, count) = (room(x.shape(), DType::F32, x)?, x.elem_count());
        let [weight, bias] = [place(&self.weight.tensor())?, place(&self.bias.tensor())?];
        let (from, to) = ((place(x)?, place(statistics)?), place(&result)?);
        launch!(gpu, "normalize", threads(count), from.0, from.1, weight, bias, to, count as u32, self.channels as u32, self.kind);
        Ok(result)
    }

    fn backward(&self, x: &Tensor, statistics: &Tensor, gradient: &Tensor, of_x: bool) -> Result<Gradients> {
        let (gpu, channels, kind) = (gpu(x)?, self.channels as u32, self.kind);
        let [weight, bias] = [place(&self.weight.tensor())?, place(&self.bias.tensor())?];
        let (from, gradient) = ((place(x)?, place(statistics)?), place(gradient)?);
        let (stripes, rows) = (self.stripes(), self.rows as u32);
        let sums = stripes.two_sums(x, |sums, products| {
            let (kernel, blocks) = ("normalize_sums", stripes.blocks());
            launch!(gpu, kernel, blocks, from.0, from.1, weight, bias, gradient, sums, products, rows, channels, kind);
            Ok(())
        })?;
        let whole = (place(&sums[0])?, place(&sums[1])?);
        let [of_bias, of_weight] = sums;
        let of_x = if of_x {
            let (of_x, count) = (room(x.shape(), DType::F32, x)?, x.elem_count());
            let (kernel, to) = ("normalize_back", place(&of_x)?);
            let sizes = (count as u32, channels, rows);
            launch!(
                gpu,
                kernel,
                threads(count),
                from.0,
                from.1,
                weight,
                bias,
                gradient,
                whole.0,
                whole.1,
                to,
                sizes.0,
                sizes.1,
                sizes.2,
                kind
            );
            Some(of_x)
        } else {
            None
        };
        let parameters = vec![(self.weight.clone(), of_weight), (self.bias.clone(), of_bias)];
        Ok(Gradients { inputs: vec![of_x], parameters })
    }
}
