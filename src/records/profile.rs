//! Where the time of a training step goes.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::benchmark::StepConfig;
use crate::text::format::{count, grouped, milliseconds, percent};

/// The activity in a span of time.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum SpanKind {
    /// Waiting for the next batch.
    Data,
    /// Preparing batches, on a separate thread.
    Loading,
    /// Computing a layer's output.
    Forward,
    /// Computing the loss.
    Loss,
    /// Computing the gradients of a layer.
    Backward,
    /// Updating the weights.
    Optimizer,
}

impl SpanKind {
    /// All that happen on the thread that trains, in the order of a step.
    pub const OF_STEP: [Self; 5] = [
        Self::Data,
        Self::Forward,
        Self::Loss,
        Self::Backward,
        Self::Optimizer,
    ];

    /// Its name.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Data => "Waiting for data",
            Self::Loading => "Preparing batches",
            Self::Forward => "Forward pass",
            Self::Loss => "Loss",
            Self::Backward => "Backward pass",
            Self::Optimizer => "Optimizer",
        }
    }
}

impl fmt::Display for SpanKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.label())
    }
}

/// A span of time on one thread.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Span {
    pub kind: SpanKind,
    /// With which layer: `conv1`; empty if it is about none.
    pub name: String,
    /// The thread: 0 trains, 1 prepares batches. Worker threads are counted from 0.
    pub thread: u32,
    /// When it began, in microseconds since the profile did.
    pub start: f64,
    /// How long it took, in microseconds.
    pub length: f64,
    /// Bytes of the inputs, outputs and weights that it read and wrote at least; 0 if they were
    /// not counted.
    pub bytes: u64,
}

impl Span {
    /// Its name: the layer, or what is done if it is about none.
    pub fn label(&self) -> &str {
        if self.name.is_empty() {
            self.kind.label()
        } else {
            &self.name
        }
    }

    /// When it ended, in microseconds.
    pub fn end(&self) -> f64 {
        self.start + self.length
    }
}

/// All spans of one kind with one layer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProfileRow {
    pub kind: SpanKind,
    /// With which layer; empty if it is about none.
    pub name: String,
    /// Seconds in a step, on average.
    pub seconds: f64,
    /// Bytes read and written in a step at least; 0 if they were not counted.
    pub bytes: u64,
    /// Nominal floating-point operations in a step; 0 if none are counted.
    pub flops: u64,
    /// How many of the CPU's threads worked on it at the same time, on average; none if the CPU
    /// only waits.
    pub threads: Option<f64>,
}

/// Where the time of some training steps went.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// On what they were computed.
    pub step_config: StepConfig,
    /// Steps that were recorded.
    pub steps: u32,
    /// Seconds of a step, on average.
    pub step_seconds: f64,
    /// Where it went, in the order in which it was first met.
    pub rows: Vec<ProfileRow>,
    /// Floating-point operations per second of large matrix multiplications on this machine, if
    /// that was measured.
    pub machine_rate: Option<f64>,
    /// Everything that was recorded.
    pub spans: Vec<Span>,
    /// When each worker thread of the CPU took part in a span of the thread that trains, which is a
    /// worker thread as well.
    pub worker_spans: Vec<Span>,
    /// When each of these steps began and ended, in microseconds since the profile did.
    pub steps_at: Vec<[f64; 2]>,
}

impl Profile {
    /// Seconds of a step in spans of this kind.
    pub fn seconds_of(&self, kind: SpanKind) -> f64 {
        self.rows
            .iter()
            .filter(|row| row.kind == kind)
            .map(|row| row.seconds)
            .sum()
    }

    /// How many of the CPU's threads worked at the same time in spans of this kind, on average.
    pub fn threads_of(&self, kind: SpanKind) -> Option<f64> {
        let weighted = self
            .rows
            .iter()
            .filter(|row| row.kind == kind)
            .map(|row| Some(row.threads? * row.seconds));
        Some(weighted.sum::<Option<f64>>()? / self.seconds_of(kind))
            .filter(|threads| threads.is_finite())
    }

    /// Seconds of a step that no span covers: between layers, and in telling the window how the run
    /// is doing.
    pub fn other_seconds(&self) -> f64 {
        let covered: f64 = SpanKind::OF_STEP
            .iter()
            .map(|&kind| self.seconds_of(kind))
            .sum();
        (self.step_seconds - covered).max(0.0)
    }

    /// The first and the last of the spans of the training thread that follow each other and are of
    /// the same kind.
    pub fn passes(&self) -> Vec<[&Span; 2]> {
        let mut passes: Vec<[&Span; 2]> = Vec::new();
        for span in self.spans.iter().filter(|span| span.thread == 0) {
            match passes
                .last_mut()
                .filter(|[first, _]| first.kind == span.kind)
            {
                Some([_, last]) => *last = span,
                None => passes.push([span, span]),
            }
        }
        passes
    }

    /// Worker threads that took part.
    pub fn worker_threads(&self) -> u32 {
        self.worker_spans
            .iter()
            .map(|span| span.thread + 1)
            .max()
            .unwrap_or_default()
    }

    /// Training images per second.
    pub fn images_per_second(&self) -> f64 {
        f64::from(self.step_config.batch_size) / self.step_seconds.max(f64::MIN_POSITIVE)
    }

    /// The fraction of the machine's matrix-product rate that a row reaches.
    pub fn efficiency(&self, row: &ProfileRow) -> Option<f64> {
        let rate = self.machine_rate?;
        (row.flops > 0 && row.seconds > 0.0).then(|| row.flops as f64 / row.seconds / rate)
    }

    /// In a sentence: "A step of 128 images takes 13.2 ms (9,700 images/s): forward pass 31%,
    /// backward pass 60%, …"
    pub fn summary(&self) -> String {
        let share = |seconds: f64| percent(seconds / self.step_seconds.max(f64::MIN_POSITIVE), 0);
        let mut parts: Vec<(&str, f64)> = SpanKind::OF_STEP
            .iter()
            .map(|kind| (kind.label(), self.seconds_of(*kind)))
            .collect();
        parts.push(("Other", self.other_seconds()));
        let parts: Vec<String> = parts
            .into_iter()
            .map(|(label, seconds)| format!("{} {}", label.to_lowercase(), share(seconds)))
            .collect();
        format!(
            "A step of {} takes {} ({} images/s): {}.",
            count(self.step_config.batch_size.into(), "image"),
            milliseconds((self.step_seconds * 1e6) as f32),
            grouped(self.images_per_second().round() as u64),
            parts.join(", ")
        )
    }
}
