//! Owns what the window knows of this machine's speed: the benchmark under way and the last one that was kept.
//! Must not measure: the engine does.

use super::state::App;
use crate::bench::{Extent, Report, Row, Saved, Subject};
use crate::problem::Problem;
use crate::protocol::Command;
use crate::run_config::RunConfig;

/// What is known of this machine's speed.
#[derive(Clone, Debug, Default)]
pub struct BenchmarkView {
    /// The benchmark under way.
    pub under_way: Option<BenchmarkUnderWay>,
    /// The newest report and, where it could be written, its files.
    pub last: Option<(Report, Option<Saved>)>,
    /// How fast each batch size is with the settings it was compared for.
    pub batch_sizes: Option<BatchSizes>,
}

/// Batch sizes, compared.
#[derive(Clone, Debug, PartialEq)]
pub struct BatchSizes {
    /// The settings, with the batch size there was.
    pub config: RunConfig,
    /// A figure for each size.
    pub rows: Vec<Row>,
}

impl BatchSizes {
    /// True where the figures hold for these settings as well.
    pub fn hold_for(&self, config: &RunConfig) -> bool {
        let key = |config: &RunConfig| {
            (config.model, config.precision, config.threads, config.device, config.optimizer, config.augmentation, config.activation)
        };
        key(&self.config) == key(config)
    }
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
    /// Whose batch sizes are compared, where it is that.
    pub comparing: Option<RunConfig>,
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
        self.measure(None, |request| Command::Benchmark { request, extent });
    }

    pub(super) fn compare_batch_sizes(&mut self) {
        let config = self.config.clone();
        self.measure(Some(config.clone()), |request| Command::CompareBatchSizes { request, config });
    }

    fn measure(&mut self, comparing: Option<RunConfig>, command: impl FnOnce(u64) -> Command) {
        if self.is_training() {
            self.complain(&Problem::Busy);
            return;
        }
        if self.benchmark.under_way.is_some() {
            return;
        }
        let request = self.next_id();
        let (fraction, remaining_seconds) = (0.0, 0.0);
        self.benchmark.under_way =
            Some(BenchmarkUnderWay { request, subject: None, fraction, remaining_seconds, rows: Vec::new(), stopping: false, comparing });
        if !self.ask(command(request)) {
            self.engine_is_gone();
        }
    }

    pub(super) fn batch_sizes_compared(&mut self, request: u64) {
        if let Some(under_way) = self.benchmark.under_way.take_if(|under_way| under_way.request == request)
            && let Some(config) = under_way.comparing
        {
            self.benchmark.batch_sizes = Some(BatchSizes { config, rows: under_way.rows });
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
