//! `inkling profile`: where the time of a training step goes, as tables, JSON, or a trace for
//! Perfetto.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

use super::engine::{Engine, shown_by};
use super::failure::Failure;
use super::interrupt;
use super::output::{Output, Progress};
use super::settings::Settings;
use crate::bench::{busy, chrome_trace, profile_sections};
use crate::progress::Cancelled;
use crate::protocol::{EngineError, Job, JobResult};
use crate::records::benchmark::BUSY;
use crate::records::{Profile, ProfileRow};
use crate::run_config::{DeviceChoice, Precision, RunConfig};
use crate::system::files::write_whole;
use crate::system::targets::check_file;
use crate::text::{table, visible};

#[derive(Debug, clap::Args)]
pub struct ProfileArgs {
    #[command(flatten)]
    settings: Settings,
    /// Write every step as a trace that Perfetto and Chrome open
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Replace the trace file if it exists
    #[arg(long, requires = "trace")]
    force: bool,
    /// Print one JSON object to standard output
    #[arg(long)]
    json: bool,
}

/// JSON: means per step.
/// The line of JSON.
#[derive(Serialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum JsonLine<'a> {
    /// Means over the recorded steps.
    Profiled {
        device: DeviceChoice,
        precision: Precision,
        threads: u32,
        batch_size: u32,
        /// Recorded steps.
        steps: u32,
        step_seconds: f64,
        images_per_second: f64,
        /// The rest, which no row covers.
        other_seconds: f64,
        /// In floating-point operations per second, of large matrix multiplications; `None` if
        /// it was not measured.
        machine_rate: Option<f64>,
        rows: &'a [ProfileRow],
        /// The fraction of the CPU that other programs used meanwhile, 0 to 1.
        #[schemars(range(min = 0, max = 1))]
        background_load: f32,
        config: &'a RunConfig,
    },
}

/// Records some steps and prints where their time went.
pub fn run(arguments: &ProfileArgs) -> Result<(), Failure> {
    let config = arguments.settings.checked_config()?;
    if let Some(trace) = &arguments.trace {
        check_file(trace, arguments.force, &[])?;
    }
    let engine = Engine::start(config.device, arguments.settings.data_dir.clone())?;
    interrupt::install_handler();
    let progress = Progress::new();
    progress.note(&format!(
        "Recording training steps of {}. The trained weights are discarded.",
        config.network().label()
    ));
    let job = Job::Profile(config.clone());
    let result = engine.run(job, shown_by(progress, "Recording"))?;
    let (profile, background_load) = match result {
        Some(JobResult::Profile {
            profile,
            background_load,
        }) => (profile, background_load),
        Some(_) => return Err(EngineError::Gone.into()),
        None => return Err(Cancelled.into()),
    };
    let mut output = Output::new(arguments.json);
    print(&profile, background_load, &config, &mut output)?;
    if let Some(trace) = &arguments.trace {
        write_whole(trace, chrome_trace(&profile).as_bytes())?;
        output.text(&format!(
            "Trace saved as {}. Open it at ui.perfetto.dev or chrome://tracing.",
            visible::path(trace)
        ))?;
    }
    Ok(())
}

fn print(
    profile: &Profile,
    background_load: f32,
    config: &RunConfig,
    output: &mut Output,
) -> Result<(), Failure> {
    let line = JsonLine::Profiled {
        device: profile.step_config.device,
        precision: profile.step_config.precision,
        threads: profile.step_config.threads,
        batch_size: profile.step_config.batch_size,
        steps: profile.steps,
        step_seconds: profile.step_seconds,
        images_per_second: profile.images_per_second(),
        other_seconds: profile.other_seconds(),
        machine_rate: profile.machine_rate,
        rows: &profile.rows,
        background_load,
        config,
    };
    output.json_or(&line, || {
        let tables = table::text(&profile_sections(profile));
        format!("{}\n{tables}", profile.summary())
    })?;
    if background_load > BUSY {
        output.text(&busy(background_load))?;
    }
    Ok(())
}
