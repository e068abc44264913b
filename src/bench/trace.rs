//! A profile in Chrome's trace event format, which Perfetto and `chrome://tracing` open: complete
//! events (`ph` = `X`) with times in microseconds.
//! <https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU>

use serde::Serialize;

use crate::records::{Profile, Span, SpanKind};

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
        // Where there is no layer, the pass is the span.
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
