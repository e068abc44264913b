//! Owns what comparing the devices a model can read on finds, as plain data that crosses pipes, and which of them that speaks for.
//! Must not compute or word any of it.

use serde::{Deserialize, Serialize};

use super::InferError;
use crate::records::{CLASSES, ModelRef};
use crate::run_config::{DeviceChoice, ReadingChoice};

/// Two orders of summing leave a probability this much apart at most; a device that reads further off is not used.
pub const APART: f32 = 1e-3;

/// How alike two ways of reading the same pictures are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Agreement {
    /// Pictures read.
    pub pictures: u32,
    /// Those for which both gave the same digit.
    pub alike: u32,
    /// The largest difference of a probability; infinite where one was no number.
    pub largest_difference: f32,
}

impl Agreement {
    /// Counts a picture that was read twice.
    pub fn add(&mut self, here: &[f32; CLASSES], there: &[f32; CLASSES]) {
        let likeliest = |probabilities: &[f32; CLASSES]| (0..CLASSES).max_by(|&a, &b| probabilities[a].total_cmp(&probabilities[b]));
        self.pictures += 1;
        self.alike += u32::from(likeliest(here) == likeliest(there));
        for (here, there) in here.iter().zip(there) {
            let apart = (here - there).abs();
            self.largest_difference = if apart.is_nan() { f32::INFINITY } else { self.largest_difference.max(apart) };
        }
    }

    /// True where the two read as one.
    pub fn is_close(&self) -> bool {
        self.largest_difference <= APART
    }
}

/// Where a model reads drawings, and what was found of each device it was tried on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReadingReport {
    /// The model.
    pub model: ModelRef,
    /// Where it reads (never `Auto`).
    pub device: DeviceChoice,
    /// What was tried, the processor first.
    pub tried: Vec<DeviceReading>,
}

/// A model on one device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeviceReading {
    /// The device.
    pub device: DeviceChoice,
    /// How it reads there, or why it does not.
    pub outcome: Result<ReadingFigures, ReadingFlaw>,
}

/// How a model reads one drawing at a time on a device.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReadingFigures {
    /// Half of the drawings took at most this many microseconds.
    pub median_microseconds: f32,
    /// 99 % of the drawings took at most this many microseconds.
    pub p99_microseconds: f32,
    /// How alike it reads to the processor.
    pub agreement: Agreement,
}

/// Why a model does not read on a device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ReadingFlaw {
    /// It reads otherwise than the processor.
    Disagrees(Agreement),
    /// It takes too long.
    Slow {
        /// Drawings it read before it was given up.
        drawings: u32,
        /// How long that took.
        seconds: f32,
    },
    /// It could not be opened, or failed while it read.
    Failed(InferError),
}

/// The devices that `choice` wants tried beside the processor, of those that can be used.
pub fn candidates(choice: ReadingChoice, usable: &[DeviceChoice]) -> Vec<DeviceChoice> {
    match choice {
        ReadingChoice::Automatic => usable.first().copied().into_iter().collect(),
        ReadingChoice::Fastest => usable.to_vec(),
        named => usable.iter().copied().filter(|&device| named.device() == Some(device)).collect(),
    }
}

/// The device that `choice` means, of those that were tried and read rightly; the processor where that is none.
pub fn choose(choice: ReadingChoice, tried: &[DeviceReading]) -> DeviceChoice {
    let mut sound = tried.iter().filter_map(|tried| Some((tried.device, tried.outcome.as_ref().ok()?.median_microseconds)));
    let chosen = match choice {
        ReadingChoice::Fastest => sound.min_by(|a, b| a.1.total_cmp(&b.1)),
        _ => sound.find(|(device, _)| *device != DeviceChoice::Cpu),
    };
    chosen.map_or(DeviceChoice::Cpu, |(device, _)| device)
}
