//! What comes back from another machine: checkpoints, which are kept here as if the run trained
//! here, and finished runs, which are saved among the others.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::caller::Caller;
use crate::engine::handle::RunsTarget;
use crate::engine::places::{EndedRun, SavedRun};
use crate::nn::ModelFile;
use crate::problem::{Code, Problem};
use crate::protocol::{EngineError, Event, JobEvent, JobResult};
use crate::records::{
    JobId, MAX_POSTERIOR_SAMPLES, MAX_SNAPSHOTS, RunPosition, RunSummary, posterior_sample_name,
    snapshot_name, snapshot_step,
};
use crate::run_config::RunConfig;
use crate::runs::{
    CHECKPOINT, CheckpointFolder, Checkpoints, RunContents, load, load_steps, read_checkpoint,
};
use crate::system::WriteError;
use crate::system::files::write_whole;
use crate::train::{RunPlaces, TrainError};

/// A run that trains on another machine.
#[derive(Debug)]
pub struct RemoteRun {
    pub id: JobId,
    /// Its settings, with the paths of this machine.
    pub config: RunConfig,
    /// Where its data is here, and where it is to be saved.
    pub places: RunPlaces,
    pub target: RunsTarget,
    pub folder: CheckpointFolder,
}

/// A run that has come back whole, and could not be saved.
#[derive(Debug)]
pub struct Unsaved {
    run: RemoteRun,
    there: PathBuf,
    files: BTreeMap<String, Vec<u8>>,
    reported: Option<(Problem, Option<RunPosition>)>,
}

impl RemoteRun {
    /// Saves its model, summary and steps; before it would be lost, as much of them as can be
    /// saved.
    fn save(
        &self,
        files: &BTreeMap<String, Vec<u8>>,
        before_lost: bool,
    ) -> Result<SavedRun, Problem> {
        let (target, weights) = (self.target.clone(), self.places.weights);
        let run = EndedRun {
            target,
            contents: self.contents(files)?,
            weights,
            checkpoints: None,
        };
        if before_lost {
            run.rescue()
        } else {
            Ok(run.save()?)
        }
    }

    fn contents(&self, files: &BTreeMap<String, Vec<u8>>) -> Result<RunContents<'static>, Problem> {
        let folder =
            tempfile::tempdir().map_err(|error| WriteError::new(&std::env::temp_dir(), &error))?;
        let samples = (1..=MAX_POSTERIOR_SAMPLES as u32).map(posterior_sample_name);
        let is_snapshot = |name: &String| {
            let step = snapshot_step(Path::new(name));
            step.is_some_and(|step| snapshot_name(step) == *name)
        };
        let snapshots = files.keys().filter(|name| is_snapshot(name)).cloned();
        for name in ["run.json", "model.safetensors", "steps.csv"]
            .map(str::to_owned)
            .into_iter()
            .chain(samples)
            .chain(snapshots)
        {
            if let Some(bytes) = files.get(&name) {
                let path = folder.path().join(&name);
                write_whole(&path, bytes)?;
            }
        }
        let mut summary = load(folder.path())?;
        summary
            .test
            .iter_mut()
            .for_each(|test| test.data = self.config.data.tested());
        let of_this_machine = |config: RunConfig| RunConfig {
            data: self.config.data.clone(),
            initial_weights: self.config.initial_weights.clone(),
            ..config
        };
        let load_model = |path: &Path| {
            let mut model = ModelFile::load(path)?;
            model.card.data = self.config.data.clone();
            model.card.config = of_this_machine(model.card.config);
            model
                .card
                .test
                .iter_mut()
                .for_each(|test| test.data = self.config.data.tested());
            Ok::<_, Problem>(model)
        };
        let model = load_model(&summary.model_path)?;
        let posterior = summary
            .posterior_sample_paths()
            .iter()
            .map(|path| load_model(path))
            .collect::<Result<_, _>>()?;
        // Without one of them, the others are worth as much.
        let mut snapshots = Vec::new();
        summary.snapshots.retain(|record| {
            let loaded = load_model(&folder.path().join(snapshot_name(record.step)));
            let loaded =
                loaded.inspect_err(|error| tracing::info!(%error, "a snapshot is left out"));
            let is_kept = snapshots.len() < MAX_SNAPSHOTS && loaded.is_ok();
            snapshots.extend(loaded.ok().filter(|_| is_kept));
            is_kept
        });
        let config = of_this_machine(summary.config);
        let steps = Cow::Owned(load_steps(folder.path()));
        Ok(RunContents {
            model,
            posterior,
            snapshots,
            summary: Cow::Owned(RunSummary { config, ..summary }),
            steps,
        })
    }

    /// How far it can be resumed from.
    fn position(&self) -> Option<RunPosition> {
        Checkpoints::position(self.folder.path())
    }
}

impl Caller {
    /// Keeps a checkpoint that has come, so that the run can be resumed on any machine.
    pub fn keep_checkpoint(&mut self, there: &Path) -> Result<(), Problem> {
        let files = self.received.remove(there).0;
        let Some(run) = &mut self.run else {
            return Err(EngineError::NoSuchRun.into());
        };
        let damaged = |reason: String| TrainError::NotResumable { reason };
        let bytes = files
            .get(CHECKPOINT)
            .ok_or_else(|| damaged("the checkpoint did not come".to_owned()))?;
        let mut checkpoint = read_checkpoint(&mut bytes.as_slice()).map_err(damaged)?;
        checkpoint.card.config = run.config.clone();
        if let Some(origin) = &mut checkpoint.card.origin {
            origin.places = run.places.clone();
        }
        Ok(run.folder.write(&checkpoint)?)
    }

    pub fn on_job_event(&mut self, id: JobId, event: JobEvent) {
        let event = match event {
            JobEvent::Done(result) => match *result {
                JobResult::Train(summary) => {
                    let files = self.received.remove(&summary.folder).0;
                    let Some(run) = self.run.take_if(|run| run.id == id) else {
                        return self.events.send(Event::Job {
                            id,
                            event: JobEvent::Failed(EngineError::NoSuchRun.into()),
                        });
                    };
                    self.unsaved = Some(Unsaved {
                        run,
                        there: summary.model_path,
                        files,
                        reported: None,
                    });
                    return self.save_again(None);
                }
                result => JobEvent::Done(Box::new(result)),
            },
            JobEvent::Failed(problem) if self.run.as_ref().is_some_and(|run| run.id == id) => {
                self.run_failed(problem)
            }
            JobEvent::Cancelled => {
                self.run.take_if(|run| run.id == id);
                JobEvent::Cancelled
            }
            event => event,
        };
        self.events.send(Event::Job { id, event });
    }

    fn run_failed(&mut self, problem: Problem) -> JobEvent {
        let run = self.run.take();
        let diverged = problem.code == Code::Diverged;
        let checkpoint = run.and_then(|run| {
            let path = run.folder.path().to_owned();
            if diverged {
                // Resumed from where it diverged, it would diverge again.
                run.folder
                    .delete()
                    .unwrap_or_else(|error| tracing::info!(%error, "a checkpoint remains"));
            }
            Checkpoints::position(&path).map(|_| path)
        });
        JobEvent::Failed(if matches!(problem.code, Code::Interrupted { .. }) {
            EngineError::Interrupted { checkpoint }.into()
        } else {
            problem
        })
    }

    /// Saves the run that has come back, in a new folder of this one if it is given.
    pub fn save_again(&mut self, folder: Option<PathBuf>) {
        let Some(mut unsaved) = self.unsaved.take() else {
            return;
        };
        if let Some(folder) = folder {
            unsaved.run.target = RunsTarget::Store(folder);
            unsaved.reported = None;
        }
        match unsaved.run.save(&unsaved.files, false) {
            Ok(saved) => self.saved(unsaved, saved),
            // No folder makes a damaged file whole.
            Err(problem)
                if matches!(
                    problem.code,
                    Code::Model | Code::ForeignWeights { .. } | Code::Compute | Code::OutOfMemory
                ) =>
            {
                self.events.send(Event::Job {
                    id: unsaved.run.id,
                    event: JobEvent::Failed(problem),
                });
            }
            Err(problem) => {
                let state = (problem, unsaved.run.position());
                if unsaved.reported.as_ref() != Some(&state) {
                    self.events.send(Event::NotSaved {
                        run: unsaved.run.id,
                        problem: state.0.clone(),
                        checkpoint: state.1,
                    });
                    unsaved.reported = Some(state);
                }
                self.unsaved = Some(unsaved);
            }
        }
    }

    fn saved(
        &mut self,
        Unsaved { run, there, .. }: Unsaved,
        SavedRun { summary, rescue }: SavedRun,
    ) {
        self.models.insert(there, summary.model_path.clone());
        run.folder
            .delete()
            .unwrap_or_else(|error| tracing::info!(%error, "a checkpoint remains"));
        if let Some((problem, rescue)) = rescue {
            self.events.send(Event::Rescued {
                run: run.id,
                problem,
                rescue,
            });
        }
        self.events.send(Event::Job {
            id: run.id,
            event: JobEvent::Done(Box::new(JobResult::Train(summary))),
        });
    }

    /// Ends the waiting of a run that could not be saved; of this one, if it is named. It can be
    /// resumed, or what can be saved of it is. If nothing can be, a run that was named waits on.
    pub fn give_up_saving(&mut self, named: Option<JobId>) {
        let Some(unsaved) = self
            .unsaved
            .take_if(|unsaved| named.is_none_or(|id| id == unsaved.run.id))
        else {
            return;
        };
        let id = unsaved.run.id;
        let interrupted = |checkpoint| Event::Job {
            id,
            event: JobEvent::Failed(EngineError::Interrupted { checkpoint }.into()),
        };
        if unsaved.run.position().is_some() {
            let checkpoint = unsaved.run.folder.path().to_owned();
            // Whoever gets this event may resume the run.
            drop(unsaved);
            return self.events.send(interrupted(Some(checkpoint)));
        }
        match unsaved.run.save(&unsaved.files, true) {
            Ok(saved) => self.saved(unsaved, saved),
            Err(problem) if named.is_some() => {
                self.events.send(Event::NotSaved {
                    run: id,
                    problem,
                    checkpoint: None,
                });
                self.unsaved = Some(unsaved);
            }
            Err(_) => self.events.send(interrupted(None)),
        }
    }
}
