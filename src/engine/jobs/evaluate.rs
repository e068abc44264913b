//! Owns one measurement as the engine sees it: data in, figures out, progress all along.
//! Must not know how images are read.

use std::ops::ControlFlow;

use crate::data::DataError;
use crate::engine::command_queue::{CommandQueue, Order};
use crate::engine::dataset_cache::DatasetCache;
use crate::engine::handle::EngineSettings;
use crate::infer::Classifier;
use crate::problem::Problem;
use crate::protocol::{Event, Task};
use crate::records::{Evaluation, ModelInfo, ModelRef};
use crate::run_config::DataSpec;

/// Measures `model` on the test split of `data`.
pub(in crate::engine) fn carry_out(
    settings: &EngineSettings,
    queue: &mut CommandQueue<'_>,
    datasets: &mut DatasetCache,
    request: u64,
    model: &ModelRef,
    data: DataSpec,
) {
    let event = match measure(settings, queue, datasets, request, model, &data) {
        Ok(Some((model, evaluation))) => Event::Evaluated { request, model, data, evaluation: Box::new(evaluation) },
        Ok(None) | Err(Problem::Data(DataError::Cancelled)) => Event::EvaluationCancelled(request),
        Err(problem) => Event::Failed { what: Task::Evaluation(request), problem },
    };
    queue.events.send(event);
}

/// `None` when it was broken off.
fn measure(
    settings: &EngineSettings,
    queue: &mut CommandQueue<'_>,
    datasets: &mut DatasetCache,
    request: u64,
    model: &ModelRef,
    data: &DataSpec,
) -> Result<Option<(ModelInfo, Evaluation)>, Problem> {
    let classifier = match model {
        ModelRef::Starter => Classifier::starter()?,
        ModelRef::File(path) => Classifier::open(path)?,
        ModelRef::Training(_) => return Err(Problem::NoSuchRun),
    };
    let mut attend = |fraction: f32| {
        queue.events.telemetry(|| Event::Evaluating { request, fraction });
        match queue.poll() {
            Some(Order::CancelEvaluation(named)) if named == request => ControlFlow::Break(()),
            Some(order) if order.preempts() => {
                queue.requeue(order);
                ControlFlow::Break(())
            }
            _ => ControlFlow::Continue(()),
        }
    };
    // Reading the data is the first half of the bar, reading its images the second.
    let set = datasets.get(&settings.data_folders, data, &mut |fraction| attend(fraction / 2.0))?;
    let evaluation = classifier.evaluate(&set.test, &mut |fraction| attend(0.5 + fraction / 2.0))?;
    Ok(evaluation.map(|evaluation| (classifier.info().clone(), evaluation)))
}
