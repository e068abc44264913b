//! The test images that stand for a model which was not trained here from its beginning: one that
//! was imported or fine-tuned.

use super::Workspace;
use crate::data::{DataError, load_for_evaluation};
use crate::infer::measure;
use crate::nn::ModelFile;
use crate::problem::Problem;
use crate::progress::Progress;
use crate::records::SplitEvaluation;
use crate::run_config::{DataSource, DataSpec, EvaluationSplit, NamedSet};

/// The model's evaluation on the test images of the first of these data sets that is there and has
/// classes that the model distinguishes: `preferred`, MNIST, and the built-in digits. `None` if
/// there is no such set.
pub(super) fn evaluate(
    workspace: &Workspace<'_>,
    ModelFile { net, card }: &ModelFile,
    preferred: Option<DataSource>,
    progress: &mut dyn Progress,
) -> Result<Option<SplitEvaluation>, Problem> {
    // A model may have learned from all of a person's drawings.
    let preferred =
        preferred.filter(|source| !matches!(source, DataSource::Mine | DataSource::Unknown));
    let classes = card.labels.clone();
    for source in preferred
        .into_iter()
        .chain([DataSource::Named(NamedSet::Mnist), DataSource::Builtin])
    {
        if source.known_classes().is_some_and(|known| known != classes) {
            continue;
        }
        let (data, folders) = (DataSpec::single(source), &workspace.settings.data_folders);
        let mut loading = |done: f32| progress.report(done / 2.0);
        let set = match load_for_evaluation(
            &data,
            Some(EvaluationSplit::Test),
            &card.config,
            folders,
            &mut loading,
        ) {
            Ok(set) if !set.images.is_empty() && classes.accept(&set.classes) => set,
            Err(DataError::Cancelled(cancelled)) => return Err(cancelled.into()),
            Ok(_) => continue,
            Err(error) => {
                tracing::info!(%error, data = data.to_string(), "a model is not measured on these test images");
                continue;
            }
        };
        let mut measuring = |done: f32| progress.report(0.5 + done / 2.0);
        let measured = measure(
            net,
            card.calibration.temperature,
            &set.images,
            &mut measuring,
        )?;
        if let Err(error) = measured.check_finite() {
            tracing::info!(%error, "a model is not measured on test images");
            return Ok(None);
        }
        return Ok(Some(SplitEvaluation {
            data: set.data,
            split: set.split,
            evaluation: measured.evaluation,
        }));
    }
    Ok(None)
}
