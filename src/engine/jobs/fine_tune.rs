//! Fine-tunes a model on the person's own drawings, and saves it if it has not become worse at what
//! it knew.

use std::path::Path;
use std::time::Instant;

use super::saved_model::{SavedModel, may_be_read};
use super::{JobContext, Workspace, saved_model};
use crate::data::{MyDigits, Rehearsal, Split};
use crate::engine::handle::RunsTarget;
use crate::infer::measure;
use crate::math::statistics::error_count;
use crate::nn::{DeviceContext, ModelFile, Net};
use crate::problem::Problem;
use crate::progress::{Cancelled, Progress};
use crate::protocol::{EngineError, JobProgress, JobResult};
use crate::records::{
    Annotation, BeforeAfter, Calibration, FineTuned, ModelRef, RunSummary, StepPoint, Telemetry,
};
use crate::run_config::{Classes, ConfigError, WeightFormat};
use crate::runs::Store;
use crate::text::format::count;
use crate::train::{
    self, EndRequest, FineTuning, REHEARSED, RunObserver, RunStart, TrainOutcome, TrainedModel,
};

/// The fraction of the whole after which each part ends: loading, measuring before, training, and
/// measuring afterwards. The rest measures on test images.
const PARTS: [f32; 4] = [0.1, 0.2, 0.8, 0.9];

pub(super) fn run(
    workspace: &mut Workspace<'_>,
    context: &mut JobContext<'_, '_>,
    model: &ModelRef,
) -> Result<JobResult, Problem> {
    let start = Instant::now();
    let SavedModel {
        file: ModelFile { net, card },
        run: former,
    } = SavedModel::load(model)?;
    let file = if let ModelRef::File(path) = model {
        Some(path.clone())
    } else {
        None
    };
    if !card.model.is_trainable() {
        return Err(ConfigError::NotTrainable { model: card.model }.into());
    }
    if !card.labels.are_digits() {
        return Err(EngineError::DifferentClasses {
            model: card.labels.clone(),
            data: Classes::Digits,
        }
        .into());
    }
    let settings = workspace.settings;
    let drawings = MyDigits::in_folders(&settings.data_folders).split()?;
    let old = Rehearsal::load(
        &card.data,
        card.config.seed,
        &settings.data_folders,
        REHEARSED,
        &mut context.part(0.0, PARTS[0]),
    )?;
    let tuning = FineTuning::new(&card, file, &drawings, &old);
    let parts = [&drawings, &tuning.held_out, &old.validation];
    let measuring = Instant::now();
    let before = measured(&net, parts, &mut context.part(PARTS[0], PARTS[1]))?;
    let mut run = Run {
        context,
        total: 1,
        measuring: measuring.elapsed().as_secs_f32(),
    };
    let outcome = train::train_from(
        &tuning.config,
        &tuning.data,
        tuning.start(net),
        &DeviceContext::CPU,
        None,
        &mut run,
    )?;
    let TrainOutcome::Trained(mut trained) = outcome else {
        return Err(Cancelled.into());
    };
    let after = measured(&trained.net, parts, &mut context.part(PARTS[2], PARTS[3]))?;
    let [mine, held_out, old_figures] = std::array::from_fn(|part| BeforeAfter {
        images: parts[part].len() as u64,
        before: before[part],
        after: after[part],
    });
    let mut tuned = FineTuned {
        mine,
        held_out: (held_out.images > 0).then_some(held_out),
        old: old_figures,
        old_data: old.data,
        before: card.accuracy(),
        saved: None,
        seconds: 0.0,
    };
    if tuned.is_better() {
        // Whether it is taken over is decided; the test images have no part in it.
        let former_set = card.test.as_ref().map_or(&card.data, |test| &test.data);
        let known = may_be_read(workspace.settings, former_set, former.as_ref())
            .then(|| former_set.sources().first().cloned())
            .flatten();
        trained.summary.test = saved_model::test(
            workspace,
            &trained.model_file(),
            known,
            &mut context.part(PARTS[3], 1.0),
        )?;
        tuned.saved = Some(Box::new(save(&settings.runs, &trained, drawings.len())?));
    }
    tuned.seconds = start.elapsed().as_secs_f32();
    Ok(JobResult::FineTune(tuned))
}

/// How many images of each part are classified correctly.
fn measured(
    net: &Net,
    parts: [&Split; 3],
    progress: &mut dyn Progress,
) -> Result<[u64; 3], Problem> {
    let total: usize = parts.iter().map(|part| part.len()).sum();
    let mut correct = [0; 3];
    let mut done = 0;
    for (part, correct) in parts.iter().zip(&mut correct) {
        // Only answers are counted, which no temperature changes.
        let measurement = measure(
            net,
            Calibration::NONE.temperature,
            part,
            &mut |share: f32| {
                progress.report((done as f32 + share * part.len() as f32) / total as f32)
            },
        )?;
        measurement.check_finite()?;
        let evaluation = measurement.evaluation;
        *correct = evaluation.images - error_count(&evaluation);
        done += part.len();
    }
    Ok(correct)
}

/// The model in a separate folder among the others, with a note on what it is.
fn save(runs: &RunsTarget, trained: &TrainedModel, drawings: usize) -> Result<RunSummary, Problem> {
    let root = runs.folder();
    let summary = Store::new(root).save(trained, WeightFormat::F32, None)?;
    let note = format!("Fine-tuned on {}.", count(drawings as u64, "drawing"));
    note_on(root, &summary.folder, note);
    Ok(summary)
}

/// That the note is missing does no harm to the model.
fn note_on(root: &Path, folder: &Path, note: String) {
    let annotation = Annotation {
        note,
        ..Annotation::default()
    };
    if let Err(error) = Store::new(root).annotate(folder, &annotation) {
        tracing::info!(%error, "a model has no note");
    }
}

/// The run while it trains.
struct Run<'r, 'q, 'c> {
    context: &'r mut JobContext<'q, 'c>,
    total: u64,
    /// How long it took to measure the model before, in seconds.
    measuring: f32,
}

impl RunObserver for Run<'_, '_, '_> {
    fn prepare(&mut self, run: &RunStart<'_>) {
        self.total = run.plan.total_steps.max(1);
    }

    fn on_micro_batch(&mut self, _net: &Net) -> Result<(), EndRequest> {
        self.context.go_on()
    }

    fn step(&mut self, point: StepPoint, now: Telemetry) {
        let share = point.step as f32 / self.total as f32;
        let fraction = PARTS[1] + (PARTS[2] - PARTS[1]) * share;
        // Measuring afterwards takes as long as it did before.
        let remaining_seconds = Some(now.remaining_seconds + self.measuring);
        self.context
            .show_progress(JobProgress::at(fraction, remaining_seconds));
    }
}
