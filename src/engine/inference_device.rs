//! Owns where the engine's model reads: compares the devices it may read on with the processor, on a thread of its own, and has it read on
//! the one that was chosen for as long as that goes well. Must not know drawings' requests, nor how a model came here.
//!
//! The model stays on the processor as well: it reads there until the comparison has come to its end, and again when the device fails.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::time::Duration;

use super::devices::Devices;
use crate::infer::{
    Classifier, Classify, DeviceReading, InferError, ReadingFlaw, ReadingReport, Tried, candidates, choose, compare, guarded,
};
use crate::ink::Ink;
use crate::records::Prediction;
use crate::run_config::{DeviceChoice, ReadingChoice};

/// A device that takes longer than this for the pictures it is compared on, some 20 ms each, makes drawing sticky.
const HANG_TIMEOUT: Duration = Duration::from_secs(5);

/// Where the model reads.
pub(super) struct InferenceDevice {
    devices: Arc<dyn Devices>,
    /// What was asked for, and the devices that may be used for it; nothing is compared before.
    asked: Option<(ReadingChoice, Vec<DeviceChoice>)>,
    /// True where the model has to be compared as soon as there is time.
    due: bool,
    comparing: Option<Receiver<Message>>,
    /// The model on another device than the processor.
    there: Option<Box<dyn Classify>>,
    report: Option<ReadingReport>,
}

/// What comes from the thread that compares. Nobody at the receiving end any more breaks it off.
enum Message {
    GoesOn,
    Done(Vec<Tried>),
}

impl InferenceDevice {
    pub fn new(devices: Arc<dyn Devices>) -> Self {
        Self { devices, asked: None, due: false, comparing: None, there: None, report: None }
    }

    /// Somebody chose where to read, of these devices.
    pub fn ask(&mut self, choice: ReadingChoice, usable: Vec<DeviceChoice>) {
        self.asked = Some((choice, usable));
        self.start_over();
    }

    /// There is another model, or it may read elsewhere: on the processor, until it was compared.
    pub fn start_over(&mut self) {
        (self.comparing, self.there, self.report) = (None, None, None);
        self.due = self.asked.is_some();
    }

    /// There is other work now: the comparison is made later.
    pub fn break_off(&mut self) {
        self.due |= self.comparing.take().is_some();
    }

    /// True while devices are being compared, and [`InferenceDevice::attend`] wants to be called now and then.
    pub const fn is_comparing(&self) -> bool {
        self.comparing.is_some()
    }

    /// Begins what is due and takes what has come; a report where something is known now.
    pub fn attend(&mut self, model: &Classifier) -> Option<ReadingReport> {
        if std::mem::take(&mut self.due)
            && let Some((choice, usable)) = &self.asked
        {
            self.comparing = begin(Arc::clone(&self.devices), model.clone(), candidates(*choice, usable));
        }
        loop {
            match self.comparing.as_ref()?.try_recv() {
                Ok(Message::GoesOn) => {}
                Ok(Message::Done(tried)) => return self.settle(model, tried),
                Err(TryRecvError::Empty) => return None,
                // It came to no result, which was logged: the processor reads on.
                Err(TryRecvError::Disconnected) => return self.settle(model, Vec::new()),
            }
        }
    }

    fn settle(&mut self, model: &Classifier, tried: Vec<Tried>) -> Option<ReadingReport> {
        self.comparing = None;
        let (found, classifiers): (Vec<DeviceReading>, Vec<_>) = tried.into_iter().unzip();
        let device = choose(self.asked.as_ref()?.0, &found);
        self.there = found.iter().zip(classifiers).find(|(found, _)| found.device == device).and_then(|(_, classifier)| classifier);
        self.report = Some(ReadingReport { model: model.info().reference.clone(), device, tried: found });
        self.report.clone()
    }

    /// Reads a drawing; with a report where the device failed, and the processor took over.
    pub fn read(&mut self, model: &Classifier, ink: &Ink) -> (Result<Prediction, InferError>, Option<ReadingReport>) {
        let Some(there) = &self.there else { return (model.classify_drawing(ink), None) };
        match guarded(|| there.classify_drawing(ink)) {
            Ok(prediction) => (Ok(prediction), None),
            Err(problem) => {
                self.there = None;
                if let Some(report) = &mut self.report {
                    let failed = std::mem::replace(&mut report.device, DeviceChoice::Cpu);
                    for tried in report.tried.iter_mut().filter(|tried| tried.device == failed) {
                        tried.outcome = Err(ReadingFlaw::Failed(problem.clone()));
                    }
                }
                (model.classify_drawing(ink), self.report.clone())
            }
        }
    }
}

/// Compares on a thread of its own: opening a device takes its time, and a drawing never waits for it. The model no longer learns, so that
/// both may read with its weights.
fn begin(devices: Arc<dyn Devices>, model: Classifier, others: Vec<DeviceChoice>) -> Option<Receiver<Message>> {
    let (sender, messages) = channel();
    let work = move || {
        let compared = catch_unwind(AssertUnwindSafe(|| compare_on(devices.as_ref(), &model, others, &sender)));
        match compared {
            // Whoever waited for it has gone.
            Ok(Ok(None)) => {}
            Ok(Ok(Some(tried))) => drop(sender.send(Message::Done(tried))),
            Ok(Err(problem)) => tracing::error!(%problem, "reading devices could not be compared"),
            Err(_) => tracing::error!("comparing reading devices panicked"),
        }
    };
    let spawned = std::thread::Builder::new().name("inkling-compare".to_owned()).spawn(work);
    spawned.inspect_err(|error| tracing::error!(%error, "no thread to compare reading devices")).ok()?;
    Some(messages)
}

fn compare_on(
    devices: &dyn Devices,
    model: &Classifier,
    others: Vec<DeviceChoice>,
    sender: &Sender<Message>,
) -> Result<Option<Vec<Tried>>, InferError> {
    let goes_on = || if sender.send(Message::GoesOn).is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) };
    let mut loaded = Vec::new();
    for device in others {
        loaded.push((device, guarded(|| devices.load(model, device))));
        if goes_on().is_break() {
            return Ok(None);
        }
    }
    compare(model, loaded, HANG_TIMEOUT, &mut { goes_on })
}
