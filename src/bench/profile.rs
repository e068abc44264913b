//! Where the time of a training step goes: the real training loop, recorded layer by layer.
//!
//! It can be exported in Chrome's trace event format, which Perfetto and `chrome://tracing` open:
//! complete events (`ph` = `X`) with times in microseconds.
//! <https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU>

use std::time::{Duration, Instant};

use candle_core::Device;
use serde::Serialize;

use super::budget::{BenchBudget, Listener};
use super::comparisons::{Open, step_config_of};
use super::{digits, workloads};
use crate::device::events_of;
use crate::math::statistics::median;
use crate::nn::backend::cpu::LargeProduct;
use crate::nn::{BackendKind, Net, layer_flops};
use crate::problem::Problem;
use crate::profiler::{self, Recording};
use crate::records::benchmark::{Effort, StepConfig, Workload};
use crate::records::{
    Calibration, EpochRecord, Profile, ProfileRow, Span, SpanKind, StepPoint, Telemetry,
};
use crate::run_config::{DeviceChoice, Network, Precision, RunConfig};
use crate::train::{self, EndRequest, RunObserver, RunStart};

/// How long is recorded, and what is enough sooner.
const SECONDS: f64 = 3.0;
const ENOUGH: usize = 200;
/// Steps that are recorded however long they take.
const AT_LEAST: usize = 3;
/// Steps before that do not count: memory is allocated, threads wake up.
const WARM_UP: usize = 3;
/// Large products whose median is the machine's rate.
const PRODUCTS: usize = 7;

/// Records some steps of these settings on their device, with the built-in digits; and the fraction
/// of the CPU that other programs used meanwhile, 0 to 1. Nothing is kept of what is learned.
pub fn profile(
    config: &RunConfig,
    open: Open<'_>,
    listener: &mut dyn Listener,
) -> Result<(Profile, f32), Problem> {
    let mut budget = BenchBudget::start(Effort::Full, SECONDS, listener);
    let data = digits(&mut budget)?;
    let step_config = step_config_of(config);
    let context = open(step_config.device)?;
    budget.start_part(Workload::Steps(config.model), SECONDS)?;
    let config = RunConfig {
        epochs: 1000,
        // So that no network diverges, whatever its schedule is.
        learning_rate: 1e-5,
        accumulation: 1,
        early_stopping: None,
        repeats: 1,
        ..config.clone()
    };
    let mut recorder = Recorder {
        budget: &mut budget,
        device: context.device.clone(),
        recording: Recording::default(),
        end: None,
        steps: 0,
        epochs: Vec::new(),
        product: (context.backend.kind() == BackendKind::Cpu)
            .then(|| LargeProduct::new(workloads::USUAL_SIZE, Precision::F32)),
        machine_rate: None,
        stopped: None,
    };
    let validated = train::validate(&config, &data.train, &data.classes, &context, &mut recorder);
    let Recorder {
        recording,
        epochs,
        machine_rate,
        stopped,
        ..
    } = recorder;
    if let Some(error) = stopped {
        return Err(error);
    }
    validated?;
    let (spans, worker_spans) = recording.take();
    Ok((
        summarize(
            spans,
            worker_spans,
            &epochs,
            step_config,
            config.network(),
            machine_rate,
        ),
        budget.background_load(),
    ))
}

struct Recorder<'a, 'b> {
    budget: &'a mut BenchBudget<'b>,
    device: Device,
    recording: Recording,
    /// When it has lasted long enough; known after the warm-up.
    end: Option<Instant>,
    /// Steps so far, including the warm-up.
    steps: usize,
    /// When epochs ended, in microseconds: the step after that began with a validation.
    epochs: Vec<f64>,
    product: Option<LargeProduct>,
    machine_rate: Option<f64>,
    stopped: Option<Problem>,
}

impl Recorder<'_, '_> {
    /// Forgets what was recorded, and records this thread, or what it has the device do, from here
    /// on.
    fn begin(&mut self) {
        profiler::stop();
        self.recording.take();
        let begun = events_of(&self.device).and_then(|events| {
            self.recording
                .record_device(0, events)
                .map_err(candle_core::Error::msg)
        });
        self.stopped = self.stopped.take().or(begun.err().map(Problem::from));
    }
}

impl RunObserver for Recorder<'_, '_> {
    fn prepare(&mut self, _: &RunStart<'_>) {
        // On the threads of the run.
        if let Some(product) = &mut self.product {
            let mut timed = || {
                let start = Instant::now();
                product.run();
                start.elapsed().as_secs_f64()
            };
            timed();
            let seconds: Vec<f64> = (0..PRODUCTS).map(|_| timed()).collect();
            self.machine_rate =
                Some(LargeProduct::flops(workloads::USUAL_SIZE) as f64 / median(&seconds));
        }
        self.begin();
    }

    fn on_micro_batch(&mut self, _net: &Net) -> Result<(), EndRequest> {
        if let Err(error) = self.budget.report() {
            self.stopped = Some(error);
        }
        let recorded = self.steps.saturating_sub(WARM_UP);
        let is_long_enough =
            recorded >= AT_LEAST && self.end.is_some_and(|end| Instant::now() >= end);
        if self.stopped.is_some() || is_long_enough || recorded > ENOUGH {
            profiler::stop();
            return Err(EndRequest::Interrupt);
        }
        Ok(())
    }

    fn step(&mut self, _point: StepPoint, _now: Telemetry) {
        self.steps += 1;
        if self.steps == WARM_UP {
            self.begin();
            self.end = Some(Instant::now() + Duration::from_secs_f64(SECONDS));
        }
    }

    fn epoch(&mut self, _record: &EpochRecord, _net: &Net, _calibration: Calibration) {
        self.epochs.push(self.recording.now());
    }
}

/// What these spans say of the steps between two updates of the weights, but for those with the end
/// of an epoch in between.
fn summarize(
    mut spans: Vec<Span>,
    mut worker_spans: Vec<Span>,
    epochs: &[f64],
    step_config: StepConfig,
    network: Network,
    machine_rate: Option<f64>,
) -> Profile {
    spans.sort_by(|a, b| a.start.total_cmp(&b.start));
    let updates: Vec<f64> = spans
        .iter()
        .filter(|span| span.kind == SpanKind::Optimizer)
        .map(Span::end)
        .collect();
    let whole = |pair: &[f64]| match *pair {
        [start, end] if !epochs.iter().any(|epoch| (start..end).contains(epoch)) => {
            Some([start, end])
        }
        _ => None,
    };
    let steps: Vec<[f64; 2]> = updates.windows(2).filter_map(whole).collect();
    let is_within = |span: &Span| {
        steps
            .iter()
            .any(|[start, end]| span.start >= *start && span.end() <= *end)
    };
    spans.retain(is_within);
    worker_spans.retain(is_within);
    worker_spans.sort_by(|a, b| a.start.total_cmp(&b.start));
    let count = steps.len().max(1) as f64;
    let mut rows: Vec<ProfileRow> = Vec::new();
    for span in &spans {
        let working = (step_config.device == DeviceChoice::Cpu
            && !matches!(span.kind, SpanKind::Data | SpanKind::Loading))
        .then(|| thread_seconds(span, &worker_spans) / count);
        let found = rows
            .iter()
            .position(|row| (row.kind, &row.name) == (span.kind, &span.name));
        let index = found.unwrap_or(rows.len());
        if found.is_none() {
            rows.push(ProfileRow {
                kind: span.kind,
                name: span.name.clone(),
                seconds: 0.0,
                bytes: 0,
                flops: 0,
                threads: None,
            });
        }
        if let Some(row) = rows.get_mut(index) {
            row.seconds += span.length / 1e6 / count;
            row.bytes += span.bytes;
            row.threads = working.map(|seconds| row.threads.unwrap_or_default() + seconds);
        }
    }
    let flops = layer_flops(network);
    for row in &mut rows {
        row.bytes = (row.bytes as f64 / count) as u64;
        row.threads = row
            .threads
            .map(|seconds| seconds / row.seconds)
            .filter(|threads| threads.is_finite());
        let of_layer = flops.iter().filter(|(name, _)| *name == row.name);
        row.flops = of_layer
            .map(|(_, flops)| match row.kind {
                SpanKind::Forward => flops.forward,
                SpanKind::Backward => flops.training - flops.forward,
                _ => 0,
            })
            .sum::<u64>()
            * u64::from(step_config.batch_size);
    }
    rows.sort_by_key(|row| row.kind);
    Profile {
        step_config,
        steps: steps.len() as u32,
        step_seconds: steps.iter().map(|[start, end]| end - start).sum::<f64>() / 1e6 / count,
        rows,
        machine_rate,
        spans,
        worker_spans,
        steps_at: steps,
    }
}

/// How long threads worked in this span, in seconds, all together: these worker threads, which are
/// sorted, and one alone between their tasks.
fn thread_seconds(span: &Span, worker_spans: &[Span]) -> f64 {
    let first = worker_spans.partition_point(|worker| worker.start < span.start);
    let (mut working, mut covered, mut until) = (0.0, 0.0, span.start);
    for worker in worker_spans
        .iter()
        .skip(first)
        .take_while(|worker| worker.start < span.end())
    {
        working += worker.length;
        covered += (worker.end() - worker.start.max(until)).max(0.0);
        until = until.max(worker.end());
    }
    (working + (span.length - covered).max(0.0)) / 1e6
}

/// The process that all events belong to.
const PROCESS: u32 = 1;
/// The first worker thread, after the one that trains and the one that prepares batches.
const FIRST_WORKER: u32 = 2;

#[derive(Serialize)]
struct Trace {
    #[serde(rename = "traceEvents")]
    events: Vec<Event>,
    #[serde(rename = "displayTimeUnit")]
    unit: &'static str,
}

#[derive(Serialize)]
struct Event {
    name: String,
    cat: &'static str,
    ph: &'static str,
    ts: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    dur: Option<f64>,
    pid: u32,
    tid: u32,
    args: Arguments,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Arguments {
    Name { name: String },
    Bytes { bytes: u64 },
    None {},
}

/// The profile as such a file: steps, the passes within them, and the layers within those.
pub fn chrome_trace(profile: &Profile) -> String {
    let thread_name = |tid, name: String| Event {
        name: "thread_name".to_owned(),
        cat: "__metadata",
        ph: "M",
        ts: 0.0,
        dur: None,
        pid: PROCESS,
        tid,
        args: Arguments::Name { name },
    };
    let mut events = vec![
        thread_name(0, "training".to_owned()),
        thread_name(1, "preparing batches".to_owned()),
    ];
    events
        .extend((0..profile.worker_threads()).map(|worker| {
            thread_name(FIRST_WORKER + worker, format!("CPU thread {}", worker + 1))
        }));
    for (index, [start, end]) in profile.steps_at.iter().enumerate() {
        events.push(complete(
            format!("step {}", index + 1),
            "step",
            0,
            [*start, *end],
            Arguments::None {},
        ));
    }
    for [first, last] in profile.passes() {
        events.push(complete(
            first.kind.label().to_owned(),
            "pass",
            0,
            [first.start, last.end()],
            Arguments::None {},
        ));
    }
    for span in &profile.spans {
        // If there is no layer, the pass is the span.
        if !(span.name.is_empty() && span.thread == 0) {
            events.push(complete(
                span.label().to_owned(),
                category(span),
                span.thread,
                [span.start, span.end()],
                Arguments::Bytes { bytes: span.bytes },
            ));
        }
    }
    for span in &profile.worker_spans {
        events.push(complete(
            span.label().to_owned(),
            category(span),
            FIRST_WORKER + span.thread,
            [span.start, span.end()],
            Arguments::None {},
        ));
    }
    // Numbers and strings alone: this cannot fail.
    serde_json::to_string(&Trace { events, unit: "ms" }).unwrap_or_default()
}

fn complete(
    name: String,
    cat: &'static str,
    tid: u32,
    [start, end]: [f64; 2],
    args: Arguments,
) -> Event {
    Event {
        name,
        cat,
        ph: "X",
        ts: start,
        dur: Some(end - start),
        pid: PROCESS,
        tid,
        args,
    }
}

const fn category(span: &Span) -> &'static str {
    match span.kind {
        SpanKind::Data => "data",
        SpanKind::Loading => "loading",
        SpanKind::Forward => "forward",
        SpanKind::Loss => "loss",
        SpanKind::Backward => "backward",
        SpanKind::Optimizer => "optimizer",
    }
}
