//! Owns measuring this machine: matrix products, memory, every model's training step, data, optimisers and reading; and keeping
//! what came of it. Steps, data, updates and reading are measured by the code that trains and reads, not by a copy of it.
//! Must not know windows, commands or events.

mod clock;
mod comparisons;
mod error;
mod pipeline;
mod pools;
mod products;
mod reading;
mod rounds;
mod steps;
mod store;
mod updates;
mod words;

use std::ops::ControlFlow;

pub use clock::{Listener, Progress};
pub use comparisons::{BATCH_SIZES, Compared, Open, batch_sizes, compare, devices, fastest, rates, side_of, sweet_spot};
pub use error::BenchError;
pub use store::{latest, save};
pub use words::{heading, sections, subject, text};

use self::clock::{Clock, Ended};
use crate::data::{DataError, DataSet, builtin};
use crate::device::open_device;
use crate::hardware;
use crate::records::benchmark::{Extent, Machine, Report, Row, Side, VERSION};
use crate::run_config::{DeviceChoice, ModelKind, Precision};

/// Images that steps are made on and that are read: enough that no run comes to its first epoch's end too soon.
const IMAGES: usize = 6000;
const READ: usize = 256;

/// Models that are measured in every number format; the others are in f32 alone.
const EVERY_PRECISION: [ModelKind; 2] = [ModelKind::ConvNet, ModelKind::Speedrun];

/// Seconds of a full benchmark, by part. A model's steps get more where several number formats are compared.
const PRODUCTS: f64 = 5.0;
const MEMORY: f64 = 1.0;
const STEPS: f64 = 2.0;
const STEPS_COMPARED: f64 = 5.0;
const PIPELINE: f64 = 1.0;
const UPDATES: f64 = 1.5;
const READING: f64 = 6.0;

/// Measures this machine; `None` when the listener broke it off.
pub fn measure(extent: Extent, listener: &mut dyn Listener) -> Result<Option<Report>, BenchError> {
    unless_broken_off(measure_all(extent, listener))
}

fn unless_broken_off<T>(measured: Result<T, Ended>) -> Result<Option<T>, BenchError> {
    match measured {
        Ok(found) => Ok(Some(found)),
        Err(Ended::BrokenOff) => Ok(None),
        Err(Ended::Failed(problem)) => Err(problem),
    }
}

fn measure_all(extent: Extent, listener: &mut dyn Listener) -> Result<Report, Ended> {
    let machine = machine();
    let pools = pools::pools(machine.threads)?;
    let share = |&model: &ModelKind| if EVERY_PRECISION.contains(&model) { STEPS_COMPARED } else { STEPS };
    let total = PRODUCTS + MEMORY + PIPELINE + UPDATES + READING + ModelKind::ALL.iter().map(share).sum::<f64>();
    let mut clock = Clock::start(extent, total, listener);
    let mut rows = Vec::new();

    let products = products::products(&mut clock, PRODUCTS, &pools)?;
    let best_size = best_size(&products);
    keep(&mut clock, &mut rows, products);
    let memory = products::memory(&mut clock, MEMORY, &pools)?;
    keep(&mut clock, &mut rows, memory);

    let data = pictures(&mut clock)?;
    for model in ModelKind::ALL {
        let sides = sides(*model, extent, &pools);
        let steps = steps::steps(&mut clock, share(model), &steps::config(*model), &sides, &data, best_size, &open_device)?;
        let steps = steps.into_iter().map(|(_, row)| row).collect::<Result<Vec<_>, _>>()?;
        keep(&mut clock, &mut rows, steps);
    }
    let pipeline = pipeline::pipeline(&mut clock, PIPELINE, &data.train)?;
    keep(&mut clock, &mut rows, pipeline);
    let updates = updates::updates(&mut clock, UPDATES, &pools)?;
    keep(&mut clock, &mut rows, updates);
    let reading = reading::reading(&mut clock, READING, ModelKind::ALL, &pools, &data.test)?;
    keep(&mut clock, &mut rows, reading);

    Ok(Report {
        version: VERSION,
        measured_at: jiff::Timestamp::now().to_string(),
        program: env!("CARGO_PKG_VERSION").to_owned(),
        machine,
        extent,
        seconds: clock.seconds(),
        rows,
    })
}

fn pictures(clock: &mut Clock<'_>) -> Result<DataSet, Ended> {
    let written = builtin::generate(1, IMAGES, READ, &mut |_| match clock.attend() {
        Ok(()) => ControlFlow::Continue(()),
        Err(_) => ControlFlow::Break(()),
    });
    match written {
        Err(DataError::Cancelled) => Err(Ended::BrokenOff),
        written => Ok(written?),
    }
}

fn keep(clock: &mut Clock<'_>, rows: &mut Vec<Row>, new: Vec<Row>) {
    for row in &new {
        clock.found(row);
    }
    rows.extend(new);
}

fn machine() -> Machine {
    let cpu = hardware::probe_cpu();
    Machine { system: hardware::system(), processor: cpu.brand, simd: cpu.simd, threads: cpu.usable_cores }
}

/// The size of product that was fastest in f32 on all threads.
fn best_size(products: &[Row]) -> usize {
    let sizes = products.iter().filter_map(|row| match *row {
        Row::Product { precision: Precision::F32, threads, size, .. } => Some((threads, size as usize)),
        _ => None,
    });
    sizes.max_by_key(|&(threads, _)| threads).map_or(products::USUAL_SIZE, |(_, size)| size)
}

/// In f32 on one thread and on all; in the other number formats, where training takes them, on all. When time is short, only the
/// models that are compared are measured on one thread.
fn sides(model: ModelKind, extent: Extent, pools: &[pools::Pool]) -> Vec<Side> {
    let skipped = if extent == Extent::Quick && !EVERY_PRECISION.contains(&model) { pools.len().saturating_sub(1) } else { 0 };
    let side = |precision, threads| Side { device: DeviceChoice::Cpu, precision, threads, batch_size: steps::batch_size(model) };
    let mut sides: Vec<_> = pools.iter().skip(skipped).map(|pool| side(Precision::F32, pool.threads)).collect();
    let all = pools.last().map_or(1, |pool| pool.threads);
    let others = Precision::on(DeviceChoice::Cpu).skip(1).filter(|_| EVERY_PRECISION.contains(&model));
    sides.extend(others.map(|precision| side(precision, all)));
    sides
}

impl From<candle_core::Error> for BenchError {
    fn from(error: candle_core::Error) -> Self {
        crate::nn::ComputeError::from(error).into()
    }
}
