//! What is measured besides training steps: the peak rates of this machine in large matrix
//! multiplications and memory copies, the data pipeline, optimizers, and recognition.

use std::time::Duration;

use rayon::prelude::*;

use super::budget::{BenchBudget, Case, Pool, interleave, medians, timed};
use super::{CLASSES, steps};
use crate::data::Split;
use crate::infer::{Classifier, Classify, measure};
use crate::ink::Image;
use crate::math::statistics::{median, quantile};
use crate::nn::backend::cpu::LargeProduct;
use crate::nn::{Net, parameter_count};
use crate::optim::{Optimizer, OptimizerConfig};
use crate::problem::Problem;
use crate::progress::Unwatched;
use crate::records::benchmark::{Measurement, Workload};
use crate::records::{Calibration, ModelInfo, ModelRef};
use crate::run_config::{
    Activation, Augmentation, Classes, DataSpec, DeviceChoice, ModelKind, OptimizerKind, Precision,
    RunConfig,
};
use crate::train::{Loader, Shuffle};

pub(super) const USUAL_SIZE: usize = 1024;

/// Rows and columns tried; the best one counts. All fit into any machine that trains.
const SIZES: [usize; 3] = [768, 1024, 1536];

/// Numbers copied at a time: 64 MiB read and as many written, more than a CPU's caches usually
/// hold.
const COPIED: usize = 16 << 20;
/// Numbers copied per task.
const CHUNK: usize = 1 << 16;

/// The best rate of a large product at every precision, on each pool.
pub(super) fn products(
    budget: &mut BenchBudget<'_>,
    seconds: f64,
    pools: &[Pool],
) -> Result<Vec<Measurement>, Problem> {
    let time = budget.start_part(Workload::Products, seconds)? / SIZES.len() as u32;
    let mut best: Vec<Measurement> = Vec::new();
    for size in SIZES {
        for row in of_size(budget, time, pools, size)? {
            match best.iter_mut().find(|known| kind(known) == kind(&row)) {
                Some(known) if known.figure() < row.figure() => *known = row,
                Some(_) => {}
                None => best.push(row),
            }
        }
    }
    Ok(best)
}

fn of_size(
    budget: &mut BenchBudget<'_>,
    time: Duration,
    pools: &[Pool],
    size: usize,
) -> Result<Vec<Measurement>, Problem> {
    let compared = Precision::on(DeviceChoice::Cpu)
        .flat_map(|precision| pools.iter().map(move |pool| (precision, pool)));
    let taken = medians(budget, time, compared, |&(precision, pool)| {
        let mut product = LargeProduct::new(size, precision);
        Ok(Box::new(move || {
            Ok(pool.pool.install(|| timed(|| product.run())))
        }))
    })?;
    let flops = LargeProduct::flops(size) as f64;
    let row = |((precision, pool), seconds): ((Precision, &Pool), f64)| Measurement::Product {
        precision,
        threads: pool.threads,
        size: size as u32,
        gflops: flops / seconds / 1e9,
    };
    Ok(taken.into_iter().map(row).collect())
}

/// The precision and threads that products of different sizes share.
const fn kind(row: &Measurement) -> Option<(Precision, u32)> {
    match *row {
        Measurement::Product {
            precision, threads, ..
        } => Some((precision, threads)),
        _ => None,
    }
}

/// How fast memory is copied, on each pool.
pub(super) fn memory(
    budget: &mut BenchBudget<'_>,
    seconds: f64,
    pools: &[Pool],
) -> Result<Vec<Measurement>, Problem> {
    let time = budget.start_part(Workload::Memory, seconds)?;
    let from = vec![1.0_f32; COPIED];
    let to = std::cell::RefCell::new(vec![0.0_f32; COPIED]);
    let taken = medians(budget, time, pools, |pool| {
        let (from, to) = (&from, &to);
        let pool = &pool.pool;
        Ok(Box::new(move || {
            let mut to = to.borrow_mut();
            let to = to.as_mut_slice();
            Ok(pool.install(|| {
                timed(|| {
                    to.par_chunks_mut(CHUNK)
                        .zip(from.par_chunks(CHUNK))
                        .for_each(|(to, from)| to.copy_from_slice(from));
                })
            }))
        }))
    })?;
    let bytes = (2 * COPIED * size_of::<f32>()) as f64;
    let row = |(pool, seconds): (&Pool, f64)| Measurement::Memory {
        threads: pool.threads,
        gigabytes_per_second: bytes / seconds / 1e9,
    };
    Ok(taken.into_iter().map(row).collect())
}

/// Batches timed together: many, as one or two may be ready before the time starts.
const BATCHES: usize = 24;
/// Epochs of batches: more than there is time for.
const ENOUGH: u32 = 1000;

/// Images per second with each augmentation, on the loader's one thread, while nothing else runs.
pub(super) fn pipeline(
    budget: &mut BenchBudget<'_>,
    seconds: f64,
    images: &Split,
) -> Result<Vec<Measurement>, Problem> {
    let time = budget.start_part(Workload::Pipeline, seconds)?;
    let plain = steps::config(ModelKind::ConvNet);
    let taken = std::thread::scope(|scope| {
        medians(budget, time, Augmentation::ALL, |&&augmentation| {
            let config = RunConfig {
                augmentation,
                epochs: ENOUGH,
                ..plain.clone()
            };
            let mut loader = Loader::start(
                scope,
                &config,
                images,
                Shuffle::new((0..images.len() as u32).collect(), config.seed, 0),
            )?;
            Ok(Box::new(move || {
                let mut loaded: Result<usize, Problem> = Ok(0);
                let took = timed(|| {
                    loaded = (0..BATCHES)
                        .map(|_| loader.next_batch().map(|batch| batch.len()))
                        .sum();
                });
                // Batches differ in size when an epoch ends.
                Ok(took / loaded?.max(1) as f64)
            }))
        })
    })?;
    let row = |(&augmentation, seconds): (&Augmentation, f64)| Measurement::Pipeline {
        augmentation,
        threads: 1,
        images_per_second: 1.0 / seconds,
    };
    Ok(taken.into_iter().map(row).collect())
}

/// The network whose weights are updated: the one with the most of them.
const UPDATED: ModelKind = ModelKind::ConvNet;

/// Images that Langevin dynamics' noise is scaled by, as many as MNIST trains on.
const IMAGES: u64 = 60_000;

/// How long an update by each optimizer takes on all threads.
pub(super) fn updates(
    budget: &mut BenchBudget<'_>,
    seconds: f64,
    pools: &[Pool],
) -> Result<Vec<Measurement>, Problem> {
    let time = budget.start_part(Workload::Updates, seconds)?;
    let Some(all) = pools.last() else {
        return Ok(Vec::new());
    };
    let taken = medians(budget, time, OptimizerKind::ALL, |&&kind| {
        let net = Net::new(UPDATED, Activation::default(), CLASSES, 1)?;
        let config = RunConfig {
            optimizer: kind,
            weight_decay: 0.01,
            ..RunConfig::default()
        };
        let mut optimizer = Optimizer::new(
            OptimizerConfig::new(&config, IMAGES),
            &net.trainable(),
            net.context(),
            None,
        )?;
        Ok(Box::new(move || {
            let mut updated = Ok(());
            let took = all
                .pool
                .install(|| timed(|| updated = optimizer.step(1e-6, 1.0, None).map(drop)));
            updated?;
            Ok(took)
        }))
    })?;
    let row = |(&optimizer, seconds): (&OptimizerKind, f64)| Measurement::Update {
        optimizer,
        parameters: parameter_count(UPDATED, CLASSES),
        threads: all.threads,
        microseconds: seconds * 1e6,
    };
    Ok(taken.into_iter().map(row).collect())
}

/// Images classified, one at a time, between two reports.
const BURST: usize = 20;

/// How fast each of these models classifies `digits`, one at a time and all at once.
pub(super) fn inference(
    budget: &mut BenchBudget<'_>,
    seconds: f64,
    models: &[ModelKind],
    pools: &[Pool],
    digits: &Split,
) -> Result<Vec<Measurement>, Problem> {
    let time = budget.start_part(Workload::Inference, seconds)? / (2 * models.len().max(1) as u32);
    let mut rows = Vec::new();
    for &model in models {
        rows.push(one_by_one(budget, time, model, digits)?);
    }
    let Some(all_threads) = pools.last() else {
        return Ok(rows);
    };
    for &model in models {
        let net = Net::new(model, Activation::default(), CLASSES, 1)?;
        let mut evaluate = || {
            let mut measured = None;
            let seconds = all_threads.pool.install(|| {
                timed(|| {
                    measured = Some(measure(
                        &net,
                        Calibration::NONE.temperature,
                        digits,
                        &mut Unwatched,
                    ));
                })
            });
            measured.transpose()?;
            Ok(seconds)
        };
        let samples = interleave(budget, time, &mut [Box::new(&mut evaluate) as Case<'_>])?;
        let images_per_second =
            digits.len() as f64 / median(samples.first().map_or(&[], Vec::as_slice));
        rows.push(Measurement::ClassifyMany {
            model,
            threads: all_threads.threads,
            images_per_second,
        });
    }
    Ok(rows)
}

fn one_by_one(
    budget: &mut BenchBudget<'_>,
    time: Duration,
    model: ModelKind,
    digits: &Split,
) -> Result<Measurement, Problem> {
    let info = ModelInfo {
        reference: ModelRef::Starter,
        network: model.into(),
        parameters: parameter_count(model, CLASSES),
        classes: Classes::Digits,
        data: DataSpec::builtin(),
        epochs: 0,
        accuracy: None,
    };
    let classifier = Classifier::new(
        Net::new(model, Activation::default(), CLASSES, 1)?,
        DeviceChoice::Cpu,
        info,
        Calibration::NONE,
    );
    let images: Vec<Image> = (0..digits.len())
        .filter_map(|index| Image::try_from(digits.image(index)).ok())
        .collect();
    let mut images = images.iter().cycle();
    let mut samples = Vec::new();
    let mut burst = || -> Result<f64, Problem> {
        let mut total = 0.0;
        for image in images.by_ref().take(BURST) {
            let mut classified: Result<(), Problem> = Ok(());
            let image = image.clone();
            let seconds = timed(|| classified = classifier.classify(image).map(drop));
            classified?;
            samples.push(seconds);
            total += seconds;
        }
        Ok(total)
    };
    interleave(budget, time, &mut [Box::new(&mut burst) as Case<'_>])?;
    // The first burst was the warm-up.
    let samples = samples.get(BURST..).unwrap_or_default();
    Ok(Measurement::ClassifyOne {
        model,
        median_microseconds: median(samples) * 1e6,
        p99_microseconds: quantile(samples, 0.99) * 1e6,
    })
}
