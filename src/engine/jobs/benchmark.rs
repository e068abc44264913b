//! Owns one benchmark as the engine sees it: figures in a folder, progress all along. Must not know what is measured.

use std::ops::ControlFlow;

use crate::bench::{self, BenchError, Listener, Progress};
use crate::engine::command_queue::{CommandQueue, Order};
use crate::engine::handle::EngineSettings;
use crate::problem::Problem;
use crate::protocol::{Event, Task};
use crate::records::benchmark::{Extent, Row, Side};
use crate::run_config::RunConfig;
use crate::train;

/// Measures this machine.
pub(in crate::engine) fn carry_out(settings: &EngineSettings, queue: &mut CommandQueue<'_>, request: u64, extent: Extent) {
    let mut job = Job { queue, request };
    let event = match bench::measure(extent, &mut job) {
        Ok(Some(report)) => Event::Benchmarked {
            request,
            saved: bench::save(&settings.benchmarks, &report).map_err(Problem::from),
            report: Box::new(report),
        },
        Ok(None) => Event::BenchmarkCancelled(request),
        Err(error) => Event::Failed { what: Task::Benchmark(request), problem: error.into() },
    };
    queue.events.send(event);
}

/// Measures a configuration's steps on several sides.
pub(in crate::engine) fn compare(
    settings: &EngineSettings,
    queue: &mut CommandQueue<'_>,
    request: u64,
    config: &RunConfig,
    sides: &[Side],
) {
    let open = |device| settings.devices.open(device);
    let compared =
        train::check(config).map_err(BenchError::from).and_then(|()| bench::compare(config, sides, &open, &mut Job { queue, request }));
    queue.events.send(match compared {
        Ok(Some(compared)) => {
            Event::Compared { request, failed: compared.failed.into_iter().map(|(side, error)| (side, error.into())).collect() }
        }
        Ok(None) => Event::BenchmarkCancelled(request),
        Err(error) => Event::Failed { what: Task::Benchmark(request), problem: error.into() },
    });
}

/// What the benchmark tells the engine, and asks it.
struct Job<'d, 'a> {
    queue: &'d mut CommandQueue<'a>,
    request: u64,
}

impl Listener for Job<'_, '_> {
    fn report(&mut self, Progress { subject, fraction, remaining_seconds }: Progress) -> ControlFlow<()> {
        let request = self.request;
        self.queue.events.telemetry(|| Event::Benchmarking { request, subject, fraction, remaining_seconds });
        match self.queue.poll() {
            Some(Order::CancelBenchmark(named)) if named == request => ControlFlow::Break(()),
            Some(order) if order.preempts() => {
                self.queue.requeue(order);
                ControlFlow::Break(())
            }
            _ => ControlFlow::Continue(()),
        }
    }

    fn found(&mut self, row: &Row) {
        self.queue.events.send(Event::BenchmarkRow { request: self.request, row: *row });
    }
}
