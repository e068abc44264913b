//! Owns one benchmark as the engine sees it: figures in a folder, progress all along. Must not know what is measured.

use std::ops::ControlFlow;

use super::desk::{Desk, Order};
use super::handle::EngineSettings;
use crate::bench::{self, Extent, Listener, Progress, Row};
use crate::protocol::{Event, Task};

/// Measures this machine.
pub(super) fn carry_out(settings: &EngineSettings, desk: &mut Desk<'_>, request: u64, extent: Extent) {
    let mut job = Job { desk, request };
    let event = match bench::measure(extent, &mut job) {
        Ok(Some(report)) => Event::Benchmarked { request, saved: bench::save(&settings.benchmarks, &report), report: Box::new(report) },
        Ok(None) => Event::BenchmarkCancelled(request),
        Err(problem) => Event::Failed { what: Task::Benchmark(request), problem },
    };
    desk.events.send(event);
}

/// What the benchmark tells the engine, and asks it.
struct Job<'d, 'a> {
    desk: &'d mut Desk<'a>,
    request: u64,
}

impl Listener for Job<'_, '_> {
    fn attend(&mut self, Progress { subject, fraction, remaining_seconds }: Progress) -> ControlFlow<()> {
        let request = self.request;
        self.desk.events.telemetry(|| Event::Benchmarking { request, subject, fraction, remaining_seconds });
        match self.desk.poll() {
            Some(Order::CancelBenchmark(named)) if named == request => ControlFlow::Break(()),
            // What the person asked for last goes first.
            Some(order @ (Order::Start { .. } | Order::Evaluate { .. } | Order::Benchmark { .. } | Order::Shutdown)) => {
                self.desk.put_back(order);
                ControlFlow::Break(())
            }
            _ => ControlFlow::Continue(()),
        }
    }

    fn found(&mut self, row: &Row) {
        self.desk.events.send(Event::BenchmarkRow { request: self.request, row: *row });
    }
}
