//! The batches of a run, prepared on the CPU or on the device that trains.

use std::thread::Scope;

use candle_core::{Device, Result as TensorResult, Tensor};

use super::TrainError;
use super::device_loader::DeviceLoader;
use super::loader::{Loader, Shuffle};
use crate::data::Split;
use crate::ink::PIXELS;
use crate::nn::{BackendKind, DeviceContext};
use crate::run_config::RunConfig;

/// The batches of a run, in order.
pub enum Batches {
    /// Prepared by a thread of the CPU.
    Loader(Loader),
    /// Prepared by the device.
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
    ) -> Result<Self, TrainError> {
        Ok(match context.backend.kind() {
            BackendKind::Cpu => Self::Loader(Loader::start(scope, config, images, shuffle)?),
            BackendKind::Cuda | BackendKind::Composed => Self::Device(Box::new(DeviceLoader::new(
                config, images, shuffle, context,
            )?)),
        })
    }

    /// The next batch.
    pub fn next_batch(&mut self) -> Result<Batch, TrainError> {
        Ok(match self {
            Self::Loader(loader) => Batch::of(loader.next_batch()?)?,
            Self::Device(batches) => batches.next_batch()?,
        })
    }
}

/// Images with their labels, on the device that trains.
#[derive(Clone, Debug)]
pub struct Batch {
    /// `[n, 784]` from 0 to 255: u8 on the CPU, f32 elsewhere.
    pub images: Tensor,
    /// Classes `[n]`, u8.
    pub labels: Tensor,
}

impl Batch {
    fn of(split: &Split) -> TensorResult<Self> {
        let count = split.labels.len();
        Ok(Self {
            images: Tensor::from_slice(&split.images, (count, PIXELS), &Device::Cpu)?,
            labels: Tensor::from_slice(&split.labels, count, &Device::Cpu)?,
        })
    }

    /// How many images.
    pub fn len(&self) -> usize {
        self.labels.elem_count()
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
