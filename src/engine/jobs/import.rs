//! Reads a file of weights and saves it as a model among the runs.

use std::path::PathBuf;

use super::{JobContext, JobError, Workspace};
use crate::data::{DataError, Split, gather_batch, load};
use crate::engine::handle::RunsTarget;
use crate::import::{ImportError, Imported, TrialImages, import};
use crate::math::random::Random;
use crate::progress::Progress;
use crate::protocol::JobResult;
use crate::records::ImportSpec;
use crate::run_config::{DataSource, DataSpec, NamedSet, WeightFormat};
use crate::runs::{RunContents, Store, keep_in};

/// Training images that readings of weights are tried on at most.
const IMAGES: usize = 5_000;

pub(super) fn run(workspace: &Workspace<'_>, context: &mut JobContext<'_, '_>, spec: &ImportSpec) -> Result<JobResult, JobError> {
    let folders = &workspace.settings.data_folders;
    let Imported { file, summary, finding } = import(spec, &mut |progress| training_images(spec, folders, progress), context)?;
    let weights = workspace.settings.weights.unwrap_or(WeightFormat::F32);
    let contents = RunContents::of_model(file, summary);
    let summary = match &workspace.settings.runs {
        RunsTarget::Store(root) => Store::new(root).keep(&contents, weights, None)?,
        RunsTarget::Folder { folder, replace } => keep_in(folder, *replace, &contents, weights, None)?,
    };
    Ok(JobResult::Import { summary, finding })
}

/// Training images of the data set that the network is said to have learned from, or else of MNIST, as most have; `None` where neither is there.
fn training_images(spec: &ImportSpec, folders: &[PathBuf], progress: &mut dyn Progress) -> Result<Option<TrialImages>, ImportError> {
    let named = spec.data.clone().filter(DataSpec::is_known);
    for data in named.into_iter().chain([DataSpec::single(DataSource::Named(NamedSet::Mnist))]) {
        match load(&data, folders, progress) {
            Ok(set) if !set.train.is_empty() => return Ok(Some(TrialImages { images: sample(&set.train), data })),
            Err(DataError::Cancelled(cancelled)) => return Err(cancelled.into()),
            // Then there is only what Inkling generates.
            Ok(_) | Err(_) => {}
        }
    }
    Ok(None)
}

/// Some of these images, by chance, since sets have their images in orders of their own: every sixth of MNIST's is harder than the others.
fn sample(images: &Split) -> Split {
    let mut indices: Vec<u32> = (0..images.len() as u32).collect();
    Random::stream(0, "images to try imported weights on", 0).shuffle(&mut indices);
    indices.truncate(IMAGES);
    let mut sample = Split::default();
    gather_batch(images, &indices, &mut sample);
    sample
}
