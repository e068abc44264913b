//! Measures a model on a data set's test set.

use super::{JobContext, JobError, Workspace};
use crate::infer::Classifier;
use crate::problem::Problem;
use crate::progress::Progress;
use crate::protocol::JobResult;
use crate::records::ModelRef;
use crate::run_config::DataSpec;

pub(super) fn run(
    workspace: &mut Workspace<'_>,
    context: &mut JobContext<'_, '_>,
    model: &ModelRef,
    data: &DataSpec,
) -> Result<JobResult, JobError> {
    let classifier = match model {
        ModelRef::Starter => Classifier::starter()?,
        ModelRef::File(path) => Classifier::open(path)?,
        ModelRef::Training(_) => return Err(Problem::NoSuchRun.into()),
    };
    let set = workspace.datasets.get(&workspace.settings.data_folders, data, &mut context.part(0.0, 0.5))?;
    let evaluation = classifier.evaluate(&set.test, &mut context.part(0.5, 1.0))?;
    Ok(JobResult::Evaluate { model: classifier.info().clone(), data: data.clone(), evaluation })
}
