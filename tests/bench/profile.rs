//! Where the time of a training step goes.

use inkling::bench::{chrome_trace, profile, profile_sections};
use inkling::nn::{DeviceContext, flops, parameter_specs};
use inkling::problem::Problem;
use inkling::profiler::{self, DeviceEvents, EventError, Recording};
use inkling::progress::Cancelled;
use inkling::records::{Profile, Span, SpanKind};
use inkling::run_config::{Augmentation, ModelKind, OptimizerKind, RunConfig};

use super::Until;

fn recorded(config: &RunConfig) -> Profile {
    let (profile, load) = profile(
        config,
        &|_| Ok(DeviceContext::CPU),
        &mut Until {
            figures: 1,
            ..Until::default()
        },
    )
    .unwrap();
    assert!((0.0..=1.0).contains(&load));
    profile
}

fn config(model: ModelKind) -> RunConfig {
    RunConfig {
        model,
        batch_size: 32,
        threads: Some(2),
        ..RunConfig::default()
    }
}

#[test]
fn every_layer_is_met_in_both_passes_and_the_parts_add_up_to_the_step() {
    for model in [
        ModelKind::Speedrun,
        ModelKind::ResNet8,
        ModelKind::Attention,
    ] {
        let found = recorded(&config(model));
        assert!(found.steps > 1, "{model}: {}", found.steps);
        let sum: f64 = SpanKind::OF_STEP
            .iter()
            .map(|&kind| found.seconds_of(kind))
            .sum::<f64>()
            + found.other_seconds();
        assert!(
            (sum / found.step_seconds - 1.0).abs() < 1e-6,
            "{model}: {sum} of {}",
            found.step_seconds
        );
        for kind in [SpanKind::Forward, SpanKind::Backward] {
            for spec in parameter_specs(model, 10) {
                let layer = spec
                    .name
                    .rsplit_once('.')
                    .map_or(spec.name.as_str(), |(layer, _)| layer);
                let row = found
                    .rows
                    .iter()
                    .find(|row| row.kind == kind && row.name == layer);
                assert!(
                    row.is_some_and(|row| row.seconds > 0.0 && row.bytes > 0),
                    "{model}: {kind} of {layer}"
                );
            }
        }
        let counted: u64 = found.rows.iter().map(|row| row.flops).sum();
        assert_eq!(counted, 32 * flops(model).training, "{model}");
        assert!(
            found.rows.iter().any(|row| row.kind == SpanKind::Loading),
            "{model}"
        );
        assert!(found.machine_rate.unwrap() > 1e8);
    }
}

/// A device that is done with the work before each mark after these microseconds.
struct Marks {
    times: Vec<f64>,
    marked: usize,
}

impl DeviceEvents for Marks {
    fn mark(&mut self) -> Result<(), EventError> {
        self.marked += 1;
        Ok(())
    }

    fn read(&self) -> Result<Vec<f64>, EventError> {
        Ok(self.times[..self.marked].to_vec())
    }
}

#[test]
fn a_device_tells_how_long_its_spans_took_and_each_begins_where_the_one_before_ended() {
    let recording = Recording::default();
    recording
        .record_device(
            0,
            Some(Box::new(Marks {
                times: vec![0.0, 10.1, 30.3, 30.3, 99.9],
                marked: 0,
            })),
        )
        .unwrap();
    for (kind, layer) in [
        (SpanKind::Data, ""),
        (SpanKind::Forward, "conv1"),
        (SpanKind::Backward, "conv1"),
    ] {
        assert!(profiler::has_device_events());
        profiler::span(kind, || layer.into(), || (), |()| 4);
    }
    assert!(
        recording.take().0.is_empty(),
        "nobody has asked the device yet"
    );
    profiler::stop();
    assert!(!profiler::is_recording() && !profiler::has_device_events());
    let (spans, worker_spans) = recording.take();
    assert!(worker_spans.is_empty(), "the device worked, not the CPU");
    let found: Vec<_> = spans
        .iter()
        .map(|span| {
            (
                span.kind,
                span.name.as_str(),
                (10.0 * span.length).round(),
                span.bytes,
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            (SpanKind::Data, "", 101.0, 4),
            (SpanKind::Forward, "conv1", 202.0, 4),
            (SpanKind::Backward, "conv1", 0.0, 4)
        ]
    );
    for pair in spans.windows(2) {
        assert_eq!(pair[0].end(), pair[1].start, "to the last bit");
    }
}

#[test]
fn spans_of_the_training_thread_follow_each_other_within_their_steps() {
    let found = recorded(&RunConfig {
        augmentation: Augmentation::Gentle,
        optimizer: OptimizerKind::Sgd,
        ..config(ModelKind::Tiny)
    });
    let training: Vec<_> = found.spans.iter().filter(|span| span.thread == 0).collect();
    for pair in training.windows(2) {
        assert!(pair[0].end() <= pair[1].start, "{pair:?}");
    }
    for [start, end] in &found.steps_at {
        let of_step: Vec<_> = training
            .iter()
            .filter(|span| (*start..*end).contains(&span.start))
            .collect();
        assert_eq!(of_step.first().unwrap().kind, SpanKind::Data);
        assert_eq!(of_step.last().unwrap().kind, SpanKind::Optimizer);
        assert_eq!(
            of_step
                .iter()
                .filter(|span| span.kind == SpanKind::Loss)
                .count(),
            1
        );
    }
    assert!(!profiler::is_recording(), "it is over");
    let sections = profile_sections(&found);
    assert_eq!(sections[0].lines.len(), SpanKind::OF_STEP.len() + 1);
    assert!(
        found.summary().starts_with("A step of 32 images takes "),
        "{}",
        found.summary()
    );
}

/// A worker thread takes part in a span of the training thread, and only once in each.
#[test]
fn the_threads_of_the_cpu_tell_what_they_worked_on() {
    let found = recorded(&RunConfig {
        batch_size: 128,
        ..config(ModelKind::ResNet8)
    });
    assert_eq!(found.worker_threads(), 2);
    for span in found.spans.iter().filter(|span| span.thread == 0) {
        let within = |worker: &&Span| worker.start >= span.start && worker.start < span.end();
        let workers: Vec<_> = found.worker_spans.iter().filter(within).collect();
        assert!(
            workers.iter().all(
                |worker| (worker.kind, &worker.name) == (span.kind, &span.name)
                    && worker.end() <= span.end()
            ),
            "{span:?}"
        );
        let mut threads: Vec<u32> = workers.iter().map(|worker| worker.thread).collect();
        threads.sort_unstable();
        assert!(
            threads.windows(2).all(|pair| pair[0] < pair[1]),
            "{span:?}: {threads:?}"
        );
    }
    for row in &found.rows {
        let waits = matches!(row.kind, SpanKind::Data | SpanKind::Loading);
        assert_eq!(row.threads.is_none(), waits, "{row:?}");
        assert!(
            row.threads
                .is_none_or(|threads| (1.0 - 1e-6..2.0 + 1e-6).contains(&threads)),
            "{row:?}"
        );
    }
    let parallel = found
        .rows
        .iter()
        .find(|row| row.kind == SpanKind::Forward && row.name == "layer1.0.conv1")
        .unwrap();
    assert!(parallel.threads.unwrap() > 1.0, "{parallel:?}");

    let alone = recorded(&RunConfig {
        threads: Some(1),
        ..config(ModelKind::Tiny)
    });
    assert_eq!(alone.worker_threads(), 1);
    for threads in alone.rows.iter().filter_map(|row| row.threads) {
        assert!((threads - 1.0).abs() < 1e-6, "{threads}");
    }
}

/// Events are complete, have the types that the format asks for, and lie within those that enclose
/// them.
#[test]
fn the_trace_is_in_chromes_format() {
    let found = recorded(&config(ModelKind::LeNet));
    let trace: serde_json::Value = serde_json::from_str(&chrome_trace(&found)).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let complete: Vec<_> = events.iter().filter(|event| event["ph"] == "X").collect();
    assert!(
        events
            .iter()
            .all(|event| event["ph"] == "X"
                || (event["ph"] == "M" && event["name"] == "thread_name"))
    );
    let span = |event: &serde_json::Value| {
        let start = event["ts"].as_f64().unwrap();
        [start, start + event["dur"].as_f64().unwrap()]
    };
    for event in &complete {
        assert!(
            event["name"].is_string()
                && event["cat"].is_string()
                && event["pid"].is_u64()
                && event["tid"].is_u64(),
            "{event}"
        );
        assert!(event["dur"].as_f64().unwrap() >= 0.0);
    }
    let enclosed = |inner: &str, outer: &str| {
        for event in complete.iter().filter(|event| event["cat"] == inner) {
            let [start, end] = span(event);
            let around = complete
                .iter()
                .filter(|event| event["cat"] == outer)
                .map(|event| span(event));
            assert!(
                around
                    .into_iter()
                    .any(|[from, to]| from <= start + 1e-6 && end <= to + 1e-6),
                "{event} is in no {outer}"
            );
        }
    };
    enclosed("pass", "step");
    enclosed("forward", "pass");
    enclosed("backward", "pass");
    enclosed("optimizer", "pass");
    assert_eq!(
        complete
            .iter()
            .filter(|event| event["cat"] == "step")
            .count(),
        found.steps as usize
    );
    assert!(
        complete
            .iter()
            .any(|event| event["tid"] == 1 && event["cat"] == "loading")
    );
    let names: Vec<_> = events
        .iter()
        .filter(|event| event["ph"] == "M")
        .map(|event| event["args"]["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "training",
            "preparing batches",
            "CPU thread 1",
            "CPU thread 2"
        ]
    );
    for tid in [2, 3] {
        assert!(
            complete.iter().any(|event| event["tid"] == tid
                && event["name"] == "conv1"
                && event["cat"] == "backward"),
            "{tid}"
        );
    }
}

#[test]
fn it_can_be_cancelled() {
    let cancelled = profile(
        &config(ModelKind::Tiny),
        &|_| Ok(DeviceContext::CPU),
        &mut Until::default(),
    );
    assert_eq!(cancelled.err(), Some(Problem::from(Cancelled)));
    assert!(!profiler::is_recording());
}
