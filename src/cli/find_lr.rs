//! `inkling find-lr`: searches for a good learning rate and prints the command that trains with it.

use schemars::JsonSchema;
use serde::Serialize;

use super::engine::{Engine, Update};
use super::failure::Failure;
use super::interrupt;
use super::output::{Output, Progress};
use super::settings::Settings;
use crate::problem::Message;
use crate::progress::Cancelled;
use crate::protocol::{EngineError, Event, Job, JobResult};
use crate::records::{LearningRateFinding, LearningRatePoint, LearningRateSearch, SearchEnd};
use crate::run_config::RunConfig;
use crate::text::table::{self, Line, Section};

/// Steps between two lines of the table: three lines for each power of ten.
const STEPS_PER_LINE: usize = 10;

#[derive(Debug, clap::Args)]
pub struct FindLrArgs {
    #[command(flatten)]
    settings: Settings,
    /// Print one JSON object per line to standard output
    #[arg(long)]
    json: bool,
}

/// A line of JSON.
#[derive(Serialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum JsonLine<'a> {
    /// A training step with the next learning rate.
    Step {
        /// From 1.
        step: usize,
        learning_rate: f64,
        #[schemars(with = "Option<f64>")]
        loss: f64,
        #[schemars(with = "Option<f64>")]
        smoothed_loss: f64,
    },
    /// The search ended; its learning rates are `None` if the loss did not fall.
    Finished {
        suggested: Option<f64>,
        steepest_fall_at: Option<f64>,
        lowest_loss_at: Option<f64>,
        tenth_of_lowest: Option<f64>,
        end: SearchEnd,
        steps: u64,
        config: &'a RunConfig,
    },
}

/// Searches and prints the result.
pub fn run(arguments: FindLrArgs) -> Result<(), Failure> {
    let config = arguments.settings.checked_config()?;
    let data_dir = arguments.settings.data_dir;
    let engine = Engine::start(config.device, data_dir.clone())?;
    interrupt::install_handler();
    let mut output = Output::new(arguments.json);
    let (search, finding) = follow(&engine, &config, &mut output)?;
    let found = finding.suggestion;
    let line = JsonLine::Finished {
        suggested: found.map(|found| found.rate),
        steepest_fall_at: found.map(|found| found.steepest),
        lowest_loss_at: found.map(|found| found.lowest),
        tenth_of_lowest: found.map(|found| found.tenth_of_lowest()),
        end: finding.end,
        steps: finding.steps,
        config: &config,
    };
    output.json_or(&line, || table::text(&[section(search.points())]))?;
    output.text(&Message::learning_rate_found(&finding).to_string())?;
    match found {
        Some(suggestion) => output.text(&format!(
            "Train with it: {}",
            RunConfig {
                learning_rate: suggestion.rate,
                ..config
            }
            .command(data_dir.as_deref())
        )),
        None => Err(Failure::Reported),
    }
}

/// Runs the search to its end and prints each step as it comes.
fn follow(
    engine: &Engine,
    config: &RunConfig,
    output: &mut Output,
) -> Result<(LearningRateSearch, LearningRateFinding), Failure> {
    let progress = Progress::new();
    progress.note(&format!(
        "Searching for a learning rate for {}. Nothing is saved, and no test image is used.",
        config.title()
    ));
    let mut search = LearningRateSearch::default();
    let result = engine.run(Job::FindLearningRate(config.clone()), |update| {
        match update {
            Update::Progress(now) => {
                let doing = search.points().last().map_or_else(
                    || "Preparing data".to_owned(),
                    |point| {
                        format!(
                            "learning rate {:.1e} · loss {:.3}",
                            point.learning_rate, point.smoothed
                        )
                    },
                );
                progress.show_remaining(now.fraction, &doing, now.remaining_seconds.map(f64::from));
            }
            Update::Event(Event::Steps { steps, .. }) => {
                for point in steps {
                    search.add(point.learning_rate, point.loss);
                    if let Some(point) = search.points().last() {
                        output.json(&JsonLine::Step {
                            step: search.points().len(),
                            learning_rate: point.learning_rate,
                            loss: point.loss,
                            smoothed_loss: point.smoothed,
                        })?;
                    }
                }
            }
            Update::Event(Event::DataNotes { notes, .. }) => progress.notes(&notes),
            Update::Event(_) | Update::Cancelling | Update::EngineLost => {}
        }
        Ok(())
    })?;
    match result {
        Some(JobResult::FindLearningRate(finding)) => Ok((search, finding)),
        Some(_) => Err(EngineError::Gone.into()),
        None => Err(Cancelled.into()),
    }
}

/// Every few steps, and the last.
fn section(points: &[LearningRatePoint]) -> Section {
    let last = points.len().saturating_sub(1);
    let shown = points
        .iter()
        .enumerate()
        .filter(|(step, _)| step % STEPS_PER_LINE == 0 || *step == last);
    let line = |(_, point): (usize, &LearningRatePoint)| {
        Line::of([
            format!("{:.1e}", point.learning_rate),
            format!("{:.3}", point.loss),
            format!("{:.3}", point.smoothed),
        ])
    };
    Section::plain(
        "Loss by learning rate",
        "the loss of single batches in nats, and its moving average, while the learning rate grows from step to step",
        ["learning rate", "loss", "smoothed"],
        shown.map(line).collect(),
    )
}
