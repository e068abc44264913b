//! The batches of a run, prepared on the CPU or on the device that trains. What a batch contains
//! depends only on seed, epoch and image, never on timing.
//!
//! On the CPU the next one is gathered and augmented on a separate thread while this one is
//! trained on. At most two batches are ready or in preparation; their memory is reused. The
//! receiver may stop at any time, by dropping the loader or by a panic: the thread then ends by
//! itself.
//!
//! On a GPU the whole training set is in its memory as bytes, and batches are gathered and
//! augmented there. A batch contains what it would contain on the CPU, but for rounding. The order
//! and the random augmentation parameters of a whole epoch are sent over at its start; a step sends
//! nothing.
//!
//! An epoch is divided into optimizer steps, and these into batches: as few as the batch size
//! allows, and all of the same size but for one image. A smaller last batch, perhaps of a few
//! images only, would move the weights as far as the others do, and just before they are measured.

use std::ops::Range;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Builder, Scope};
use std::vec::IntoIter;

use candle_core::{Device, Result as TensorResult, Tensor};
use rayon::prelude::*;

use crate::data::augment::{AugmentParams, Augmenter};
use crate::data::{Split, gather_batch};
use crate::ink::PIXELS;
use crate::math::random::Random;
use crate::nn::backend::{AugmentBatch, AugmentTables};
use crate::nn::{BackendKind, ComputeError, DeviceContext};
use crate::problem::Problem;
use crate::profiler::{self, Recording};
use crate::records::SpanKind;
use crate::run_config::RunConfig;

/// Images with their labels, on the device that trains.
#[derive(Clone, Debug)]
pub struct Batch {
    /// `[n, 784]` from 0 to 255: u8 on the CPU, f32 elsewhere.
    pub images: Tensor,
    /// Classes `[n]`, u8.
    pub labels: Tensor,
}

impl Batch {
    pub fn len(&self) -> usize {
        self.labels.elem_count()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The micro-batch of up to `count` images from `start` on.
    pub fn narrow(&self, start: usize, count: usize) -> TensorResult<Self> {
        let count = count.min(self.len() - start);
        Ok(Self {
            images: self.images.narrow(0, start, count)?,
            labels: self.labels.narrow(0, start, count)?,
        })
    }
}

/// The batches of a run, in order.
pub(super) enum Batches {
    /// Prepared by a thread of the CPU.
    Loader(Loader),
    Device(Box<DeviceLoader>),
}

impl Batches {
    /// Starts with the first epoch that `shuffle` has not reached yet.
    pub fn start<'scope, 'env>(
        scope: &'scope Scope<'scope, 'env>,
        config: &RunConfig,
        images: &'env Split,
        shuffle: Shuffle,
        context: &DeviceContext,
    ) -> Result<Self, Problem> {
        if context.backend.kind() == BackendKind::Cpu {
            return Ok(Self::Loader(Loader::start(scope, config, images, shuffle)?));
        }
        let loader = DeviceLoader::new(config, images, shuffle, context)?;
        Ok(Self::Device(Box::new(loader)))
    }

    pub fn next_batch(&mut self) -> Result<Batch, Problem> {
        match self {
            Self::Loader(loader) => loader.next_batch(),
            Self::Device(loader) => Ok(loader.next_batch()?),
        }
    }
}

pub struct Loader(Receiver<TensorResult<Batch>>);

impl Loader {
    /// Starts with the first epoch that `shuffle` has not reached yet.
    pub fn start<'scope, 'env>(
        scope: &'scope Scope<'scope, 'env>,
        config: &RunConfig,
        images: &'env Split,
        shuffle: Shuffle,
    ) -> Result<Self, Problem> {
        let (filled, ready) = sync_channel(1);
        let worker = Worker {
            images,
            steps: EpochSteps::new(config, shuffle.images() as u64),
            shuffle,
            epochs: config.epochs,
            augmenter: Augmenter::new(config.augmentation),
        };
        let recording = Recording::current();
        let work = move || {
            if let Some(recording) = recording {
                recording.record_this_thread(1);
            }
            worker.run(&filled);
        };
        Builder::new()
            .name("loader".to_owned())
            .spawn_scoped(scope, work)
            .map_err(|error| ComputeError::no_thread(&error))?;
        Ok(Self(ready))
    }

    pub fn next_batch(&mut self) -> Result<Batch, Problem> {
        let gone = |_| ComputeError::failed(&"the thread that prepares batches ended early");
        Ok(self.0.recv().map_err(gone)??)
    }
}

struct Worker<'a> {
    images: &'a Split,
    shuffle: Shuffle,
    epochs: u32,
    steps: EpochSteps,
    augmenter: Option<Augmenter>,
}

impl Worker<'_> {
    fn run(mut self, filled: &SyncSender<TensorResult<Batch>>) {
        while self.shuffle.epochs_done() < self.epochs {
            let order = self.shuffle.next_epoch();
            for positions in self.steps.batches_after(order.used as u64) {
                let Some(indices) = order.images.get(positions) else {
                    continue;
                };
                let batch = profiler::span(
                    SpanKind::Loading,
                    || "".into(),
                    || self.batch(order.epoch, indices),
                    |_| 2 * (indices.len() * PIXELS) as u64,
                );
                if filled.send(batch).is_err() {
                    return;
                }
            }
        }
    }

    /// These images, augmented as in this epoch.
    fn batch(&mut self, epoch: u32, indices: &[u32]) -> TensorResult<Batch> {
        let mut batch = Split::default();
        gather_batch(self.images, indices, &mut batch);
        if let Some(augmenter) = &mut self.augmenter {
            for (pixels, &index) in batch.images.chunks_exact_mut(PIXELS).zip(indices) {
                augmenter.apply(pixels, &mut self.shuffle.augmentation_rng(epoch, index));
            }
        }
        let count = indices.len();
        Ok(Batch {
            images: Tensor::from_vec(batch.images, (count, PIXELS), &Device::Cpu)?,
            labels: Tensor::from_vec(batch.labels, count, &Device::Cpu)?,
        })
    }
}

/// Batches for a GPU.
pub(super) struct DeviceLoader {
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

/// The message that begins an epoch.
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
    ) -> TensorResult<Self> {
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

    pub fn next_batch(&mut self) -> TensorResult<Batch> {
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

    fn next_epoch(&mut self) -> TensorResult<Epoch> {
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

#[derive(Clone, Copy, Debug)]
pub struct EpochSteps {
    images: u64,
    batch_size: u64,
    count: u64,
}

impl EpochSteps {
    /// Over this many images, with the batch size and gradient accumulation of these settings.
    pub fn new(config: &RunConfig, images: u64) -> Self {
        let batch_size = u64::from(config.batch_size).max(1);
        let most = batch_size * u64::from(config.accumulation).max(1);
        Self {
            images,
            batch_size,
            count: images.div_ceil(most),
        }
    }

    pub const fn count(self) -> u64 {
        self.count
    }

    /// The images of the first `steps` steps, which may span several epochs.
    pub fn images_of(self, steps: u64) -> u64 {
        (self.images * steps)
            .checked_div(self.count)
            .unwrap_or_default()
    }

    /// How many steps the first `images` images complete.
    pub fn completed(self, images: u64) -> u64 {
        if images >= self.images {
            self.count
        } else {
            ((images + 1) * self.count).div_ceil(self.images) - 1
        }
    }

    /// After the first `images` images of an epoch: how many each further step ends after.
    pub fn ends_after(self, images: u64) -> impl Iterator<Item = u64> {
        (self.completed(images) + 1..=self.count).map(move |step| self.images_of(step))
    }

    /// After the first `images` images of an epoch: the batches of the further steps, in positions
    /// in the order of its images.
    pub fn batches_after(self, images: u64) -> impl Iterator<Item = Range<usize>> {
        let mut start = images;
        self.ends_after(images).flat_map(move |end| {
            let step = std::mem::replace(&mut start, end)..end;
            let images = step.end - step.start;
            let batches = images.div_ceil(self.batch_size);
            let of_step = move |batch: u64| (step.start + images * batch / batches) as usize;
            (0..batches).map(move |batch| of_step(batch)..of_step(batch + 1))
        })
    }
}

#[derive(Debug)]
pub struct EpochOrder {
    /// From 1.
    pub epoch: u32,
    pub images: Vec<u32>,
    /// How many of them, from the first, were used already.
    pub used: usize,
}

/// The order of the images in each epoch, and the random numbers for their augmentation.
#[derive(Clone, Debug)]
pub struct Shuffle {
    order: Vec<u32>,
    seed: u64,
    done: u32,
    /// Images at the start of the next epoch that were used already.
    used: usize,
}

impl Shuffle {
    /// Of the images at these indices, after the first `done` epochs.
    pub fn new(order: Vec<u32>, seed: u64, done: u32) -> Self {
        let mut shuffle = Self {
            order,
            seed,
            done: 0,
            used: 0,
        };
        while shuffle.done < done {
            shuffle.next_epoch();
        }
        shuffle
    }

    pub(super) const fn epochs_done(&self) -> u32 {
        self.done
    }

    pub const fn images(&self) -> usize {
        self.order.len()
    }

    /// The same without the first images of the next epoch.
    #[must_use]
    pub fn skip(mut self, images: usize) -> Self {
        self.used = images;
        if self.used >= self.order.len() {
            self.next_epoch();
        }
        self
    }

    /// The order of the next epoch: the previous order, shuffled.
    pub fn next_epoch(&mut self) -> EpochOrder {
        self.done += 1;
        Random::stream(self.seed, "shuffle", u64::from(self.done)).shuffle(&mut self.order);
        EpochOrder {
            epoch: self.done,
            images: self.order.clone(),
            used: std::mem::take(&mut self.used),
        }
    }

    /// The random numbers that the augmentation of this image in this epoch depends on.
    pub fn augmentation_rng(&self, epoch: u32, index: u32) -> Random {
        Random::stream(
            self.seed,
            "augmentation",
            u64::from(epoch) << 32 | u64::from(index),
        )
    }
}
