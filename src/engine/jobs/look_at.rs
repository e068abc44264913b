//! What a saved network makes of some images, and what its first layer looks like.

use std::path::Path;

use crate::infer::{Classifier, Classify as _};
use crate::ink::Image;
use crate::nn::{ComputeError, ModelFile};
use crate::problem::Problem;
use crate::protocol::JobResult;
use crate::records::{DrawingAnswer, ModelLook, ModelRef};
use crate::train::first_layer;

/// Units of the first layer that are looked at.
const UNITS: usize = 8;

pub(super) fn run_at_once(model: &Path, images: &[Image]) -> Result<JobResult, Problem> {
    let file = ModelFile::load(model)?;
    let first_layer = first_layer(&file.net, UNITS).map_err(ComputeError::from)?;
    let classifier = Classifier::of_file(file, ModelRef::File(model.to_owned()));
    let answer = |image: &Image| {
        let prediction = classifier.classify(image.clone())?;
        Ok(DrawingAnswer::from(&prediction))
    };
    Ok(JobResult::LookAt(ModelLook {
        answers: images.iter().map(answer).collect::<Result<_, Problem>>()?,
        first_layer,
    }))
}
