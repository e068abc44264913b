//! `inkling bench`: runs the benchmark or a comparison; prints tables for people and JSON for
//! scripts.

use schemars::JsonSchema;
use serde::Serialize;

use super::arguments::preset;
use super::engine::{Engine, Update};
use super::failure::Failure;
use super::output::{Output, Progress};
use super::{devices, interrupt};
use crate::bench::{self, busy, text, workload};
use crate::protocol::{EngineError, Event, Job, JobResult};
use crate::records::benchmark::{
    BUSY, BenchmarkedMachine, Effort, Measurement, StepConfig, Workload,
};
use crate::run_config::{DeviceChoice, Preset, RunConfig};
use crate::text::format::{count, grouped};
use crate::text::table::{self, Line, Section};
use crate::text::visible;

/// What to compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Comparison {
    BatchSizes,
    Devices,
}

#[derive(Debug, clap::Args)]
pub struct BenchArgs {
    /// Finish in about ten seconds instead of a minute; results are noisier
    #[arg(long)]
    quick: bool,
    /// Instead, time a few training steps with every batch size, or on every device in every
    /// precision
    #[arg(long, value_name = "WHAT", conflicts_with = "quick")]
    compare: Option<Comparison>,
    /// Preset whose training steps are compared
    #[arg(long, value_name = "NAME", default_value = "balanced", requires = "compare", ignore_case = true, value_parser = preset())]
    preset: Preset,
    /// Print one JSON object per line to standard output
    #[arg(long)]
    json: bool,
}

/// A line of JSON.
#[derive(Serialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum JsonLine<'a> {
    /// Something was measured.
    Figure {
        #[serde(flatten)]
        row: &'a Measurement,
        /// For a training step: its fraction of the machine's f32 matrix-product rate.
        #[serde(skip_serializing_if = "Option::is_none")]
        share_of_product: Option<f64>,
    },
    /// The benchmark ended.
    Finished {
        measured_at: &'a str,
        /// The version of Inkling.
        program: &'a str,
        machine: &'a BenchmarkedMachine,
        #[serde(rename = "extent")]
        effort: Effort,
        seconds: f64,
        /// The fraction of the CPU that other programs used meanwhile, 0 to 1.
        #[schemars(range(min = 0, max = 1))]
        background_load: f32,
        /// The workloads that were measured while they used a lot of it.
        disturbed: &'a [Workload],
        /// The file of the report; `None` if it could not be written.
        report: Option<String>,
    },
    /// A comparison, with --compare, ended.
    #[serde(rename = "finished")]
    Compared {
        /// The workloads that could not be measured, and why.
        failed: Vec<String>,
        /// The fraction of the CPU that other programs used meanwhile, 0 to 1.
        #[schemars(range(min = 0, max = 1))]
        background_load: f32,
    },
}

/// Runs the benchmark or the comparison and prints the result.
pub fn run(arguments: &BenchArgs) -> Result<(), Failure> {
    let mut output = Output::new(arguments.json);
    if let Some(what) = arguments.compare {
        return compare(what, arguments.preset, &mut output);
    }
    let engine = Engine::start(DeviceChoice::Cpu, None)?;
    interrupt::install_handler();
    let effort = if arguments.quick {
        Effort::Quick
    } else {
        Effort::Full
    };
    let (result, _) = measure(&engine, Job::Benchmark(effort), &mut output)?;
    let JobResult::Benchmark { report, saved } = result else {
        return Err(EngineError::Gone.into());
    };
    output.json(&JsonLine::Finished {
        measured_at: &report.measured_at,
        program: &report.program,
        machine: &report.machine,
        effort: report.effort,
        seconds: report.seconds,
        background_load: report.background_load,
        disturbed: &report.disturbed,
        report: saved
            .as_ref()
            .ok()
            .map(|saved| saved.json.display().to_string()),
    })?;
    output.text(&text(&report))?;
    let saved = saved?;
    output.text(&format!(
        "Saved as {} and {}",
        visible::path(&saved.text),
        visible::path(&saved.json)
    ))
}

/// Times a few steps of a preset on several configurations.
fn compare(what: Comparison, preset: Preset, output: &mut Output) -> Result<(), Failure> {
    let config = RunConfig::preset(preset);
    let (step_configs, device) = match what {
        Comparison::BatchSizes => (bench::batch_sizes(&config), DeviceChoice::Cpu),
        Comparison::Devices => {
            let usable = devices::usable_for_training();
            let last = usable
                .last()
                .map_or(DeviceChoice::Cpu, |(device, _)| *device);
            (bench::devices(&config, &usable), last)
        }
    };
    let engine = Engine::start(device, None)?;
    interrupt::install_handler();
    let (result, rows) = measure(
        &engine,
        Job::Compare {
            config,
            step_configs,
        },
        output,
    )?;
    let JobResult::Compare {
        failed,
        background_load,
    } = result
    else {
        return Err(EngineError::Gone.into());
    };
    let failed: Vec<String> = failed
        .iter()
        .map(|(step_config, problem)| {
            format!("{}: {}", name(*step_config), problem.message.what.clone())
        })
        .collect();
    output.text(&table::text(&[section(what, &rows)]))?;
    if background_load > BUSY {
        output.text(&format!(
            "{} These figures are not reliable. Close other programs and compare again.",
            busy(background_load)
        ))?;
    }
    for words in &failed {
        output.text(words)?;
    }
    output.json(&JsonLine::Compared {
        failed,
        background_load,
    })
}

/// A line for each configuration, the best marked.
fn section(what: Comparison, rows: &[Measurement]) -> Section {
    let best = |step_config: StepConfig| match what {
        Comparison::BatchSizes => bench::sweet_spot(rows) == Some(step_config.batch_size),
        Comparison::Devices => bench::fastest(rows) == Some(step_config),
    };
    let first = bench::rates(rows).next().map_or(f64::NAN, |(_, rate)| rate);
    let line = |(step_config, rate): (StepConfig, f64)| {
        let mark = if best(step_config) { "recommended" } else { "" };
        Line::of([
            name(step_config),
            grouped(rate.round() as u64),
            format!("{:.2}×", rate / first),
            mark.to_owned(),
        ])
    };
    Section::plain(
        "Training steps",
        "throughput over a few steps, also relative to the first row; recommended is the smallest batch size or the simplest device within 5% of the fastest",
        ["", "images/s", "", ""],
        bench::rates(rows).map(line).collect(),
    )
}

/// "CPU, bf16, batch size 128, 2 threads".
fn name(step_config: StepConfig) -> String {
    format!(
        "{}, {}, batch size {}, {}",
        step_config.device.label(),
        step_config.precision,
        step_config.batch_size,
        count(u64::from(step_config.threads), "thread")
    )
}

/// Runs the job to its end and writes each figure as it comes.
fn measure(
    engine: &Engine,
    job: Job,
    output: &mut Output,
) -> Result<(JobResult, Vec<Measurement>), Failure> {
    let progress = Progress::new();
    progress.note("Measuring this machine. Results are best when nothing else is running.");
    let mut rows = Vec::new();
    let mut warned = false;
    let result = engine.run(job, |update| {
        match update {
            Update::Progress(now) => {
                if now.background_load > BUSY && !std::mem::replace(&mut warned, true) {
                    progress.note(&format!(
                        "{} Results will be unreliable; close other programs first.",
                        busy(now.background_load)
                    ));
                }
                let doing = now.workload.map(workload).unwrap_or_default();
                progress.show_remaining(now.fraction, &doing, now.remaining_seconds.map(f64::from));
            }
            Update::Event(Event::BenchmarkRow { row, .. }) => {
                output.json(&JsonLine::Figure {
                    row: &row,
                    share_of_product: row.share_of_product(),
                })?;
                rows.push(row);
            }
            Update::Event(_) | Update::Cancelling | Update::EngineLost => {}
        }
        Ok(())
    })?;
    let Some(result) = result else {
        progress.warn("Canceled; nothing was saved.");
        return Err(Failure::Interrupted);
    };
    Ok((result, rows))
}
