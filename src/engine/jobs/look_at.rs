//! The predictions of a saved network for some images, and its first layer as images.

use std::path::Path;

use crate::infer::Classifier;
use crate::ink::Image;
use crate::nn::{ComputeError, ModelFile};
use crate::problem::Problem;
use crate::progress::Unwatched;
use crate::protocol::JobResult;
use crate::records::{ModelLook, ModelRef};
use crate::train::first_layer;

/// Units of the first layer that are looked at.
const UNITS: usize = 8;

pub(super) fn run_at_once(model: &Path, images: &[Image]) -> Result<JobResult, Problem> {
    let file = ModelFile::load(model)?;
    let first_layer = first_layer(&file.net, UNITS).map_err(ComputeError::from)?;
    let classifier = Classifier::of_file(file, ModelRef::File(model.to_owned()));
    let pixels: Vec<u8> = images.iter().flat_map(Image::pixels).copied().collect();
    Ok(JobResult::LookAt(ModelLook {
        digits: classifier.digits(&pixels, &mut Unwatched)?,
        first_layer,
    }))
}
