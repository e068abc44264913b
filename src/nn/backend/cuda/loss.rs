//! The loss.

use candle_core::{DType, Result, Tensor};

use super::launch::{blocks, launch, threads};
use super::memory::{empty, gpu};
use crate::nn::autograd::Gradients;
use crate::nn::{GradMode, Output};

/// See [`crate::nn::ops::cross_entropy`].
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
        launch!(
            gpu(&logits)?,
            "cross_entropy",
            blocks(1),
            logits,
            labels,
            result,
            rows,
            classes,
            batch,
            smoothing
        );
        result.assume_init()
    };
    Ok(Output::new(result, grad, move |gradient, _| {
        let (of_logits, config) = (empty(logits.shape(), DType::F32, &logits)?, threads(rows));
        // SAFETY: a thread for each row writes its `classes` numbers; the gradient is that of the
        // result, of which it reads the first.
        let of_logits = unsafe {
            launch!(
                gpu(&logits)?,
                "cross_entropy_backward",
                config,
                logits,
                labels,
                gradient,
                of_logits,
                rows,
                classes,
                batch,
                smoothing
            );
            of_logits.assume_init()
        };
        Ok(Gradients::input(Some(of_logits)))
    }))
}
