//! What a command needs on the other machine, and sending it there.

use std::path::{Path, PathBuf};

use super::bundle::Bundle;
use super::caller::Caller;
use super::received::RemoteRun;
use crate::data::{DataError, MyDigits, Recipients};
use crate::engine::places::{places, target};
use crate::problem::Problem;
use crate::protocol::{Command, EngineError, Event, Job, JobEvent, JobProgress, Needs};
use crate::records::{BundleId, BundleUse, DataUpload, JobId};
use crate::run_config::{DataSpec, RunConfig};
use crate::runs::Checkpoints;
use crate::text::format::count;
use crate::train::{RunPlaces, TrainError};

/// The name of a model's file in its bundle.
const MODEL: &str = "model.safetensors";

/// The fraction of a job's preparation that reading the data takes; sending it takes the rest.
const READING: f32 = 0.3;

/// Data that is on the other machine.
pub struct SentData {
    data: DataSpec,
    folders: Vec<PathBuf>,
    bundle: BundleId,
}

impl Caller {
    /// Has a job done: here, or there once the files that it needs are.
    pub fn submit(&mut self, id: JobId, mut job: Job) {
        let sent = match job.needs() {
            Needs::ThisMachine => return self.submit_here(id, job),
            Needs::Run { config, from } => {
                let sent = self.send_run(id, config, from);
                self.sends_run_with_model = false;
                sent
            }
            Needs::Data(config) => self.send_data_and_weights(id, config),
            Needs::SharedData(config) => self.send_shared_data(id, config),
            Needs::InitialWeights(config) => self.send_weights(id, config).map(|()| None),
        };
        match sent {
            Ok(data) => self.tell(Command::Submit {
                id,
                job: Box::new(job),
                data,
            }),
            Err(problem) => self.events.send(Event::Job {
                id,
                event: Err(problem).into(),
            }),
        }
    }

    /// Sends the checkpoint, the data and the initial weights of a run: the folder of its data
    /// there.
    fn send_run(
        &mut self,
        id: JobId,
        config: &mut RunConfig,
        from: &mut Option<PathBuf>,
    ) -> Result<Option<PathBuf>, Problem> {
        if self.run.is_some() || self.unsaved.is_some() {
            return Err(EngineError::Busy.into());
        }
        let resumed = from.as_deref().map(Checkpoints::resume).transpose()?;
        let before = resumed
            .as_ref()
            .and_then(|(_, checkpoint)| checkpoint.card.origin.as_ref())
            .map(|origin| &origin.places);
        let places = places(&self.settings, before);
        let target = target(&self.settings, &places);
        target.check()?;
        self.sends_run_with_model = resumed
            .as_ref()
            .is_some_and(|(_, checkpoint)| !checkpoint.card.epochs.is_empty());
        let data = self.send_data(
            id,
            &config.data.located(&places.working_folder),
            &places.data_folders,
        )?;
        let here = config.clone();
        self.send_weights(id, config)?;
        let folder = match resumed {
            None => Checkpoints::new(&self.settings.checkpoints).begin(),
            Some((folder, mut checkpoint)) => {
                checkpoint.card.config = config.clone();
                if let Some(origin) = &mut checkpoint.card.origin {
                    // No folder of this machine means anything there.
                    origin.places = RunPlaces {
                        out: None,
                        replace: false,
                        data_folders: Vec::new(),
                        working_folder: PathBuf::new(),
                        ..places.clone()
                    };
                }
                let bundle = Bundle::of_checkpoint(&checkpoint).map_err(|error| {
                    TrainError::NotResumable {
                        reason: error.to_string(),
                    }
                })?;
                *from =
                    Some(self.send_bundle(Some(id), &bundle, BundleUse::Change, "checkpoint")?);
                folder
            }
        };
        self.run_data = Some((config.data.clone(), here.data.clone()));
        self.run = Some(RemoteRun {
            id,
            config: here,
            places,
            target,
            folder,
        });
        Ok(data)
    }

    fn send_data_and_weights(
        &mut self,
        id: JobId,
        config: &mut RunConfig,
    ) -> Result<Option<PathBuf>, Problem> {
        let data = self.send_data(id, &config.data, &self.settings.data_folders.clone())?;
        self.send_weights(id, config)?;
        Ok(data)
    }

    /// The same, unless this data was sent for the job before and has not been deleted there since.
    fn send_shared_data(
        &mut self,
        id: JobId,
        config: &mut RunConfig,
    ) -> Result<Option<PathBuf>, Problem> {
        let known = self
            .sent
            .as_ref()
            .filter(|sent| sent.data == config.data && sent.folders == self.settings.data_folders);
        let there = match known.map(|sent| sent.bundle.clone()) {
            Some(bundle) => self.find_bundle(Some(id), &bundle)?,
            None => None,
        };
        if there.is_none() {
            return self.send_data_and_weights(id, config);
        }
        self.send_weights(id, config)?;
        Ok(there)
    }

    /// Sends the initial weights of these settings, and makes of them what they are there: with
    /// the path of those weights, and without folders of this machine.
    fn send_weights(&mut self, id: JobId, config: &mut RunConfig) -> Result<(), Problem> {
        if let Some(path) = &mut config.initial_weights {
            *path = self.send_model(Some(id), path)?;
        }
        let mut sources = Vec::new();
        for source in config.data.without_folders().sources() {
            // Two folders may have the same name.
            if !sources.contains(source) {
                sources.push(source.clone());
            }
        }
        config.data = DataSpec::of(sources);
        Ok(())
    }

    /// Sends a model's file if it is missing: its path there.
    pub fn send_model(&mut self, job: Option<JobId>, path: &Path) -> Result<PathBuf, Problem> {
        let bundle = Bundle::of_file(path, MODEL).map_err(|error| DataError::Unreadable {
            path: path.to_owned(),
            reason: error.to_string(),
        })?;
        let folder = match self.find_bundle(job, &bundle.id())? {
            Some(folder) => folder,
            None => self.send_bundle(job, &bundle, BundleUse::Keep, "model")?,
        };
        let there = folder.join(MODEL);
        self.models.insert(there.clone(), path.to_owned());
        Ok(there)
    }

    /// An error unless the person has agreed that My digits, of which there are so many, are sent
    /// to this machine.
    pub fn check_consent(&self, drawings: u64) -> Result<(), Problem> {
        if Recipients::in_file(&self.settings.recipients).contains(self.machine.recipient()) {
            return Ok(());
        }
        Err(EngineError::NoConsent {
            drawings,
            machine: self.machine.recipient().to_owned(),
        }
        .into())
    }

    /// Sends a data set if it is missing: its folder there; `None` if every machine has it.
    fn send_data(
        &mut self,
        id: JobId,
        data: &DataSpec,
        folders: &[PathBuf],
    ) -> Result<Option<PathBuf>, Problem> {
        if *data == DataSpec::builtin() {
            return Ok(None);
        }
        if data.has_my_digits() {
            self.check_consent(MyDigits::in_folders(folders).count()?)?;
        }
        let events = self.events.fork();
        let (bundle, images, notes) = Bundle::of_data(data, folders, &mut |fraction: f32| {
            events.send(progress(id, fraction * READING));
            Ok(())
        })?;
        events.data_notes(id, &notes);
        let bundle_id = bundle.id();
        let folder = if let Some(folder) = self.find_bundle(Some(id), &bundle_id)? {
            folder
        } else {
            let (what, machine) = (data.label(), self.machine.name().to_owned());
            let label = format!("{what} ({})", count(images, "image"));
            self.events.send(Event::Sending(DataUpload {
                what,
                images,
                bytes: bundle.bytes(),
                machine,
            }));
            self.send_bundle(Some(id), &bundle, BundleUse::Keep, &label)?
        };
        self.sent = Some(SentData {
            data: data.clone(),
            folders: folders.to_owned(),
            bundle: bundle_id,
        });
        Ok(Some(folder))
    }

    /// The folder of a bundle that is there already.
    fn find_bundle(
        &mut self,
        job: Option<JobId>,
        id: &BundleId,
    ) -> Result<Option<PathBuf>, Problem> {
        let mut stale = self.unanswered(id);
        self.send_about_bundle(id, Command::FindBundle(id.clone()));
        Ok(self
            .next_bundle_answer(id, &mut stale, job)?
            .unwrap_or_default())
    }

    /// Sends a bundle: its folder there.
    fn send_bundle(
        &mut self,
        job: Option<JobId>,
        bundle: &Bundle,
        purpose: BundleUse,
        what: &str,
    ) -> Result<PathBuf, Problem> {
        let id = bundle.id();
        let mut stale = self.unanswered(&id);
        let commands = bundle.commands(&id, purpose, what);
        let total = commands.len() as f32;
        commands
            .into_iter()
            .for_each(|command| self.send_about_bundle(&id, command));
        // Each part is answered, and at last the folder.
        let mut part = 0.0;
        loop {
            part += 1.0;
            match self.next_bundle_answer(&id, &mut stale, job)? {
                Ok(Some(folder)) => return Ok(folder),
                Ok(None) => job.iter().for_each(|&job| {
                    self.events
                        .send(progress(job, READING + (1.0 - READING) * part / total));
                }),
                Err(reason) => return Err(EngineError::NotSent { reason }.into()),
            }
        }
    }
}

fn progress(id: JobId, fraction: f32) -> Event {
    Event::Job {
        id,
        event: JobEvent::Progress(JobProgress::at(fraction, None)),
    }
}
