//! The device that recognizes drawings, as the window knows it: the person's choice, the devices
//! that may be used, and the engine's measurements.

use crate::engine::EngineHost;
use crate::hardware::inference_availability;
use crate::infer::{COMPARED_IMAGES, DeviceComparison, DeviceTiming, DeviceTrial, TOLERANCE};
use crate::problem::Message;
use crate::protocol::Command;
use crate::records::ModelRef;
use crate::run_config::{DeviceChoice, InferenceChoice};
use crate::text::format::milliseconds;
use crate::window::draw::Draw;
use crate::window::hardware::Checked;
use crate::window::notice::Severity;
use crate::window::{App, Ctx};

/// The state of the choice of device for recognition.
#[derive(Clone, Debug, Default)]
pub struct InferenceDevice {
    /// The last choice sent to the engine.
    sent: Option<(InferenceChoice, Vec<DeviceChoice>)>,
    report: Option<DeviceComparison>,
    /// True once a process that used a driver's device has crashed.
    pub(super) gave_up: bool,
}

impl App {
    /// The device that recognizes drawings and its speed: "Recognition on Metal: 0.9 ms (CPU 0.1
    /// ms)".
    pub fn device_summary(&self) -> String {
        let run = self.train.run.as_ref();
        let training = run.filter(|run| self.ctx.is_in_use(&ModelRef::Training(run.id)));
        if let Some(plan) = training.and_then(|run| run.plan.as_ref()) {
            let device = device_name(plan.device, true);
            return format!("Recognition on {device} (shared with training)");
        }
        let Some(report) = self.draw.inference_report(&self.ctx) else {
            return "Recognition on the CPU".to_owned();
        };
        let mut line = format!("Recognition on {}", device_name(report.device, true));
        let mut others = Vec::new();
        for DeviceTrial { device, outcome } in &report.trials {
            let Ok(figures) = outcome else { continue };
            let time = milliseconds(figures.median_microseconds);
            if *device == report.device {
                line += &format!(": {time}");
            } else {
                others.push(format!("{} {time}", device_name(*device, false)));
            }
        }
        if !others.is_empty() {
            line += &format!(" ({})", others.join(", "));
        }
        line
    }

    /// Why this choice is unavailable, if it is.
    pub fn why_not_inference(&self, choice: InferenceChoice) -> Option<String> {
        choice
            .device()
            .and_then(|device| self.why_not_inference_on(device))
    }

    fn why_not_inference_on(&self, device: DeviceChoice) -> Option<String> {
        if let Err(reason) = inference_availability(device, &self.ctx.machine()) {
            return Some(reason);
        }
        match self.ctx.checks.get(&device) {
            _ if device == DeviceChoice::Cpu => None,
            None | Some(Checked::Running) => Some("Its self-test has not finished yet.".to_owned()),
            Some(Checked::Done(found)) => match &**found {
                Ok(report) => report.passed_inference().err(),
                Err(problem) => Some(problem.message.what.clone()),
            },
        }
    }

    /// Moves the engine to where it can use the wanted device, as soon as it is idle, and sends it
    /// the choice.
    pub(in crate::window) fn update_inference_device(&mut self) {
        let gpu = DeviceChoice::Cuda;
        let wants_gpu = !matches!(
            self.ctx.settings.inference_device,
            InferenceChoice::Cpu | InferenceChoice::Metal
        ) && !self.draw.inference.gave_up;
        let elsewhere = self.ctx.engine.host != self.ctx.engine.host_for(gpu);
        if wants_gpu
            && elsewhere
            && !self.ctx.is_at_work()
            && self.why_not_inference_on(gpu).is_none()
        {
            self.move_engine_for(gpu);
        }
        self.send_inference_choice();
    }

    /// Sends the choice and the usable devices to the engine, if they have changed.
    pub(in crate::window) fn send_inference_choice(&mut self) {
        let reaches = |device: &DeviceChoice| {
            *device != DeviceChoice::Cuda || self.ctx.engine.host == EngineHost::Process
        };
        let others = [DeviceChoice::Cuda, DeviceChoice::Metal].into_iter();
        let usable: Vec<_> = others
            .filter(|device| reaches(device) && self.why_not_inference_on(*device).is_none())
            .collect();
        let sent = Some((self.ctx.settings.inference_device, usable));
        if self.draw.inference.sent != sent {
            self.draw.inference.sent.clone_from(&sent);
            if let Some((choice, usable)) = sent {
                // That an engine is gone shows when it is polled.
                self.ctx
                    .engine
                    .handle
                    .send(Command::ChooseInferenceDevice { choice, usable });
            }
        }
    }

    /// The engine was replaced: the choice has to be sent again.
    pub(in crate::window) fn reset_inference_device(&mut self) {
        (self.draw.inference.sent, self.draw.inference.report) = (None, None);
        self.send_inference_choice();
    }
}

impl Draw {
    /// The comparison of devices for the current model, once there is one.
    pub fn inference_report(&self, ctx: &Ctx) -> Option<&DeviceComparison> {
        let report = self.inference.report.as_ref();
        report.filter(|report| ctx.is_in_use(&report.model))
    }

    /// Why devices that were tried are not used, a sentence each.
    pub fn inference_rejections(&self, ctx: &Ctx) -> Vec<String> {
        let report = self.inference_report(ctx);
        report.map_or_else(Vec::new, |report| {
            rejections(report)
                .map(|(_, message)| message.what)
                .collect()
        })
    }

    /// A process that used a driver's device crashed: the engine does not move there again until
    /// the person chooses to.
    pub(in crate::window) const fn give_up_gpu_inference(&mut self) {
        self.inference.gave_up = true;
    }

    /// Takes the engine's comparison; each flaw is reported once.
    pub(in crate::window) fn on_inference_report(
        &mut self,
        ctx: &mut Ctx,
        report: DeviceComparison,
    ) {
        let known: Vec<_> = self.inference.report.iter().flat_map(rejections).collect();
        for (device, message) in rejections(&report) {
            if known.iter().all(|(other, _)| *other != device) {
                ctx.show_notice(Severity::Info, message);
            }
        }
        self.inference.report = Some(report);
    }
}

/// Why devices that were tried are not used.
fn rejections(report: &DeviceComparison) -> impl Iterator<Item = (DeviceChoice, Message)> {
    report.trials.iter().filter_map(|trial| {
        let flaw = trial.outcome.as_ref().err()?;
        let message = Message::inference_rejection(trial.device, flaw);
        Some((trial.device, message))
    })
}

/// A device's measurements as the columns of a table: device, median time, 99th percentile, largest
/// difference, agreement.
pub fn inference_row(device: DeviceChoice, figures: &DeviceTiming) -> [String; 5] {
    let agreement = &figures.agreement;
    let (apart, alike) = match device {
        DeviceChoice::Cpu => ("–".to_owned(), "–".to_owned()),
        _ => (
            format!("{:.0e}", agreement.max_difference),
            format!("{} of {}", agreement.matching, agreement.images),
        ),
    };
    [
        device_name(device, false).to_owned(),
        milliseconds(figures.median_microseconds),
        milliseconds(figures.p99_microseconds),
        apart,
        alike,
    ]
}

pub fn about_inference_comparison() -> String {
    format!(
        "Measured with the same {COMPARED_IMAGES} images on each device, one at a time. A device is used only if all its probabilities are within \
         {TOLERANCE} of the CPU's."
    )
}

/// A device's name within a sentence, or its short name.
pub const fn device_name(device: DeviceChoice, in_sentence: bool) -> &'static str {
    match (device, in_sentence) {
        (DeviceChoice::Auto | DeviceChoice::Cpu, true) => "the CPU",
        (DeviceChoice::Auto | DeviceChoice::Cpu, false) => "CPU",
        (DeviceChoice::Cuda, true) => "the NVIDIA GPU",
        (DeviceChoice::Cuda, false) => "CUDA",
        (DeviceChoice::Metal, _) => "Metal",
    }
}
