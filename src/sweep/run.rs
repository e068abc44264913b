//! The loop of a sweep: the sampler suggests, the executor trains, the journal remembers, and poor
//! trials end early.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use super::engines::{Executor, TrialEvent};
use super::error::SweepError;
use super::journal::{Entry, Sweep};
use super::sampler::suggest;
use super::trial::Trial;
use crate::problem::Code;
use crate::progress::Cancelled;
use crate::records::DataUpload;

/// How often the observer is asked whether to go on.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Watches a sweep, and may interrupt it.
pub trait SweepObserver {
    fn started(&mut self, _trial: &Trial) {}

    /// The data of the trials is about to be sent to another machine.
    fn sending(&mut self, _upload: &DataUpload) {}

    /// This was done to the data of the trials besides reading it; said once.
    fn data_notes(&mut self, _notes: &[String]) {}

    /// A trial completed an epoch, its last.
    fn epoch(&mut self, _trial: &Trial) {}

    /// A trial ended, as its outcome says.
    fn ended(&mut self, _trial: &Trial) {}

    /// How far the sweep is, several times a second. An error interrupts it: it can be resumed.
    fn report(&mut self, status: &SweepStatus) -> Result<(), Cancelled>;
}

#[derive(Clone, Debug, PartialEq)]
pub struct SweepStatus {
    pub ended: u32,
    /// The most there can be; `None` if only time ends the sweep.
    pub trials: Option<u32>,
    pub running: Vec<u32>,
    /// The fraction of the budget that is used, 0 to 1.
    pub fraction: f32,
    /// Seconds that it has run, all sessions together.
    pub elapsed: f64,
    /// Estimated seconds until it ends; `None` while too little is known.
    pub remaining: Option<f64>,
    /// The best trial so far, and its validation accuracy.
    pub best: Option<(u32, f64)>,
}

/// How [`run`] ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SweepEnd {
    Complete,
    /// The observer interrupted it; trials that trained then begin again when it is resumed.
    Interrupted,
}

/// Begins or resumes a sweep, and goes on until its budget is used up or the observer interrupts
/// it.
///
/// A trial that diverges, or whose settings no run can have, has failed, and the sweep goes on. Any
/// other failure ends the sweep if no trial has been completed yet, for the next would fare no
/// better.
pub fn run(
    sweep: &mut Sweep,
    executor: &mut dyn Executor,
    observer: &mut dyn SweepObserver,
) -> Result<SweepEnd, SweepError> {
    let mut session = Session {
        began: Instant::now(),
        before: sweep.elapsed(),
        cut_short: sweep
            .trials()
            .iter()
            .filter(|trial| trial.outcome.is_none())
            .map(|trial| trial.number)
            .collect(),
        running: BTreeMap::new(),
        data_notes: Vec::new(),
        sweep,
        executor,
        observer,
    };
    let ended = session.go_on();
    let running: Vec<u32> = session.running.keys().copied().collect();
    running
        .into_iter()
        .for_each(|trial| session.executor.stop(trial));
    ended
}

struct Session<'s> {
    sweep: &'s mut Sweep,
    executor: &'s mut dyn Executor,
    observer: &'s mut dyn SweepObserver,
    began: Instant,
    /// Seconds of earlier sessions.
    before: f64,
    /// Trials that were interrupted, in an earlier session for example, and begin again.
    cut_short: VecDeque<u32>,
    /// Those that train, and how much of each is done.
    running: BTreeMap<u32, f32>,
    /// Changes of their data, as far as they were reported.
    data_notes: Vec<String>,
}

impl Session<'_> {
    fn go_on(&mut self) -> Result<SweepEnd, SweepError> {
        loop {
            if self.observer.report(&self.status()) == Err(Cancelled) {
                return Ok(SweepEnd::Interrupted);
            }
            let capacity = match self.executor.capacity() {
                Ok(capacity) => capacity.min(self.sweep.definition().parallel) as usize,
                // Those that train go on; what is left can be resumed.
                Err(problem) if self.running.is_empty() => return Err(problem.into()),
                Err(_) => 0,
            };
            let mut more = true;
            while more && self.running.len() < capacity {
                more = self.start_next()?;
            }
            if self.running.is_empty() && (capacity > 0 || self.sweep.is_complete()) {
                return Ok(SweepEnd::Complete);
            }
            if let Some((trial, event)) = self.executor.next(POLL_INTERVAL)
                && self.running.contains_key(&trial)
            {
                self.on_event(trial, event)?;
            }
        }
    }

    fn elapsed(&self) -> f64 {
        self.before + self.began.elapsed().as_secs_f64()
    }

    /// Starts a trial; false if there is none to start.
    fn start_next(&mut self) -> Result<bool, SweepError> {
        let elapsed = self.elapsed();
        let definition = self.sweep.definition();
        let again = self
            .cut_short
            .pop_front()
            .and_then(|number| self.sweep.trial(number));
        let (number, values) = if let Some(trial) = again {
            (trial.number, trial.values.clone())
        } else {
            // When the time is used up, no trial begins, but those that have begun are completed.
            if definition.seconds.is_some_and(|seconds| elapsed >= seconds) {
                return Ok(false);
            }
            let number = self.sweep.trials().len() as u32 + 1;
            if definition.max_trials().is_some_and(|most| number > most) {
                return Ok(false);
            }
            let Some(values) = suggest(definition, number, self.sweep.trials()) else {
                return Ok(false);
            };
            (number, values)
        };
        let names = definition
            .space
            .iter()
            .map(|dimension| dimension.setting.row().name.to_owned());
        let values = names.zip(values).collect();
        self.sweep
            .record(number, elapsed, Entry::Started { values })?;
        if let Some(trial) = self.sweep.trial(number) {
            self.executor.start(number, &trial.config)?;
            self.running.insert(number, 0.0);
            self.observer.started(trial);
        }
        Ok(true)
    }

    fn on_event(&mut self, number: u32, event: TrialEvent) -> Result<(), SweepError> {
        let elapsed = self.elapsed();
        match event {
            TrialEvent::Progress(fraction) => {
                self.running.insert(number, fraction.clamp(0.0, 1.0));
            }
            TrialEvent::Sending(upload) => self.observer.sending(&upload),
            // Every trial prepares the same data.
            TrialEvent::DataNotes(notes) if notes == self.data_notes => {}
            TrialEvent::DataNotes(notes) => {
                self.observer.data_notes(&notes);
                if notes != self.sweep.data_notes() {
                    let entry = Entry::DataNotes {
                        notes: notes.clone(),
                    };
                    self.sweep.record(number, elapsed, entry)?;
                }
                self.data_notes = notes;
            }
            TrialEvent::Epoch(epoch) => {
                self.sweep.record(number, elapsed, Entry::Epoch(epoch))?;
                let Some(trial) = self.sweep.trial(number) else {
                    return Ok(());
                };
                self.observer.epoch(trial);
                if self
                    .sweep
                    .definition()
                    .pruner
                    .is_some_and(|asha| !asha.should_continue(trial, self.sweep.trials()))
                {
                    self.executor.stop(number);
                    self.end(number, elapsed, Entry::Pruned)?;
                }
            }
            TrialEvent::Completed => self.end(number, elapsed, Entry::Completed)?,
            TrialEvent::Interrupted => {
                self.running.remove(&number);
                self.cut_short.push_back(number);
            }
            TrialEvent::Failed(problem) => {
                let is_of_its_settings = matches!(
                    problem.code,
                    Code::Diverged
                        | Code::Config
                        | Code::BatchLargerThanSet { .. }
                        | Code::Compute
                        | Code::OutOfMemory
                );
                let any = self
                    .sweep
                    .trials()
                    .iter()
                    .any(|trial| trial.result().is_some());
                if !is_of_its_settings && !any {
                    return Err(problem.into());
                }
                self.end(
                    number,
                    elapsed,
                    Entry::Failed {
                        reason: problem.message.what,
                    },
                )?;
            }
        }
        Ok(())
    }

    fn end(&mut self, number: u32, elapsed: f64, entry: Entry) -> Result<(), SweepError> {
        self.running.remove(&number);
        self.sweep.record(number, elapsed, entry)?;
        if let Some(trial) = self.sweep.trial(number) {
            self.observer.ended(trial);
        }
        Ok(())
    }

    fn status(&self) -> SweepStatus {
        let elapsed = self.elapsed();
        let definition = self.sweep.definition();
        let ended = self
            .sweep
            .trials()
            .iter()
            .filter(|trial| trial.outcome.is_some())
            .count() as u32;
        let done = f64::from(ended) + self.running.values().copied().map(f64::from).sum::<f64>();
        let trials = definition.max_trials();
        let of_trials = trials.map_or(0.0, |trials| done / f64::from(trials.max(1)));
        let of_time = definition.seconds.map_or(0.0, |seconds| elapsed / seconds);
        let fraction = of_trials.max(of_time).clamp(0.0, 1.0);
        SweepStatus {
            ended,
            trials,
            running: self.running.keys().copied().collect(),
            fraction: fraction as f32,
            elapsed,
            remaining: (fraction > 0.02).then(|| elapsed * (1.0 - fraction) / fraction),
            best: self
                .sweep
                .best()
                .and_then(|trial| Some((trial.number, trial.result()?))),
        }
    }
}
