//! Repeated runs on several machines at once. Each is saved on this one, as if it had trained here.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use super::{TrainArgs, report};
use crate::cli::failure::Failure;
use crate::cli::interrupt::{self, Request};
use crate::cli::output::{Output, Progress};
use crate::problem::Message;
use crate::protocol::EngineError;
use crate::records::RunSummary;
use crate::run_config::RunConfig;
use crate::runs::Store;
use crate::sweep::{Executor, TrialEvent, Work};
use crate::system::paths::Paths;

const POLL_INTERVAL: Duration = Duration::from_millis(50);

pub fn run(arguments: &TrainArgs, config: &RunConfig) -> Result<(), Failure> {
    let config = RunConfig {
        data: config
            .data
            .located(&std::env::current_dir().unwrap_or_default()),
        ..config.clone()
    };
    let settings = arguments.engine_settings()?;
    let waiting: VecDeque<RunConfig> = config
        .repetitions(&jiff::Timestamp::now().to_string())
        .into();
    let parallel = arguments
        .machines
        .usual_parallel()
        .unwrap_or(1)
        .min(waiting.len() as u32);
    let mut executor =
        arguments
            .machines
            .executor(Work::Runs, parallel, config.threads, settings)?;
    interrupt::install_handler();
    let store = Store::new(
        arguments
            .out
            .as_deref()
            .and_then(std::path::Path::parent)
            .unwrap_or(&Paths::find().runs),
    );
    let mut runs = Runs {
        total: waiting.len(),
        waiting,
        training: BTreeMap::new(),
        began: 0,
        store,
        output: Output::new(arguments.json),
    };
    runs.train(&mut executor)
}

struct Runs {
    total: usize,
    waiting: VecDeque<RunConfig>,
    /// Those that train, by the number they were begun with, and how much of each is done.
    training: BTreeMap<u32, (RunConfig, f32)>,
    began: u32,
    store: Store,
    output: Output,
}

impl Runs {
    fn train(&mut self, executor: &mut dyn Executor) -> Result<(), Failure> {
        let progress = Progress::new();
        let mut last = None;
        loop {
            if let Some(request) = interrupt::requested() {
                progress.note("Stopping. `inkling train --resume` resumes each run from where it was last saved.");
                return Err(match request {
                    Request::Interrupt(status) => Failure::Interrupted.terminated(status),
                    Request::Stop => Failure::Interrupted,
                });
            }
            let capacity = match executor.capacity() {
                Ok(capacity) => capacity as usize,
                Err(problem) if self.training.is_empty() => return Err(problem.into()),
                Err(_) => 0,
            };
            while self.training.len() < capacity
                && let Some(config) = self.waiting.pop_front()
            {
                self.began += 1;
                executor.start(self.began, &config)?;
                self.training.insert(self.began, (config, 0.0));
            }
            if self.training.is_empty() && self.waiting.is_empty() {
                break;
            }
            if let Some((run, event)) = executor.next(POLL_INTERVAL) {
                last = self.on_event(run, event, &progress)?.or(last);
            }
            let ended = self.total - self.waiting.len() - self.training.len();
            let done = ended as f32 + self.training.values().map(|(_, share)| share).sum::<f32>();
            progress.show(
                done / self.total as f32,
                &format!(
                    "{ended} of {} runs · {} training",
                    self.total,
                    self.training.len()
                ),
            );
        }
        drop(progress);
        last.map_or(Ok(()), |last| {
            report::repeated(&self.store.list(), &last, &mut self.output)
        })
    }

    /// Takes an event in: the run that it ended, if it did.
    fn on_event(
        &mut self,
        run: u32,
        event: TrialEvent,
        progress: &Progress,
    ) -> Result<Option<RunSummary>, Failure> {
        let Some((config, done)) = self.training.get_mut(&run) else {
            return Ok(None);
        };
        match event {
            TrialEvent::Sending(upload) => progress.note(&Message::sending(&upload).to_string()),
            // Every run prepares the same data.
            TrialEvent::DataNotes(notes) if run == 1 => progress.notes(&notes),
            TrialEvent::DataNotes(_) | TrialEvent::Progress(_) => {}
            TrialEvent::Epoch(epoch) => *done = epoch.epoch as f32 / config.epochs.max(1) as f32,
            TrialEvent::Interrupted => {
                let (config, _) = self.training.remove(&run).unwrap_or_default();
                progress.note("The connection to a machine was lost; its run will be resumed on the next free machine.");
                self.waiting.push_front(config);
            }
            TrialEvent::Failed(problem) => return Err(problem.into()),
            TrialEvent::Completed => {
                let (config, _) = self.training.remove(&run).unwrap_or_default();
                let saved = self
                    .store
                    .list()
                    .into_iter()
                    .filter_map(|entry| entry.summary.ok());
                let summary = saved
                    .map(|summary| *summary)
                    .find(|summary| summary.config == config)
                    .ok_or(EngineError::NoSuchRun)?;
                report::finished(&summary, &mut self.output)?;
                return Ok(Some(summary));
            }
        }
        Ok(None)
    }
}
