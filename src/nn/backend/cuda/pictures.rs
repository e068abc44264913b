//! Owns gathering a batch on a GPU, with its pictures changed. Must not know how a change is drawn.

use candle_core::{DType, Result, Tensor};

use super::gpu::{blocks, gpu, launch, place, place_of, room};

/// The pictures `[n, 784]` from 0 to 255 and the labels `[n, classes]` at these positions (`[n]`) of all images `[images, 784]` (bytes) and
/// labels `[images, classes]`; where there are variations `[n, numbers]`, with a spline `[28, knots]`, pictures are changed by them.
pub fn gather_batch(images: &Tensor, labels: &Tensor, order: &Tensor, changes: Option<(&Tensor, &Tensor)>) -> Result<(Tensor, Tensor)> {
    let (count, (_, size), (_, classes)) = (order.dim(0)?, images.dims2()?, labels.dims2()?);
    let (pixels, ones) = (room((count, size), DType::F32, images)?, room((count, classes), DType::F32, images)?);
    let from = (place(images)?, place(labels)?, place(order)?);
    let changes = (place_of(changes.map(|(variations, _)| variations))?, place_of(changes.map(|(_, spline)| spline))?);
    let to = (place(&pixels)?, place(&ones)?);
    launch!(gpu(images)?, "gather_batch", blocks(count), from.0, from.1, from.2, changes.0, changes.1, to.0, to.1, classes as u32);
    Ok((pixels, ones))
}
