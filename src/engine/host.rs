//! Where an engine lives, starting one there, and how it opens devices: for a run, and for a model
//! that recognizes drawings.

use std::fmt::Debug;

use super::child::HANG_TIMEOUT;
use super::handle::{EngineHandle, EngineSettings};
use super::remote::RemoteHost;
use crate::device::look_for_cuda_in;
use crate::hardware::device_support;
use crate::infer::{Classifier, Classify};
use crate::nn::DeviceContext;
use crate::problem::Problem;
use crate::protocol::Urgency;
use crate::run_config::{ConfigError, DeviceChoice};
use crate::system::process;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum EngineHost {
    #[default]
    Thread,
    /// In a separate process: if it crashes, in a driver for example, this process survives.
    Process,
    Remote(RemoteHost),
}

impl EngineHost {
    /// Where engines usually live: on a thread, unless the environment says
    /// `INKLING_ENGINE=process`.
    pub fn from_env() -> Self {
        let process = std::env::var_os("INKLING_ENGINE")
            .is_some_and(|host| host.eq_ignore_ascii_case("process"));
        if process { Self::Process } else { Self::Thread }
    }

    /// Where an engine lives that computes on this device, if others live here: a device of this
    /// machine that needs a driver gets a separate process.
    #[must_use]
    pub fn for_device(&self, device: DeviceChoice) -> Self {
        match self {
            Self::Thread if device == DeviceChoice::Cuda => Self::Process,
            host => host.clone(),
        }
    }

    /// The other machine that it is on, if it is on one.
    pub const fn remote(&self) -> Option<&RemoteHost> {
        if let Self::Remote(host) = self {
            Some(host)
        } else {
            None
        }
    }
}

impl EngineHandle {
    /// Starts an engine there. `wake` is called after each event, from another thread.
    pub fn start(
        host: EngineHost,
        settings: EngineSettings,
        wake: impl Fn(Urgency) + Send + Sync + 'static,
    ) -> Self {
        match host {
            EngineHost::Thread => Self::spawn(settings, wake),
            EngineHost::Process => {
                let program = look_for_cuda_in(
                    settings.cuda_folder.as_deref(),
                    process::this_program(&["engine"]),
                );
                Self::child(program, settings, HANG_TIMEOUT, wake)
            }
            EngineHost::Remote(host) => Self::remote(host.program(), &host, settings, wake),
        }
    }
}

/// A trait, so that tests can put other devices in their place.
pub trait Devices: Debug + Send + Sync {
    fn open(&self, device: DeviceChoice) -> Result<DeviceContext, ConfigError>;

    fn load(&self, model: &Classifier, device: DeviceChoice) -> Result<Box<dyn Classify>, Problem>;
}

#[derive(Clone, Copy, Debug, Default)]
pub struct ThisMachine;

impl Devices for ThisMachine {
    fn open(&self, device: DeviceChoice) -> Result<DeviceContext, ConfigError> {
        device_support(device)
            .map_err(|reason| ConfigError::DeviceUnavailable { device, reason })?;
        DeviceContext::open(device)
    }

    fn load(&self, model: &Classifier, device: DeviceChoice) -> Result<Box<dyn Classify>, Problem> {
        Ok(Box::new(
            model.to_device(device, &DeviceContext::open(device)?)?,
        ))
    }
}
