//! Follows a sweep: turns what happens into progress, lines and JSON.

use super::report::{self, JsonLine};
use crate::cli::failure::Failure;
use crate::cli::interrupt;
use crate::cli::output::{Output, Progress};
use crate::problem::Message;
use crate::progress::Cancelled;
use crate::records::DataUpload;
use crate::sweep::{self, Ending, Executor, Status, Sweep, SweepObserver, Trial};
use crate::text::format::percent;

/// Goes on to the end of the sweep, or until Ctrl-C.
pub fn run(
    sweep: &mut Sweep,
    executor: &mut dyn Executor,
    output: &mut Output,
) -> Result<Ending, Failure> {
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
    if ending == Ok(Ending::Interrupted) && failure.is_none() {
        progress.note("Stopping. Trials that are cut short begin again when the sweep is resumed.");
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
        self.json(&JsonLine::trial_started(trial, &self.names));
    }

    fn sending(&mut self, upload: &DataUpload) {
        self.progress.note(&Message::sending(upload).to_string());
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
        self.json(&JsonLine::trial_ended(trial));
        self.progress.note(&report::sentence(trial, &self.names));
    }

    fn report(&mut self, status: &Status) -> Result<(), Cancelled> {
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
