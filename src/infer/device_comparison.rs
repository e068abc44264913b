//! How a model did on the devices it was tried on: plain data, which the engine sends to the
//! window.

use serde::{Deserialize, Serialize};

use crate::problem::Problem;
use crate::records::ModelRef;
use crate::run_config::DeviceChoice;

/// Summing in another order changes a probability by at most this much. A device that is further
/// off computes something else.
pub const TOLERANCE: f32 = 1e-3;

/// How well the probabilities of two devices match.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Agreement {
    /// Images classified on both.
    pub images: u32,
    /// Those that both took for the same digit.
    pub matching: u32,
    /// The largest difference between two probabilities; infinite if one was NaN.
    pub max_difference: f32,
}

impl Agreement {
    /// Compares the probabilities of the same images, an array each.
    pub fn between(a: &[Vec<f32>], b: &[Vec<f32>]) -> Self {
        let argmax = |probabilities: &[f32]| {
            (0..probabilities.len()).max_by(|&i, &j| probabilities[i].total_cmp(&probabilities[j]))
        };
        let difference = |(a, b): (&f32, &f32)| {
            if (a - b).is_nan() {
                f32::INFINITY
            } else {
                (a - b).abs()
            }
        };
        Self {
            images: a.len().min(b.len()) as u32,
            matching: a
                .iter()
                .zip(b)
                .filter(|(a, b)| argmax(a) == argmax(b))
                .count() as u32,
            max_difference: a
                .iter()
                .zip(b)
                .flat_map(|(a, b)| a.iter().zip(b))
                .map(difference)
                .fold(0.0, f32::max),
        }
    }

    /// True if no two probabilities differ by more than [`TOLERANCE`].
    pub fn is_close(&self) -> bool {
        self.max_difference <= TOLERANCE
    }
}

/// Which device a model classifies on, and how it did on each device it was tried on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeviceComparison {
    /// The model.
    pub model: ModelRef,
    /// The device it classifies on (never `Auto`).
    pub device: DeviceChoice,
    /// A trial for each device, the CPU first.
    pub trials: Vec<DeviceTrial>,
}

/// How a model did on one device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeviceTrial {
    /// The device.
    pub device: DeviceChoice,
    /// How fast it is, or why it is not used.
    pub outcome: Result<DeviceTiming, DeviceRejection>,
}

/// How long one image takes on a device.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeviceTiming {
    /// Half of the images took at most this many microseconds.
    pub median_microseconds: f32,
    /// 99% of the images took at most this many microseconds.
    pub p99_microseconds: f32,
    /// How well the probabilities match the CPU's.
    pub agreement: Agreement,
}

/// Why a model is not used on a device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum DeviceRejection {
    /// Its probabilities differ from the CPU's.
    Disagrees(Agreement),
    /// It takes too long.
    Slow {
        /// Images it classified before it was given up.
        images: u32,
        /// How long that took.
        seconds: f32,
    },
    /// It could not be opened, or failed while it classified.
    Failed(Problem),
}
