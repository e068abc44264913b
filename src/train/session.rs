//! THE training loop, to be read top to bottom: split, shuffle, forward, loss, backward, update, validate, and at the end
//! one look at the test split. Must not know who watches, nor where the outcome is kept.
//!
//! An optimiser step covers one batch, but is computed over micro-batches whose gradients add up to the batch's: between
//! any two of them the observer may read a drawing, hold the run or end it, so all of that takes effect within a few
//! hundredths of a second whatever the batch size. Every image is seen once an epoch: a last short batch is kept, with
//! its loss averaged over the images it has.

use std::ops::ControlFlow;

use super::hold_out::{HoldOut, gather};
use super::observer::{Flow, Observer};
use super::outcome::Outcome;
use super::pulse::Pulse;
use crate::data::{DataSet, Split};
use crate::infer::{Measurement, measure};
use crate::nn::{Net, Pass, ops, parameter_count};
use crate::optim::{Optimizer, Schedule, Settings};
use crate::problem::Problem;
use crate::protocol::{EpochRecord, Evaluation, RunPlan, RunSummary, StepPoint};
use crate::random::Random;
use crate::run_config::{ConfigProblem, DeviceChoice, Precision, RunConfig};

/// Images per forward and backward pass: the shortest time between two looks at the observer, and the most activations held at once.
pub const MICRO_BATCH: usize = 64;

/// Share of the validation images that count as digits.
const DIGIT_SHARE: f64 = 0.99;

/// Whether `train` takes this configuration, to be asked before its data is read.
pub fn check(config: &RunConfig) -> Result<(), ConfigProblem> {
    config.problems().into_iter().chain(unsupported(config)).next().map_or(Ok(()), Err)
}

/// Trains as configured. `None` when the observer stopped the run before its first epoch was complete.
pub fn train(config: &RunConfig, data: &DataSet, observer: &mut dyn Observer) -> Result<Option<Outcome>, Problem> {
    check(config)?;
    let threads = config.threads.map_or_else(cores, |threads| threads as usize);
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .thread_name(|index| format!("train-{index}"))
        .build()
        .map_err(|error| Problem::Compute { message: error.to_string() })?;
    // The loop itself is one of the pool's threads, so that the run uses exactly as many as it was given.
    pool.install(|| run(config, data, threads, observer))
}

fn run(config: &RunConfig, data: &DataSet, threads: usize, observer: &mut dyn Observer) -> Result<Option<Outcome>, Problem> {
    let HoldOut { train: mut order, validation } = HoldOut::new(&data.train, config.seed);
    let plan = plan(config, order.len(), validation.len(), data.test.len(), threads)?;
    let net = Net::new(config.model, config.activation, config.seed)?;
    let schedule = Schedule::new(config.schedule, config.learning_rate, plan.total_steps);
    let mut optimizer = Optimizer::new(Settings::of(config, plan.train_images), &net.trainable());
    let mut dropout = Random::stream(config.seed, "dropout", 0);
    observer.prepare(&plan, &net);

    let mut pulse = Pulse::start(&plan, config.epochs);
    let mut micro_batch = Split::default();
    let mut step = 0;
    let mut epochs: Vec<EpochRecord> = Vec::new();
    let mut kept: Option<Kept> = None;

    'run: for epoch in 1..=config.epochs {
        let began = pulse.seconds();
        let mut seen = Tally::default();
        Random::stream(config.seed, "shuffle", u64::from(epoch)).shuffle(&mut order);

        for batch in order.chunks(config.batch_size as usize) {
            let mut tally = Tally::default();
            for positions in batch.chunks(MICRO_BATCH) {
                gather(&data.train, positions, &mut micro_batch);
                let logits = net.forward(&micro_batch.images, Pass::Train { dropout: &mut dropout, precision: config.precision })?;
                let loss = ops::cross_entropy(&logits, &micro_batch.labels, batch.len(), config.label_smoothing as f32)?;
                loss.backward()?;
                tally.add(&loss.to_vec1::<f32>()?, positions.len());
                if pulse.pause(|| observer.between(&net)) == Flow::Stop {
                    break 'run;
                }
            }
            let learning_rate = schedule.rate(step);
            step += 1;
            if !tally.loss.is_finite() {
                return Err(Problem::NotFinite { step });
            }
            optimizer.step(learning_rate, 1.0, None)?;
            seen.loss += tally.loss;
            seen.hits += tally.hits;
            seen.images += tally.images;
            seen.batches += 1;
            let now = pulse.step(step, epoch, batch.len());
            observer.step(StepPoint { step, loss: tally.loss as f32, accuracy: tally.accuracy(), learning_rate }, now);
        }

        let validating = pulse.seconds();
        let Some(measured) = measure_between(&net, &validation, &mut pulse, observer)? else { break 'run };
        pulse.measured(validating, validation.len());
        if !measured.evaluation.loss.is_finite() {
            return Err(Problem::NotFinite { step });
        }
        let record = EpochRecord {
            epoch,
            step,
            train_loss: (seen.loss / f64::from(seen.batches)) as f32,
            train_accuracy: seen.accuracy(),
            validation_loss: measured.evaluation.loss as f32,
            validation_accuracy: measured.evaluation.accuracy as f32,
            seconds: (validating - began) as f32,
        };
        let digit_threshold = measured.score_kept_by(DIGIT_SHARE);
        kept = Some(Kept { weights: net.weights()?, digit_threshold });
        epochs.push(record);
        pulse.pause(|| observer.epoch(&record, &net, digit_threshold));
    }

    let Some(Kept { weights, digit_threshold }) = kept else { return Ok(None) };
    let stopped = epochs.len() < config.epochs as usize;
    let test = if stopped {
        // What is kept is what the last record measured, not the steps after it.
        net.set_weights(&weights)?;
        None
    } else {
        test_once(&net, &data.test, &mut pulse, observer)?
    };
    let train_seconds: f64 = epochs.iter().map(|epoch| f64::from(epoch.seconds)).sum();
    let images_per_second = plan.train_images as f64 * epochs.len() as f64 / train_seconds.max(1e-9);
    let summary = RunSummary {
        config: config.clone(),
        plan,
        folder: std::path::PathBuf::new(),
        model_path: std::path::PathBuf::new(),
        finished_at: jiff::Timestamp::now().to_string(),
        stopped,
        epochs,
        train_seconds,
        images_per_second,
        test,
    };
    Ok(Some(Outcome { summary, net, digit_threshold }))
}

/// The state after the last completed epoch.
struct Kept {
    weights: Vec<Vec<f32>>,
    digit_threshold: f32,
}

/// Sums over a batch or an epoch.
#[derive(Default)]
struct Tally {
    loss: f64,
    hits: f64,
    images: usize,
    batches: u32,
}

impl Tally {
    /// Adds what `cross_entropy` gave for so many images.
    fn add(&mut self, loss_and_hits: &[f32], images: usize) {
        if let [loss, hits] = loss_and_hits {
            self.loss += f64::from(*loss);
            self.hits += f64::from(*hits);
            self.images += images;
        }
    }

    fn accuracy(&self) -> f32 {
        (self.hits / self.images.max(1) as f64) as f32
    }
}

/// The test split's figures; `None` where there is none, or when the observer broke the reading off.
fn test_once(net: &Net, test: &Split, pulse: &mut Pulse, observer: &mut dyn Observer) -> Result<Option<Evaluation>, Problem> {
    if test.is_empty() {
        return Ok(None);
    }
    Ok(measure_between(net, test, pulse, observer)?.map(|measured| measured.evaluation))
}

/// Measures, asking the observer between parts; `None` when it stops the run.
fn measure_between(net: &Net, split: &Split, pulse: &mut Pulse, observer: &mut dyn Observer) -> Result<Option<Measurement>, Problem> {
    measure(net, split, &mut |_| match pulse.pause(|| observer.between(net)) {
        Flow::Continue => ControlFlow::Continue(()),
        Flow::Stop => ControlFlow::Break(()),
    })
}

fn plan(config: &RunConfig, train: usize, validation: usize, test: usize, threads: usize) -> Result<RunPlan, ConfigProblem> {
    let (train_images, batch_size) = (train as u64, u64::from(config.batch_size));
    if batch_size > train_images {
        return Err(ConfigProblem::BatchLargerThanSet { given: config.batch_size, images: train_images });
    }
    let steps_per_epoch = train_images.div_ceil(batch_size);
    Ok(RunPlan {
        train_images,
        validation_images: validation as u64,
        test_images: test as u64,
        parameters: parameter_count(config.model),
        steps_per_epoch,
        total_steps: steps_per_epoch * u64::from(config.epochs),
        device: DeviceChoice::Cpu,
        precision: config.precision,
        threads: threads as u32,
    })
}

/// What this loop cannot compute, whatever the machine has.
fn unsupported(config: &RunConfig) -> Option<ConfigProblem> {
    let reason = "training computes in f32 on the CPU".to_owned();
    match (config.device, config.precision) {
        (DeviceChoice::Auto | DeviceChoice::Cpu, Precision::F32) => None,
        (DeviceChoice::Auto | DeviceChoice::Cpu, precision) => Some(ConfigProblem::PrecisionUnavailable { precision, reason }),
        (device, _) => Some(ConfigProblem::DeviceUnavailable { device, reason }),
    }
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
