//! Times the steps of a run as its observer, and other work in between: both meet the same
//! conditions on a machine that is never quite idle.

use std::time::{Duration, Instant};

use super::BenchError;
use super::budget::BenchBudget;
use super::rounds::timed;
use crate::nn::Net;
use crate::nn::backend::cpu::LargeProduct;
use crate::records::{Calibration, EpochRecord, StepPoint, Telemetry};
use crate::run_config::Precision;
use crate::train::{Checkpoint, EndRequest, Observer};

/// Steps at the start of each run that do not count while there is time: memory is allocated,
/// threads wake up. The first never counts.
const WARM_UP: usize = 2;
/// Steps that are counted even if that takes longer than planned, unless it takes [`OVERTIME`]
/// times as long.
const MIN_STEPS: usize = 3;
const OVERTIME: u32 = 4;
const STEPS_PER_PRODUCT: u64 = 4;

/// The seconds of steps, and of what was interleaved with them.
#[derive(Default)]
pub(super) struct Samples {
    pub steps: Vec<f64>,
    pub interleaved: Vec<f64>,
}

impl Samples {
    pub fn add(&mut self, other: Self) {
        self.steps.extend(other.steps);
        self.interleaved.extend(other.interleaved);
    }
}

/// Work that is timed between the steps of a run, on the CPU.
pub(super) struct Interleaved<'a> {
    /// Does it once.
    pub work: Box<dyn FnMut() -> Result<(), BenchError> + Send + 'a>,
    /// It follows the first step, and then every so many.
    pub every_steps: u64,
    /// How often it is done at least.
    pub at_least: usize,
}

impl Interleaved<'_> {
    pub fn product(size: usize) -> Self {
        let mut product = LargeProduct::new(size, Precision::F32);
        let work = Box::new(move || {
            product.run();
            Ok(())
        });
        Self {
            work,
            every_steps: STEPS_PER_PRODUCT,
            at_least: 1,
        }
    }
}

/// Times the steps of a run until there are enough.
///
/// A GPU reports its steps in bursts, when their losses are read back: the time of a burst is
/// shared equally among its steps. The CPU reports each step by itself.
pub(super) struct StepTimer<'a, 'b, 'i> {
    budget: &'a mut BenchBudget<'b>,
    planned_end: Instant,
    latest_end: Instant,
    interleaved: Option<Interleaved<'i>>,
    bursts: usize,
    /// When the current steps began; `None` after anything other than a step.
    burst_started: Option<Instant>,
    /// Steps of the newest burst, and the seconds it took.
    burst_steps: u32,
    burst_seconds: Option<f64>,
    pub samples: Samples,
    /// Why the run was stopped early, unless there were enough steps.
    pub stopped: Option<BenchError>,
}

impl<'a, 'b, 'i> StepTimer<'a, 'b, 'i> {
    pub fn new(
        budget: &'a mut BenchBudget<'b>,
        time: Duration,
        interleaved: Option<Interleaved<'i>>,
    ) -> Self {
        let now = Instant::now();
        Self {
            budget,
            planned_end: now + time,
            latest_end: now + time * OVERTIME,
            interleaved,
            bursts: 0,
            burst_started: None,
            burst_steps: 0,
            burst_seconds: None,
            samples: Samples::default(),
            stopped: None,
        }
    }

    fn is_done(&self) -> bool {
        let now = Instant::now();
        let enough = self.samples.steps.len() >= MIN_STEPS && now >= self.planned_end;
        let too_late = !self.samples.steps.is_empty() && now >= self.latest_end;
        let missing = self
            .interleaved
            .as_ref()
            .is_some_and(|interleaved| self.samples.interleaved.len() < interleaved.at_least);
        (enough || too_late) && !missing
    }

    /// Counts the steps of the newest burst.
    fn finish_burst(&mut self) {
        if self.burst_steps == 0 {
            return;
        }
        let is_warm = self.bursts >= WARM_UP || Instant::now() >= self.latest_end;
        self.samples.steps.extend(
            self.burst_seconds
                .filter(|_| is_warm)
                .map(|seconds| seconds / f64::from(self.burst_steps)),
        );
        (self.bursts, self.burst_steps, self.burst_seconds) = (self.bursts + 1, 0, None);
    }
}

impl Observer for StepTimer<'_, '_, '_> {
    fn between(&mut self, _net: &Net) -> Result<(), EndRequest> {
        self.finish_burst();
        if let Err(error) = self.budget.report() {
            self.stopped = Some(error);
        }
        if self.stopped.is_some() || self.is_done() {
            Err(EndRequest::Stop)
        } else {
            Ok(())
        }
    }

    fn step(&mut self, point: StepPoint, _now: Telemetry) {
        if self.burst_steps == 0 {
            self.burst_seconds = self
                .burst_started
                .map(|started| started.elapsed().as_secs_f64());
        }
        self.burst_steps += 1;
        if let Some(interleaved) = &mut self.interleaved
            && (point.step == 1 || point.step.is_multiple_of(interleaved.every_steps))
        {
            let mut done = Ok(());
            let seconds = timed(|| done = (interleaved.work)());
            match done {
                Ok(()) => self.samples.interleaved.push(seconds),
                Err(problem) => self.stopped = Some(problem),
            }
        }
        self.burst_started = Some(Instant::now());
    }

    fn epoch(&mut self, _record: &EpochRecord, _net: &Net, _calibration: Calibration) {
        self.finish_burst();
        self.burst_started = None;
    }

    fn checkpoint(&mut self, _: Checkpoint) {
        // A GPU starts the next epoch at once. The CPU has to wake its threads first, so its first
        // step does not count.
        self.burst_started = self.interleaved.is_none().then(Instant::now);
    }

    fn checkpoint_interval(&self) -> Duration {
        Duration::MAX
    }
}
