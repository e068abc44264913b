//! Batch normalization, with the activation that follows; and sums over the rows of
//! `[rows, channels]`: a block for each chunk of rows, whose partial sums are reduced in a fixed
//! order.

use candle_core::cuda_backend::cudarc::driver::LaunchConfig;
use candle_core::{CudaDevice, DType, Result, Tensor};

use super::launch::{Divisor, Uninit, empty, fours, gpu, launch, threads};
use super::pointwise::activation_code;
use crate::nn::autograd::Gradients;
use crate::nn::ops::BatchNorm;
use crate::nn::{GradMode, Output, Parameter};
use crate::run_config::Activation;

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
    let mean = norm.running_mean.tensor();
    let variance = norm.running_variance.tensor();
    let channels = norm.weight.len();
    let statistics = empty((2, channels), DType::F32, &mean)?;
    // SAFETY: a thread for each of the channels that mean and variance have writes two numbers.
    unsafe {
        launch! {
            gpu(&mean)?, "running_moments", threads(channels), mean, variance, statistics, channels,
            BatchNorm::EPSILON as f32
        }
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
        let blocks = reduction.final_blocks();
        let epsilon = BatchNorm::EPSILON as f32;
        let momentum = BatchNorm::MOMENTUM as f32;
        // SAFETY: a block for each chunk of rows and up to 32 channels writes their partial
        // moments; then one for up to 32 channels writes two statistics of each and updates the
        // running ones, which only this tape's thread uses.
        unsafe {
            launch! {
                gpu, "partial_moments", reduction.blocks(), x, means, squares, rows, channels
            }
            launch! {
                gpu, "combine_moments", blocks, means, squares, statistics, running_mean,
                running_variance, rows, channels, reduction.chunks(), epsilon, momentum
            }
            Ok(statistics.assume_init())
        }
    }

    fn forward(&self, x: &Tensor, statistics: &Tensor) -> Result<Tensor> {
        let (result, count) = (empty(x.shape(), DType::F32, x)?, x.elem_count());
        let weight = self.weight.tensor();
        let bias = self.bias.tensor();
        let channels = Divisor::new(self.reduction.channels as u32);
        // SAFETY: a thread for each four of the `count` elements of `x` and the result; statistics,
        // weight and bias have `channels`.
        unsafe {
            launch! {
                gpu(x)?, "normalize", fours(count), x, statistics, weight, bias, result, count,
                channels, self.activation
            }
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
                launch! {
                    gpu, kernel, blocks, x, statistics, weight, bias, gradient, sums, products,
                    rows, channels, self.activation
                }
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
            launch! {
                gpu, "normalize_backward", config, x, statistics, weight, bias, gradient, sum,
                product, result, count, channels, rows, self.activation
            }
            Ok(result.assume_init())
        }
    }
}

/// A chunk has at least this many rows,
const MIN_ROWS: usize = 64;
/// and there are at most this many chunks.
const MAX_CHUNKS: usize = 512;

/// The extent of a reduction, and how it is cut into chunks.
#[derive(Clone, Copy)]
pub struct ColumnReduction {
    pub rows: usize,
    pub channels: usize,
}

impl ColumnReduction {
    /// How many chunks. None is empty: all but the last have `rows / chunks` rows, rounded up.
    pub fn chunks(self) -> usize {
        self.rows
            .div_ceil(self.rows.div_ceil(MAX_CHUNKS).max(MIN_ROWS))
    }

    /// A block of 256 threads for up to 32 channels of a chunk.
    pub fn blocks(self) -> LaunchConfig {
        self.config(self.chunks() as u32, 256)
    }

    /// A block of 1,024 threads for up to 32 channels of all chunks.
    pub fn final_blocks(self) -> LaunchConfig {
        self.config(1, 1024)
    }

    fn config(self, chunks: u32, threads: u32) -> LaunchConfig {
        let columns = (self.channels as u32).next_power_of_two().min(32);
        LaunchConfig {
            grid_dim: ((self.channels as u32).div_ceil(columns), chunks, 1),
            block_dim: (columns, threads / columns, 1),
            shared_mem_bytes: 0,
        }
    }

    /// Memory for two partial results of each channel and chunk.
    pub fn partials(self, like: &Tensor) -> Result<[Uninit; 2]> {
        let partials = || empty((self.chunks(), self.channels), DType::F32, like);
        Ok([partials()?, partials()?])
    }

    /// Two sums of each channel, from the partial sums that `launch_sums` has a kernel write.
    ///
    /// # Safety
    /// `launch_sums` launches a kernel that writes both tensors.
    pub unsafe fn two_sums(
        self,
        like: &Tensor,
        launch_sums: impl FnOnce(&Uninit, &Uninit) -> Result<()>,
    ) -> Result<[Tensor; 2]> {
        let [first, second] = self.partials(like)?;
        launch_sums(&first, &second)?;
        let sums = [
            empty(self.channels, DType::F32, like)?,
            empty(self.channels, DType::F32, like)?,
        ];
        // SAFETY: the partial sums are `[chunks, channels]` and written; a thread for each channel
        // writes both sums.
        unsafe {
            launch! {
                gpu(like)?, "reduce_partials", self.final_blocks(), first, second, sums[0], sums[1],
                self.channels, self.chunks()
            }
            Ok(sums.map(|sums| sums.assume_init()))
        }
    }
}
