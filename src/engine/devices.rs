//! How an engine opens devices: for a run, and for a model that recognizes drawings. A trait, so
//! that tests can put others in their place.

use std::fmt::Debug;

use crate::hardware::device_support;
use crate::infer::{Classifier, Classify};
use crate::nn::DeviceContext;
use crate::problem::Problem;
use crate::run_config::{ConfigProblem, DeviceChoice};

pub trait Devices: Debug + Send + Sync {
    fn open(&self, device: DeviceChoice) -> Result<DeviceContext, ConfigProblem>;

    /// A copy of the model on this device.
    fn load(&self, model: &Classifier, device: DeviceChoice) -> Result<Box<dyn Classify>, Problem>;
}

#[derive(Clone, Copy, Debug, Default)]
pub struct ThisMachine;

impl Devices for ThisMachine {
    fn open(&self, device: DeviceChoice) -> Result<DeviceContext, ConfigProblem> {
        device_support(device)
            .map_err(|reason| ConfigProblem::DeviceUnavailable { device, reason })?;
        DeviceContext::open(device)
    }

    fn load(&self, model: &Classifier, device: DeviceChoice) -> Result<Box<dyn Classify>, Problem> {
        Ok(Box::new(
            model.to_device(device, &DeviceContext::open(device)?)?,
        ))
    }
}
