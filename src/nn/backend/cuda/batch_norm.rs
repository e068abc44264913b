//! Batch normalisation, with the activation that follows.

use candle_core::{CudaDevice, DType, Result, Tensor};

use super::column_reduction::ColumnReduction;
use super::launch::{Divisor, fours, launch, threads};
use super::memory::{empty, gpu};
use super::pointwise::activation_code;
use crate::nn::autograd::Gradients;
use crate::nn::ops::BatchNorm;
use crate::nn::{GradMode, Output, Parameter};
use crate::run_config::Activation;

/// See [`crate::nn::ops::batch_norm`].
pub fn batch_norm(
    x: &Tensor,
    norm: BatchNorm<'_>,
    activation: Option<Activation>,
    grad: GradMode,
) -> Result<Output> {
    let values = x.contiguous()?;
    let channels = norm.weight.len();
    let pass = Normalize {
        weight: norm.weight.clone(),
        bias: norm.bias.clone(),
        activation: activation_code(activation),
        reduction: ColumnReduction {
            rows: x.elem_count() / channels,
            channels,
        },
    };
    let statistics = match grad {
        GradMode::Disabled => running_moments(norm)?,
        GradMode::Enabled => pass.batch_moments(&values, norm)?,
    };
    let result = pass.forward(&values, &statistics)?;
    Ok(Output::new(result, grad, move |gradient, needed| {
        pass.backward(&values, &statistics, &gradient.contiguous()?, needed[0])
    }))
}

/// Mean and 1 / standard deviation, `[2, channels]`, by the running statistics.
fn running_moments(norm: BatchNorm<'_>) -> Result<Tensor> {
    let (mean, variance, channels) = (
        norm.running_mean.tensor(),
        norm.running_variance.tensor(),
        norm.weight.len(),
    );
    let statistics = empty((2, channels), DType::F32, &mean)?;
    // SAFETY: a thread for each of the channels that mean and variance have writes two numbers.
    unsafe {
        launch!(
            gpu(&mean)?,
            "running_moments",
            threads(channels),
            mean,
            variance,
            statistics,
            channels,
            BatchNorm::EPSILON as f32
        );
        Ok(statistics.assume_init())
    }
}

struct Normalize {
    weight: Parameter,
    bias: Parameter,
    activation: u32,
    reduction: ColumnReduction,
}

impl Normalize {
    /// Mean and 1 / standard deviation of a batch, `[2, channels]`; updates the running statistics.
    fn batch_moments(&self, x: &Tensor, norm: BatchNorm<'_>) -> Result<Tensor> {
        let (gpu, reduction) = (gpu(x)?, self.reduction);
        let ColumnReduction { rows, channels } = reduction;
        let [means, squares] = reduction.partials(x)?;
        let statistics = empty((2, channels), DType::F32, x)?;
        let (running_mean, running_variance) =
            (norm.running_mean.tensor(), norm.running_variance.tensor());
        let (blocks, epsilon, momentum) = (
            reduction.final_blocks(),
            BatchNorm::EPSILON as f32,
            BatchNorm::MOMENTUM as f32,
        );
        // SAFETY: a block for each chunk of rows and up to 32 channels writes their partial
        // moments; then one for up to 32 channels writes two statistics of each and updates the
        // running ones, which only this tape's thread uses.
        unsafe {
            launch!(
                gpu,
                "partial_moments",
                reduction.blocks(),
                x,
                means,
                squares,
                rows,
                channels
            );
            launch!(
                gpu,
                "combine_moments",
                blocks,
                means,
                squares,
                statistics,
                running_mean,
                running_variance,
                rows,
                channels,
                reduction.chunks(),
                epsilon,
                momentum
            );
            Ok(statistics.assume_init())
        }
    }

    fn forward(&self, x: &Tensor, statistics: &Tensor) -> Result<Tensor> {
        let (result, count) = (empty(x.shape(), DType::F32, x)?, x.elem_count());
        let (weight, bias, channels) = (
            self.weight.tensor(),
            self.bias.tensor(),
            Divisor::new(self.reduction.channels as u32),
        );
        // SAFETY: a thread for each four of the `count` elements of `x` and the result; statistics,
        // weight and bias have `channels`.
        unsafe {
            launch!(
                gpu(x)?,
                "normalize",
                fours(count),
                x,
                statistics,
                weight,
                bias,
                result,
                count,
                channels,
                self.activation
            );
            Ok(result.assume_init())
        }
    }

    fn backward(
        &self,
        x: &Tensor,
        statistics: &Tensor,
        gradient: &Tensor,
        of_x: bool,
    ) -> Result<Gradients> {
        let (gpu, reduction) = (gpu(x)?, self.reduction);
        let (weight, bias) = (self.weight.tensor(), self.bias.tensor());
        // SAFETY: a block for each chunk of rows and up to 32 channels writes their partial sums.
        let [of_bias, of_weight] = unsafe {
            reduction.two_sums(x, |sums, products| {
                let (blocks, ColumnReduction { rows, channels }) = (reduction.blocks(), reduction);
                let kernel = "normalize_backward_sums";
                launch!(
                    gpu,
                    kernel,
                    blocks,
                    x,
                    statistics,
                    weight,
                    bias,
                    gradient,
                    sums,
                    products,
                    rows,
                    channels,
                    self.activation
                );
                Ok(())
            })?
        };
        let of_x = of_x
            .then(|| self.input_gradient(gpu, x, statistics, gradient, [&of_bias, &of_weight]))
            .transpose()?;
        let parameters = vec![
            (self.weight.clone(), of_weight),
            (self.bias.clone(), of_bias),
        ];
        Ok(Gradients {
            inputs: vec![of_x],
            parameters,
        })
    }

    fn input_gradient(
        &self,
        gpu: &CudaDevice,
        x: &Tensor,
        statistics: &Tensor,
        gradient: &Tensor,
        [sum, product]: [&Tensor; 2],
    ) -> Result<Tensor> {
        let (result, count) = (empty(x.shape(), DType::F32, x)?, x.elem_count());
        let (weight, bias, ColumnReduction { rows, channels }) =
            (self.weight.tensor(), self.bias.tensor(), self.reduction);
        let (config, channels) = (fours(count), Divisor::new(channels as u32));
        // SAFETY: a thread for each four of the `count` elements of `x`, the gradient and the
        // result; everything else has `channels`.
        unsafe {
            launch!(
                gpu,
                "normalize_backward",
                config,
                x,
                statistics,
                weight,
                bias,
                gradient,
                sum,
                product,
                result,
                count,
                channels,
                rows,
                self.activation
            );
            Ok(result.assume_init())
        }
    }
}
