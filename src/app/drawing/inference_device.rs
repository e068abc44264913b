//! The device that recognises drawings, as the window knows it: the person's choice, the devices that may be used, and the engine's
//! measurements.

use crate::app::App;
use crate::app::machine::Checked;
use crate::app::messages::Message;
use crate::app::notice::Severity;
use crate::engine::EngineHost;
use crate::hardware::reading_availability;
use crate::infer::{COMPARED_IMAGES, DeviceComparison, DeviceTiming, DeviceTrial, TOLERANCE};
use crate::protocol::Command;
use crate::records::ModelRef;
use crate::run_config::{DeviceChoice, ReadingChoice};
use crate::text::format::milliseconds;

/// What is known of where drawings are read.
#[derive(Clone, Debug, Default)]
pub struct InferenceDevice {
    /// What the engine was last told.
    told: Option<(ReadingChoice, Vec<DeviceChoice>)>,
    /// What it found last.
    report: Option<DeviceComparison>,
    /// True once the process that reads on a driver's device was lost.
    given_up: bool,
    /// True where the engine is to move to another process as soon as it has nothing else to do.
    move_due: bool,
}

impl App {
    /// What was found of the model that reads, once it was compared.
    pub fn inference_report(&self) -> Option<&DeviceComparison> {
        let model = &self.model_in_use.as_ref()?.reference;
        self.inference.report.as_ref().filter(|report| report.model == *model)
    }

    /// Where drawings are read and how fast: "Recognition on Metal: 0.9 ms (CPU 0.1 ms)".
    pub fn device_summary(&self) -> String {
        let training =
            self.run.as_ref().filter(|run| self.model_in_use.as_ref().is_some_and(|model| model.reference == ModelRef::Training(run.id)));
        if let Some(device) = training.and_then(|run| run.plan.as_ref()).map(|plan| plan.device) {
            return format!("Recognition on {}, the training device", device_name(device, true));
        }
        let Some(report) = self.inference_report() else { return "Recognition on the CPU".to_owned() };
        let figures = |wanted: &DeviceTrial| wanted.outcome.as_ref().ok().map(|figures| milliseconds(figures.median_microseconds));
        let here = report.trials.iter().find(|trial| trial.device == report.device).and_then(figures);
        let others = report.trials.iter().filter(|trial| trial.device != report.device);
        let others: Vec<_> = others.filter_map(|other| Some(format!("{} {}", device_name(other.device, false), figures(other)?))).collect();
        let mut line = format!("Recognition on {}", device_name(report.device, true));
        if let Some(here) = here {
            line += &format!(": {here}");
        }
        if !others.is_empty() {
            line += &format!(" ({})", others.join(", "));
        }
        line
    }

    /// Why drawings are not read on a device that was tried, a sentence each.
    pub fn inference_flaws(&self) -> Vec<String> {
        let tried = self.inference_report().map_or(&[][..], |report| &report.trials);
        tried.iter().filter_map(|trial| Some(Message::reading_flaw(trial.device, trial.outcome.as_ref().err()?).what)).collect()
    }

    /// Why drawings cannot be read so here, if they cannot.
    pub fn why_not_inference(&self, choice: ReadingChoice) -> Option<String> {
        choice.device().and_then(|device| self.why_not_inference_on(device))
    }

    fn why_not_inference_on(&self, device: DeviceChoice) -> Option<String> {
        if let Err(reason) = reading_availability(device, &self.machine()) {
            return Some(reason);
        }
        match self.checks.get(&device) {
            _ if device == DeviceChoice::Cpu => None,
            None | Some(Checked::Running) => Some("Its self-test has not finished yet.".to_owned()),
            Some(Checked::Done(found)) => match &**found {
                Ok(report) => report.passed_inference().err(),
                Err(problem) => Some(Message::from(problem).what),
            },
        }
    }

    pub(in crate::app) fn choose_reading(&mut self, choice: ReadingChoice) {
        self.settings.reading = choice;
        self.inference.given_up = false;
        self.arrange_reading();
    }

    /// Has the engine live where drawings can be read as wanted, once it has nothing else to do, and read there.
    pub(in crate::app) fn arrange_reading(&mut self) {
        let gpu = DeviceChoice::Cuda;
        let takes_gpu = !matches!(self.settings.reading, ReadingChoice::Cpu | ReadingChoice::Metal);
        let moves = takes_gpu
            && !self.inference.given_up
            && self.host != self.deps.host.for_device(gpu)
            && self.why_not_inference_on(gpu).is_none();
        self.inference.move_due = moves && self.is_at_work();
        if moves && !self.inference.move_due {
            self.move_to_host_for(gpu);
        }
        self.tell_where_to_read();
    }

    /// Has the engine move where that was put off and nothing stands against it any more.
    pub(in crate::app) fn catch_up_on_reading(&mut self) {
        if self.inference.move_due && !self.is_at_work() {
            self.arrange_reading();
        }
    }

    /// Tells the engine where to read, if that is news to it.
    pub(in crate::app) fn tell_where_to_read(&mut self) {
        let fits = |device: &DeviceChoice| *device != DeviceChoice::Cuda || self.host == EngineHost::Process;
        let others = [DeviceChoice::Cuda, DeviceChoice::Metal].into_iter();
        let usable: Vec<_> = others.filter(|device| fits(device) && self.why_not_inference_on(*device).is_none()).collect();
        let choice = self.settings.reading;
        let told = Some((choice, usable.clone()));
        if self.inference.told != told {
            self.inference.told = told;
            // An engine that is gone says so by itself.
            self.engine.send(Command::ChooseInferenceDevice { choice, usable });
        }
    }

    /// The engine is another one, which knows nothing yet.
    pub(in crate::app) fn tell_anew_where_to_read(&mut self) {
        (self.inference.told, self.inference.report) = (None, None);
        self.tell_where_to_read();
    }

    /// The process that reads on a driver's device was lost: nobody moves there again without being told to.
    pub(in crate::app) fn give_reading_up(&mut self) {
        self.inference.given_up = true;
    }

    /// The engine found out where to read; what went wrong is said once.
    pub(in crate::app) fn on_reading_report(&mut self, report: DeviceComparison) {
        let known = |device| {
            let last = self.inference.report.iter().flat_map(|report| &report.trials);
            last.filter(|trial| trial.device == device).any(|trial| trial.outcome.is_err())
        };
        let news: Vec<_> = report
            .trials
            .iter()
            .filter_map(|trial| Some((trial.device, trial.outcome.as_ref().err()?)))
            .filter(|(device, _)| !known(*device))
            .map(|(device, flaw)| Message::reading_flaw(device, flaw))
            .collect();
        self.inference.report = Some(report);
        for message in news {
            self.show_notice(Severity::Info, message);
        }
    }
}

/// A device's measurements as the columns of a table: device, median time, 99th percentile, largest difference, agreement.
pub fn inference_row(device: DeviceChoice, figures: &DeviceTiming) -> [String; 5] {
    let DeviceTiming { median_microseconds, p99_microseconds, agreement } = *figures;
    let (apart, alike) = match device {
        DeviceChoice::Cpu => ("–".to_owned(), "–".to_owned()),
        _ => (format!("{:.0e}", agreement.max_difference), format!("{} of {}", agreement.matching, agreement.images)),
    };
    [device_name(device, false).to_owned(), milliseconds(median_microseconds), milliseconds(p99_microseconds), apart, alike]
}

/// How the measurements were made.
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
