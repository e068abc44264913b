//! Elementwise ops: activations, sums of branches, dropout; flattening and global average pooling.

use candle_core::{DType, Result, Tensor};

use super::launch::{fours, launch, threads};
use super::memory::{Uninit, empty, gpu};
use crate::nn::autograd::Gradients;
use crate::nn::ops::DropoutMask;
use crate::nn::{GradMode, Output};
use crate::run_config::Activation;

/// As `activation` in `pointwise.cuh` numbers them.
pub const fn activation_code(activation: Option<Activation>) -> u32 {
    match activation {
        None => 0,
        Some(Activation::Relu) => 1,
        Some(Activation::LeakyRelu) => 2,
        Some(Activation::Gelu) => 3,
        Some(Activation::Silu) => 4,
        Some(Activation::Tanh) => 5,
    }
}

/// See [`crate::nn::ops::activate`], and `add` where there are two branches.
pub fn activate(
    a: &Tensor,
    b: Option<&Tensor>,
    activation: Option<Activation>,
    grad: GradMode,
) -> Result<Output> {
    let (count, kind) = (a.elem_count(), activation_code(activation));
    let (a, b) = (a.contiguous()?, b.map(Tensor::contiguous).transpose()?);
    let result = empty(a.shape(), DType::F32, &a)?;
    // SAFETY: a thread for each of the `count` elements that the result and both branches have.
    let result = unsafe {
        launch!(
            gpu(&a)?,
            "activate",
            fours(count),
            a,
            b,
            result,
            count,
            kind
        );
        result.assume_init()
    };
    Ok(Output::new(result, grad, move |gradient, needed| {
        let gradient = gradient.contiguous()?;
        let of_sum = if activation.is_some() {
            let of_sum = empty(gradient.shape(), DType::F32, &gradient)?;
            // SAFETY: as above; the gradient is that of the result.
            unsafe {
                launch!(
                    gpu(&gradient)?,
                    "activate_backward",
                    fours(count),
                    a,
                    b,
                    gradient,
                    of_sum,
                    count,
                    kind
                );
                of_sum.assume_init()
            }
        } else {
            gradient
        };
        Ok(Gradients {
            inputs: needed
                .iter()
                .map(|needed| needed.then(|| of_sum.clone()))
                .collect(),
            parameters: Vec::new(),
        })
    }))
}

/// An op of one input by a kernel each way.
fn unary(
    x: &Tensor,
    forward: impl FnOnce(&Tensor) -> Result<Tensor>,
    backward: impl FnOnce(&Tensor) -> Result<Tensor> + 'static,
    grad: GradMode,
) -> Result<Output> {
    Ok(Output::new(
        forward(&x.contiguous()?)?,
        grad,
        |gradient, _| Ok(Gradients::input(Some(backward(&gradient.contiguous()?)?))),
    ))
}

/// See [`crate::nn::ops::dropout`].
pub fn dropout(x: &Tensor, mask: DropoutMask, grad: GradMode) -> Result<Output> {
    let pass = move |x: &Tensor| {
        let (result, count) = (empty(x.shape(), DType::F32, x)?, x.elem_count());
        let DropoutMask {
            seed,
            threshold,
            scale,
        } = mask;
        // SAFETY: a thread for each four of the `count` elements of `x` and the result.
        unsafe {
            launch!(
                gpu(x)?,
                "dropout",
                fours(count),
                x,
                result,
                count,
                seed,
                threshold,
                scale
            );
            Ok(result.assume_init())
        }
    };
    unary(x, pass, pass, grad)
}

/// See [`crate::nn::ops::flatten`].
pub fn flatten(x: &Tensor, grad: GradMode) -> Result<Output> {
    let (images, height, width, channels) = x.dims4()?;
    let (pixels, shape) = (height * width, x.shape().clone());
    unary(
        x,
        |x| transpose_batched(x, pixels, channels)?.reshape((images, pixels * channels)),
        move |gradient| transpose_batched(gradient, channels, pixels)?.reshape(shape),
        grad,
    )
}

/// Each of the matrices `[rows, columns]` that `x` consists of, transposed.
fn transpose_batched(x: &Tensor, rows: usize, columns: usize) -> Result<Tensor> {
    let (result, count) = (empty(x.shape(), DType::F32, x)?, x.elem_count());
    // SAFETY: a thread for each of the `count` elements of `x` and the result, which are whole
    // matrices.
    unsafe {
        launch!(
            gpu(x)?,
            "transpose_batched",
            threads(count),
            x,
            result,
            count,
            rows,
            columns
        );
        Ok(result.assume_init())
    }
}

/// See [`crate::nn::ops::global_average_pool`].
pub fn global_average_pool(x: &Tensor, grad: GradMode) -> Result<Output> {
    let (images, channels) = (x.dim(0)?, x.dim(candle_core::D::Minus1)?);
    let (pixels, shape) = (
        x.elem_count() / (images * channels).max(1),
        x.shape().clone(),
    );
    let pass = move |kernel: &str, x: &Tensor, result: Uninit| {
        let count = result.elem_count();
        // SAFETY: a thread for each of the result's `count` elements; whichever of the two is not
        // pooled has `images * pixels * channels`, the other `images * channels`.
        unsafe {
            launch!(
                gpu(x)?,
                kernel,
                threads(count),
                x,
                result,
                count,
                pixels,
                channels
            );
            Ok(result.assume_init())
        }
    };
    unary(
        x,
        |x| {
            pass(
                "global_average_pool",
                x,
                empty((images, channels), DType::F32, x)?,
            )
        },
        move |gradient| {
            pass(
                "global_average_pool_backward",
                gradient,
                empty(shape, DType::F32, gradient)?,
            )
        },
        grad,
    )
}
