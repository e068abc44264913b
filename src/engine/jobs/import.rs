//! Reads a file of weights and saves it as a model among the runs.

use std::path::PathBuf;

use super::{JobContext, Workspace, saved_model};
use crate::data::{DataError, Split, gather_batch, load_sealed};
use crate::import::{ImportError, Imported, TrialImages, import};
use crate::math::random::Random;
use crate::nn::ModelFile;
use crate::problem::{Explain, Problem};
use crate::progress::Progress;
use crate::protocol::JobResult;
use crate::records::{ImportSpec, SplitEvaluation};
use crate::run_config::{DataSource, DataSpec, PublicDataset, WeightFormat};
use crate::runs::RunContents;

/// The fraction of the whole that it takes to find out which network the weights belong to; the
/// rest measures it on test images.
const TRIALS: f32 = 0.8;

/// Training images that readings of weights are tried on at most.
const IMAGES: usize = 5_000;

pub(super) fn run(
    workspace: &Workspace<'_>,
    context: &mut JobContext<'_, '_>,
    spec: &ImportSpec,
) -> Result<JobResult, Problem> {
    let folders = &workspace.settings.data_folders;
    let more_images = &mut |progress: &mut dyn Progress| training_images(spec, folders, progress);
    let Imported {
        mut file,
        mut summary,
        finding,
    } = match import(spec, more_images, &mut context.part(0.0, TRIALS)) {
        Ok(imported) => imported,
        Err(error) => return undecided(error),
    };
    if let Some(test) = saved_model::test(
        workspace,
        &file,
        tested_source(spec, &file),
        &mut context.part(TRIALS, 1.0),
    )? {
        summary.test = Some(test);
    }
    file.card.test = summary.test.as_ref().map(SplitEvaluation::accuracy);
    let weights = workspace.settings.weights.unwrap_or(WeightFormat::F32);
    let contents = RunContents::of_model(file, summary);
    let summary = workspace.settings.runs.keep(&contents, weights, None)?;
    Ok(JobResult::Import { summary, finding })
}

/// That a person has to decide is a result, not a failure.
fn undecided(error: ImportError) -> Result<JobResult, Problem> {
    let message = error.message();
    match error {
        ImportError::Undecided { trials, .. } => Ok(JobResult::ImportUndecided {
            trials: *trials,
            message,
        }),
        error => Err(error.into()),
    }
}

/// What the model was trained on, as its file claims. A file may name any path, which is read only
/// if the person named it.
fn tested_source(spec: &ImportSpec, file: &ModelFile) -> Option<DataSource> {
    let said = spec.data.as_ref().filter(|data| **data == file.card.data);
    let source = file.card.data.sources().first();
    source
        .filter(|source| said.is_some() || !matches!(source, DataSource::Path(_)))
        .cloned()
}

/// Training images of the data set that the network was trained on as its file claims, or else of
/// MNIST, as most have; `None` if neither is there.
fn training_images(
    spec: &ImportSpec,
    folders: &[PathBuf],
    progress: &mut dyn Progress,
) -> Result<Option<TrialImages>, Problem> {
    let named = spec.data.clone().filter(DataSpec::is_known);
    for data in named
        .into_iter()
        .chain([DataSpec::single(DataSource::Named(PublicDataset::Mnist))])
    {
        match load_sealed(&data, folders, progress) {
            Ok(set) if !set.train.is_empty() => {
                return Ok(Some(TrialImages {
                    images: sample(&set.train),
                    data,
                }));
            }
            Err(DataError::Cancelled(cancelled)) => return Err(cancelled.into()),
            // Then there is only what Inkling generates.
            Ok(_) | Err(_) => {}
        }
    }
    Ok(None)
}

/// A random sample of these images, since the order in a set is not random: every
/// sixth of MNIST's is harder than the others.
fn sample(images: &Split) -> Split {
    let mut indices: Vec<u32> = (0..images.len() as u32).collect();
    Random::stream(0, "images to try imported weights on", 0).shuffle(&mut indices);
    indices.truncate(IMAGES);
    let mut sample = Split::default();
    gather_batch(images, &indices, &mut sample);
    sample
}
