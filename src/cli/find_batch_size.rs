//! `inkling find-batch-size`: times how long training takes to reach an accuracy with each batch
//! size.

use schemars::JsonSchema;
use serde::Serialize;

use super::engine::{Engine, Update};
use super::failure::Failure;
use super::interrupt;
use super::output::{Output, Progress};
use super::settings::Settings;
use crate::bench::busy;
use crate::problem::Message;
use crate::progress::Cancelled;
use crate::protocol::{EngineError, Event, Job, JobResult};
use crate::records::benchmark::BUSY;
use crate::records::{
    BatchSizeFinding, BatchSizeSpec, TARGET_ACCURACIES, TARGET_ACCURACY, TimeToAccuracy,
    fastest_batch_size,
};
use crate::run_config::RunConfig;
use crate::text::format::{duration, grouped, percent, plain, plain_percent};
use crate::text::table::{self, Line, Section};

#[derive(Debug, clap::Args)]
pub struct FindBatchSizeArgs {
    #[command(flatten)]
    settings: Settings,
    /// Validation accuracy to reach, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = TARGET_ACCURACY * 100.0)]
    accuracy: f64,
    /// Print one JSON object per line to standard output
    #[arg(long)]
    json: bool,
}

/// A line of JSON.
#[derive(Serialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum JsonLine<'a> {
    /// Training with a batch size was timed.
    Timed(&'a TimeToAccuracy),
    /// All batch sizes were timed.
    Finished {
        /// The validation accuracy to be reached, 0 to 1.
        accuracy: f64,
        /// The batch size; `None` if none reached the accuracy.
        recommended: Option<u32>,
        gradient_noise_scale: Option<f64>,
        /// The fraction of the CPU that other programs used meanwhile, 0 to 1.
        #[schemars(range(min = 0, max = 1))]
        background_load: f32,
        config: &'a RunConfig,
    },
}

/// Searches and prints the result.
pub fn run(arguments: FindBatchSizeArgs) -> Result<(), Failure> {
    let accuracy = arguments.accuracy / 100.0;
    if !TARGET_ACCURACIES.contains(&accuracy) {
        let [low, high] =
            [TARGET_ACCURACIES.start(), TARGET_ACCURACIES.end()].map(|end| plain(end * 100.0));
        return Err(Failure::Usage(format!(
            "--accuracy must be from {low} to {high} percent."
        )));
    }
    let config = arguments.settings.checked_config()?;
    let engine = Engine::start(config.device, arguments.settings.data_dir)?;
    interrupt::install_handler();
    let mut output = Output::new(arguments.json);
    let (rows, finding) = follow(
        &engine,
        BatchSizeSpec {
            config: config.clone(),
            accuracy,
        },
        &mut output,
    )?;
    let recommended = fastest_batch_size(&rows);
    let line = JsonLine::Finished {
        accuracy,
        recommended,
        gradient_noise_scale: finding.noise_scale,
        background_load: finding.background_load,
        config: &config,
    };
    output.json_or(&line, || table::text(&[section(&rows, accuracy)]))?;
    if finding.background_load > BUSY {
        output.text(&format!(
            "{} These times are not reliable. Close other programs and try again.",
            busy(finding.background_load)
        ))?;
    }
    output.text(&Message::batch_size_found(&rows, accuracy, &finding).to_string())?;
    if recommended.is_some() {
        Ok(())
    } else {
        Err(Failure::Reported)
    }
}

/// Runs the search to its end and prints each time as it comes.
fn follow(
    engine: &Engine,
    spec: BatchSizeSpec,
    output: &mut Output,
) -> Result<(Vec<TimeToAccuracy>, BatchSizeFinding), Failure> {
    let progress = Progress::new();
    let target = plain_percent(spec.accuracy);
    progress
        .note(&format!("Training {} to {target} with each batch size. Nothing is saved, and no test image is used.", spec.config.title()));
    let mut rows = Vec::new();
    let result = engine.run(Job::FindBatchSize(spec), |update| {
        match update {
            Update::Progress(now) => progress.show_remaining(
                now.fraction,
                "Timing batch sizes",
                now.remaining_seconds.map(f64::from),
            ),
            Update::Event(Event::TimedToAccuracy { row, .. }) => {
                output.json(&JsonLine::Timed(&row))?;
                rows.push(row);
            }
            Update::Event(Event::DataNotes { notes, .. }) => progress.notes(&notes),
            Update::Event(_) | Update::Cancelling | Update::EngineLost => {}
        }
        Ok(())
    })?;
    match result {
        Some(JobResult::FindBatchSize(finding)) => Ok((rows, finding)),
        Some(_) => Err(EngineError::Gone.into()),
        None => Err(Cancelled.into()),
    }
}

/// A line for each batch size, in order.
fn section(rows: &[TimeToAccuracy], accuracy: f64) -> Section {
    let recommended = fastest_batch_size(rows);
    let line = |row: &TimeToAccuracy| {
        let number = |value: f64| grouped(value.round() as u64);
        let [time, images, steps] = match row.reached {
            Some(reached) => [
                duration(reached.seconds),
                number(reached.images),
                number(reached.steps.ceil()),
            ],
            None if row.diverged => ["diverged", "", ""].map(str::to_owned),
            None => [
                format!(
                    "not in {} ({})",
                    duration(row.seconds),
                    percent(row.best_accuracy, 1)
                ),
                String::new(),
                String::new(),
            ],
        };
        let mark = if recommended == Some(row.batch_size) {
            "recommended"
        } else {
            ""
        };
        Line::of([
            row.batch_size.to_string(),
            plain(row.learning_rate),
            time,
            images,
            steps,
            number(row.images_per_second),
            mark.to_owned(),
        ])
    };
    let mut sorted: Vec<&TimeToAccuracy> = rows.iter().collect();
    sorted.sort_by_key(|row| row.batch_size);
    let target = plain_percent(accuracy);
    Section::plain(
        "Time to accuracy",
        format!(
            "training until {target} validation accuracy, one run for each batch size, with a constant learning rate that is scaled to the batch size"
        ),
        [
            "batch size",
            "learning rate",
            "time",
            "images",
            "steps",
            "images/s",
            "",
        ],
        sorted.into_iter().map(line).collect(),
    )
}
