//! `inkling hardware`: lists the hardware, runs the self-test, prints diagnostics, or monitors the
//! load.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;

use super::arguments::choice;
use super::failure::Failure;
use super::output::{Output, Progress};
use crate::diagnostics;
use crate::hardware::{Gpu, Hardware, LoadSample, Meter, Watched, lines, probe};
use crate::run_config::DeviceChoice;
use crate::self_test::{SelfTestReport, run as self_test, sections};
use crate::settings::Settings;
use crate::system::log::Names;
use crate::system::paths::Paths;
use crate::text::format::{joined, memory, percent, widest};
use crate::text::table;

/// The time between two lines of `--watch`.
const INTERVAL: Duration = Duration::from_secs(1);

#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option")]
pub struct HardwareArgs {
    /// Verify every op and its gradients, a short training run, and recognition
    #[arg(long)]
    self_test: bool,
    /// Device to test
    #[arg(long, value_name = "NAME", default_value = "cpu", requires = "self_test", ignore_case = true, value_parser = choice(DeviceChoice::ALL, DeviceChoice::name))]
    device: DeviceChoice,
    /// Keep showing the load of CPU, memory and GPUs, once a second
    #[arg(long, conflicts_with = "self_test")]
    watch: bool,
    /// Print diagnostics for a bug report: versions, hardware, settings and the end of the log,
    /// without personal data
    #[arg(long, conflicts_with_all = ["self_test", "watch", "json"])]
    diagnostics: bool,
    /// Print one JSON object to standard output (with --watch, one per line)
    #[arg(long)]
    json: bool,
}

/// The JSON output.
#[derive(Serialize, JsonSchema)]
pub struct Found<'a> {
    #[serde(flatten)]
    hardware: &'a Hardware,
    #[serde(skip_serializing_if = "Option::is_none")]
    self_test: Option<&'a SelfTestReport>,
}

/// Lists the hardware and runs the self-test if asked to; fails if a check fails.
pub fn run(arguments: &HardwareArgs) -> Result<(), Failure> {
    if arguments.watch {
        return watch(Output::new(arguments.json));
    }
    let paths = Paths::find();
    let hardware = probe(&paths.runs);
    if arguments.diagnostics {
        let text = diagnostics::text(
            Some(&hardware),
            &Settings::read(&paths.settings),
            &paths,
            &Names::of_this_machine(),
        );
        return Output::new(false).text(text.trim_end());
    }
    let report = if arguments.self_test {
        Some(check(arguments.device)?)
    } else {
        None
    };
    let mut output = Output::new(arguments.json);
    output.json(&Found {
        hardware: &hardware,
        self_test: report.as_ref(),
    })?;
    if !output.is_json() {
        let lines = lines(&hardware);
        let width = widest(lines.iter().map(|line| &line.label));
        for line in lines {
            output.text(&format!(
                "{:<width$}  {}\n{:width$}  {}",
                line.label, line.value, "", line.meaning
            ))?;
        }
        if let Some(report) = &report {
            output.text(&table::text(&sections(report)))?;
        }
    }
    let Some(report) = report else { return Ok(()) };
    if report.failed() > 0 {
        return Err(Failure::Failed(report.verdict()));
    }
    output.text(&report.verdict())
}

fn check(device: DeviceChoice) -> Result<SelfTestReport, Failure> {
    let progress = Progress::new();
    progress.note("Running the self-test of this device.");
    let mut done = 0.0_f32;
    // The number of checks is not known in advance, so the bar only shows that there is progress.
    let report = self_test(device, &mut |check| {
        done += 1.0;
        progress.show(1.0 - (-done / 15.0).exp(), check.subject.label());
    });
    Ok(report?)
}

/// Prints the load once per interval until standard output is closed.
fn watch(mut output: Output) -> Result<(), Failure> {
    let mut meter = Meter::with_drivers();
    let watched = Watched {
        gpus: true,
        ..Watched::default()
    };
    while !output.closed() {
        let sample = meter.sample(&watched);
        output.json_or(&sample, || status_line(&sample))?;
        std::thread::sleep(INTERVAL);
    }
    Ok(())
}

/// "CPU 43%, memory 3.2 GiB of 15.6 GiB; NVIDIA H200: 87%, 12.0 GiB of 139.8 GiB, 41 °C, 320 W"
fn status_line(sample: &LoadSample) -> String {
    let of = |used: u64, total: u64| format!("{} of {}", memory(used), memory(total));
    let share = |share: f32| percent(f64::from(share), 0);
    let gpu = |gpu: &Gpu| {
        let used = of(
            gpu.memory_total.saturating_sub(gpu.memory_free),
            gpu.memory_total,
        );
        let figures = [
            gpu.utilization.map(share),
            Some(used),
            gpu.temperature.map(|degrees| format!("{degrees} °C")),
            gpu.power.map(|watts| format!("{watts:.0} W")),
        ];
        format!(
            "; {}: {}",
            gpu.name,
            joined(figures.into_iter().flatten(), ", ")
        )
    };
    let used = of(
        sample.memory_total.saturating_sub(sample.memory_available),
        sample.memory_total,
    );
    let machine = format!("CPU {}, memory {used}", share(sample.processor));
    sample
        .gpus
        .iter()
        .map(gpu)
        .fold(machine, |line, gpu| line + &gpu)
}
