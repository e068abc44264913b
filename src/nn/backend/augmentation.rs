//! Gathering a batch on a device, with its images augmented: `data::augment` as tensor operations.

use candle_core::{DType, Device, Result, Tensor};

use crate::data::augment::{KNOTS, MARGIN, PADDED, spline};
use crate::ink::{PIXELS, SIDE};

#[derive(Clone, Copy, Debug)]
pub struct AugmentBatch<'a> {
    /// The parameters of each image (`data::augment::AugmentParams`),
    /// `[n, 4 + 2 + 1 + 2 · KNOTS²]`: map, shift, thickness, knots.
    pub params: &'a Tensor,
    /// The parameters that all images share.
    pub tables: &'a AugmentTables,
}

/// Constants of augmentation on a device.
#[derive(Clone, Debug)]
pub struct AugmentTables {
    /// The weight of each knot at each pixel, `[28, KNOTS]`.
    pub spline: Tensor,
    /// Pixels along an axis, from the center of the image, `[28]`.
    pub offsets: Tensor,
}

impl AugmentTables {
    pub fn new(device: &Device) -> Result<Self> {
        let center = (SIDE as f32 - 1.0) / 2.0;
        Ok(Self {
            spline: Tensor::from_slice(spline().as_flattened(), (SIDE, KNOTS), device)?,
            offsets: Tensor::new(
                (0..SIDE)
                    .map(|pixel| pixel as f32 - center)
                    .collect::<Vec<_>>(),
                device,
            )?,
        })
    }
}

pub(super) fn gather_batch(
    images: &Tensor,
    labels: &Tensor,
    positions: &Tensor,
    augment: Option<AugmentBatch<'_>>,
) -> Result<(Tensor, Tensor)> {
    let pixels = images.index_select(positions, 0)?.to_dtype(DType::F32)?;
    let labels = labels.index_select(positions, 0)?;
    let pixels = augment.map_or_else(|| Ok(pixels.clone()), |augment| warp(&pixels, augment))?;
    Ok((pixels, labels))
}

/// Images `[n, 784]` with parameters
/// `[n, AugmentParams::COUNT]`.
fn warp(pixels: &Tensor, augment: AugmentBatch<'_>) -> Result<Tensor> {
    let AugmentBatch {
        params,
        tables: AugmentTables { spline, offsets },
    } = augment;
    let count = pixels.dim(0)?;
    let number = |index: usize| params.narrow(1, index, 1)?.reshape((count, 1, 1));
    let images = pixels.reshape((count, SIDE, SIDE))?;
    let images = images
        .pad_with_zeros(1, MARGIN, MARGIN)?
        .pad_with_zeros(2, MARGIN, MARGIN)?;
    let images = thicken(&images, &number(6)?)?.reshape((count, PADDED * PADDED))?;

    let bend = |axis: usize| {
        let knots = params
            .narrow(1, 7 + axis * KNOTS * KNOTS, KNOTS * KNOTS)?
            .reshape((count, KNOTS, KNOTS))?;
        spline
            .broadcast_matmul(&knots)?
            .broadcast_matmul(&spline.t()?)
    };
    // From the middle, less the shift: along the columns, and along the rows.
    let u = offsets.reshape((1, 1, SIDE))?.broadcast_sub(&number(4)?)?;
    let v = offsets.reshape((1, SIDE, 1))?.broadcast_sub(&number(5)?)?;
    let middle = (SIDE as f64 - 1.0) / 2.0 + MARGIN as f64;
    let place = |axis: usize| {
        let straight = u
            .broadcast_mul(&number(2 * axis)?)?
            .broadcast_add(&v.broadcast_mul(&number(2 * axis + 1)?)?)?;
        ((straight + middle)? + bend(axis)?)?
            .clamp(0.0, (PADDED - 2) as f64)?
            .reshape((count, PIXELS))
    };
    let (x, y) = (place(0)?, place(1)?);
    let (whole_x, whole_y) = (x.floor()?, y.floor()?);
    let corner = ((&whole_y * PADDED as f64)? + &whole_x)?;
    let at = |further: usize| images.gather(&(&corner + further as f64)?.to_dtype(DType::U32)?, 1);
    let (right, below) = ((x - whole_x)?, (y - whole_y)?);
    let between = |a: Tensor, b: &Tensor, share: &Tensor| &a + ((b - &a)? * share)?;
    let upper = between(at(0)?, &at(1)?, &right)?;
    let lower = between(at(PADDED)?, &at(PADDED + 1)?, &right)?;
    (between(upper, &lower, &below)? + 0.5)?.floor()
}

/// Strokes `[n, PADDED, PADDED]` thicker or thinner by `[n, 1, 1]`; the outermost pixels, which are
/// nothing, stay.
fn thicken(images: &Tensor, amount: &Tensor) -> Result<Tensor> {
    let inner = |row: usize, column: usize| {
        images
            .narrow(1, row, PADDED - 2)?
            .narrow(2, column, PADDED - 2)
    };
    let pixel = inner(1, 1)?;
    let (mut largest, mut smallest) = (pixel.clone(), pixel.clone());
    for (row, column) in [(0, 1), (2, 1), (1, 0), (1, 2)] {
        let neighbor = inner(row, column)?;
        (largest, smallest) = (largest.maximum(&neighbor)?, smallest.minimum(&neighbor)?);
    }
    let wider = (largest - &pixel)?.broadcast_mul(&amount.relu()?)?;
    let narrower = (smallest - &pixel)?.broadcast_mul(&amount.neg()?.relu()?)?;
    ((pixel + wider)? + narrower)?
        .pad_with_zeros(1, 1, 1)?
        .pad_with_zeros(2, 1, 1)
}
