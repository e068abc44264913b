//! The time of a benchmark: how much of it each part gets, and how far it is; the rounds in which
//! things that are compared are measured, and the thread pools among these.

use std::time::{Duration, Instant};

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::hardware::BackgroundLoad;
use crate::math::statistics::median;
use crate::problem::Problem;
use crate::progress::Cancelled;
use crate::records::benchmark::{BUSY, Effort, JobProgress, Measurement, Workload};

/// How long the load is looked at before anything is measured, and how often afterwards.
const FIRST_LOOK: Duration = Duration::from_millis(400);
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Follows a benchmark, and can cancel it.
pub trait Listener: Send {
    /// Called many times a second; an error cancels the benchmark.
    fn report(&mut self, progress: JobProgress) -> Result<(), Cancelled>;

    fn found(&mut self, row: &Measurement);
}

/// Shares the time of a benchmark among its parts and reports how far it is.
pub(super) struct BenchBudget<'a> {
    listener: &'a mut dyn Listener,
    started: Instant,
    /// The time each part gets, relative to a full benchmark.
    scale: f64,
    /// Seconds planned for the whole benchmark, for the parts that are over, and for the current
    /// part.
    total: f64,
    finished: f64,
    current: f64,
    workload: Workload,
    part_started: Instant,
    others: BackgroundLoad,
    /// Their recent use, and the sum over time in seconds.
    background_load: f32,
    background_seconds: f64,
    measured_until: Instant,
    /// The most that they used during the current part.
    worst: f32,
}

impl<'a> BenchBudget<'a> {
    /// `full_seconds` is what the parts of a full benchmark add up to.
    pub fn start(effort: Effort, full_seconds: f64, listener: &'a mut dyn Listener) -> Self {
        let now = Instant::now();
        let scale = match effort {
            Effort::Full => 1.0,
            Effort::Quick => 0.2,
        };
        let total = full_seconds * scale;
        let mut others = BackgroundLoad::start();
        // Before anything is measured: a busy machine is reported immediately.
        std::thread::sleep(FIRST_LOOK);
        let background_load = others.measure().unwrap_or_default();
        Self {
            listener,
            started: now,
            scale,
            total,
            finished: 0.0,
            current: 0.0,
            workload: Workload::Products,
            part_started: now,
            others,
            background_load,
            background_seconds: f64::from(background_load) * now.elapsed().as_secs_f64(),
            measured_until: Instant::now(),
            worst: 0.0,
        }
    }

    /// Starts a part that gets this many seconds in a full benchmark; returns how much that is in
    /// this one.
    pub fn start_part(
        &mut self,
        workload: Workload,
        full_seconds: f64,
    ) -> Result<Duration, Problem> {
        self.finished += self.current;
        self.current = full_seconds * self.scale;
        self.sample_background_load();
        (self.workload, self.part_started, self.worst) = (workload, Instant::now(), 0.0);
        self.report()?;
        Ok(Duration::from_secs_f64(self.current))
    }

    pub const fn workload(&self) -> Workload {
        self.workload
    }

    /// Seconds since the start of the benchmark.
    pub fn elapsed_seconds(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    /// The mean fraction of the CPU that other programs have used since the start, 0 to 1.
    pub fn background_load(&mut self) -> f32 {
        self.sample_background_load();
        (self.background_seconds / self.started.elapsed().as_secs_f64().max(1e-9)) as f32
    }

    /// True if other programs kept the CPU busy during the current part.
    pub fn was_disturbed(&mut self) -> bool {
        self.sample_background_load();
        self.worst > BUSY
    }

    fn sample_background_load(&mut self) {
        if let Some(load) = self.others.measure() {
            self.background_load = load;
            self.background_seconds +=
                f64::from(load) * self.measured_until.elapsed().as_secs_f64();
            self.measured_until = Instant::now();
            self.worst = self.worst.max(load);
        }
    }

    /// Reports how far the benchmark is; an error if it was cancelled.
    pub fn report(&mut self) -> Result<(), Problem> {
        if self.measured_until.elapsed() > LOOK_EVERY {
            self.sample_background_load();
        }
        // A part that overruns stays at its end: the time planned for the parts after it is still
        // to come.
        let done = self.finished + self.part_started.elapsed().as_secs_f64().min(self.current);
        // On a slow machine parts overrun, and those to come will, too.
        let planned = FIRST_LOOK.as_secs_f64() + done;
        let pace = (self.elapsed_seconds() / planned).clamp(1.0, OVERTIME.into());
        let progress = JobProgress {
            workload: Some(self.workload),
            fraction: (done / self.total.max(1e-9)).min(1.0) as f32,
            remaining_seconds: Some(((self.total - done).max(0.0) * pace) as f32),
            background_load: self.background_load,
        };
        Ok(self.listener.report(progress)?)
    }

    pub fn found(&mut self, row: &Measurement) {
        self.listener.found(row);
    }
}

/// Does the work of one thing compared, once, and returns the seconds it took.
pub(super) type Case<'a> = Box<dyn FnMut() -> Result<f64, Problem> + 'a>;

/// Rounds measured even if that takes longer than planned, unless it takes [`OVERTIME`] times as
/// long.
const MIN_ROUNDS: usize = 3;
const OVERTIME: u32 = 4;

/// The seconds each case took, a list per case: one round to warm up, which does not count, then as
/// many rounds as fit into `time`.
pub(super) fn interleave(
    budget: &mut BenchBudget<'_>,
    time: Duration,
    cases: &mut [Case<'_>],
) -> Result<Vec<Vec<f64>>, Problem> {
    let started = Instant::now();
    let mut samples = vec![Vec::new(); cases.len()];
    for round in 0.. {
        let enough = round > MIN_ROUNDS && started.elapsed() >= time;
        let too_late = round > 1 && started.elapsed() >= time * OVERTIME;
        if enough || too_late {
            break;
        }
        for (case, samples) in cases.iter_mut().zip(&mut samples) {
            let seconds = case()?;
            if round > 0 {
                samples.push(seconds);
            }
            budget.report()?;
        }
    }
    Ok(samples)
}

/// The median seconds that the case of each of these takes, measured in turn.
pub(super) fn medians<'c, T>(
    budget: &mut BenchBudget<'_>,
    time: Duration,
    compared: impl IntoIterator<Item = T>,
    case: impl FnMut(&T) -> Result<Case<'c>, Problem>,
) -> Result<Vec<(T, f64)>, Problem> {
    let compared: Vec<T> = compared.into_iter().collect();
    let mut cases = compared.iter().map(case).collect::<Result<Vec<_>, _>>()?;
    let taken = interleave(budget, time, &mut cases)?;
    Ok(compared
        .into_iter()
        .zip(taken.iter().map(|seconds| median(seconds)))
        .collect())
}

/// The seconds that `work` takes.
pub(super) fn timed(work: impl FnOnce()) -> f64 {
    let started = Instant::now();
    work();
    started.elapsed().as_secs_f64()
}

/// A pool and how many threads it has.
pub(super) struct Pool {
    pub threads: u32,
    pub pool: ThreadPool,
}

/// A pool of one thread and, with more than one core, a pool of as many threads as cores.
pub(super) fn pools(threads: u32) -> Result<Vec<Pool>, Problem> {
    let sizes = if threads > 1 {
        vec![1, threads]
    } else {
        vec![1]
    };
    let build = |threads: u32| {
        let pool = ThreadPoolBuilder::new()
            .num_threads(threads as usize)
            .thread_name(|index| format!("bench-{index}"))
            .build();
        pool.map(|pool| Pool { threads, pool })
            .map_err(|error| crate::nn::ComputeError::no_thread(&error).into())
    };
    sizes.into_iter().map(build).collect()
}
