//! Compares models on the same test images.

use super::evaluate::{check_classes, check_loaded};
use super::saved_model::{SavedModel, may_be_read, not_trusted};
use super::{JobContext, Workspace};
use crate::data::{DataError, load_for_evaluation};
use crate::infer::{Classifier, ComparisonError, compare_models};
use crate::problem::Problem;
use crate::progress::Progress;
use crate::protocol::JobResult;
use crate::records::{COMPARED_MODELS, ComparisonSpec};
use crate::run_config::{DataSource, DataSpec, RunConfig};

pub(super) fn run(
    workspace: &Workspace<'_>,
    context: &mut JobContext<'_, '_>,
    spec: &ComparisonSpec,
) -> Result<JobResult, Problem> {
    let ComparisonSpec { models, data } = spec;
    if !COMPARED_MODELS.contains(&models.len()) {
        return Err(ComparisonError::Count {
            given: models.len(),
        }
        .into());
    }
    if models
        .iter()
        .enumerate()
        .any(|(index, model)| models[..index].contains(model))
    {
        return Err(ComparisonError::Repeated.into());
    }
    let saved = models
        .iter()
        .map(SavedModel::load)
        .collect::<Result<Vec<_>, _>>()?;
    let data = match data {
        Some(data) => data.clone(),
        None => common_data(workspace, &saved)?,
    };
    check_classes(saved.iter().map(|model| &model.file), &data)?;
    // As if one model had learned from everything that any of them did: what one has seen is not a
    // test.
    let sources: Vec<DataSource> = saved
        .iter()
        .flat_map(|model| model.file.card.data.sources())
        .cloned()
        .collect();
    let trained = RunConfig {
        data: DataSpec::of(sources),
        ..RunConfig::default()
    };
    let set = load_for_evaluation(
        &data,
        None,
        &trained,
        &workspace.settings.data_folders,
        &mut context.part(0.0, 0.3),
    )?;
    context.queue.events.data_notes(context.id, &set.notes);
    let classifiers: Vec<_> = models
        .iter()
        .zip(saved)
        .map(|(reference, SavedModel { file, run })| {
            let config = file.card.config.clone();
            let train_seconds = run
                .filter(|run| !run.epochs.is_empty())
                .map(|run| run.train_seconds);
            (
                Classifier::of_file(file, reference.clone()),
                config,
                train_seconds,
            )
        })
        .collect();
    check_loaded(
        classifiers.iter().map(|(classifier, ..)| classifier.info()),
        &set,
    )?;
    let comparison = compare_models(classifiers, &set, &mut context.part(0.3, 1.0))?;
    Ok(JobResult::CompareModels(comparison))
}

/// The source whose test images count for every one of these models.
fn common_data(workspace: &Workspace<'_>, models: &[SavedModel]) -> Result<DataSpec, Problem> {
    let mut sources: Vec<&DataSource> = Vec::new();
    for SavedModel { file, run } in models {
        let data = &file.card.data;
        if !data.is_known() {
            return Err(DataError::Unknown.into());
        }
        if !may_be_read(workspace.settings, data, run.as_ref()) {
            return Err(not_trusted(data).into());
        }
        if let Some(source) = data.sources().first()
            && !sources.contains(&source)
        {
            sources.push(source);
        }
    }
    match sources[..] {
        [source] => Ok(DataSpec::single(source.clone())),
        _ => Err(ComparisonError::DifferentData {
            sets: sources.into_iter().map(DataSource::label).collect(),
        }
        .into()),
    }
}
