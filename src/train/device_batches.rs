//! Owns the batches of a run outside the processor: the whole set lies on the device as bytes, and batches are gathered and changed there.
//! Must not know networks.
//!
//! What a batch holds is what it would hold on the processor, but for rounding. What is decided by augmentation_rng is drawn here for a whole epoch
//! and sent over at its start; nothing crosses over at a step.

use candle_core::{Result, Tensor};
use rayon::prelude::*;

use super::batches::Batch;
use super::loader::Shuffle;
use crate::data::Split;
use crate::data::augment::{AugmentParams, Augmenter, KNOTS};
use crate::ink::PIXELS;
use crate::nn::DeviceContext;
use crate::nn::backend::{AugmentBatch, AugmentTables};
use crate::run_config::RunConfig;

/// Numbers that a variation is sent over as: its map, its shift, its thickness, its knots.
pub const PARAM_COUNT: usize = 4 + 2 + 1 + 2 * KNOTS * KNOTS;

/// The batches of a run, in order.
pub struct DeviceBatches {
    context: DeviceContext,
    /// `[images, 784]`, bytes.
    images: Tensor,
    /// `[images]`, classes as bytes.
    labels: Tensor,
    shuffle: Shuffle,
    batch_size: usize,
    augmenter: Option<(Augmenter, AugmentTables)>,
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
    pub fn new(config: &RunConfig, images: &Split, shuffle: Shuffle, context: &DeviceContext) -> Result<Self> {
        let augmenter = match Augmenter::new(config.augmentation) {
            Some(augmenter) => Some((augmenter, AugmentTables::new(&context.device)?)),
            None => None,
        };
        Ok(Self {
            context: context.clone(),
            images: Tensor::from_slice(&images.images, (images.len(), PIXELS), &context.device)?,
            labels: Tensor::from_slice(&images.labels, images.len(), &context.device)?,
            shuffle,
            batch_size: config.batch_size as usize,
            augmenter,
            epoch: None,
        })
    }

    /// The next batch.
    pub fn next_batch(&mut self) -> Result<Batch> {
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

    fn gather(&self, positions: &Tensor, params: Option<&Tensor>) -> Result<Batch> {
        let augment = params.zip(self.augmenter.as_ref()).map(|(params, (_, tables))| AugmentBatch { params, tables });
        let (images, labels) = self.context.backend.gather_batch(&self.images, &self.labels, positions, augment)?;
        Ok(Batch { images, labels })
    }

    fn begin(&mut self) -> Result<Epoch> {
        let (number, order) = self.shuffle.next_epoch();
        let device = &self.context.device;
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
