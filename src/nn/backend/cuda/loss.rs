//! Owns the loss on a GPU. Must not know batches beyond their size.

use candle_core::{DType, Result, Tensor};

use super::gpu::{blocks, gpu, launch, place, room, threads};
use crate::nn::ops::tape::{self, Gradients};

/// `super::super::cross_entropy` of labels `[n, classes]` with a 1 at each row's class.
pub fn cross_entropy(logits: &Tensor, one_hot: &Tensor, batch: usize, smoothing: f32) -> Result<Tensor> {
    let (rows, classes) = logits.dims2()?;
    let given = logits.clone();
    let (logits, one_hot) = (logits.contiguous()?, one_hot.contiguous()?);
    let (rows, classes, batch) = (rows as u32, classes as u32, batch as f32);
    let result = room(2, DType::F32, &logits)?;
    let from = (place(&logits)?, place(&one_hot)?);
    launch!(gpu(&logits)?, "cross_entropy", blocks(1), from.0, from.1, place(&result)?, rows, classes, batch, smoothing);
    tape::note_there(vec![given], &result, move |gradient| {
        let of_logits = room(logits.shape(), DType::F32, &logits)?;
        let from = (place(&logits)?, place(&one_hot)?, place(gradient)?);
        let kernel = "cross_entropy_back";
        let to = place(&of_logits)?;
        launch!(gpu(&logits)?, kernel, threads(rows as usize), from.0, from.1, from.2, to, rows, classes, batch, smoothing);
        Ok(Gradients { inputs: vec![Some(of_logits)], parameters: Vec::new() })
    });
    Ok(result)
}
