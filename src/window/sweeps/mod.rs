//! Sweeps as the window shows them: setting one up, the one that is shown, and the list of earlier
//! ones.

mod control;
mod form;
mod stored;
mod thread;
pub mod view;

use std::path::PathBuf;

pub use control::SweepAction;
pub use form::{SettingRow, SweepField, SweepForm, SweepFormError};
pub use thread::{ExecutorFactory, SweepNews, SweepRequests};

use self::stored::TestRun;
use crate::problem::Message;
use crate::sweep::{
    Outcome, Sweep, SweepDefinition, SweepEntry, SweepStatus, Tested, Trial, importance,
};
use crate::text::format::{count, duration, percent, remaining};

#[derive(Debug, Default)]
pub struct Sweeps {
    /// What is to vary in the next one, and how long it searches; `None` until the screen has been
    /// shown.
    pub form: Option<SweepForm>,
    /// The sweep that is shown, in progress or not.
    pub shown: Option<SweepView>,
    /// Those in Inkling's folder, newest first, once listed.
    pub listed: Option<Vec<SweepEntry>>,
    /// The run that measures the test accuracy of a trial's settings.
    testing: Option<TestRun>,
}

/// How far the sweep that is shown is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SweepPhase {
    /// Its folder is being made or read.
    Starting,
    Running,
    Pausing,
    Stopping,
    /// It was interrupted, here, in an earlier session or by a crash.
    Interrupted,
    Complete,
    /// It cannot go on, for this reason.
    Failed(Message),
}

#[derive(Clone, Debug, PartialEq)]
pub struct SweepView {
    pub folder: Option<PathBuf>,
    pub definition: SweepDefinition,
    /// Its trials, in the order in which they began.
    pub trials: Vec<Trial>,
    /// Those that have ended, and after how many seconds.
    pub ends: Vec<(u32, f64)>,
    /// Seconds that it has run.
    pub elapsed: f64,
    pub phase: SweepPhase,
    /// The newest figures while it is in progress.
    pub status: Option<SweepStatus>,
    /// Changes of its data besides reading it, once a trial has read it.
    pub data_notes: Vec<String>,
    /// The run whose test accuracy was read, and the trial whose settings it has.
    pub tested: Option<(u32, Tested)>,
    pub selected: Option<u32>,
    /// The importance of each setting, in the order of the definition, adding up to 1; `None` while
    /// there are too few trials.
    pub importance: Option<Vec<f64>>,
}

impl SweepView {
    /// A sweep that is about to begin.
    pub(super) const fn starting(definition: SweepDefinition) -> Self {
        Self {
            folder: None,
            definition,
            trials: Vec::new(),
            ends: Vec::new(),
            elapsed: 0.0,
            phase: SweepPhase::Starting,
            status: None,
            data_notes: Vec::new(),
            tested: None,
            selected: None,
            importance: None,
        }
    }

    /// One as it is on the disk.
    pub(super) fn of(sweep: &Sweep) -> Self {
        let mut view = Self::starting(sweep.definition().clone());
        view.folder = Some(sweep.folder().to_owned());
        view.trials = sweep.trials().to_vec();
        view.ends = sweep.ends().to_vec();
        view.elapsed = sweep.elapsed();
        view.data_notes = sweep.data_notes().to_vec();
        view.tested = sweep.tested().cloned();
        view.importance = importance(&view.definition, &view.trials);
        view.phase = if sweep.is_complete() {
            SweepPhase::Complete
        } else {
            SweepPhase::Interrupted
        };
        view
    }

    pub(super) fn take(&mut self, trials: Vec<Trial>, status: SweepStatus) {
        let any_ended = trials.iter().any(|trial| trial.outcome.is_some());
        for trial in trials {
            if trial.outcome.is_some() {
                self.ends.push((trial.number, status.elapsed));
            }
            match self.trials.get_mut(trial.number as usize - 1) {
                Some(known) => *known = trial,
                None => self.trials.push(trial),
            }
        }
        if any_ended {
            self.importance = importance(&self.definition, &self.trials);
        }
        self.elapsed = status.elapsed;
        self.status = Some(status);
    }

    pub const fn is_active(&self) -> bool {
        matches!(
            self.phase,
            SweepPhase::Starting | SweepPhase::Running | SweepPhase::Pausing | SweepPhase::Stopping
        )
    }

    pub fn trial(&self, number: u32) -> Option<&Trial> {
        self.trials.get(number.checked_sub(1)? as usize)
    }

    /// The trial with the highest validation accuracy of those that trained to their end.
    pub fn best(&self) -> Option<&Trial> {
        let best = Trial::ranked(&self.trials).into_iter().next();
        best.filter(|trial| trial.result().is_some())
    }

    /// Every trial, the best first; those that have not ended come last.
    pub fn ranked(&self) -> Vec<&Trial> {
        let mut ranked = Trial::ranked(&self.trials);
        ranked.extend(self.trials.iter().filter(|trial| trial.outcome.is_none()));
        ranked
    }

    /// The highest validation accuracy of a trial that trained to its end, by the seconds after
    /// which it was reached.
    pub fn best_so_far(&self) -> Vec<[f64; 2]> {
        let mut best: Option<f64> = None;
        let mut steps = Vec::new();
        for &(number, seconds) in &self.ends {
            let Some(accuracy) = self.trial(number).and_then(Trial::result) else {
                continue;
            };
            if best.is_none_or(|best| accuracy > best) {
                best = Some(accuracy);
                steps.push([seconds, accuracy]);
            }
        }
        steps
    }

    /// The fraction of the budget that is used, 0 to 1.
    pub fn fraction(&self) -> f32 {
        match (&self.status, self.definition.max_trials()) {
            (Some(status), _) => status.fraction,
            _ if self.phase == SweepPhase::Complete => 1.0,
            (None, Some(most)) => self.ends.len() as f32 / most.max(1) as f32,
            (None, None) => {
                (self.elapsed / self.definition.seconds.unwrap_or(f64::INFINITY)) as f32
            }
        }
    }

    pub fn state(&self) -> String {
        let state = match &self.phase {
            SweepPhase::Starting => "Starting…",
            SweepPhase::Running => "Searching",
            SweepPhase::Pausing => "Pausing…",
            SweepPhase::Stopping => "Stopping…",
            SweepPhase::Interrupted => "Paused",
            SweepPhase::Complete => "Complete",
            SweepPhase::Failed(message) => return message.to_string(),
        };
        state.to_owned()
    }

    /// How many trials have ended, of how many, and the time it has run.
    pub fn figures(&self) -> Vec<String> {
        let ended = self.ends.len() as u64;
        let status = self.status.as_ref().filter(|_| self.is_active());
        let trials = match self.definition.max_trials() {
            Some(most) => format!("{ended} of {}", count(most.into(), "trial")),
            None => count(ended, "trial"),
        };
        let training = status.map(|status| format!("{} training", status.running.len()));
        let time = match self.definition.seconds {
            Some(seconds) => format!("{} of {}", duration(self.elapsed), duration(seconds)),
            None => format!("{} elapsed", duration(self.elapsed)),
        };
        let left = status.and_then(|status| status.remaining);
        let left = left.map(|left| format!("about {} left", remaining(left as f32)));
        let figures = [Some(trials), training, Some(time), left];
        figures.into_iter().flatten().collect()
    }

    /// The trials as a table in CSV, the best first.
    pub fn csv(&self) -> String {
        let mut text = "trial,outcome,validation_accuracy,epochs,seconds".to_owned();
        for dimension in &self.definition.space {
            text += &format!(",{}", dimension.setting.row().name);
        }
        for trial in self.ranked() {
            let accuracy = trial.accuracy().map(|accuracy| accuracy.to_string());
            text += &format!(
                "\n{},{},{},{},{}",
                trial.number,
                outcome(trial),
                accuracy.unwrap_or_default(),
                trial.epochs.len(),
                trial.seconds()
            );
            for value in &trial.values {
                text += &format!(",{value}");
            }
        }
        text + "\n"
    }

    /// A trial in a line: "Trial 3: learning rate 0.003, batch size 64; 98.20% after 5 epochs,
    /// completed".
    pub fn sentence(&self, trial: &Trial) -> String {
        let accuracy = trial.accuracy().map_or_else(
            || "no epoch yet".to_owned(),
            |accuracy| {
                let epochs = count(trial.epochs.len() as u64, "epoch");
                format!("{} after {epochs}", percent(accuracy, 2))
            },
        );
        let (number, settings) = (trial.number, self.values(trial));
        format!("Trial {number}: {settings}; {accuracy}, {}", outcome(trial))
    }

    /// "learning rate 0.003, batch size 64".
    pub fn values(&self, trial: &Trial) -> String {
        let each = self.definition.space.iter().zip(&trial.values);
        each.map(|(dimension, value)| {
            let label = dimension.setting.row().label.to_lowercase();
            format!("{label} {}", value.in_brief())
        })
        .collect::<Vec<_>>()
        .join(", ")
    }
}

/// How a trial ended, in a word or two.
pub const fn outcome(trial: &Trial) -> &'static str {
    match trial.outcome {
        Some(Outcome::Completed) => "completed",
        Some(Outcome::Pruned) => "ended early",
        Some(Outcome::Failed { .. }) => "failed",
        None => "not ended",
    }
}
