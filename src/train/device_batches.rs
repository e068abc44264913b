//! Owns the batches of a run outside the processor: the whole set lies on the device as bytes, and batches are gathered and changed there.
//! Must not know networks.
//!
//! What a batch holds is what it would hold on the processor, but for rounding. What is decided by augmentation_rng is drawn here for a whole epoch
//! and sent over at its start; nothing crosses over at a step.

use candle_core::{DType, Result, Tensor};
use rayon::prelude::*;

use super::loader::Shuffle;
use crate::data::Split;
use crate::data::augment::{AugmentParams, Augmenter, KNOTS, MARGIN, PADDED, spline};
#[cfg(feature = "cuda")]
use crate::device::Kernels;
use crate::device::Place;
use crate::ink::{PIXELS, SIDE};
#[cfg(feature = "cuda")]
use crate::nn::ops::cuda;
use crate::nn::ops::one_hot;
use crate::records::CLASSES;
use crate::run_config::RunConfig;

/// Numbers that a variation is sent over as: its map, its shift, its thickness, its knots.
pub const PARAM_COUNT: usize = 4 + 2 + 1 + 2 * KNOTS * KNOTS;

/// The batches of a run, in order.
pub struct DeviceBatches {
    place: Place,
    /// `[images, 784]`, bytes.
    images: Tensor,
    /// `[images, 10]`, a 1 at the label.
    labels: Tensor,
    shuffle: Shuffle,
    batch_size: usize,
    augmenter: Option<(Augmenter, Warp)>,
    epoch: Option<Epoch>,
}

/// What is sent over for an epoch.
struct Epoch {
    /// `[n]`: positions in their order.
    order: Tensor,
    /// `[n, PARAM_COUNT]`.
    variations: Option<Tensor>,
    taken: usize,
}

impl DeviceBatches {
    /// Those of every epoch that `shuffle` has yet to come to.
    pub fn new(config: &RunConfig, images: &Split, shuffle: Shuffle, place: &Place) -> Result<Self> {
        let augmenter = match Augmenter::new(config.augmentation) {
            Some(augmenter) => Some((augmenter, Warp::new(place)?)),
            None => None,
        };
        Ok(Self {
            place: place.clone(),
            images: Tensor::from_slice(&images.images, (images.len(), PIXELS), &place.device)?,
            labels: one_hot(&images.labels, CLASSES, &place.device)?,
            shuffle,
            batch_size: config.batch_size as usize,
            augmenter,
            epoch: None,
        })
    }

    /// The next batch: pixels `[n, 784]` from 0 to 255, and a 1 at each label `[n, 10]`.
    pub fn next_batch(&mut self) -> Result<(Tensor, Tensor)> {
        let mut epoch = match self.epoch.take() {
            Some(epoch) => epoch,
            None => self.begin()?,
        };
        let left = epoch.order.elem_count() - epoch.taken;
        let count = self.batch_size.min(left);
        let positions = epoch.order.narrow(0, epoch.taken, count)?;
        let variations = epoch.variations.as_ref().map(|variations| variations.narrow(0, epoch.taken, count)).transpose()?;
        epoch.taken += count;
        if count < left {
            self.epoch = Some(epoch);
        }
        self.gather(&positions, variations.as_ref())
    }

    fn gather(&self, positions: &Tensor, variations: Option<&Tensor>) -> Result<(Tensor, Tensor)> {
        let changes = variations.zip(self.augmenter.as_ref().map(|(_, warp)| warp));
        #[cfg(feature = "cuda")]
        if self.place.kernels == Kernels::Cuda {
            let changes = changes.map(|(variations, warp)| (variations, &warp.spline));
            return cuda::gather_batch(&self.images, &self.labels, positions, changes);
        }
        let mut pixels = self.images.index_select(positions, 0)?.to_dtype(DType::F32)?;
        let labels = self.labels.index_select(positions, 0)?;
        if let Some((variations, warp)) = changes {
            pixels = warp.change(&pixels, variations)?;
        }
        Ok((pixels, labels))
    }

    fn begin(&mut self) -> Result<Epoch> {
        let (number, order) = self.shuffle.next_epoch();
        let device = &self.place.device;
        let variations = match &self.augmenter {
            None => None,
            Some((augmenter, _)) => {
                let shuffle = &self.shuffle;
                let drawn = |&position: &u32| numbers(&augmenter.sample(&mut shuffle.augmentation_rng(number, position)));
                let numbers: Vec<f32> = order.par_iter().flat_map_iter(drawn).collect();
                Some(Tensor::from_vec(numbers, (order.len(), PARAM_COUNT), device)?)
            }
        };
        Ok(Epoch { order: Tensor::new(order, device)?, variations, taken: 0 })
    }
}

fn numbers(variation: &AugmentParams) -> [f32; PARAM_COUNT] {
    let AugmentParams { map, shift, thickness, knots } = variation;
    let knots = knots.as_flattened().as_flattened();
    let mut numbers = map.iter().chain(shift).chain([thickness]).chain(knots);
    std::array::from_fn(|_| numbers.next().copied().unwrap_or_default())
}

/// `data::augment` as tensor operations.
struct Warp {
    /// `[28, KNOTS]`: what each knot counts for at each pixel.
    spline: Tensor,
    /// `[28]`: pixels along an axis, from the middle.
    places: Tensor,
}

impl Warp {
    fn new(place: &Place) -> Result<Self> {
        let middle = (SIDE as f32 - 1.0) / 2.0;
        Ok(Self {
            spline: Tensor::from_slice(spline().as_flattened(), (SIDE, KNOTS), &place.device)?,
            places: Tensor::new((0..SIDE).map(|pixel| pixel as f32 - middle).collect::<Vec<_>>(), &place.device)?,
        })
    }

    /// The pictures `[n, 784]`, changed as `[n, PARAM_COUNT]` says.
    fn change(&self, pixels: &Tensor, variations: &Tensor) -> Result<Tensor> {
        let count = pixels.dim(0)?;
        let number = |index: usize| variations.narrow(1, index, 1)?.reshape((count, 1, 1));
        let pictures = pixels.reshape((count, SIDE, SIDE))?;
        let pictures = pictures.pad_with_zeros(1, MARGIN, MARGIN)?.pad_with_zeros(2, MARGIN, MARGIN)?;
        let pictures = thicken(&pictures, &number(6)?)?.reshape((count, PADDED * PADDED))?;

        let bend = |axis: usize| {
            let knots = variations.narrow(1, 7 + axis * KNOTS * KNOTS, KNOTS * KNOTS)?.reshape((count, KNOTS, KNOTS))?;
            self.spline.broadcast_matmul(&knots)?.broadcast_matmul(&self.spline.t()?)
        };
        // From the middle, less the shift: along the columns, and along the rows.
        let u = self.places.reshape((1, 1, SIDE))?.broadcast_sub(&number(4)?)?;
        let v = self.places.reshape((1, SIDE, 1))?.broadcast_sub(&number(5)?)?;
        let middle = (SIDE as f64 - 1.0) / 2.0 + MARGIN as f64;
        let place = |axis: usize| {
            let straight = u.broadcast_mul(&number(2 * axis)?)?.broadcast_add(&v.broadcast_mul(&number(2 * axis + 1)?)?)?;
            ((straight + middle)? + bend(axis)?)?.clamp(0.0, (PADDED - 2) as f64)?.reshape((count, PIXELS))
        };
        let (x, y) = (place(0)?, place(1)?);
        let (whole_x, whole_y) = (x.floor()?, y.floor()?);
        let corner = ((&whole_y * PADDED as f64)? + &whole_x)?;
        let at = |further: usize| pictures.gather(&(&corner + further as f64)?.to_dtype(DType::U32)?, 1);
        let (right, below) = ((x - whole_x)?, (y - whole_y)?);
        let between = |a: Tensor, b: &Tensor, share: &Tensor| &a + ((b - &a)? * share)?;
        let upper = between(at(0)?, &at(1)?, &right)?;
        let lower = between(at(PADDED)?, &at(PADDED + 1)?, &right)?;
        (between(upper, &lower, &below)? + 0.5)?.floor()
    }
}

/// Strokes `[n, PADDED, PADDED]` thicker or thinner by `[n, 1, 1]`; the outermost pixels, which are nothing, stay.
fn thicken(pictures: &Tensor, amount: &Tensor) -> Result<Tensor> {
    let inner = |row: usize, column: usize| pictures.narrow(1, row, PADDED - 2)?.narrow(2, column, PADDED - 2);
    let pixel = inner(1, 1)?;
    let (mut largest, mut smallest) = (pixel.clone(), pixel.clone());
    for (row, column) in [(0, 1), (2, 1), (1, 0), (1, 2)] {
        let neighbour = inner(row, column)?;
        (largest, smallest) = (largest.maximum(&neighbour)?, smallest.minimum(&neighbour)?);
    }
    let wider = (largest - &pixel)?.broadcast_mul(&amount.relu()?)?;
    let narrower = (smallest - &pixel)?.broadcast_mul(&amount.neg()?.relu()?)?;
    ((pixel + wider)? + narrower)?.pad_with_zeros(1, 1, 1)?.pad_with_zeros(2, 1, 1)
}
