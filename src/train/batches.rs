//! Owns a run's batches, wherever they are gathered, and the parts of them that are computed at once. Must not know networks beyond what
//! they take in.

use std::thread::Scope;

use candle_core::Tensor;

use super::TrainError;
use super::device_batches::DeviceBatches;
use super::loader::{Loader, Shuffle};
use crate::data::Split;
use crate::device::{Kernels, Place};
use crate::ink::PIXELS;
use crate::nn::Pixels;
use crate::nn::ops::Labels;
use crate::run_config::RunConfig;

/// The batches of a run, in order.
pub enum Batches {
    /// Gathered by a thread of their own.
    Host(Loader),
    /// Gathered by the device.
    There(Box<DeviceBatches>),
}

impl Batches {
    /// Those of every epoch that `shuffle` has yet to come to.
    pub fn start<'scope, 'env>(
        scope: &'scope Scope<'scope, 'env>,
        config: &RunConfig,
        images: &'env Split,
        shuffle: Shuffle,
        place: &Place,
    ) -> Result<Self, TrainError> {
        Ok(match place.kernels {
            Kernels::Ours => Self::Host(Loader::start(scope, config, images, shuffle)?),
            Kernels::Cuda | Kernels::Candle => Self::There(Box::new(DeviceBatches::new(config, images, shuffle, place)?)),
        })
    }

    /// The next batch.
    pub fn next_batch(&mut self) -> Result<Batch<'_>, TrainError> {
        Ok(match self {
            Self::Host(loader) => {
                let Split { images, labels } = loader.next_batch()?;
                Batch::Host(images, labels)
            }
            Self::There(batches) => {
                let (pixels, labels) = batches.next_batch()?;
                Batch::There(pixels, labels)
            }
        })
    }
}

/// Pictures with their labels: a batch, or a part of one.
pub enum Batch<'a> {
    /// On the host.
    Host(&'a [u8], &'a [u8]),
    /// Pixels `[n, 784]` and a 1 at each label `[n, 10]`, on the device.
    There(Tensor, Tensor),
}

impl Batch<'_> {
    /// How many.
    pub fn len(&self) -> usize {
        match self {
            Self::Host(_, labels) => labels.len(),
            Self::There(pixels, _) => pixels.dims().first().copied().unwrap_or_default(),
        }
    }

    /// `count` of them from `start` on, as many as there are.
    pub fn part(&self, start: usize, count: usize) -> candle_core::Result<Batch<'_>> {
        let end = self.len().min(start + count);
        Ok(match self {
            Self::Host(images, labels) => Batch::Host(&images[start * PIXELS..end * PIXELS], &labels[start..end]),
            Self::There(pixels, labels) => Batch::There(pixels.narrow(0, start, end - start)?, labels.narrow(0, start, end - start)?),
        })
    }

    /// What a network takes in.
    pub const fn pixels(&self) -> Pixels<'_> {
        match self {
            Self::Host(images, _) => Pixels::Host(images),
            Self::There(pixels, _) => Pixels::There(pixels),
        }
    }

    /// What it is to say.
    pub const fn labels(&self) -> Labels<'_> {
        match self {
            Self::Host(_, labels) => Labels::Digits(labels),
            Self::There(_, labels) => Labels::OneHot(labels),
        }
    }
}
