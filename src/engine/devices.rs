//! Owns how an engine comes by devices: opening one for a run, and having a model read on one.
//! Must not know which device is best, nor whether it computes rightly.

use std::fmt::Debug;

use crate::hardware::device_support;
use crate::infer::{Classifier, Classify, InferError};
use crate::nn::DeviceContext;
use crate::run_config::{ConfigProblem, DeviceChoice};

/// The devices there are.
pub trait Devices: Debug + Send + Sync {
    /// Opens one for runs; an error with the reason where none can be made on it.
    fn open(&self, device: DeviceChoice) -> Result<DeviceContext, ConfigProblem>;

    /// A copy of the model that reads on this device.
    fn load(&self, model: &Classifier, device: DeviceChoice) -> Result<Box<dyn Classify>, InferError>;
}

/// Those of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct ThisMachine;

impl Devices for ThisMachine {
    fn open(&self, device: DeviceChoice) -> Result<DeviceContext, ConfigProblem> {
        device_support(device).map_err(|reason| ConfigProblem::DeviceUnavailable { device, reason })?;
        DeviceContext::open(device)
    }

    fn load(&self, model: &Classifier, device: DeviceChoice) -> Result<Box<dyn Classify>, InferError> {
        Ok(Box::new(model.to_device(device, &DeviceContext::open(device)?)?))
    }
}
