//! In which order an epoch goes through the images, and how it is divided into optimizer steps, and
//! these into batches: as few as the batch size allows, and all of the same size but for one image.
//! A smaller last batch, perhaps of a few images only, would move the weights as far as the others
//! do, and just before they are measured.

use std::ops::Range;

use crate::math::random::Random;
use crate::run_config::RunConfig;

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

    /// The images of the first `steps` steps, which may be those of several epochs.
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

/// The order of the images of an epoch.
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

    /// How many images an epoch has.
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

    /// The order of the next epoch: that of the one before, shuffled.
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
