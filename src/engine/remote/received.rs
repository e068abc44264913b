//! What comes back from another machine: checkpoints, which are kept here as if the run trained here, and finished runs, which are saved
//! among the others.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::bundle::MAX_BYTES;
use super::caller::Caller;
use crate::engine::handle::RunsTarget;
use crate::nn::ModelFile;
use crate::problem::Problem;
use crate::protocol::{Event, JobEvent, JobResult};
use crate::records::{FilePart, JobId, MAX_POSTERIOR_SAMPLES, RunSummary, posterior_sample_name};
use crate::run_config::RunConfig;
use crate::runs::{CHECKPOINT, CheckpointFolder, RunContents, Store, check_target, keep_in, load, load_steps, read_checkpoint};
use crate::system::WriteError;
use crate::system::files::write_whole;
use crate::train::RunPlaces;

/// Files that have come, by their folder there.
#[derive(Debug, Default)]
pub struct ReceivedFiles {
    folders: BTreeMap<PathBuf, BTreeMap<String, Vec<u8>>>,
    bytes: u64,
}

impl ReceivedFiles {
    /// Takes in a part; what comes beyond the limit is dropped, and its file will be found damaged.
    pub fn take(&mut self, folder: PathBuf, mut part: FilePart) {
        self.bytes += part.bytes.len() as u64;
        if self.bytes <= MAX_BYTES {
            self.folders.entry(folder).or_default().entry(part.name).or_default().append(&mut part.bytes);
        }
    }

    fn remove(&mut self, folder: &Path) -> BTreeMap<String, Vec<u8>> {
        self.bytes = 0;
        self.folders.remove(folder).unwrap_or_default()
    }
}

/// A run that trains on another machine.
#[derive(Debug)]
pub struct RemoteRun {
    /// Its name.
    pub id: JobId,
    /// Its settings, with the paths of this machine.
    pub config: RunConfig,
    /// Where its data is here, and where it is to be saved.
    pub places: RunPlaces,
    /// Where it is saved.
    pub target: RunsTarget,
    /// Its checkpoint here.
    pub folder: CheckpointFolder,
}

/// A run that has come back whole, and could not be saved.
#[derive(Debug)]
pub struct Unsaved {
    run: RemoteRun,
    there: PathBuf,
    files: BTreeMap<String, Vec<u8>>,
    problem: Option<Problem>,
}

impl RemoteRun {
    /// Whether it can be saved there; to be asked before hours are spent on training.
    pub fn check(target: &RunsTarget) -> Result<(), Problem> {
        match target {
            RunsTarget::Store(root) => Store::new(root).check()?,
            RunsTarget::Folder { folder, replace } => check_target(folder, *replace)?,
        }
        Ok(())
    }

    /// Saves its model, summary and steps.
    fn save(&self, files: &BTreeMap<String, Vec<u8>>) -> Result<RunSummary, Problem> {
        let folder = tempfile::tempdir().map_err(|error| WriteError::new(&std::env::temp_dir(), &error))?;
        let samples = (1..=MAX_POSTERIOR_SAMPLES as u32).map(posterior_sample_name);
        for name in ["run.json", "model.safetensors", "steps.csv"].map(str::to_owned).into_iter().chain(samples) {
            if let Some(bytes) = files.get(&name) {
                let path = folder.path().join(&name);
                write_whole(&path, bytes)?;
            }
        }
        let summary = load(folder.path())?;
        let model = ModelFile::load(&summary.model_path)?;
        let posterior = summary.posterior_sample_paths().iter().map(|path| ModelFile::load(path)).collect::<Result<_, _>>()?;
        let config = RunConfig { data: self.config.data.clone(), initial_weights: self.config.initial_weights.clone(), ..summary.config };
        let steps = Cow::Owned(load_steps(folder.path()));
        let contents = RunContents { model, posterior, summary: Cow::Owned(RunSummary { config, ..summary }), steps };
        Ok(match &self.target {
            RunsTarget::Store(root) => Store::new(root).keep(&contents, self.places.weights, None)?,
            RunsTarget::Folder { folder, replace } => keep_in(folder, *replace, &contents, self.places.weights, None)?,
        })
    }
}

impl Caller {
    /// Keeps a checkpoint that has come, so that the run can be resumed on any machine.
    pub fn keep_checkpoint(&mut self, there: &Path) -> Result<(), Problem> {
        let files = self.received.remove(there);
        let Some(run) = &mut self.run else { return Err(Problem::NoSuchRun) };
        let damaged = |reason: String| Problem::NotResumable { reason };
        let bytes = files.get(CHECKPOINT).ok_or_else(|| damaged("the checkpoint did not come".to_owned()))?;
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
                    let files = self.received.remove(&summary.folder);
                    let Some(run) = self.run.take_if(|run| run.id == id) else {
                        return self.events.send(Event::Job { id, event: JobEvent::Failed(Problem::NoSuchRun) });
                    };
                    self.unsaved = Some(Unsaved { run, there: summary.model_path, files, problem: None });
                    return self.save_again(None);
                }
                result => JobEvent::Done(Box::new(result)),
            },
            JobEvent::Failed(problem) if self.run.as_ref().is_some_and(|run| run.id == id) => self.run_failed(problem),
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
        let diverged = matches!(problem, Problem::Diverged { .. });
        let checkpoint = run.and_then(|run| {
            let path = run.folder.path().to_owned();
            if diverged {
                // Resumed from where it diverged, it would diverge again.
                run.folder.delete().unwrap_or_else(|error| tracing::info!(%error, "a checkpoint remains"));
            }
            path.is_dir().then_some(path)
        });
        JobEvent::Failed(if let Problem::Interrupted { .. } = problem { Problem::Interrupted { checkpoint } } else { problem })
    }

    /// Saves the run that has come back, in a new folder of this one if it is given.
    pub fn save_again(&mut self, folder: Option<PathBuf>) {
        let Some(mut unsaved) = self.unsaved.take() else { return };
        if let Some(folder) = folder {
            unsaved.run.target = RunsTarget::Store(folder);
            unsaved.problem = None;
        }
        let id = unsaved.run.id;
        match unsaved.run.save(&unsaved.files) {
            Ok(summary) => {
                self.models.insert(unsaved.there, summary.model_path.clone());
                unsaved.run.folder.delete().unwrap_or_else(|error| tracing::info!(%error, "a checkpoint remains"));
                self.events.send(Event::Job { id, event: JobEvent::Done(Box::new(JobResult::Train(summary))) });
            }
            // No folder makes a damaged file whole.
            Err(problem @ (Problem::Model(_) | Problem::Compute(_))) => {
                self.events.send(Event::Job { id, event: JobEvent::Failed(problem) });
            }
            Err(problem) => {
                if unsaved.problem.as_ref() != Some(&problem) {
                    self.events.send(Event::NotSaved { run: id, problem: problem.clone() });
                    unsaved.problem = Some(problem);
                }
                self.unsaved = Some(unsaved);
            }
        }
    }

    /// Ends the waiting of a run that could not be saved; of this one, if it is named. It can be resumed.
    pub fn give_up_saving(&mut self, id: Option<JobId>) {
        if let Some(unsaved) = self.unsaved.take_if(|unsaved| id.is_none_or(|id| id == unsaved.run.id)) {
            let path = unsaved.run.folder.path().to_owned();
            let (id, checkpoint) = (unsaved.run.id, path.is_dir().then_some(path));
            drop(unsaved);
            self.events.send(Event::Job { id, event: JobEvent::Failed(Problem::Interrupted { checkpoint }) });
        }
    }
}
