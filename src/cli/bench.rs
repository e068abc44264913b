//! Owns `inkling bench`: this machine measured, as a table for people and as lines for scripts.
//! Must not measure: the engine does.

use serde::Serialize;

use super::engine::Engine;
use super::failure::Failure;
use super::interrupt;
use super::output::Output;
use super::progress::Progress;
use crate::bench::{Extent, Machine, Report, Row, Saved, subject, text};
use crate::problem::Problem;
use crate::protocol::{Command, Event, Task};
use crate::run_config::WeightFormat;

/// The options of `inkling bench`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Measure for some ten seconds instead of less than a minute; the figures scatter more
    #[arg(long)]
    quick: bool,
    /// Print one JSON object a line on standard output
    #[arg(long)]
    json: bool,
}

/// A figure, as soon as it was found.
#[derive(Serialize)]
struct Figure<'a> {
    event: &'static str,
    #[serde(flatten)]
    row: &'a Row,
    /// Of a training step: the share of the machine's own f32 product rate that it reaches.
    #[serde(skip_serializing_if = "Option::is_none")]
    share_of_product: Option<f64>,
}

/// All figures were found.
#[derive(Serialize)]
struct Finished<'a> {
    event: &'static str,
    measured_at: &'a str,
    program: &'a str,
    machine: &'a Machine,
    extent: Extent,
    seconds: f64,
    /// The report's file; null when it could not be written.
    report: Option<String>,
}

/// Measures.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let engine = Engine::start(None, None, WeightFormat::F32)?;
    interrupt::listen();
    let extent = if arguments.quick { Extent::Quick } else { Extent::Full };
    engine.send(Command::Benchmark { request: 1, extent })?;
    let mut output = Output::new(arguments.json);
    let (report, saved) = measured(&engine, &mut output)?;
    output.json(&Finished {
        event: "finished",
        measured_at: &report.measured_at,
        program: &report.program,
        machine: &report.machine,
        extent: report.extent,
        seconds: report.seconds,
        report: saved.as_ref().ok().map(|saved| saved.json.display().to_string()),
    })?;
    output.text(&text(&report))?;
    let saved = saved?;
    output.text(&format!("Saved as {} and {}", saved.text.display(), saved.json.display()))
}

fn measured(engine: &Engine, output: &mut Output) -> Result<(Report, Result<Saved, Problem>), Failure> {
    let progress = Progress::new();
    progress.note("Measuring this machine; the figures are best when nothing else runs.");
    let mut stopping = false;
    loop {
        if interrupt::asked() && !stopping {
            stopping = true;
            engine.send(Command::CancelBenchmark(1))?;
        }
        match engine.next()? {
            Some(Event::Benchmarking { subject: now, fraction, remaining_seconds, .. }) => {
                progress.show_remaining(fraction, &subject(now), Some(f64::from(remaining_seconds)));
            }
            Some(Event::BenchmarkRow { row, .. }) => {
                output.json(&Figure { event: "figure", row: &row, share_of_product: row.share_of_product() })?;
            }
            Some(Event::Benchmarked { report, saved, .. }) => return Ok((*report, saved)),
            Some(Event::BenchmarkCancelled(_)) => {
                progress.note("Stopped; nothing was kept.");
                return Err(Failure::Interrupted);
            }
            Some(Event::Failed { what: Task::Benchmark(_), problem }) => return Err(problem.into()),
            // Whatever was measured, a fresh engine does not know of it.
            Some(Event::Restarted) => return Err(Problem::EngineGone.into()),
            // The rest concerns reading, which nobody asked for here.
            Some(_) | None => {}
        }
    }
}
