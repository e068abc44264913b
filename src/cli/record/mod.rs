//! `inkling record`: measures what a recipe achieves over several seeds, and how long it takes. No
//! test image is read before the last run has ended.

mod card;
mod comparison;

pub use comparison::{CardComparison, are_cards, compare};

use std::path::{Path, PathBuf};
use std::time::Instant;

use schemars::JsonSchema;
use serde::Serialize;

use super::arguments::preset;
use super::engine::{Engine, Update, settings, shown_by};
use super::failure::Failure;
use super::interrupt;
use super::output::{Output, Progress, note};
use super::settings::Settings;
use crate::engine::{EngineHost, RunsTarget};
use crate::hardware::machine;
use crate::protocol::{EngineError, Event, Job, JobResult};
use crate::records::{
    CARD_VERSION, Evaluation, EvaluationSpec, ModelRef, RecordCard, RunSeconds, RunSummary, SeedRun,
};
use crate::run_config::{DeviceChoice, EvaluationSplit, Preset, RunConfig};
use crate::runs::hard_images;
use crate::system::files::{TemporaryFolder, write_group};
use crate::system::paths::Paths;
use crate::system::targets::check_file;
use crate::text::format::{count, name_time, percent};
use crate::text::visible;

/// The most runs of a record.
const MAX_RUNS: i64 = 100;

#[derive(Debug, clap::Args)]
pub struct RecordArgs {
    /// Preset to measure [default: balanced]
    #[arg(value_name = "PRESET", ignore_case = true, value_parser = preset(), conflicts_with_all = ["preset", "config_file"])]
    name: Option<Preset>,
    #[command(flatten)]
    settings: Settings,
    /// How many runs, each with the next seed
    #[arg(long, value_name = "N", default_value = "5", value_parser = clap::value_parser!(u32).range(1..=MAX_RUNS))]
    repeats: u32,
    /// JSON file to write; the card for people is written beside it, with the ending md [default: a
    /// new file among Inkling's records]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Replace the files if they exist
    #[arg(long, requires = "out")]
    force: bool,
    /// Print one JSON object per line to standard output
    #[arg(long)]
    json: bool,
}

/// A line of JSON.
#[derive(Serialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum JsonLine<'a> {
    /// A run ended; its test accuracy is not known yet.
    Run {
        seed: u64,
        validation_accuracy: f64,
        seconds: RunSeconds,
    },
    /// All runs ended and were evaluated.
    Finished {
        /// The file of the card.
        path: String,
        #[serde(flatten)]
        card: &'a RecordCard,
    },
}

/// A run that ended, before its model met a test image.
struct SealedRun {
    summary: RunSummary,
    validation_accuracy: f64,
    seconds: RunSeconds,
}

/// Measures the recipe, and writes its card. `process_start` is when this process began.
pub fn run(arguments: RecordArgs, process_start: Instant) -> Result<(), Failure> {
    let RecordArgs {
        name,
        mut settings,
        repeats,
        out,
        force,
        json,
    } = arguments;
    if let Some(name) = name {
        settings.preset = name;
    }
    let config = RunConfig {
        sealed_test: true,
        ..settings.checked_fitted_config()?
    };
    let records = Paths::find().records;
    let name = config.preset.map_or("record", Preset::name);
    let usual = records.join(format!("{name}-{}.json", name_time(jiff::Timestamp::now())));
    let target = out.unwrap_or_else(|| usual.clone());
    check_file(&target, force, &[])?;
    check_file(&card::markdown_path(&target), force, &[])?;
    interrupt::install_handler();
    // Runs and checkpoints of a record are only needed until it ends.
    let folder = TemporaryFolder::new_in(&records).map_err(|error| {
        let path = visible::path(&records);
        Failure::Failed(format!("Nothing can be written in {path}: {error}."))
    })?;
    let mut output = Output::new(json);
    note(&format!(
        "Measuring {}: {}. The test images are not read before the last run has ended.",
        config.title(),
        count(repeats.into(), "run")
    ));
    let mut runs = Vec::new();
    let mut start = process_start;
    for number in 0..repeats {
        let config = RunConfig {
            seed: config.seed.wrapping_add(number.into()),
            ..config.clone()
        };
        let doing = format!("Run {} of {repeats}", number + 1);
        let data_dir = settings.data_dir.clone();
        let run = sealed_run(config, data_dir, folder.path(), start, &doing)?;
        start = Instant::now();
        let (seed, accuracy) = (run.summary.config.seed, run.validation_accuracy);
        output.json(&JsonLine::Run {
            seed,
            validation_accuracy: accuracy,
            seconds: run.seconds,
        })?;
        if !json {
            output.text(&format!(
                "Seed {seed}: validation accuracy {}, {:.2} s.",
                percent(accuracy, 2),
                run.seconds.total
            ))?;
        }
        runs.push(run);
    }
    let card = evaluated(config, &runs, settings.data_dir)?;
    // Many runs must not be lost because a name leads nowhere.
    let refused = save(&card, &target).err();
    let target = if refused.is_some() {
        save(&card, &usual)?;
        usual
    } else {
        target
    };
    output.json(&JsonLine::Finished {
        path: target.display().to_string(),
        card: &card,
    })?;
    output.text(&format!(
        "{}.\nThe card: {}",
        card.summary(),
        visible::path(&card::markdown_path(&target))
    ))?;
    refused.map_or(Ok(()), Err)
}

/// Writes the card as JSON, and beside it as Markdown.
fn save(card: &RecordCard, path: &Path) -> Result<(), Failure> {
    let json = serde_json::to_string_pretty(card)
        .map_err(|error| Failure::Failed(format!("The card could not be written: {error}.")))?;
    Ok(write_group(&[
        (path.to_owned(), json + "\n"),
        (card::markdown_path(path), card::markdown(card)),
    ])?)
}

/// Trains in a separate process; `start` is when the run began. Its run and its checkpoints are in `folder`.
fn sealed_run(
    config: RunConfig,
    data_dir: Option<PathBuf>,
    folder: &Path,
    start: Instant,
    doing: &str,
) -> Result<SealedRun, Failure> {
    let runs = RunsTarget::Folder {
        folder: folder.join(format!("seed-{}", config.seed)),
        replace: false,
    };
    let mut settings = settings(data_dir, Some(runs), None)?;
    settings.checkpoints = folder.join("checkpoints");
    let engine = Engine::start_on(EngineHost::Process, settings);
    let progress = Progress::new();
    let mut prepared = None;
    let job = Job::Train { config, from: None };
    let ended = engine.run(job, |update| {
        match update {
            Update::Progress(now) => progress.show(now.fraction, doing),
            Update::Event(Event::Started { .. }) => prepared = Some(start.elapsed()),
            Update::Event(Event::Steps { now, .. }) => {
                let (done, left) = (now.elapsed_seconds, now.remaining_seconds);
                let fraction = done / (done + left).max(f32::MIN_POSITIVE);
                progress.show_remaining(fraction, doing, Some(left.into()));
            }
            Update::Event(Event::DataNotes { notes, .. }) => progress.notes(&notes),
            _ => {}
        }
        Ok(())
    })?;
    let total = start.elapsed();
    let Some(JobResult::Train(summary)) = ended else {
        return Err(unfinished());
    };
    if !summary.is_typical() {
        return Err(unfinished());
    }
    let kept = summary.kept();
    let validation_accuracy = kept.map_or(0.0, |record| f64::from(record.validation_accuracy));
    let seconds = RunSeconds {
        total: total.as_secs_f64(),
        preparation: prepared.unwrap_or_default().as_secs_f64(),
        training: summary.train_seconds,
    };
    Ok(SealedRun {
        summary,
        validation_accuracy,
        seconds,
    })
}

fn unfinished() -> Failure {
    note("The record was stopped. It counts only with all its runs, so nothing was kept.");
    Failure::Interrupted
}

/// Breaks the seal: evaluates every model on the test images.
fn evaluated(
    config: RunConfig,
    runs: &[SealedRun],
    data_dir: Option<PathBuf>,
) -> Result<RecordCard, Failure> {
    let engine = Engine::start(DeviceChoice::Cpu, data_dir)?;
    let mut evaluations: Vec<Evaluation> = Vec::new();
    for run in runs {
        let spec = EvaluationSpec {
            model: ModelRef::File(run.summary.model_path.clone()),
            data: config.data.clone(),
            split: Some(EvaluationSplit::Test),
            uncalibrated: false,
            not_digits: None,
        };
        let shown = shown_by(Progress::new(), "Evaluating");
        let Some(JobResult::Evaluate(report)) = engine.run(Job::Evaluate(spec), shown)? else {
            return Err(unfinished());
        };
        evaluations.push(report.measured.evaluation);
    }
    let (Some(first), Some(tested)) = (runs.first(), evaluations.first()) else {
        return Err(EngineError::Gone.into());
    };
    let plan = &first.summary.plan;
    let seeds = runs.iter().zip(&evaluations);
    Ok(RecordCard {
        version: CARD_VERSION,
        measured_at: jiff::Timestamp::now().to_string(),
        program: env!("CARGO_PKG_VERSION").to_owned(),
        machine: machine(),
        device: plan.device,
        parameters: plan.parameters,
        test_images: tested.images,
        runs: seeds
            .map(|(run, tested)| SeedRun {
                seed: run.summary.config.seed,
                validation_accuracy: run.validation_accuracy,
                test_accuracy: tested.accuracy,
                seconds: run.seconds,
            })
            .collect(),
        hard: hard_images(&evaluations, &plan.classes),
        config,
    })
}
