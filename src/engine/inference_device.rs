//! The device that the engine's model classifies drawings on. The model is compared on the
//! available devices in a separate thread, because opening a GPU takes seconds; until that is
//! done, and again if the chosen device fails later, it classifies on the CPU.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::Duration;

use super::host::Devices;
use crate::infer::{
    Classifier, Classify, DeviceComparison, DeviceRejection, catch_panic, compare_devices,
};
use crate::problem::Problem;
use crate::run_config::{DeviceChoice, InferenceChoice};
use crate::system::threads;

/// A device that takes longer for all images of the comparison, about 20 ms each, would make
/// drawing sluggish.
const TIME_LIMIT: Duration = Duration::from_secs(5);

/// The result of a comparison, and the model on the chosen device unless that is the CPU.
type Compared = Result<(DeviceComparison, Option<Box<dyn Classify>>), Problem>;

/// Chooses the device and classifies on it.
pub(super) struct InferenceDevice {
    devices: Arc<dyn Devices>,
    /// The user's choice, and the devices that may be used for it; nothing is compared before.
    choice: Option<(InferenceChoice, Vec<DeviceChoice>)>,
    /// True if the devices have to be compared as soon as there is time.
    due: bool,
    comparing: Option<Receiver<Compared>>,
    /// The model on the chosen device, unless that is the CPU.
    on_device: Option<Box<dyn Classify>>,
    comparison: Option<DeviceComparison>,
}

impl InferenceDevice {
    pub fn new(devices: Arc<dyn Devices>) -> Self {
        Self {
            devices,
            choice: None,
            due: false,
            comparing: None,
            on_device: None,
            comparison: None,
        }
    }

    pub fn choose(&mut self, choice: InferenceChoice, usable: Vec<DeviceChoice>) {
        self.choice = Some((choice, usable));
        self.restart();
    }

    /// The model or the choice is new: the CPU classifies until the devices have been compared.
    pub fn restart(&mut self) {
        (self.comparing, self.on_device, self.comparison) = (None, None, None);
        self.due = self.choice.is_some();
    }

    /// There is other work now: the comparison is made later.
    pub fn postpone(&mut self) {
        self.due |= self.comparing.take().is_some();
    }

    /// True while devices are being compared, and [`InferenceDevice::poll`] has to be called now
    /// and then.
    pub const fn is_comparing(&self) -> bool {
        self.comparing.is_some()
    }

    /// Starts a comparison that is due, and takes the result of one that is done.
    pub fn poll(&mut self, model: &Classifier) -> Option<DeviceComparison> {
        if std::mem::take(&mut self.due)
            && let Some((choice, usable)) = &self.choice
        {
            let usable = if model.needs_cpu() {
                Vec::new()
            } else {
                usable.clone()
            };
            self.comparing =
                compare_in_background(Arc::clone(&self.devices), model.clone(), *choice, usable);
        }
        let compared = match self.comparing.as_ref()?.try_recv() {
            Ok(compared) => compared
                .inspect_err(
                    |error| tracing::error!(%error, "the inference devices could not be compared"),
                )
                .ok(),
            Err(TryRecvError::Empty) => return None,
            // The thread panicked, which was logged.
            Err(TryRecvError::Disconnected) => None,
        };
        let (comparison, on_device) = compared.unwrap_or_else(|| {
            (
                DeviceComparison {
                    model: model.info().reference.clone(),
                    device: DeviceChoice::Cpu,
                    trials: Vec::new(),
                },
                None,
            )
        });
        (self.comparing, self.on_device, self.comparison) = (None, on_device, Some(comparison));
        self.comparison.clone()
    }

    /// Classifies with the model on the chosen device. If the device fails, the CPU takes over, and
    /// the comparison that found this is returned as well.
    pub fn classify<T>(
        &mut self,
        model: &Classifier,
        work: impl Fn(&dyn Classify) -> Result<T, Problem>,
    ) -> (Result<T, Problem>, Option<DeviceComparison>) {
        let on_device = self
            .on_device
            .as_ref()
            .map(|on_device| catch_panic(|| work(on_device.as_ref())));
        match on_device {
            None => (work(model), None),
            Some(Ok(done)) => (Ok(done), None),
            Some(Err(error)) => {
                self.on_device = None;
                if let Some(DeviceComparison { device, trials, .. }) = &mut self.comparison {
                    for trial in trials.iter_mut().filter(|trial| trial.device == *device) {
                        trial.outcome = Err(DeviceRejection::Failed(error.clone()));
                    }
                    *device = DeviceChoice::Cpu;
                }
                (work(model), self.comparison.clone())
            }
        }
    }
}

/// The model is no longer training, so both threads can use its weights.
fn compare_in_background(
    devices: Arc<dyn Devices>,
    model: Classifier,
    choice: InferenceChoice,
    usable: Vec<DeviceChoice>,
) -> Option<Receiver<Compared>> {
    let (sender, compared) = channel();
    let work = move || {
        let load = |device| devices.load(&model, device);
        // Nobody receives what was postponed or restarted.
        let _ = sender.send(compare_devices(&model, choice, &usable, &load, TIME_LIMIT));
    };
    let spawned = threads::spawn("inkling-compare", work);
    spawned
        .inspect_err(|error| tracing::error!(%error, "no thread to compare inference devices"))
        .ok()?;
    Some(compared)
}
