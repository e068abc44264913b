//! What checkpoints cost: `cargo bench --bench checkpoints` trains each network on the built-in
//! digits and compares pairs of stretches of the same steps, one with a checkpoint, taken and
//! written as the engine does it, and one without. Prints the median difference, and its share of
//! the time between two checkpoints: 30 s, or an epoch where that is shorter.

use std::time::{Duration, Instant};

use inkling::data::{self, Dataset};
use inkling::math::statistics::median;
use inkling::nn::{DeviceContext, Net};
use inkling::progress::Unwatched;
use inkling::records::{Calibration, EpochRecord, StepPoint, Telemetry};
use inkling::run_config::{DataSpec, ModelKind, Preset, RunConfig};
use inkling::runs::{CheckpointThread, CheckpointWriter, Checkpoints};
use inkling::train::{Checkpoint, EndRequest, RunObserver, RunStart, train};

/// Pairs for each network.
const PAIRS: usize = 15;
/// About how long a stretch is; at most a third of an epoch.
const STRETCH: Duration = Duration::from_secs(2);
/// Steps that show how long a stretch has to be.
const FIRST_STEPS: u64 = 20;
/// The time between two checkpoints within an epoch.
const INTERVAL: f64 = 30.0;

/// Takes the times.
struct Stretches<'w> {
    writer: &'w CheckpointWriter,
    steps_per_epoch: u64,
    /// Steps of a stretch; 0 until that is known.
    length: u64,
    /// When the current one began, and the steps since; `None` until the first step of an epoch.
    current: Option<(Instant, u64)>,
    /// Whether a checkpoint is still to be taken in the current one.
    wanted: bool,
    /// Seconds of stretches without and with a checkpoint, in turn.
    seconds: [Vec<f64>; 2],
    epoch_seconds: f64,
}

impl Stretches<'_> {
    fn with(&self) -> usize {
        usize::from(self.seconds[1].len() < self.seconds[0].len())
    }

    fn begin(&mut self) {
        self.current = Some((Instant::now(), 0));
        self.wanted = self.length > 0 && self.with() == 1;
    }
}

impl RunObserver for Stretches<'_> {
    fn prepare(&mut self, run: &RunStart<'_>) {
        self.steps_per_epoch = run.plan.steps_per_epoch;
    }

    fn on_micro_batch(&mut self, _: &Net) -> Result<(), EndRequest> {
        if self.seconds[1].len() >= PAIRS {
            Err(EndRequest::Stop)
        } else {
            Ok(())
        }
    }

    fn step(&mut self, _: StepPoint, _: Telemetry) {
        let Some((began, steps)) = &mut self.current else {
            return self.begin();
        };
        *steps += 1;
        let seconds = began.elapsed().as_secs_f64();
        if self.length == 0 && *steps == FIRST_STEPS {
            let step = seconds / FIRST_STEPS as f64;
            self.length =
                ((STRETCH.as_secs_f64() / step) as u64).clamp(2, (self.steps_per_epoch / 3).max(2));
            self.epoch_seconds = step * self.steps_per_epoch as f64;
            self.begin();
        } else if self.length > 0 && *steps == self.length {
            let with = self.with();
            self.seconds[with].push(seconds);
            self.begin();
        }
    }

    fn epoch(&mut self, _: &EpochRecord, _: &Net, _: Calibration) {
        self.current = None;
    }

    fn checkpoint(&mut self, checkpoint: Checkpoint) {
        self.wanted = false;
        self.writer.write(checkpoint);
    }

    fn checkpoint_interval(&self) -> Duration {
        if self.wanted {
            Duration::ZERO
        } else {
            Duration::MAX
        }
    }
}

fn measure(model: ModelKind, data: &Dataset) -> Result<String, Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let place = Checkpoints::new(folder.path()).begin();
    let file = place.path().join("checkpoint");
    let thread = CheckpointThread::start(false)?;
    let writer = CheckpointWriter::start(
        &thread,
        place,
        Box::new(|_, _, written| assert!(written.is_ok(), "{written:?}")),
    )?;
    let config = RunConfig {
        model,
        epochs: 1000,
        learning_rate: 1e-5,
        weight_averaging: Some(0.99),
        ..RunConfig::preset(Preset::Balanced)
    };
    let mut stretches = Stretches {
        writer: &writer,
        steps_per_epoch: 0,
        length: 0,
        current: None,
        wanted: false,
        seconds: [Vec::new(), Vec::new()],
        epoch_seconds: 0.0,
    };
    train(&config, data, &DeviceContext::CPU, None, &mut stretches)?;
    let [without, with] = &stretches.seconds;
    let differences: Vec<f64> = with
        .iter()
        .zip(without)
        .map(|(with, without)| with - without)
        .collect();
    let (cost, interval) = (median(&differences), stretches.epoch_seconds.min(INTERVAL));
    writer.keep();
    Ok(format!(
        "{:12} {:6.1} ms for a checkpoint of {:5.1} MB: {:5.2}% of {interval:.1} s",
        model.name(),
        cost * 1e3,
        std::fs::metadata(file)?.len() as f64 / 1e6,
        cost / interval * 100.0
    ))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let data = data::load(&DataSpec::builtin(), &[], &mut Unwatched)?;
    for &model in ModelKind::ALL {
        println!("{}", measure(model, &data)?);
    }
    Ok(())
}
