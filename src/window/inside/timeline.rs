//! The network in use as it was during its run: the positions along that, and what it made of the
//! same few images at each. The last position is the model itself.

use std::path::PathBuf;

use crate::ink::Image;
use crate::problem::Problem;
use crate::protocol::{Job, JobResult};
use crate::records::{ModelLook, ModelRef, RunSummary, Sample, snapshot_step};
use crate::text::format::{grouped, percent};
use crate::window::{Activity, App, DIGITS, JobOutcome, Level, MyDigitsView, RunningJob, Screen};

/// The predictions at each position along a run.
#[derive(Debug, Default)]
pub struct Timeline {
    images: Vec<(Image, u8)>,
    /// The model file at each position, and what was seen in it; `None` before it was looked at.
    looks: Vec<(PathBuf, Option<Look>)>,
    /// Differs after every change.
    version: u64,
}

#[derive(Debug)]
enum Look {
    Seen(ModelLook),
    /// The file could not be read. A notice explains why to whoever goes there.
    Failed,
}

impl Timeline {
    /// The images that are recognized at each position, with their labels.
    pub fn images(&self) -> &[(Image, u8)] {
        &self.images
    }

    /// The predictions at a position of this run, once it was looked at.
    pub fn look(&self, run: &RunSummary, position: usize) -> Option<&ModelLook> {
        match self.looks.get(position)? {
            (model, Some(Look::Seen(look))) if *model == file(run, position) => Some(look),
            _ => None,
        }
    }

    /// Differs after every change.
    pub const fn version(&self) -> u64 {
        self.version
    }

    /// The next model file to look at.
    fn next(&self) -> Option<&PathBuf> {
        let (model, _) = self.looks.iter().find(|(_, look)| look.is_none())?;
        Some(model)
    }

    /// A look at a network has ended.
    pub(in crate::window) fn on_look(
        &mut self,
        ended: &RunningJob,
        outcome: JobOutcome,
    ) -> Option<Problem> {
        let Job::LookAt { model, images } = &ended.job else {
            return None;
        };
        let asked = self.images.iter().map(|(image, _)| image);
        // Others may be shown meanwhile.
        if !asked.eq(images) {
            return None;
        }
        let look = match outcome {
            Ok(JobResult::LookAt(look)) => Look::Seen(look),
            outcome => {
                let problem = outcome.err()?.problem()?;
                tracing::info!(%problem, "a network of a run cannot be looked at");
                Look::Failed
            }
        };
        let mut waiting = self.looks.iter_mut();
        let (_, place) = waiting.find(|(file, _)| file == model)?;
        *place = Some(look);
        self.version += 1;
        None
    }
}

/// How many positions there are along a run.
pub fn positions(run: &RunSummary) -> usize {
    run.snapshots.len() + 1
}

/// The model file at a position.
pub fn file(run: &RunSummary, position: usize) -> PathBuf {
    run.snapshots.get(position).map_or_else(
        || run.model_path.clone(),
        |record| run.snapshot_path(record.step),
    )
}

/// A position in words: "Step 100: 81% of 100 validation images".
pub fn words(run: &RunSummary, position: usize) -> String {
    let on_validation = |accuracy: f32| format!("{} on validation", percent(accuracy.into(), 1));
    let Some(record) = run.snapshots.get(position) else {
        return run.kept().map_or_else(
            || "End of the run".to_owned(),
            |kept| {
                let accuracy = on_validation(kept.validation_accuracy);
                format!("End of the run, epoch {}: {accuracy}", kept.epoch)
            },
        );
    };
    let step = grouped(record.step);
    if let Some(epoch) = run.epochs.iter().find(|epoch| epoch.step == record.step) {
        let accuracy = on_validation(record.accuracy);
        return format!("Epoch {}, step {step}: {accuracy}", epoch.epoch);
    }
    let share = percent(record.accuracy.into(), 0);
    let accuracy = format!("{share} of {} validation images", grouped(record.images));
    match record.step {
        0 => format!("Before the first step: {accuracy}"),
        _ => format!("Step {step}: {accuracy}"),
    }
}

impl App {
    /// The run whose network is in use and was kept along it, and the position of that network.
    pub fn run_in_use(&self) -> Option<(&RunSummary, usize)> {
        let ModelRef::File(file) = &self.ctx.model_in_use.as_ref()?.reference else {
            return None;
        };
        let run = self.models.listed(file.parent()?)?;
        let end = run.snapshots.len();
        let position = match snapshot_step(file) {
            None => (run.model_path == *file).then_some(end),
            Some(step) => run.snapshots.iter().position(|record| record.step == step),
        };
        Some((run, position?)).filter(|_| end > 0)
    }

    /// Looks at the networks along the run in use, one after the other, while they are shown.
    pub(in crate::window) fn update_timeline(&mut self) {
        let is_shown = self.ctx.screen == Screen::Inside && self.ctx.inside == Level::Timeline;
        let Some((run, _)) = self.run_in_use().filter(|_| is_shown) else {
            return;
        };
        let images = images(run, &self.my_digits);
        let files = (0..positions(run)).map(|position| file(run, position));
        let files: Vec<PathBuf> = files.collect();
        let timeline = &mut self.draw.timeline;
        let known = timeline.looks.iter().map(|(file, _)| file);
        if timeline.images != images || !known.eq(&files) {
            timeline.images = images;
            timeline.looks = files.into_iter().map(|file| (file, None)).collect();
            timeline.version += 1;
        }
        if let Some(next) = timeline.next()
            && self.ctx.jobs.doing(Activity::Look).is_none()
        {
            let images = timeline.images.iter().map(|(image, _)| image.clone());
            let job = Job::LookAt {
                model: next.clone(),
                images: images.collect(),
            };
            self.ctx.submit(job);
        }
    }
}

/// One image of each class, of ten classes at most: of the drawings that the person keeps if there
/// is one of each digit, or else of the test images of the run.
fn images(run: &RunSummary, mine: &MyDigitsView) -> Vec<(Image, u8)> {
    if run.plan.classes.are_digits() && mine.is_loaded() && mine.missing().is_empty() {
        let first_of = |digit| {
            let mut drawings = mine.drawings().iter();
            let drawing = drawings.find(|drawing| drawing.kept.digit == digit)?;
            Some((drawing.image.clone(), digit))
        };
        return (0..DIGITS as u8).filter_map(first_of).collect();
    }
    let samples = run.test.iter().flat_map(|test| &test.evaluation.samples);
    let of_class = |class| {
        let of_class = |sample: &&Sample| sample.label == class;
        // One that the model is sure of is a usual image of its class.
        let usual = samples
            .clone()
            .filter(of_class)
            .max_by(|a, b| a.label_probability.total_cmp(&b.label_probability))?;
        Some((usual.image.clone(), class))
    };
    let classes = run.plan.classes.len().min(DIGITS) as u8;
    (0..classes).filter_map(of_class).collect()
}
