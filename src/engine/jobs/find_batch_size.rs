//! Times how long training with each batch size takes to reach an accuracy. Nothing of it is kept,
//! and no test image is looked at.

use std::ops::Range;
use std::time::Instant;

use super::{JobContext, Workspace};
use crate::data::{Dataset, validation_size};
use crate::hardware::BackgroundLoad;
use crate::nn::DeviceContext;
use crate::problem::Problem;
use crate::progress::{Cancelled, Progress};
use crate::protocol::{Event, JobProgress, JobResult};
use crate::records::{BatchSizeFinding, BatchSizeSpec, batch_size_configs};
use crate::run_config::RunConfig;
use crate::train::{self, GradientNoise, Target};

/// The fraction of the whole that loading the data takes.
const LOADING: f32 = 0.05;
/// Seconds of training with the first batch size, at most.
const FIRST_SECONDS: f64 = 30.0;
/// The others get this many times the least time so far, and at least this many seconds.
const LONGER: f64 = 3.0;
const MIN_SECONDS: f64 = 2.0;

pub(super) fn run(
    workspace: &mut Workspace<'_>,
    context: &mut JobContext<'_, '_>,
    BatchSizeSpec { config, accuracy }: &BatchSizeSpec,
) -> Result<JobResult, Problem> {
    let (data, device) = workspace.prepare(config, &mut context.part(0.0, LOADING))?;
    context.queue.events.data_notes(context.id, &data.notes);
    let finding = time_each(context, config, *accuracy, data, &device)?;
    Ok(JobResult::FindBatchSize(finding))
}

fn time_each(
    context: &mut JobContext<'_, '_>,
    config: &RunConfig,
    accuracy: f64,
    data: &Dataset,
    device: &DeviceContext,
) -> Result<BatchSizeFinding, Problem> {
    let mut load = BackgroundLoad::start();
    let mut noise = GradientNoise::default();
    let mut least = f64::INFINITY;
    let mut search = BatchSizeSearch {
        context,
        part: LOADING..LOADING,
        start: Instant::now(),
        background_load: 0.0,
    };
    let configs = batch_size_configs(
        config,
        config.images_used((data.train.len() as u64) - validation_size(data.train.len() as u64))
            as usize,
    );
    let share = (1.0 - LOADING) / configs.len() as f32;
    for (index, config) in configs.iter().enumerate() {
        search.part = search.part.end..LOADING + share * (index + 1) as f32;
        let seconds = (LONGER * least).clamp(MIN_SECONDS, FIRST_SECONDS);
        let target = Target {
            accuracy,
            seconds,
            noise: (index == 0).then_some(&mut noise),
        };
        let row = train::time_to_accuracy(
            config,
            &data.train,
            &data.classes,
            device,
            target,
            &mut search,
        )?
        .ok_or(Cancelled)?;
        least = row
            .reached
            .map_or(least, |reached| least.min(reached.seconds));
        search.background_load = load
            .measure()
            .unwrap_or_default()
            .max(search.background_load);
        search.context.queue.events.send(Event::TimedToAccuracy {
            id: search.context.id,
            row,
        });
    }
    Ok(BatchSizeFinding {
        noise_scale: noise.scale(),
        background_load: search.background_load,
    })
}

struct BatchSizeSearch<'r, 'q, 'c> {
    context: &'r mut JobContext<'q, 'c>,
    /// The part of the whole that the current batch size is.
    part: Range<f32>,
    start: Instant,
    /// The most that other programs used so far.
    background_load: f32,
}

impl Progress for BatchSizeSearch<'_, '_, '_> {
    fn report(&mut self, fraction: f32) -> Result<(), Cancelled> {
        let Range { start, end } = self.part;
        let fraction = start + (end - start) * fraction;
        let done = fraction - LOADING;
        let left = self.start.elapsed().as_secs_f32() * (1.0 - fraction) / done.max(f32::EPSILON);
        let remaining_seconds = (done > 0.0).then_some(left);
        let background_load = self.background_load;
        self.context.report_progress(JobProgress {
            fraction,
            remaining_seconds,
            background_load,
            ..JobProgress::default()
        })
    }
}
