//! Batches prepared on a GPU: the whole training set is in its memory as bytes, and batches are
//! gathered and augmented there.
//!
//! A batch contains what it would contain on the CPU, but for rounding. The order and the random
//! augmentation parameters of a whole epoch are sent over at its start; a step sends nothing.

use std::ops::Range;
use std::vec::IntoIter;

use candle_core::{Result, Tensor};
use rayon::prelude::*;

use super::batches::Batch;
use super::epoch_steps::EpochSteps;
use super::loader::{EpochOrder, Shuffle};
use crate::data::Split;
use crate::data::augment::{AugmentParams, Augmenter};
use crate::ink::PIXELS;
use crate::nn::DeviceContext;
use crate::nn::backend::{AugmentBatch, AugmentTables};
use crate::run_config::RunConfig;

/// The batches of a run, in order.
pub struct DeviceLoader {
    context: DeviceContext,
    /// `[images, 784]`, bytes.
    images: Tensor,
    /// `[images]`, classes as bytes.
    labels: Tensor,
    shuffle: Shuffle,
    steps: EpochSteps,
    augmenter: Option<(Augmenter, AugmentTables)>,
    epoch: Option<Epoch>,
}

/// What is sent over for an epoch.
struct Epoch {
    /// `[n]`: the indices of the images, in their order.
    order: Tensor,
    /// `[n, AugmentParams::COUNT]`.
    params: Option<Tensor>,
    /// The batches that are left, in positions in this order.
    batches: IntoIter<Range<usize>>,
}

impl DeviceLoader {
    /// Starts with the first epoch that `shuffle` has not reached yet.
    pub fn new(
        config: &RunConfig,
        images: &Split,
        shuffle: Shuffle,
        context: &DeviceContext,
    ) -> Result<Self> {
        let augmenter = match Augmenter::new(config.augmentation) {
            Some(augmenter) => Some((augmenter, AugmentTables::new(&context.device)?)),
            None => None,
        };
        Ok(Self {
            context: context.clone(),
            images: Tensor::from_slice(&images.images, (images.len(), PIXELS), &context.device)?,
            labels: Tensor::from_slice(&images.labels, images.len(), &context.device)?,
            steps: EpochSteps::new(config, shuffle.images() as u64),
            shuffle,
            augmenter,
            epoch: None,
        })
    }

    /// The next batch.
    pub fn next_batch(&mut self) -> Result<Batch> {
        let mut epoch = match self.epoch.take() {
            Some(epoch) => epoch,
            None => self.next_epoch()?,
        };
        let batch = epoch.batches.next().unwrap_or_default();
        let indices = epoch.order.narrow(0, batch.start, batch.len())?;
        let params = epoch
            .params
            .as_ref()
            .map(|params| params.narrow(0, batch.start, batch.len()))
            .transpose()?;
        if epoch.batches.len() > 0 {
            self.epoch = Some(epoch);
        }
        let augment = params
            .as_ref()
            .zip(self.augmenter.as_ref())
            .map(|(params, (_, tables))| AugmentBatch { params, tables });
        let (images, labels) =
            self.context
                .backend
                .gather_batch(&self.images, &self.labels, &indices, augment)?;
        Ok(Batch { images, labels })
    }

    fn next_epoch(&mut self) -> Result<Epoch> {
        let EpochOrder {
            epoch,
            images,
            used,
        } = self.shuffle.next_epoch();
        let device = &self.context.device;
        let params = match &self.augmenter {
            None => None,
            Some((augmenter, _)) => {
                let shuffle = &self.shuffle;
                let sample = |&index: &u32| {
                    augmenter
                        .sample(&mut shuffle.augmentation_rng(epoch, index))
                        .packed()
                };
                let params: Vec<f32> = images.par_iter().flat_map_iter(sample).collect();
                Some(Tensor::from_vec(
                    params,
                    (images.len(), AugmentParams::COUNT),
                    device,
                )?)
            }
        };
        let batches: Vec<_> = self.steps.batches_after(used as u64).collect();
        Ok(Epoch {
            order: Tensor::new(images, device)?,
            params,
            batches: batches.into_iter(),
        })
    }
}
