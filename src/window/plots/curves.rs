//! The plotted curves of a run: extended as the run's history grows, and kept at several
//! resolutions, so that a plot draws few points however long the run is.
//!
//! Of a [`Pyramid`], level 0 holds all points; a bucket of level `n + 1` keeps the lowest and the
//! highest of [`FACTOR`] buckets of level `n` (min/max decimation: spikes survive). Points are only
//! ever appended, and an append touches each level at most once, so a frame costs what is new and
//! what is visible, never the whole history.

use crate::records::JobId;
use crate::window::{RunView, RunningMean};

/// Bytes of a mebibyte, the unit memory is plotted in.
const MIB: f64 = 1024.0 * 1024.0;

/// A quantity measured at every step: raw and smoothed.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    pub raw: Pyramid,
    pub smooth: Pyramid,
    running: RunningMean,
    /// Values since the last point: their sum, and how many they are.
    gathered: (f64, f64),
}

impl Measured {
    /// Takes the value at `x`; the mean of those in every `stride` makes a point.
    fn push(&mut self, x: f64, value: f64, stride: f64, smoothing: f64) {
        if !value.is_finite() {
            return;
        }
        let (sum, count) = (self.gathered.0 + value, self.gathered.1 + 1.0);
        self.gathered = (sum, count);
        let last = self.raw.points().last();
        if last.is_none_or(|[last, _]| x >= last + stride) {
            self.gathered = (0.0, 0.0);
            self.raw.push(x, sum / count);
            let smoothed = self.running.take(sum / count, smoothing);
            self.smooth.push(x, smoothed);
        }
    }

    fn recompute_smooth(&mut self, smoothing: f64) {
        self.smooth = Pyramid::default();
        self.running = RunningMean::default();
        for &[x, value] in self.raw.points() {
            self.smooth.push(x, self.running.take(value, smoothing));
        }
    }
}

/// All curves of a run; `x` is always the step.
#[derive(Clone, Debug, Default)]
pub struct Curves {
    run: Option<JobId>,
    smoothing: f64,
    steps_taken: usize,
    epochs_taken: usize,
    telemetry_taken: usize,
    pub loss: Measured,
    /// Accuracy of each batch, in percent.
    pub accuracy: Measured,
    /// Cross-entropy on the validation set, in nats.
    pub validation_loss: Pyramid,
    /// Accuracy on the validation set, in percent.
    pub validation_accuracy: Pyramid,
    pub learning_rate: Pyramid,
    /// Training images per second.
    pub throughput: Pyramid,
    pub memory: Pyramid,
}

impl Curves {
    /// Adds what is new in the run's history. Another run, or a history that shrank, replaces all
    /// curves. True if they are another run's.
    pub fn sync(&mut self, run: &RunView, smoothing: f64) -> bool {
        let history = &run.history;
        let shrank = self.steps_taken > history.steps.len()
            || self.epochs_taken > history.epochs.len()
            || self.telemetry_taken > history.telemetry.len();
        let is_another = self.run != Some(run.id);
        if is_another || shrank {
            *self = Self::default();
            (self.run, self.smoothing) = (Some(run.id), smoothing);
        }
        if self.smoothing != smoothing {
            self.smoothing = smoothing;
            self.loss.recompute_smooth(smoothing);
            self.accuracy.recompute_smooth(smoothing);
        }
        // A resumed run begins with means of several steps, and its curves would be noisier from there
        // on.
        let stride = match history.steps[..] {
            [first, second, ..] => second.step.saturating_sub(first.step) as f64,
            _ => 1.0,
        };
        for point in history.steps.iter().skip(self.steps_taken) {
            let x = point.step as f64;
            let accuracy = f64::from(point.accuracy) * 100.0;
            self.loss.push(x, f64::from(point.loss), stride, smoothing);
            self.accuracy.push(x, accuracy, stride, smoothing);
            self.learning_rate.push(x, f64::from(point.learning_rate));
        }
        for record in history.epochs.iter().skip(self.epochs_taken) {
            let x = record.step as f64;
            let [loss, accuracy] =
                [record.validation_loss, record.validation_accuracy].map(f64::from);
            self.validation_loss.push(x, loss);
            self.validation_accuracy.push(x, accuracy * 100.0);
        }
        for telemetry in history.telemetry.iter().skip(self.telemetry_taken) {
            let x = telemetry.step as f64;
            let rate = f64::from(telemetry.images_per_second);
            self.throughput.push(x, rate);
            self.memory.push(x, telemetry.memory_bytes as f64 / MIB);
        }
        self.steps_taken = history.steps.len();
        self.epochs_taken = history.epochs.len();
        self.telemetry_taken = history.telemetry.len();
        is_another
    }

    pub fn last_step(&self) -> f64 {
        [&self.loss.raw, &self.validation_loss, &self.throughput]
            .into_iter()
            .filter_map(|curve| curve.points().last())
            .fold(0.0, |last, point| last.max(point[0]))
    }
}

/// The means of neighboring points, about this many, between the first and the last point: a line
/// through more points than it has pixels is a smear.
pub fn averaged(points: &[[f64; 2]], at_most: usize) -> Vec<[f64; 2]> {
    let each = points.len().div_ceil(at_most.max(1));
    if each <= 1 {
        return points.to_vec();
    }
    let mean = |part: &[[f64; 2]]| {
        let sum = |axis: usize| part.iter().map(|point| point[axis]).sum::<f64>();
        [0, 1].map(|axis| sum(axis) / part.len() as f64)
    };
    let ends = [points.first(), points.last()];
    let [first, last] = ends.map(|end| end.copied().into_iter());
    first
        .chain(points.chunks(each).map(mean))
        .chain(last)
        .collect()
}

/// Buckets of one level that make one of the next.
const FACTOR: usize = 4;

/// Points `[x, y]` with ascending `x`.
#[derive(Clone, Debug, Default)]
pub struct Pyramid {
    points: Vec<[f64; 2]>,
    levels: Vec<Vec<Bucket>>,
}

/// The extremes of some neighboring points, in their original order.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    first: [f64; 2],
    second: [f64; 2],
}

impl Bucket {
    fn spanning(buckets: impl Iterator<Item = Self>) -> Option<Self> {
        let mut points = buckets.flat_map(|bucket| [bucket.first, bucket.second]);
        let start = points.next()?;
        let (low, high) = points.fold((start, start), |(low, high), point| {
            (
                if point[1] < low[1] { point } else { low },
                if point[1] > high[1] { point } else { high },
            )
        });
        Some(if low[0] <= high[0] {
            Self {
                first: low,
                second: high,
            }
        } else {
            Self {
                first: high,
                second: low,
            }
        })
    }
}

impl Pyramid {
    pub const fn len(&self) -> usize {
        self.points.len()
    }

    /// True if there are no points.
    pub const fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// All points, in order.
    pub fn points(&self) -> &[[f64; 2]] {
        &self.points
    }

    /// Appends a point; `x` must not be less than the last one's. Values that are not finite are
    /// ignored.
    pub fn push(&mut self, x: f64, y: f64) {
        if !(x.is_finite() && y.is_finite()) {
            return;
        }
        self.points.push([x, y]);
        let mut below = self.points.len();
        for level in 0usize.. {
            if !below.is_multiple_of(FACTOR) {
                return;
            }
            let bucket =
                match level
                    .checked_sub(1)
                    .and_then(|lower| self.levels.get(lower))
                {
                    None => Bucket::spanning(self.points.iter().rev().take(FACTOR).rev().map(
                        |&point| Bucket {
                            first: point,
                            second: point,
                        },
                    )),
                    Some(lower) => Bucket::spanning(lower.iter().rev().take(FACTOR).rev().copied()),
                };
            let Some(bucket) = bucket else { return };
            if self.levels.len() == level {
                self.levels.push(Vec::new());
            }
            let Some(buckets) = self.levels.get_mut(level) else {
                return;
            };
            buckets.push(bucket);
            below = buckets.len();
        }
    }

    /// The points from `from` to `to`, thinned to a few more than `at_most`, with one neighbor on
    /// each side so that lines leave the view where they should.
    pub fn visible(&self, from: f64, to: f64, at_most: usize) -> Vec<[f64; 2]> {
        let start = self
            .points
            .partition_point(|point| point[0] < from)
            .saturating_sub(1);
        let end = (self.points.partition_point(|point| point[0] <= to) + 1).min(self.points.len());
        let Some(range) = self.points.get(start..end) else {
            return Vec::new();
        };
        // Each bucket yields two points.
        let mut width = 1;
        let mut level = 0;
        while range.len() > at_most
            && 2 * range.len() / width > at_most.max(2)
            && level < self.levels.len()
        {
            level += 1;
            width *= FACTOR;
        }
        let Some(buckets) = level
            .checked_sub(1)
            .and_then(|index| self.levels.get(index))
        else {
            return range.to_vec();
        };
        let covered = buckets
            .get(start / width..(end / width).min(buckets.len()))
            .unwrap_or_default();
        let mut thinned: Vec<[f64; 2]> = Vec::with_capacity(2 * covered.len() + width);
        for bucket in covered {
            thinned.push(bucket.first);
            if bucket.second != bucket.first {
                thinned.push(bucket.second);
            }
        }
        // Points after the last complete bucket are thinned by the same rule, in chunks.
        let rest_from = ((start / width + covered.len()) * width).max(start);
        let rest = self.points.get(rest_from..end).unwrap_or_default();
        let keep_every = rest.len().div_ceil(FACTOR * FACTOR).max(1);
        for chunk in rest.chunks(keep_every) {
            if let Some(bucket) = Bucket::spanning(chunk.iter().map(|&point| Bucket {
                first: point,
                second: point,
            })) {
                thinned.push(bucket.first);
                if bucket.second != bucket.first {
                    thinned.push(bucket.second);
                }
            }
        }
        // The newest value always stays.
        if let Some(&last) = range.last()
            && thinned.last() != Some(&last)
        {
            thinned.push(last);
        }
        thinned
    }

    pub fn nearest(&self, x: f64) -> Option<[f64; 2]> {
        let after = self.points.partition_point(|point| point[0] < x);
        let candidates = [after.checked_sub(1), Some(after)];
        candidates
            .into_iter()
            .flatten()
            .filter_map(|index| self.points.get(index).copied())
            .min_by(|a, b| (a[0] - x).abs().total_cmp(&(b[0] - x).abs()))
    }
}
