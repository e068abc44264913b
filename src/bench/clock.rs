//! Owns the time of a benchmark: how much each part of it gets, how far it is, and whether to go on.
//! Must not know what is measured.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use super::BenchError;
use crate::records::benchmark::{Extent, Row, Subject};

/// How far a benchmark is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// What is being measured.
    pub subject: Subject,
    /// From 0 to 1.
    pub fraction: f32,
    /// Seconds until it is done.
    pub remaining_seconds: f32,
}

/// Whoever waits for a benchmark.
pub trait Listener: Send {
    /// Called often. `Break` ends the benchmark.
    fn attend(&mut self, progress: Progress) -> ControlFlow<()>;

    /// A figure was found.
    fn found(&mut self, row: &Row);
}

/// Why a benchmark ended early.
#[derive(Debug)]
pub(super) enum Ended {
    /// The listener had enough.
    BrokenOff,
    /// Something went wrong.
    Failed(BenchError),
}

impl<P: Into<BenchError>> From<P> for Ended {
    fn from(problem: P) -> Self {
        Self::Failed(problem.into())
    }
}

/// The plan of a benchmark, and the time on it.
pub(super) struct Clock<'a> {
    listener: &'a mut dyn Listener,
    began: Instant,
    /// What share of a full benchmark's time everything gets.
    scale: f64,
    /// Seconds planned in all, for the parts that are over, and for the current one.
    total: f64,
    past: f64,
    part: f64,
    subject: Subject,
    part_began: Instant,
}

impl<'a> Clock<'a> {
    /// `full_seconds` is what the parts of a full benchmark add up to.
    pub fn start(extent: Extent, full_seconds: f64, listener: &'a mut dyn Listener) -> Self {
        let now = Instant::now();
        let scale = match extent {
            Extent::Full => 1.0,
            Extent::Quick => 0.2,
        };
        let total = full_seconds * scale;
        Self { listener, began: now, scale, total, past: 0.0, part: 0.0, subject: Subject::Products, part_began: now }
    }

    /// Begins a part that gets so many seconds of a full benchmark; gives how long that is now.
    pub fn part(&mut self, subject: Subject, full_seconds: f64) -> Result<Duration, Ended> {
        self.past += self.part;
        self.part = full_seconds * self.scale;
        (self.subject, self.part_began) = (subject, Instant::now());
        self.attend()?;
        Ok(Duration::from_secs_f64(self.part))
    }

    /// Seconds since the start.
    pub fn seconds(&self) -> f64 {
        self.began.elapsed().as_secs_f64()
    }

    /// Reports, and asks whether to go on.
    pub fn attend(&mut self) -> Result<(), Ended> {
        // A part that takes longer than planned waits at its end, as everything planned after it is still to come.
        let done = self.past + self.part_began.elapsed().as_secs_f64().min(self.part);
        let progress = Progress {
            subject: self.subject,
            fraction: (done / self.total.max(1e-9)).min(1.0) as f32,
            remaining_seconds: (self.total - done).max(0.0) as f32,
        };
        if self.listener.attend(progress).is_break() { Err(Ended::BrokenOff) } else { Ok(()) }
    }

    /// Passes a figure on.
    pub fn found(&mut self, row: &Row) {
        self.listener.found(row);
    }
}
