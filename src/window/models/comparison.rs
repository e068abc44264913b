//! The comparison of saved models: which ones are chosen, on which data, and what was found.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::protocol::Job;
use crate::records::{
    COMPARED_MODELS, ComparisonSpec, ModelComparison, ModelRef, RunSummary, StepPoint,
};
use crate::run_config::{DataSource, DataSpec};
use crate::runs::{RunEntry, load_steps};
use crate::window::{Activity, Ctx, Models};

/// A comparison that is being chosen, or was made.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ComparisonView {
    /// The folders of the runs, in the order in which they were chosen.
    pub chosen: Vec<PathBuf>,
    /// The run that the others are compared with, if another than the first was chosen.
    baseline: Option<PathBuf>,
    /// The steps of the runs that were chosen so far, by folder; `None` while they are being read.
    steps: BTreeMap<PathBuf, Option<Arc<[StepPoint]>>>,
    /// The data set whose test images count, if one was chosen.
    data: Option<DataSpec>,
    pub(super) found: Option<ModelComparison>,
}

impl Models {
    /// The chosen runs that there are, in the order in which they were chosen.
    pub fn compared_runs(&self) -> Vec<(&RunEntry, &RunSummary)> {
        let chosen = self.comparison.iter().flat_map(|view| &view.chosen);
        let entry = |folder: &PathBuf| {
            self.runs
                .iter()
                .flatten()
                .find(|entry| entry.folder == *folder)
        };
        chosen
            .filter_map(entry)
            .filter_map(|entry| Some((entry, entry.summary.as_deref().ok()?)))
            .collect()
    }

    /// The position of the run that the others are compared with: of the one that was chosen, or
    /// the first.
    pub fn comparison_baseline(&self) -> usize {
        let baseline = self
            .comparison
            .as_ref()
            .and_then(|view| view.baseline.as_ref());
        let position = |folder: &PathBuf| {
            self.compared_runs()
                .iter()
                .position(|(entry, _)| entry.folder == *folder)
        };
        baseline.and_then(position).unwrap_or(0)
    }

    /// The steps of a chosen run, thinned; none while they are being read.
    pub fn compared_steps(&self, folder: &Path) -> &[StepPoint] {
        let steps = self
            .comparison
            .as_ref()
            .and_then(|view| view.steps.get(folder));
        steps.and_then(Option::as_deref).unwrap_or_default()
    }

    /// The data sets that the chosen runs are tested on, each once.
    pub fn comparison_data_sets(&self) -> Vec<DataSpec> {
        let mut sets: Vec<DataSpec> = Vec::new();
        for (_, summary) in self.compared_runs() {
            let tested = summary
                .config
                .data
                .sources()
                .first()
                .cloned()
                .filter(|source| *source != DataSource::Unknown);
            let set = DataSpec::single(tested.unwrap_or(DataSource::Builtin));
            if !sets.contains(&set) {
                sets.push(set);
            }
        }
        sets
    }

    /// The data set whose test images the chosen runs are to classify: the one that was chosen, or
    /// the first run's.
    pub fn comparison_data(&self) -> Option<DataSpec> {
        let sets = self.comparison_data_sets();
        let chosen = self.comparison.as_ref().and_then(|view| view.data.clone());
        chosen
            .filter(|data| sets.contains(data))
            .or_else(|| sets.into_iter().next())
    }

    /// The result for the runs and the data that are chosen now.
    pub fn comparison_found(&self) -> Option<&ModelComparison> {
        let found = self.comparison.as_ref()?.found.as_ref()?;
        let measured = found
            .models
            .iter()
            .map(|model| model.model.reference.clone());
        (Some(&found.data) == self.comparison_data().as_ref()
            && measured.eq(self.compared_models()))
        .then_some(found)
    }

    /// True if no further run can be chosen.
    pub fn is_comparison_full(&self) -> bool {
        self.compared_runs().len() >= *COMPARED_MODELS.end()
    }

    fn compared_models(&self) -> Vec<ModelRef> {
        self.compared_runs()
            .iter()
            .map(|(_, summary)| ModelRef::File(summary.model_path.clone()))
            .collect()
    }

    /// Opens the choice, with this run first.
    pub fn open_comparison(&mut self, ctx: &mut Ctx, folder: PathBuf) {
        self.comparison = Some(ComparisonView {
            chosen: vec![folder.clone()],
            ..ComparisonView::default()
        });
        self.read_compared_steps(ctx, folder);
    }

    /// Reads the steps of a run that was chosen, unless that was done before.
    fn read_compared_steps(&mut self, ctx: &mut Ctx, folder: PathBuf) {
        let Some(view) = &mut self.comparison else {
            return;
        };
        if !view.steps.contains_key(&folder) {
            view.steps.insert(folder.clone(), None);
            ctx.background.run(
                move || (load_steps(&folder).into(), folder),
                |app, (curve, folder)| {
                    if let Some(view) = &mut app.models.comparison {
                        view.steps.insert(folder, Some(curve));
                    }
                },
            );
        }
    }

    pub fn choose_compared(&mut self, ctx: &mut Ctx, folder: &Path, chosen: bool) {
        let full = self.is_comparison_full();
        let Some(view) = &mut self.comparison else {
            return;
        };
        view.chosen.retain(|other| other != folder);
        if chosen && !full {
            view.chosen.push(folder.to_owned());
            self.read_compared_steps(ctx, folder.to_owned());
        }
    }

    pub fn choose_baseline(&mut self, folder: PathBuf) {
        if let Some(view) = &mut self.comparison {
            view.baseline = Some(folder);
        }
    }

    pub fn choose_comparison_data(&mut self, data: DataSpec) {
        if let Some(view) = &mut self.comparison {
            view.data = Some(data);
        }
    }

    pub fn compare_models(&mut self, ctx: &mut Ctx) {
        let models = self.compared_models();
        if COMPARED_MODELS.contains(&models.len()) && !ctx.is_too_busy() {
            let data = self.comparison_data();
            ctx.jobs.forget(Activity::ModelComparison);
            ctx.submit(Job::CompareModels(ComparisonSpec { models, data }));
        }
    }

    /// Goes back to the list of models; a measurement in progress is cancelled.
    pub fn close_comparison(&mut self, ctx: &mut Ctx) {
        if let Some(id) = ctx
            .jobs
            .doing(Activity::ModelComparison)
            .map(|running| running.id)
        {
            ctx.cancel_job(id);
        }
        self.comparison = None;
    }
}
