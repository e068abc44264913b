//! The devices' self-tests as the window knows them: those in progress and the last results. Each
//! runs in a separate process, so that a crash there does no harm.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use crate::hardware::{device_availability, inference_availability};
use crate::problem::Problem;
use crate::run_config::{DeviceChoice, Precision, RunConfig};
use crate::self_test::SelfTestReport;
use crate::window::Ctx;

/// Self-tests a device, with NVIDIA's libraries looked for in this folder first; blocks until it is
/// done.
pub type SelfTest =
    Arc<dyn Fn(DeviceChoice, Option<&Path>) -> Result<SelfTestReport, Problem> + Send + Sync>;

#[derive(Clone, Debug, PartialEq)]
pub enum Checked {
    Running,
    /// Its report, or why there is none.
    Done(Box<Result<SelfTestReport, Problem>>),
}

/// Self-tests by device; devices that were not tested are missing.
pub type Checks = HashMap<DeviceChoice, Checked>;

impl Ctx {
    /// Why this device is unavailable, if it is.
    pub fn why_not_device(&self, device: DeviceChoice) -> Option<String> {
        if let Err(reason) = device_availability(device, &self.machine()) {
            return Some(reason);
        }
        match (device, self.checks_in_use().get(&device)) {
            (DeviceChoice::Auto | DeviceChoice::Cpu, _) => None,
            (_, None | Some(Checked::Running)) => {
                Some("Its self-test has not finished yet.".to_owned())
            }
            (_, Some(Checked::Done(found))) => match &**found {
                Ok(report) => report.passed(Precision::F32).err(),
                Err(problem) => Some(problem.message.what.clone()),
            },
        }
    }
}

impl Ctx {
    /// Starts a device's self-test, unless it is running.
    pub fn check_device(&mut self, device: DeviceChoice) {
        if self.checks.insert(device, Checked::Running) == Some(Checked::Running) {
            return;
        }
        let check = Arc::clone(&self.deps.self_test);
        let folder = self.settings.cuda_folder.clone();
        self.background.run(
            move || (check(device, folder.as_deref()), folder),
            move |app, (found, folder)| {
                // What was found while the libraries were looked for elsewhere is overtaken.
                if device != DeviceChoice::Cuda || folder == app.ctx.settings.cuda_folder {
                    let checked = Checked::Done(Box::new(found));
                    app.ctx.checks.insert(device, checked);
                    app.machine.time_presets(&mut app.ctx);
                }
            },
        );
    }

    /// True while a self-test is running.
    pub fn is_checking_a_device(&self) -> bool {
        self.checks.values().any(|check| *check == Checked::Running)
    }

    /// Tests GPUs that could be used: they are only used once they have passed.
    pub fn check_gpu(&mut self) {
        for device in [DeviceChoice::Cuda, DeviceChoice::Metal] {
            if self
                .hardware
                .as_ref()
                .is_some_and(|hardware| inference_availability(device, hardware).is_ok())
                && !self.checks.contains_key(&device)
            {
                self.check_device(device);
            }
        }
    }

    /// The self-tests of the machine that is trained on.
    fn checks_in_use(&self) -> &Checks {
        self.other_machine
            .as_ref()
            .map_or(&self.checks, |machine| &machine.checks)
    }

    /// Whether machines like this one can have the device at all: only Macs have Metal, and no Mac
    /// has CUDA any more.
    pub fn can_exist(&self, device: DeviceChoice) -> bool {
        let mac = cfg!(target_os = "macos") || self.machine().metal.is_some();
        match device {
            DeviceChoice::Auto | DeviceChoice::Cpu => true,
            DeviceChoice::Cuda => !mac,
            DeviceChoice::Metal => mac,
        }
    }

    /// The device that is used if `device` and `precision` are chosen.
    pub fn device_for(&self, device: DeviceChoice, precision: Precision) -> DeviceChoice {
        match device {
            DeviceChoice::Auto => {
                let available = device_availability(DeviceChoice::Cuda, &self.machine()).is_ok();
                automatic(
                    self.checks_in_use()
                        .get(&DeviceChoice::Cuda)
                        .filter(|_| available),
                    precision,
                )
            }
            named => named,
        }
    }

    /// The settings as they are submitted: `Auto` replaced by the GPU if it stands for one.
    pub fn with_device(&self, config: &RunConfig) -> RunConfig {
        match self.device_for(config.device, config.precision) {
            DeviceChoice::Cpu => config.clone(),
            device => RunConfig {
                device,
                ..config.clone()
            },
        }
    }

    /// The precisions that differ on the chosen device, and the chosen one.
    pub fn precisions(&self) -> Vec<Precision> {
        let chosen = |precision: Precision| {
            precision == self.config.precision || precision == Precision::F32
        };
        let differs = |precision: Precision| {
            precision.differs_on(self.device_for(self.config.device, precision))
        };
        Precision::ALL
            .iter()
            .copied()
            .filter(|&precision| chosen(precision) || differs(precision))
            .collect()
    }

    /// Why this precision cannot be used on the chosen device, if its self-test failed there.
    pub fn why_not_precision(&self, precision: Precision) -> Option<String> {
        self.why_not_precision_on(self.device_for(self.config.device, precision), precision)
    }

    pub fn why_not_precision_on(
        &self,
        device: DeviceChoice,
        precision: Precision,
    ) -> Option<String> {
        let Checked::Done(found) = self.checks_in_use().get(&device)? else {
            return None;
        };
        found.as_ref().as_ref().ok()?.passed(precision).err()
    }
}

/// What `Auto` stands for at this precision: the NVIDIA GPU if it can be used and has passed its
/// self-test at it, otherwise the CPU.
pub fn automatic(gpu: Option<&Checked>, precision: Precision) -> DeviceChoice {
    let Some(Checked::Done(found)) = gpu else {
        return DeviceChoice::Cpu;
    };
    match &**found {
        Ok(report) if report.passed(Precision::F32).is_ok() && report.passed(precision).is_ok() => {
            DeviceChoice::Cuda
        }
        _ => DeviceChoice::Cpu,
    }
}
