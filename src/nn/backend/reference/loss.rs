//! Softmax cross-entropy, from exponentials and a one-hot target.

use candle_core::{D, DType, Result, Tensor};

/// See [`crate::nn::ops::cross_entropy`]. Nothing is read back from the device.
pub fn cross_entropy(
    logits: &Tensor,
    labels: &Tensor,
    batch: usize,
    smoothing: f32,
) -> Result<Tensor> {
    let classes = logits.dim(D::Minus1)?;
    let labels = labels.to_dtype(DType::U32)?.reshape(((), 1))?;
    let every_class =
        Tensor::arange(0_u32, classes as u32, logits.device())?.reshape((1, classes))?;
    let one_hot = labels.broadcast_eq(&every_class)?.to_dtype(DType::F32)?;
    let target = one_hot.affine(
        f64::from(1.0 - smoothing),
        f64::from(smoothing) / classes as f64,
    )?;
    let shifted = logits.broadcast_sub(&logits.detach().max_keepdim(D::Minus1)?)?;
    let log_sum = shifted.exp()?.sum_keepdim(D::Minus1)?.log()?;
    let loss = ((log_sum.broadcast_sub(&shifted)? * target)?.sum_all()? / batch as f64)?;
    let predictions = logits.detach().argmax_keepdim(D::Minus1)?;
    let correct = predictions.eq(&labels)?.to_dtype(DType::F32)?.sum_all()?;
    Tensor::cat(&[loss.reshape(1)?, correct.reshape(1)?], 0)
}
