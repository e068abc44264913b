//! Whether a device computes correctly: every op with its gradients, a short training that must
//! learn, and a model that must classify as it does on the CPU.
//!
//! Ops are compared with compositions of candle's own ops on the CPU, in f32: other code, by other
//! people. The CPU is tested like any other device: its kernels are ours, and selected by the
//! instruction sets it reports.

mod ops;
mod report;

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde::Deserialize;

use crate::data::{Dataset, builtin};
use crate::device::look_for_cuda_in;
use crate::infer::{Agreement, COMPARED_IMAGES, Scores, TOLERANCE, starter_file};
use crate::ink::PIXELS;
use crate::nn::{DeviceContext, Mode, Net};
use crate::problem::{Explain, Problem, sentence};
use crate::progress::Unwatched;
use crate::records::{Calibration, StepPoint, Telemetry};
use crate::run_config::{DeviceChoice, Precision, Preset, RunConfig};
use crate::system::process::{self, run_within};
use crate::train::{EndRequest, RunObserver, train};
pub use ops::{Case, all as cases, check};
pub use report::{Check, SelfTestReport, Subject, sections};

/// Tests a device at every precision; `on_check` is called after each check. An error if there is
/// no such device.
pub fn run(
    device: DeviceChoice,
    on_check: &mut dyn FnMut(&Check),
) -> Result<SelfTestReport, Problem> {
    let started = Instant::now();
    let opened = DeviceContext::open(device)?;
    let mut checks = Vec::new();
    let mut add = |check: Check| {
        on_check(&check);
        checks.push(check);
    };
    for precision in Precision::on(device.resolved()) {
        for case in ops::all() {
            // Rounding may flip a kink or a maximum, which is not a fault: in the shorter formats
            // only products are compared.
            if precision == Precision::F32 || case.is_product {
                add(check(&case, &opened, precision));
            }
        }
        add(learns(device, &opened, precision));
    }
    add(classifies(&opened));
    Ok(SelfTestReport {
        device: device.resolved(),
        checks,
        seconds: started.elapsed().as_secs_f32(),
    })
}

/// The process that was to check a device came to no result.
#[derive(Debug, thiserror::Error)]
#[error("The self-test could not be completed: {}", sentence(reason))]
pub struct NoResult {
    pub reason: String,
}

impl Explain for NoResult {
    fn remedy(&self) -> String {
        "Run it again. If it keeps failing, the CPU, its memory or a driver may be faulty."
            .to_owned()
    }
}

#[derive(Deserialize)]
struct Printed {
    self_test: SelfTestReport,
}

/// A slow CPU needs some ten seconds, a GPU's driver a minute to compile its kernels for the first
/// time.
const TIME_LIMIT: Duration = Duration::from_mins(3);

/// Runs this program again to check a device; it looks for NVIDIA's libraries in `cuda_folder`
/// first.
pub fn check_in_subprocess(
    device: DeviceChoice,
    cuda_folder: Option<&Path>,
) -> Result<SelfTestReport, Problem> {
    let program = process::this_program(&[
        "hardware",
        "--self-test",
        "--json",
        "--device",
        device.name(),
    ]);
    run_in_subprocess(look_for_cuda_in(cuda_folder, program), TIME_LIMIT)
}

/// Runs `program` (`inkling hardware --self-test --json`) for at most `limit`.
pub fn run_in_subprocess(program: Command, limit: Duration) -> Result<SelfTestReport, Problem> {
    let (output, exit) = run_within(program, limit).map_err(|reason| NoResult { reason })?;
    let printed = output
        .lines()
        .find_map(|line| serde_json::from_str::<Printed>(line).ok());
    printed.map(|printed| printed.self_test).ok_or_else(|| {
        NoResult {
            reason: format!("its process ended with {exit}"),
        }
        .into()
    })
}

/// Images of the short training, a twelfth of them for validation.
const TRAIN_IMAGES: usize = 1536;
/// The last loss of the short training must be at most this fraction of the first; on every machine
/// so far it was below a third.
const MAX_LOSS_RATIO: f32 = 0.6;

fn digits(train: usize, test: usize) -> Result<Dataset, Problem> {
    Ok(builtin::generate(1, train, test, &mut Unwatched)?)
}

fn learns(device: DeviceChoice, context: &DeviceContext, precision: Precision) -> Check {
    let mut losses = Losses::default();
    let config = RunConfig {
        device,
        precision,
        epochs: 2,
        ..RunConfig::preset(Preset::OneEpoch)
    };
    let trained =
        digits(TRAIN_IMAGES, 0).and_then(|data| train(&config, &data, context, None, &mut losses));
    let check = |found, detail: String| Check {
        subject: Subject::Training,
        precision,
        found,
        tolerance: MAX_LOSS_RATIO,
        detail,
    };
    match (trained, losses.0.first(), losses.0.last()) {
        (Err(error), ..) => check(None, error.message.what),
        (Ok(_), Some(first), Some(last)) => check(
            Some(last / first),
            format!("loss fell from {first:.3} to {last:.3}"),
        ),
        _ => check(None, "no step was completed".to_owned()),
    }
}

/// The starter model on the device, many images at once, against the CPU, one image at a time.
fn classifies(context: &DeviceContext) -> Check {
    let check = |found, detail| Check {
        subject: Subject::Inference,
        precision: Precision::F32,
        found,
        tolerance: TOLERANCE,
        detail,
    };
    match agreement(context) {
        Ok(Agreement {
            images,
            matching,
            max_difference,
        }) => check(
            Some(max_difference),
            format!("same digit on {matching} of {images} images"),
        ),
        Err(error) => check(None, error.message.what),
    }
}

fn agreement(context: &DeviceContext) -> Result<Agreement, Problem> {
    let images = digits(0, COMPARED_IMAGES)?.test.images;
    let net = starter_file()?.net;
    let on_device = probabilities(&net.to_device(context)?, &images)?;
    let mut on_cpu = Vec::new();
    for image in images.chunks_exact(PIXELS) {
        on_cpu.extend(probabilities(&net, image)?);
    }
    Ok(Agreement::between(&on_cpu, &on_device))
}

fn probabilities(net: &Net, images: &[u8]) -> Result<Vec<Vec<f32>>, Problem> {
    let logits = net
        .forward(images, Mode::Eval)?
        .flatten_all()?
        .to_vec1::<f32>()?;
    Ok(
        Scores::of_rows(&logits, net.classes(), Calibration::NONE.temperature)
            .map(|scores| scores.probabilities)
            .collect(),
    )
}

#[derive(Default)]
struct Losses(Vec<f32>);

impl RunObserver for Losses {
    fn on_micro_batch(&mut self, _: &Net) -> Result<(), EndRequest> {
        Ok(())
    }

    fn step(&mut self, point: StepPoint, _: Telemetry) {
        self.0.push(point.loss);
    }
}
