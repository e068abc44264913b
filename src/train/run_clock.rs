//! The telemetry of a run: time without pauses, throughput, time left, memory.

use std::time::{Duration, Instant};

use super::progress::RunProgress;
use crate::device::ProcessMemory;
use crate::records::{RunPlan, Telemetry};

/// Throughput is smoothed over about this many seconds.
const SMOOTHING: f64 = 2.0;
/// The time left is estimated from the mean throughput over about this many seconds.
const STEADY: f64 = 20.0;
/// Memory is measured at most this often.
const MEMORY_EVERY: Duration = Duration::from_millis(500);
/// Classifying an image takes about this fraction of training on it; used until the first
/// validation was timed.
const INFERENCE_FRACTION: f64 = 1.0 / 3.0;

/// Time and counters of a run. Pauses do not count.
pub struct RunClock {
    plan: RunPlan,
    epochs: u32,
    before: Duration,
    since: Instant,
    images: u64,
    last_step: f64,
    first_step: u64,
    throughput: Option<f64>,
    /// The mean throughput in images per second, and the seconds it covers: at most [`STEADY`].
    steady: (f64, f64),
    seconds_per_prediction: Option<f64>,
    memory: MemoryGauge,
    last_checkpoint: f64,
}

impl RunClock {
    /// Starts the clock of a run of this many epochs, from where it is.
    pub fn start(plan: &RunPlan, epochs: u32, progress: &RunProgress) -> Self {
        let seconds = progress.seconds();
        Self {
            plan: plan.clone(),
            epochs,
            // A damaged record must not stop a clock.
            before: Duration::try_from_secs_f64(seconds).unwrap_or_default(),
            since: Instant::now(),
            images: plan.train_images * progress.epochs.len() as u64 + progress.current.images,
            last_step: seconds,
            first_step: progress.step + 1,
            throughput: None,
            steady: (1.0, 0.0),
            seconds_per_prediction: None,
            memory: MemoryGauge::default(),
            last_checkpoint: seconds,
        }
    }

    /// Seconds since the start, pauses excluded.
    pub fn seconds(&self) -> f64 {
        (self.before + self.since.elapsed()).as_secs_f64()
    }

    pub fn pause<T>(&mut self, outside: impl FnOnce() -> T) -> T {
        self.before += self.since.elapsed();
        let result = outside();
        self.since = Instant::now();
        result
    }

    /// Counts a step over `images`; returns the telemetry after it.
    pub fn step(&mut self, step: u64, epoch: u32, images: usize) -> Telemetry {
        let now = self.seconds();
        let took = (now - self.last_step).max(1e-9);
        let rate = images as f64 / took;
        let weight = 1.0 - (-took / SMOOTHING).exp();
        // The first step warms up caches and buffers: the second replaces it as the start of the
        // average.
        let is_first = step <= self.first_step + 1;
        let throughput = self
            .throughput
            .filter(|_| !is_first)
            .map_or(rate, |smooth| smooth + weight * (rate - smooth));
        self.throughput = Some(throughput);
        let (mean, before) = if is_first { (rate, 0.0) } else { self.steady };
        let seconds = (before + took).min(STEADY);
        let weight = (took / seconds).min(1.0);
        self.steady = (mean + weight * (rate - mean), seconds);
        self.last_step = now;
        self.images += images as u64;
        self.now(step, epoch)
    }

    pub fn now(&mut self, step: u64, epoch: u32) -> Telemetry {
        let (now, throughput) = (self.seconds(), self.throughput.unwrap_or(1.0));
        Telemetry {
            step,
            epoch,
            images_per_second: throughput as f32,
            elapsed_seconds: now as f32,
            remaining_seconds: self.remaining(epoch, self.steady.0) as f32,
            memory_bytes: self.memory.bytes(),
            ..Telemetry::default()
        }
    }

    /// Leaves the time since `start` (from `seconds`), which a validation over `images` took, out
    /// of the next step's.
    pub fn measured(&mut self, start: f64, images: usize) {
        self.last_step = self.seconds();
        self.seconds_per_prediction = Some((self.last_step - start) / images.max(1) as f64);
    }

    /// True once so much time has passed since the last checkpoint.
    pub fn is_checkpoint_due(&self, interval: Duration) -> bool {
        self.seconds() - self.last_checkpoint >= interval.as_secs_f64()
    }

    pub fn checkpoint_taken(&mut self) {
        self.last_checkpoint = self.seconds();
    }

    fn remaining(&self, epoch: u32, throughput: f64) -> f64 {
        let to_train =
            (self.plan.train_images * u64::from(self.epochs)).saturating_sub(self.images);
        let validations = u64::from(self.epochs.saturating_sub(epoch)) + 1;
        let to_classify = validations * self.plan.validation_images + self.plan.test_images;
        let per_prediction = self
            .seconds_per_prediction
            .unwrap_or(INFERENCE_FRACTION / throughput);
        to_train as f64 / throughput + to_classify as f64 * per_prediction
    }
}

#[derive(Default)]
struct MemoryGauge {
    process: ProcessMemory,
    last: Option<(Instant, u64)>,
}

impl MemoryGauge {
    /// Resident memory of this process; 0 if the system does not tell.
    fn bytes(&mut self) -> u64 {
        match self.last {
            Some((at, bytes)) if at.elapsed() < MEMORY_EVERY => bytes,
            _ => {
                let bytes = self.process.bytes();
                self.last = Some((Instant::now(), bytes));
                bytes
            }
        }
    }
}
