//! Measuring this machine: matrix multiplications, memory, every network's training step, data,
//! optimizers and recognition, and the same network in plain candle; and the files the reports are
//! saved in. What trains and recognizes is measured itself, not a copy of it. Does not depend on
//! windows, commands or events.

mod budget;
mod comparisons;
mod plain_candle;
mod profile;
mod steps;
mod words;
mod workloads;

use std::path::Path;

pub use budget::Listener;
pub use comparisons::{
    Open, batch_sizes, compare, devices, fastest, rates, step_config_of, sweet_spot,
};
pub use plain_candle::PlainCandle;
pub use profile::{chrome_trace, profile};
pub use steps::time_steps;
pub use words::{busy, disturbance, heading, profile_sections, sections, text, workload};

use self::budget::BenchBudget;
use crate::data::{Dataset, builtin};
use crate::hardware;
use crate::nn::DeviceContext;
use crate::problem::Problem;
use crate::progress::Cancelled;
use crate::records::benchmark::{
    BenchmarkReport, BenchmarkedMachine, Effort, Measurement, SavedBenchmark, StepConfig, VERSION,
    Workload,
};
use crate::run_config::{DeviceChoice, ModelKind, Precision};
use crate::system::WriteError;
use crate::system::files::{read_limited, write_group};
use crate::text::format::name_time;

/// Training images: enough that no run reaches the end of its first epoch too soon.
const TRAIN_IMAGES: usize = 6000;
/// The number of classes of networks that are timed: as many as the built-in digits have.
const CLASSES: usize = 10;
const TEST_IMAGES: usize = 256;

/// Models that are measured at every precision; the others only in f32.
const EVERY_PRECISION: [ModelKind; 2] = [ModelKind::ConvNet, ModelKind::Speedrun];

/// Seconds each part gets in a full benchmark. A model's steps get more if several precisions are
/// compared.
const PRODUCTS: f64 = 5.0;
const MEMORY: f64 = 1.0;
const STEPS: f64 = 2.0;
const STEPS_COMPARED: f64 = 5.0;
/// Seconds for each further number of threads.
const STEPS_SCALED: f64 = 1.0;
const PIPELINE: f64 = 1.0;
const UPDATES: f64 = 1.5;
const INFERENCE: f64 = 6.0;
const PLAIN_CANDLE: f64 = 4.0;

pub fn measure(effort: Effort, listener: &mut dyn Listener) -> Result<BenchmarkReport, Problem> {
    let machine = machine();
    let pools = budget::pools(machine.threads)?;
    let share = |&model: &ModelKind| {
        if EVERY_PRECISION.contains(&model) {
            STEPS_COMPARED + STEPS_SCALED * scaled(machine.threads).count() as f64
        } else {
            STEPS
        }
    };
    let total = PRODUCTS
        + MEMORY
        + PIPELINE
        + UPDATES
        + INFERENCE
        + PLAIN_CANDLE
        + ModelKind::ALL.iter().map(share).sum::<f64>();
    let mut budget = BenchBudget::start(effort, total, listener);
    let mut figures = Figures::default();

    let products = workloads::products(&mut budget, PRODUCTS, &pools)?;
    let best_size = best_size(&products);
    figures.add(&mut budget, products);
    let memory = workloads::memory(&mut budget, MEMORY, &pools)?;
    figures.add(&mut budget, memory);

    let data = digits(&mut budget)?;
    for model in ModelKind::ALL {
        let step_configs = step_configs(*model, effort, &pools);
        let steps = steps::steps(
            &mut budget,
            share(model),
            &steps::config(*model),
            &step_configs,
            &data,
            best_size,
            &DeviceContext::open,
        )?;
        let steps = steps
            .into_iter()
            .map(|(_, row)| row)
            .collect::<Result<Vec<_>, _>>()?;
        figures.add(&mut budget, steps);
    }
    let pipeline = workloads::pipeline(&mut budget, PIPELINE, &data.train)?;
    figures.add(&mut budget, pipeline);
    let updates = workloads::updates(&mut budget, UPDATES, &pools)?;
    figures.add(&mut budget, updates);
    let inference =
        workloads::inference(&mut budget, INFERENCE, ModelKind::ALL, &pools, &data.test)?;
    figures.add(&mut budget, inference);
    let plain_candle =
        plain_candle::plain_candle(&mut budget, PLAIN_CANDLE, &data, machine.threads)?;
    figures.add(&mut budget, vec![plain_candle]);

    Ok(BenchmarkReport {
        version: VERSION,
        measured_at: jiff::Timestamp::now().to_string(),
        program: env!("CARGO_PKG_VERSION").to_owned(),
        machine,
        effort,
        seconds: budget.elapsed_seconds(),
        background_load: budget.background_load(),
        disturbed: figures.disturbed,
        rows: figures.rows,
    })
}

fn digits(budget: &mut BenchBudget<'_>) -> Result<Dataset, Problem> {
    let mut progress = |_: f32| budget.report().map_err(|_| Cancelled);
    Ok(builtin::generate(
        1,
        TRAIN_IMAGES,
        TEST_IMAGES,
        &mut progress,
    )?)
}

#[derive(Default)]
struct Figures {
    rows: Vec<Measurement>,
    disturbed: Vec<Workload>,
}

impl Figures {
    /// Adds the figures of a part that has just been measured.
    fn add(&mut self, budget: &mut BenchBudget<'_>, rows: Vec<Measurement>) {
        if budget.was_disturbed() {
            self.disturbed.push(budget.workload());
        }
        for row in &rows {
            budget.found(row);
        }
        self.rows.extend(rows);
    }
}

fn machine() -> BenchmarkedMachine {
    let cpu = hardware::probe_cpu();
    BenchmarkedMachine {
        system: hardware::system(),
        processor: cpu.brand,
        simd: cpu.simd,
        threads: cpu.usable_cores,
    }
}

/// The size of matrix multiplication that was fastest in f32 on all threads.
fn best_size(products: &[Measurement]) -> usize {
    let sizes = products.iter().filter_map(|row| match *row {
        Measurement::Product {
            precision: Precision::F32,
            threads,
            size,
            ..
        } => Some((threads, size as usize)),
        _ => None,
    });
    sizes
        .max_by_key(|&(threads, _)| threads)
        .map_or(workloads::USUAL_SIZE, |(_, size)| size)
}

/// Numbers of threads between one and all: 2, 4, 8, ….
fn scaled(all: u32) -> impl Iterator<Item = u32> {
    std::iter::successors(Some(2_u32), |threads| threads.checked_mul(2))
        .take_while(move |threads| *threads < all)
}

/// In f32 on one thread and on all; for some models also on numbers of threads in between, and on
/// all threads at other precisions. A quick benchmark measures only those models on one thread.
fn step_configs(model: ModelKind, effort: Effort, pools: &[budget::Pool]) -> Vec<StepConfig> {
    let skipped = if effort == Effort::Quick && !EVERY_PRECISION.contains(&model) {
        pools.len().saturating_sub(1)
    } else {
        0
    };
    let step_config = |precision, threads| StepConfig {
        device: DeviceChoice::Cpu,
        precision,
        threads,
        batch_size: steps::batch_size(model),
    };
    let mut step_configs: Vec<_> = pools
        .iter()
        .skip(skipped)
        .map(|pool| step_config(Precision::F32, pool.threads))
        .collect();
    let all = pools.last().map_or(1, |pool| pool.threads);
    if EVERY_PRECISION.contains(&model) {
        step_configs.extend(scaled(all).map(|threads| step_config(Precision::F32, threads)));
        let others = Precision::on(DeviceChoice::Cpu).skip(1);
        step_configs.extend(others.map(|precision| step_config(precision, all)));
    }
    step_configs
}

/// Larger files are not reports of ours.
const MAX_BYTES: u64 = 1 << 20;

/// Writes a report to new files in `folder`, named after its time.
pub fn save(folder: &Path, report: &BenchmarkReport) -> Result<SavedBenchmark, Problem> {
    let measured = report
        .measured_at
        .parse::<jiff::Timestamp>()
        .unwrap_or_else(|_| jiff::Timestamp::now());
    let name = name_time(measured);
    let named = |count: u32, extension: &str| match count {
        1 => folder.join(format!("{name}.{extension}")),
        _ => folder.join(format!("{name}_{count}.{extension}")),
    };
    let count = (1..=u32::MAX)
        .find(|&count| {
            ["json", "txt"]
                .iter()
                .all(|extension| !named(count, extension).exists())
        })
        .unwrap_or(1);
    let saved = SavedBenchmark {
        json: named(count, "json"),
        text: named(count, "txt"),
    };
    let json = serde_json::to_vec_pretty(report)
        .map_err(|error| WriteError::new(&saved.json, &error.into()))?;
    write_group(&[
        (saved.json.clone(), json),
        (saved.text.clone(), text(report).into_bytes()),
    ])?;
    Ok(saved)
}

/// The newest report in `folder` that can be read.
pub fn latest(folder: &Path) -> Option<(BenchmarkReport, SavedBenchmark)> {
    let paths = std::fs::read_dir(folder)
        .ok()?
        .filter_map(|entry| Some(entry.ok()?.path()));
    let reports = paths
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "json")
        })
        .filter_map(|path| {
            let report = read(&path)?;
            let measured = report.measured_at.parse::<jiff::Timestamp>().ok()?;
            Some((
                measured,
                report,
                SavedBenchmark {
                    text: path.with_extension("txt"),
                    json: path,
                },
            ))
        });
    reports
        .max_by(|(a, ..), (b, ..)| a.cmp(b))
        .map(|(_, report, saved)| (report, saved))
}

/// `None` for files that are not reports, damaged, or from a newer version: they are left alone.
fn read(path: &Path) -> Option<BenchmarkReport> {
    let bytes = read_limited(path, MAX_BYTES).ok()?;
    serde_json::from_slice::<BenchmarkReport>(&bytes)
        .ok()
        .filter(|report| report.version <= VERSION)
}
