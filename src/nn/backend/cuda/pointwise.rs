//! Elementwise ops: activations, sums of branches, dropout; flattening and global average pooling;
//! the loss; and gathering a batch, with augmentation.

use candle_core::{DType, Result, Tensor};

use super::launch::{Uninit, blocks, empty, fours, gpu, launch, threads};
use crate::ink::PIXELS;
use crate::nn::autograd::Gradients;
use crate::nn::backend::AugmentBatch;
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

/// See [`crate::nn::ops::activate`], and `add` if there are two branches.
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
        launch! { gpu(&a)?, "activate", fours(count), a, b, result, count, kind }
        result.assume_init()
    };
    Ok(Output::new(result, grad, move |gradient, needed| {
        let gradient = gradient.contiguous()?;
        let of_sum = if activation.is_some() {
            let of_sum = empty(gradient.shape(), DType::F32, &gradient)?;
            // SAFETY: as above; the gradient is that of the result.
            unsafe {
                launch! {
                    gpu(&gradient)?, "activate_backward", fours(count), a, b, gradient, of_sum,
                    count, kind
                }
                of_sum.assume_init()
            }
        } else {
            gradient
        };
        Ok(Gradients::to_each(needed, &of_sum))
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
            launch! { gpu(x)?, "dropout", fours(count), x, result, count, seed, threshold, scale }
            Ok(result.assume_init())
        }
    };
    unary(x, pass, pass, grad)
}

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
        launch! { gpu(x)?, "transpose_batched", threads(count), x, result, count, rows, columns }
        Ok(result.assume_init())
    }
}

pub fn global_average_pool(x: &Tensor, grad: GradMode) -> Result<Output> {
    let (images, channels) = (x.dim(0)?, x.dim(candle_core::D::Minus1)?);
    let pixels = x.elem_count() / (images * channels).max(1);
    let shape = x.shape().clone();
    let pass = move |kernel: &str, x: &Tensor, result: Uninit| {
        let count = result.elem_count();
        // SAFETY: a thread for each of the result's `count` elements; whichever of the two is not
        // pooled has `images * pixels * channels`, the other `images * channels`.
        unsafe {
            launch! { gpu(x)?, kernel, threads(count), x, result, count, pixels, channels }
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

pub fn cross_entropy(
    logits: &Tensor,
    labels: &Tensor,
    batch: usize,
    smoothing: f32,
    grad: GradMode,
) -> Result<Output> {
    let (rows, classes) = logits.dims2()?;
    let (logits, labels, batch) = (logits.contiguous()?, labels.contiguous()?, batch as f32);
    if labels.dtype() != DType::U8 {
        candle_core::bail!("labels are {:?}, not u8", labels.dtype());
    }
    let result = empty(2, DType::F32, &logits)?;
    // SAFETY: one block reads `rows` times `classes` logits and `rows` labels, and writes the
    // result's two numbers.
    let result = unsafe {
        launch! {
            gpu(&logits)?, "cross_entropy", blocks(1), logits, labels, result, rows, classes, batch,
            smoothing
        }
        result.assume_init()
    };
    Ok(Output::new(result, grad, move |gradient, _| {
        let (of_logits, config) = (empty(logits.shape(), DType::F32, &logits)?, threads(rows));
        // SAFETY: a thread for each row writes its `classes` numbers; the gradient is that of the
        // result, of which it reads the first.
        let of_logits = unsafe {
            launch! {
                gpu(&logits)?, "cross_entropy_backward", config, logits, labels, gradient,
                of_logits, rows, classes, batch, smoothing
            }
            of_logits.assume_init()
        };
        Ok(Gradients::input(Some(of_logits)))
    }))
}

pub fn gather_batch(
    images: &Tensor,
    labels: &Tensor,
    positions: &Tensor,
    augment: Option<AugmentBatch<'_>>,
) -> Result<(Tensor, Tensor)> {
    let (count, (all, pixels)) = (positions.dim(0)?, images.dims2()?);
    if pixels != PIXELS
        || labels.dims() != [all]
        || augment.is_some_and(|augment| augment.params.dims().first() != Some(&count))
    {
        candle_core::bail!(
            "images {:?} do not fit labels {:?}, or {count} positions their augmentation",
            images.shape(),
            labels.shape()
        );
    }
    let (params, spline) = augment
        .map(|augment| (augment.params, &augment.tables.spline))
        .unzip();
    let batch = empty((count, pixels), DType::F32, images)?;
    let batch_labels = empty(count, DType::U8, images)?;
    // SAFETY: a block for each position, all of which are within the data set, writes an image of
    // 784 pixels and its label; its parameters and the spline are of the sizes of `data::augment`.
    unsafe {
        launch! {
            gpu(images)?, "gather_batch", blocks(count), images, labels, positions, params, spline,
            batch, batch_labels
        }
        Ok((batch.assume_init(), batch_labels.assume_init()))
    }
}
