//! The names of models wherever one is named.

use std::path::{Path, PathBuf};

use crate::nn::{Layer, layers};
use crate::records::{Ensemble, ModelRef, RunSummary, snapshot_step};
use crate::runs::{CURRENT_RUN, LAST_RUN, Repeats, RunEntry, STARTER_MODEL};
use crate::text::format::grouped;
use crate::text::visible;
use crate::window::{App, Ctx, Models};

impl App {
    /// A model's name, which no other has: "Starter model", "Current run", "LeNet-5 on MNIST 2".
    pub fn model_name(&self, reference: &ModelRef) -> String {
        match reference {
            ModelRef::Starter => STARTER_MODEL.to_owned(),
            ModelRef::Training(id) => match &self.train.run {
                Some(run) if run.id == *id && run.is_active() => CURRENT_RUN.to_owned(),
                _ => LAST_RUN.to_owned(),
            },
            ModelRef::File(file) => {
                let name = self.models.file_name(file);
                let at = snapshot_step(file).filter(|_| self.models.end_of_run(file) != *file);
                at.map_or_else(
                    || name.clone(),
                    |step| format!("{name}, step {}", grouped(step)),
                )
            }
            ModelRef::Ensemble(ensemble) => {
                let first = ensemble
                    .models
                    .first()
                    .map_or_else(String::new, |file| self.models.file_name(file));
                let others = match ensemble.models.len() {
                    0 | 1 => String::new(),
                    count if ensemble.is_posterior() => format!(", {count} posterior samples"),
                    count => format!(" and {} more", count - 1),
                };
                let dropout = if ensemble.dropout_passes.is_some() {
                    ", with dropout"
                } else {
                    ""
                };
                first + &others + dropout
            }
        }
    }

    /// The available models: that of the current run, the starter model, the starred ones, and of
    /// the others the newest, `saved` of both at most; then the ensemble in use, or those of the
    /// model in use.
    pub fn models(&self, saved: usize) -> Vec<ModelRef> {
        let run = self
            .train
            .run
            .as_ref()
            .filter(|run| run.is_active() && run.plan.is_some())
            .map(|run| ModelRef::Training(run.id));
        let (starred, others): (Vec<&RunEntry>, Vec<&RunEntry>) = self
            .models
            .runs
            .iter()
            .flatten()
            .partition(|entry| entry.annotation.starred);
        let files = starred
            .into_iter()
            .chain(others)
            .filter_map(|entry| entry.summary.as_ref().ok());
        let ensembles = match self.ctx.model_in_use.as_ref().map(|model| &model.reference) {
            Some(ModelRef::File(file)) => file
                .parent()
                .and_then(|folder| self.models.listed(folder))
                .map_or_else(Vec::new, |summary| self.models.ensembles_of(summary)),
            Some(ModelRef::Ensemble(ensemble)) => vec![ensemble.clone()],
            _ => Vec::new(),
        };
        run.into_iter()
            .chain([ModelRef::Starter])
            .chain(
                files
                    .take(saved)
                    .map(|summary| ModelRef::File(summary.model_path.clone())),
            )
            .chain(ensembles.into_iter().map(ModelRef::Ensemble))
            .collect()
    }
}

impl Models {
    /// The model that the run of this one left, if this is its network at an earlier step.
    pub fn end_of_run(&self, file: &Path) -> PathBuf {
        let run = file.parent().and_then(|folder| self.listed(folder));
        let run = run.filter(|_| snapshot_step(file).is_some());
        run.map_or_else(|| file.to_owned(), |run| run.model_path.clone())
    }

    /// The name of the model in this file: its run's name, or the file's.
    fn file_name(&self, file: &Path) -> String {
        let own = || {
            visible::label(
                &file
                    .file_name()
                    .unwrap_or(file.as_os_str())
                    .to_string_lossy(),
            )
        };
        self.saved_model_name(file).map_or_else(own, str::to_owned)
    }

    /// The name of the model in this file, if it belongs to a saved run.
    pub fn saved_model_name(&self, file: &Path) -> Option<&str> {
        let folder = file.parent()?;
        self.runs
            .iter()
            .flatten()
            .find(|run| run.folder == folder && run.summary.is_ok())
            .map(|run| run.title.as_str())
    }

    /// What can be made of a saved model for an estimate of its uncertainty: all runs that were
    /// repeated with it, the samples from the posterior of its weights, and it with dropout.
    pub fn ensembles_of(&self, summary: &RunSummary) -> Vec<Ensemble> {
        let repeats = self
            .runs
            .as_ref()
            .and_then(|runs| Repeats::of(runs, summary));
        let together = repeats.map(|repeats| {
            Ensemble::of(
                repeats
                    .runs()
                    .iter()
                    .map(|(_, run)| run.model_path.clone())
                    .collect(),
            )
        });
        let has_dropout = layers(
            summary.config.network(),
            summary.config.activation,
            summary.plan.classes.len(),
        )
        .iter()
        .any(Layer::is_dropout);
        let posterior =
            (summary.posterior_samples > 1).then(|| Ensemble::of(summary.posterior_sample_paths()));
        together
            .into_iter()
            .chain(posterior)
            .chain(has_dropout.then(|| Ensemble::with_dropout(summary.model_path.clone())))
            .collect()
    }
}

impl Ctx {
    /// True if this model recognizes the drawings at present.
    pub fn is_in_use(&self, reference: &ModelRef) -> bool {
        self.model_in_use
            .as_ref()
            .is_some_and(|model| model.reference == *reference)
    }
}
