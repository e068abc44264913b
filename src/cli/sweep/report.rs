//! The output of `inkling sweep`: JSON objects for scripts, lines and a table for people.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::failure::Failure;
use crate::cli::interrupt;
use crate::cli::output::{Output, Progress, clock, note, warn};
use crate::problem::Message;
use crate::progress::Cancelled;
use crate::records::DataUpload;
use crate::run_config::{DataSpec, RunConfig};
use crate::sweep::{
    self, Executor, Outcome, Sweep, SweepDefinition, SweepEnd, SweepObserver, SweepStatus, Tested,
    Trial, TrialEpoch, Value, importance,
};
use crate::text::format::{count, duration, joined, percent};
use crate::text::table::{self, Line, Section};
use crate::text::visible::quoted;

/// Trials in the table; the rest is in the journal.
const TABLE_LINES: usize = 50;

/// A line of JSON.
#[derive(Serialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
#[schemars(rename = "SweepLine")]
pub enum JsonLine<'s> {
    /// The sweep begins or is resumed.
    Started {
        folder: String,
        definition: &'s SweepDefinition,
        /// Trials that have ended already, if it is resumed.
        ended: usize,
    },
    /// A trial begins.
    TrialStarted {
        /// Its number.
        trial: u32,
        values: Values<'s>,
    },
    /// A trial completed an epoch.
    Epoch {
        trial: u32,
        #[serde(flatten)]
        epoch: &'s TrialEpoch,
    },
    /// A trial ended.
    TrialEnded {
        trial: u32,
        outcome: TrialOutcome,
        validation_accuracy: Option<f64>,
        epochs: usize,
        seconds: f64,
        /// Why it failed.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<&'s str>,
    },
    /// The sweep ended.
    Finished {
        folder: String,
        /// False if it was interrupted and can be resumed.
        complete: bool,
        completed: usize,
        pruned: usize,
        failed: usize,
        seconds: f64,
        best: Option<Best<'s>>,
        /// How much each setting matters for the validation accuracy, adding up to 1.
        importance: Option<BTreeMap<&'s str, f64>>,
    },
    /// The best settings were trained as a run, with --test.
    Tested {
        trial: u32,
        /// Its folder.
        run: String,
        test_accuracy: Option<f64>,
    },
}

/// Values by the names of their settings.
type Values<'s> = BTreeMap<&'s str, &'s Value>;

#[derive(Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TrialOutcome {
    Completed,
    Pruned,
    Failed,
    Interrupted,
}

/// The trial with the highest validation accuracy.
#[derive(Serialize, JsonSchema)]
pub struct Best<'s> {
    trial: u32,
    validation_accuracy: f64,
    values: Values<'s>,
    config: &'s RunConfig,
    /// The command that trains these settings.
    command: String,
}

pub fn began(sweep: &Sweep, output: &mut Output) -> Result<(), Failure> {
    let definition = sweep.definition();
    let has_ended = |trial: &&Trial| trial.outcome.is_some();
    let ended = sweep.trials().iter().filter(has_ended).count();
    output.json(&JsonLine::Started {
        folder: sweep.folder().display().to_string(),
        definition,
        ended,
    })?;
    let time = definition
        .seconds
        .map(|seconds| format!("at most {}", duration(seconds)));
    let trials = definition
        .max_trials()
        .map(|trials| count(trials.into(), "trial"));
    note(&format!(
        "Searching with {} for the best {} on {}: {}; {}, {} in parallel. Saved in {}.",
        definition.sampler.name(),
        definition.base.model.label(),
        definition.base.data.label(),
        joined(&definition.space, "; "),
        joined(trials.into_iter().chain(time), ", "),
        definition.parallel,
        quoted(sweep.folder())
    ));
    if ended > 0 {
        note(&format!("Resuming after {}.", count(ended as u64, "trial")));
    }
    Ok(())
}

/// The line after each trial.
pub fn sentence(trial: &Trial, names: &[&str]) -> String {
    let settings = names.iter().zip(&trial.values);
    let settings = settings.map(|(name, value)| format!("{name} {value}"));
    let accuracy = percent(trial.accuracy().unwrap_or_default(), 2);
    let after = format!(
        "{accuracy} validation accuracy after {}",
        count(trial.epochs.len() as u64, "epoch")
    );
    let what = match &trial.outcome {
        Some(Outcome::Pruned) => format!("ended early: {after}"),
        Some(Outcome::Failed { reason }) => format!("failed: {}", reason.trim_end_matches('.')),
        Some(Outcome::Completed) | None => after,
    };
    format!(
        "Trial {} ({}): {what}, {}.",
        trial.number,
        joined(settings, ", "),
        clock(trial.seconds())
    )
}

/// Prints what was found: a table, how much each setting matters, and the command that trains the
/// best settings.
pub fn ended(sweep: &Sweep, is_complete: bool, output: &mut Output) -> Result<(), Failure> {
    let definition = sweep.definition();
    let names: Vec<&str> = definition
        .space
        .iter()
        .map(|dimension| dimension.setting.row().name)
        .collect();
    let ranked = Trial::ranked(sweep.trials());
    let matters = importance(definition, sweep.trials());
    let number = |wanted| {
        ranked
            .iter()
            .filter(|trial| outcome(trial) == wanted)
            .count()
    };
    let best = sweep.best().and_then(|best| Some((best, best.result()?)));
    output.json(&JsonLine::Finished {
        folder: sweep.folder().display().to_string(),
        complete: is_complete,
        completed: number(TrialOutcome::Completed),
        pruned: number(TrialOutcome::Pruned),
        failed: number(TrialOutcome::Failed),
        seconds: sweep.elapsed(),
        best: best.map(|(trial, validation_accuracy)| Best {
            trial: trial.number,
            validation_accuracy,
            values: values(trial, &names),
            config: &trial.config,
            command: trial.config.command(definition.data_dir.as_deref()),
        }),
        importance: matters
            .as_ref()
            .map(|shares| names.iter().copied().zip(shares.iter().copied()).collect()),
    })?;
    if !ranked.is_empty() {
        output.text(&table(&ranked, &names))?;
    }
    if let Some(shares) = matters {
        let mut shares: Vec<(&str, f64)> = names.iter().copied().zip(shares).collect();
        shares.sort_by(|a, b| b.1.total_cmp(&a.1));
        let shares = shares.iter();
        let shares = shares.map(|(name, share)| format!("{name} {}", percent(*share, 0)));
        output.text(&format!(
            "Importance for validation accuracy: {}.",
            joined(shares, ", ")
        ))?;
    }
    if let Some((best, accuracy)) = best {
        output.text(&format!(
            "Best: trial {} with {} validation accuracy. To use these settings:",
            best.number,
            percent(accuracy, 2)
        ))?;
        let command = best.config.command(definition.data_dir.as_deref());
        output.text(&format!("  {command}"))?;
    }
    if !is_complete {
        warn(&format!(
            "Interrupted after {}. To resume: inkling sweep --resume {}",
            count(ranked.len() as u64, "trial"),
            quoted(sweep.folder())
        ));
    }
    Ok(())
}

/// Prints the test accuracy of the best settings on this data set, the test images of which count.
pub fn tested(
    trial: u32,
    tested: &Tested,
    data: &DataSpec,
    output: &mut Output,
) -> Result<(), Failure> {
    output.json(&JsonLine::Tested {
        trial,
        run: tested.run.display().to_string(),
        test_accuracy: tested.test_accuracy,
    })?;
    let data = data.tested().label();
    let named = |accuracy| format!("Test accuracy on {data}: {}", percent(accuracy, 2));
    let accuracy = tested
        .test_accuracy
        .map_or_else(|| "The data has no test images".to_owned(), named);
    output.text(&format!(
        "{accuracy} with the settings of trial {trial}; the run is in {}.",
        quoted(&tested.run)
    ))
}

fn values<'t>(trial: &'t Trial, names: &[&'t str]) -> Values<'t> {
    names.iter().copied().zip(&trial.values).collect()
}

const fn outcome(trial: &Trial) -> TrialOutcome {
    match trial.outcome {
        Some(Outcome::Completed) => TrialOutcome::Completed,
        Some(Outcome::Pruned) => TrialOutcome::Pruned,
        Some(Outcome::Failed { .. }) => TrialOutcome::Failed,
        None => TrialOutcome::Interrupted,
    }
}

/// The trials, the best first.
fn table(ranked: &[&Trial], names: &[&str]) -> String {
    let figures = ["trial", "validation", "epochs", "time"];
    let columns = figures.iter().chain(names).chain(&[""]).copied();
    let line = |trial: &&Trial| {
        let accuracy = trial
            .accuracy()
            .map_or_else(|| "–".to_owned(), |accuracy| percent(accuracy, 2));
        let figures = [
            trial.number.to_string(),
            accuracy,
            trial.epochs.len().to_string(),
            clock(trial.seconds()),
        ];
        let remark = match trial.outcome {
            Some(Outcome::Pruned) => "ended early",
            Some(Outcome::Failed { .. }) => "failed",
            Some(Outcome::Completed) | None => "",
        };
        let values = trial.values.iter().map(ToString::to_string);
        Line::of(figures.into_iter().chain(values).chain([remark.to_owned()]))
    };
    let lines = ranked.iter().take(TABLE_LINES).map(line).collect();
    let about = match ranked.len().saturating_sub(TABLE_LINES) {
        0 => String::new(),
        more => format!("and {more} more"),
    };
    let section = Section::plain("Trials", about, columns, lines);
    table::text(&[section]).trim().to_owned()
}

/// Goes on to the end of the sweep, or until Ctrl-C.
pub fn run(
    sweep: &mut Sweep,
    executor: &mut dyn Executor,
    output: &mut Output,
) -> Result<SweepEnd, Failure> {
    let space = sweep.definition().space.clone();
    let mut printer = SweepPrinter {
        progress: Progress::new(),
        names: space.iter().map(|d| d.setting.row().name).collect(),
        output,
        failure: None,
    };
    let ending = sweep::run(sweep, executor, &mut printer);
    let SweepPrinter {
        progress, failure, ..
    } = printer;
    if ending == Ok(SweepEnd::Interrupted) && failure.is_none() {
        progress.note("Stopping. Unfinished trials start again when the sweep is resumed.");
    }
    drop(progress);
    failure.map_or(Ok(()), Err)?;
    ending.map_err(Failure::from)
}

struct SweepPrinter<'o> {
    progress: Progress,
    names: Vec<&'static str>,
    output: &'o mut Output,
    /// Why the output cannot be written, which ends the sweep.
    failure: Option<Failure>,
}

impl SweepPrinter<'_> {
    fn json(&mut self, line: &JsonLine) {
        if let Err(failure) = self.output.json(line) {
            self.failure.get_or_insert(failure);
        }
    }
}

impl SweepObserver for SweepPrinter<'_> {
    fn started(&mut self, trial: &Trial) {
        self.json(&JsonLine::TrialStarted {
            trial: trial.number,
            values: values(trial, &self.names),
        });
    }

    fn sending(&mut self, upload: &DataUpload) {
        self.progress.note(&Message::sending(upload).to_string());
    }

    fn data_notes(&mut self, notes: &[String]) {
        self.progress.notes(notes);
    }

    fn epoch(&mut self, trial: &Trial) {
        if let Some(epoch) = trial.epochs.last() {
            self.json(&JsonLine::Epoch {
                trial: trial.number,
                epoch,
            });
        }
    }

    fn ended(&mut self, trial: &Trial) {
        self.json(&JsonLine::TrialEnded {
            trial: trial.number,
            outcome: outcome(trial),
            validation_accuracy: trial.accuracy(),
            epochs: trial.epochs.len(),
            seconds: trial.seconds(),
            reason: match &trial.outcome {
                Some(Outcome::Failed { reason }) => Some(reason),
                _ => None,
            },
        });
        let sentence = sentence(trial, &self.names);
        if outcome(trial) == TrialOutcome::Failed {
            self.progress.warn(&sentence);
        } else {
            self.progress.note(&sentence);
        }
    }

    fn report(&mut self, status: &SweepStatus) -> Result<(), Cancelled> {
        let of = status
            .trials
            .map_or_else(String::new, |trials| format!(" of {trials}"));
        let best = status.best.map_or_else(String::new, |(trial, accuracy)| {
            format!(" · best {} (trial {trial})", percent(accuracy, 2))
        });
        let text = format!(
            "{}{of} trials · {} training{best}",
            status.ended,
            status.running.len()
        );
        self.progress
            .show_remaining(status.fraction, &text, status.remaining);
        if self.failure.is_some() || interrupt::requested().is_some() {
            Err(Cancelled)
        } else {
            Ok(())
        }
    }
}
