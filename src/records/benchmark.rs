//! A benchmark: what is measured, with what, and the figures found.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::run_config::{Augmentation, DeviceChoice, ModelKind, OptimizerKind, Precision};

/// The version written into stored reports; newer ones are refused.
pub const VERSION: u32 = 1;

/// The batch sizes that are compared.
pub const BATCH_SIZES: [u32; 6] = [32, 64, 128, 256, 512, 1024];

/// If other programs use more than this fraction of the CPU, what is measured is not reliable.
pub const BUSY: f32 = 0.1;

/// How thorough a benchmark is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Effort {
    /// Less than a minute.
    #[default]
    Full,
    /// At most a quarter of that, with noisier figures.
    Quick,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Workload {
    /// Large matrix multiplications.
    Products,
    /// Copying memory.
    Memory,
    /// The training steps of a model.
    Steps(ModelKind),
    /// The data pipeline: augmenting images and gathering batches.
    Pipeline,
    /// Optimizer updates.
    Updates,
    /// Recognizing digits.
    #[serde(rename = "reading")]
    Inference,
    /// The training steps of a network in plain candle.
    PlainCandle,
}

/// The benchmark of a machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BenchmarkReport {
    /// Version of this structure.
    pub version: u32,
    /// When it was measured, RFC 3339 in UTC.
    pub measured_at: String,
    /// The version of Inkling that measured.
    pub program: String,
    pub machine: BenchmarkedMachine,
    /// How thorough it was.
    #[serde(rename = "extent")]
    pub effort: Effort,
    /// How long all of it took.
    pub seconds: f64,
    /// The fraction of the CPU that other programs used meanwhile, 0 to 1.
    pub background_load: f32,
    /// The workloads that were measured while they used more than [`BUSY`] of it: these figures are
    /// unreliable.
    pub disturbed: Vec<Workload>,
    /// The figures, in the order they were measured.
    pub rows: Vec<Measurement>,
}

/// The machine that was measured.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BenchmarkedMachine {
    /// The system and its version.
    pub system: String,
    /// The CPU's model name.
    pub processor: String,
    /// The SIMD instruction sets it has, as in `hardware::Cpu`.
    pub simd: Vec<String>,
    /// How many threads "all threads" are.
    pub threads: u32,
}

/// The settings that training steps are timed with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepConfig {
    /// The device (never `Auto`).
    pub device: DeviceChoice,
    /// The precision of matrix multiplications.
    pub precision: Precision,
    pub threads: u32,
    /// Images per step.
    pub batch_size: u32,
}

/// One figure. Every figure is the median of several repeats.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub enum Measurement {
    /// The best rate of a large square matrix multiplication.
    Product {
        /// The precision of the factors.
        precision: Precision,
        threads: u32,
        /// Rows and columns of the size that was best.
        size: u32,
        /// 10⁹ floating-point operations per second.
        gflops: f64,
    },
    /// Copying memory.
    Memory {
        threads: u32,
        /// 10⁹ bytes read or written per second.
        gigabytes_per_second: f64,
    },
    /// A training step: forward, backward, update.
    Step {
        /// The network.
        model: ModelKind,
        /// The device (never `Auto`).
        device: DeviceChoice,
        /// The precision of matrix multiplications.
        precision: Precision,
        /// Images per step.
        batch_size: u32,
        threads: u32,
        /// Milliseconds per step.
        milliseconds: f64,
        /// Images per second.
        images_per_second: f64,
        /// 10⁹ nominal floating-point operations per second (see `nn::flops`).
        gflops: f64,
        /// The rate of a large f32 product on as many threads, measured in turn with these steps; 0
        /// on other devices than the CPU.
        product_gflops: f64,
    },
    /// Augmenting training images and gathering them into batches.
    Pipeline {
        augmentation: Augmentation,
        threads: u32,
        /// Images per second.
        images_per_second: f64,
    },
    /// An optimizer's update of all weights of a model.
    Update {
        optimizer: OptimizerKind,
        /// Weights.
        parameters: u64,
        threads: u32,
        /// Microseconds per update.
        microseconds: f64,
    },
    /// Recognizing one digit at a time, as on the canvas.
    #[serde(rename = "read-one")]
    ClassifyOne {
        /// The network.
        model: ModelKind,
        /// Half of the digits took at most this many microseconds.
        median_microseconds: f64,
        /// 99% of the digits took at most this many microseconds.
        p99_microseconds: f64,
    },
    /// Recognizing many digits at once, as in an evaluation.
    #[serde(rename = "read-many")]
    ClassifyMany {
        /// The network.
        model: ModelKind,
        threads: u32,
        /// Images per second.
        images_per_second: f64,
    },
    /// A training step of the network of candle's MNIST example, built from candle-nn's layers and
    /// trained by candle's own backward pass and optimizer on the CPU in f32, beside the same
    /// network in Inkling.
    PlainCandle {
        /// The network.
        model: ModelKind,
        /// Images per step.
        batch_size: u32,
        threads: u32,
        /// Milliseconds per step of candle's.
        milliseconds: f64,
        /// Images per second in candle.
        images_per_second: f64,
        /// Images per second in Inkling, measured in turn.
        inkling_images_per_second: f64,
        /// How many times as fast Inkling is.
        speedup: f64,
    },
}

impl Measurement {
    /// How many threads it was measured on; `None` if that does not matter.
    pub const fn threads(&self) -> Option<u32> {
        match *self {
            Self::Product { threads, .. }
            | Self::Memory { threads, .. }
            | Self::Step { threads, .. }
            | Self::Pipeline { threads, .. }
            | Self::Update { threads, .. }
            | Self::ClassifyMany { threads, .. }
            | Self::PlainCandle { threads, .. } => Some(threads),
            Self::ClassifyOne { .. } => None,
        }
    }

    /// The figure that it is compared by with others of its kind.
    pub const fn figure(&self) -> f64 {
        match *self {
            Self::Product { gflops: figure, .. }
            | Self::Memory {
                gigabytes_per_second: figure,
                ..
            }
            | Self::Step {
                images_per_second: figure,
                ..
            }
            | Self::Pipeline {
                images_per_second: figure,
                ..
            }
            | Self::Update {
                microseconds: figure,
                ..
            }
            | Self::ClassifyOne {
                median_microseconds: figure,
                ..
            }
            | Self::ClassifyMany {
                images_per_second: figure,
                ..
            }
            | Self::PlainCandle {
                images_per_second: figure,
                ..
            } => figure,
        }
    }

    /// The fraction of the machine's peak f32 rate that a training step reaches; `None` for other
    /// rows.
    pub fn share_of_product(&self) -> Option<f64> {
        match *self {
            Self::Step {
                gflops,
                product_gflops,
                ..
            } if product_gflops > 0.0 => Some(gflops / product_gflops),
            _ => None,
        }
    }
}

impl BenchmarkReport {
    /// The training throughput of a model, if it was measured.
    pub fn images_per_second(
        &self,
        wanted: ModelKind,
        format: Precision,
        count: u32,
    ) -> Option<f64> {
        self.rows.iter().find_map(|row| match *row {
            Measurement::Step {
                model,
                precision,
                threads,
                images_per_second,
                ..
            } if model == wanted && precision == format && threads == count => {
                Some(images_per_second)
            }
            _ => None,
        })
    }

    /// The time of a training step in `precision` relative to f32: the geometric mean over the
    /// models that were measured in both on all threads. Above 1 is slower; `None` if no model was.
    pub fn step_cost(&self, precision: Precision) -> Option<f64> {
        let rate =
            |model, precision| self.images_per_second(model, precision, self.machine.threads);
        let ratio = |&model: &ModelKind| {
            Some((rate(model, Precision::F32)? / rate(model, precision)?).ln())
        };
        let ratios: Vec<f64> = ModelKind::ALL.iter().filter_map(ratio).collect();
        (!ratios.is_empty()).then(|| (ratios.iter().sum::<f64>() / ratios.len() as f64).exp())
    }
}

/// Where a report was saved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedBenchmark {
    /// As JSON, for programs.
    pub json: PathBuf,
    /// As text, for people.
    pub text: PathBuf,
}

/// How far a job is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct JobProgress {
    /// From 0 to 1.
    pub fraction: f32,
    /// Seconds until it is done, if that is planned.
    pub remaining_seconds: Option<f32>,
    /// The stage of a benchmark.
    pub workload: Option<Workload>,
    /// The fraction of the CPU that other programs use during a benchmark, 0 to 1.
    pub background_load: f32,
}

impl JobProgress {
    /// So far, with so many seconds left if that is known.
    pub fn at(fraction: f32, remaining_seconds: Option<f32>) -> Self {
        Self {
            fraction,
            remaining_seconds,
            ..Self::default()
        }
    }
}
