//! Gathering a batch from a data set in the GPU's memory, with augmentation.

use candle_core::{DType, Result, Tensor};

use super::launch::{blocks, launch};
use super::memory::{empty, gpu};
use crate::ink::PIXELS;
use crate::nn::backend::AugmentBatch;

/// See [`crate::nn::Backend::gather_batch`].
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
    let (batch, batch_labels) = (
        empty((count, pixels), DType::F32, images)?,
        empty(count, DType::U8, images)?,
    );
    // SAFETY: a block for each position, all of which are within the data set, writes an image of
    // 784 pixels and its label; its parameters and the spline are of the sizes of `data::augment`.
    unsafe {
        launch!(
            gpu(images)?,
            "gather_batch",
            blocks(count),
            images,
            labels,
            positions,
            params,
            spline,
            batch,
            batch_labels
        );
        Ok((batch.assume_init(), batch_labels.assume_init()))
    }
}
