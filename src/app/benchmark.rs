//! Owns what the window knows of this machine's speed: the benchmark under way and the last one that was kept.
//! Must not measure: the engine does.

use super::state::App;
use crate::bench::{Extent, Report, Row, Saved, Subject};
use crate::problem::Problem;
use crate::protocol::Command;

/// What is known of this machine's speed.
#[derive(Clone, Debug, Default)]
pub struct BenchmarkView {
    /// The benchmark under way.
    pub under_way: Option<BenchmarkUnderWay>,
    /// The newest report and, where it could be written, its files.
    pub last: Option<(Report, Option<Saved>)>,
}

/// A benchmark under way.
#[derive(Clone, Debug)]
pub struct BenchmarkUnderWay {
    pub(super) request: u64,
    /// What is being measured, once that is known.
    pub subject: Option<Subject>,
    /// From 0 to 1.
    pub fraction: f32,
    /// Seconds until it is done.
    pub remaining_seconds: f32,
    /// The figures found so far.
    pub rows: Vec<Row>,
    /// True once it was asked to end.
    pub stopping: bool,
}

impl BenchmarkView {
    /// The benchmark with this number, while it is under way.
    pub(super) fn current(&mut self, request: u64) -> Option<&mut BenchmarkUnderWay> {
        self.under_way.as_mut().filter(|under_way| under_way.request == request)
    }

    /// True when it was the one under way.
    pub(super) fn ended(&mut self, request: u64) -> bool {
        let ours = self.current(request).is_some();
        if ours {
            self.under_way = None;
        }
        ours
    }
}

impl App {
    pub(super) fn benchmark(&mut self, extent: Extent) {
        if self.is_training() {
            self.complain(&Problem::Busy);
            return;
        }
        if self.benchmark.under_way.is_some() {
            return;
        }
        let request = self.next_id();
        self.benchmark.under_way =
            Some(BenchmarkUnderWay { request, subject: None, fraction: 0.0, remaining_seconds: 0.0, rows: Vec::new(), stopping: false });
        if !self.ask(Command::Benchmark { request, extent }) {
            self.engine_is_gone();
        }
    }

    pub(super) fn cancel_benchmark(&mut self) {
        if let Some(under_way) = &mut self.benchmark.under_way {
            under_way.stopping = true;
            let request = under_way.request;
            self.ask(Command::CancelBenchmark(request));
        }
    }
}
