//! Whether a run that was started again has the same weights as the first time.

use std::path::Path;

use half::f16;
use safetensors::Dtype;

use super::RunError;
use crate::nn::{MAX_FILE_BYTES, SafetensorsFile};
use crate::records::RunSummary;
use crate::run_config::RunConfig;
use crate::system::files::read_limited;
use crate::text::format::{count, significant};

/// How the weights of two runs differ.
#[derive(Clone, Debug, PartialEq)]
pub struct Reproduction {
    /// Tensors in the model file of the first run.
    pub tensors: usize,
    /// Those that are not the same, bit for bit.
    pub differing: usize,
    /// The largest difference of two weights; `None` where a tensor is missing or has another
    /// shape.
    pub largest_difference: Option<f32>,
    /// What was not the same for both, and may be the reason: "the machine", "the device".
    pub circumstances: Vec<&'static str>,
    /// Whether algorithms were found by trying, which may be others each time.
    pub autotuned: bool,
}

/// The settings that start this run again: where it was trained, and by itself.
pub fn reproduced_config(run: &RunSummary) -> RunConfig {
    RunConfig {
        device: run.plan.device,
        repeats: 1,
        repetition: None,
        ..run.config.clone()
    }
}

impl Reproduction {
    /// Compares the weights of both runs. Where one has its weights as f16, both are compared as
    /// f16.
    pub fn compare(first: &RunSummary, again: &RunSummary) -> Result<Self, RunError> {
        let (first_bytes, again_bytes) = (bytes(&first.model_path)?, bytes(&again.model_path)?);
        let (weights, weights_again) = (
            read(&first_bytes, &first.model_path)?,
            read(&again_bytes, &again.model_path)?,
        );
        let mut found = Self {
            tensors: weights.tensors().len(),
            differing: 0,
            largest_difference: Some(0.0),
            circumstances: Vec::new(),
            autotuned: again.config.autotune,
        };
        for (name, ..) in weights.tensors() {
            let (one, other) = (values(&weights, name), values(&weights_again, name));
            match (one, other) {
                (Some((shape, one, halved)), Some((other_shape, other, other_halved)))
                    if shape == other_shape =>
                {
                    let round = |value: f32| {
                        if halved || other_halved {
                            f16::from_f32(value).to_f32()
                        } else {
                            value
                        }
                    };
                    let mut pairs = one.iter().zip(&other).map(|(a, b)| (round(*a), round(*b)));
                    if pairs.clone().any(|(a, b)| a.to_bits() != b.to_bits()) {
                        found.differing += 1;
                    }
                    let largest = found.largest_difference.map(|most| {
                        pairs
                            .by_ref()
                            .fold(most, |most, (a, b)| most.max((a - b).abs()))
                    });
                    found.largest_difference = largest;
                }
                _ => (found.differing, found.largest_difference) = (found.differing + 1, None),
            }
        }
        let circumstances = [
            ("the machine", first.machine != again.machine),
            ("the device", first.plan.device != again.plan.device),
            (
                "the number of training images",
                first.plan.train_images != again.plan.train_images,
            ),
            (
                "the number of epochs",
                first.epochs.len() != again.epochs.len(),
            ),
        ];
        found.circumstances = circumstances
            .into_iter()
            .filter_map(|(name, differs)| differs.then_some(name))
            .collect();
        Ok(found)
    }

    /// True if every weight is the same.
    pub const fn is_same(&self) -> bool {
        self.differing == 0
    }

    /// "The weights are the same, bit for bit." or by how much they differ, and what may be the
    /// reason.
    pub fn sentence(&self) -> String {
        if self.is_same() {
            return "The run was reproduced: its weights are the same, bit for bit.".to_owned();
        }
        let differing = format!(
            "The weights are not the same: {} of {} differ",
            self.differing,
            count(self.tensors as u64, "tensor")
        );
        let largest = self
            .largest_difference
            .map(|largest| format!(", by up to {}", significant(largest.into())))
            .unwrap_or_default();
        let reasons = if self.circumstances.is_empty() {
            let autotuned = if self.autotuned {
                ", or the algorithms that autotuning found,"
            } else {
                ","
            };
            format!(" The data, or the version of Inkling{autotuned} may have changed since.")
        } else {
            format!(
                " What was not the same either: {}.",
                self.circumstances.join(", ")
            )
        };
        format!("{differing}{largest}.{reasons}")
    }
}

fn bytes(path: &Path) -> Result<Vec<u8>, RunError> {
    read_limited(path, MAX_FILE_BYTES).map_err(|error| RunError::Unreadable {
        folder: path.to_owned(),
        reason: error.to_string(),
    })
}

fn read<'b>(bytes: &'b [u8], path: &Path) -> Result<SafetensorsFile<'b>, RunError> {
    SafetensorsFile::read(bytes).map_err(|reason| RunError::Malformed {
        folder: path.to_owned(),
        reason,
    })
}

/// A tensor's shape and numbers, and whether they are stored as f16.
fn values<'f>(file: &'f SafetensorsFile<'_>, name: &str) -> Option<(&'f [usize], Vec<f32>, bool)> {
    let (dtype, shape, bytes) = file.tensor(name)?;
    let numbers = match dtype {
        Dtype::F32 => bytes
            .as_chunks::<4>()
            .0
            .iter()
            .map(|bytes| f32::from_le_bytes(*bytes))
            .collect(),
        Dtype::F16 => bytes
            .as_chunks::<2>()
            .0
            .iter()
            .map(|bytes| f16::from_le_bytes(*bytes).to_f32())
            .collect(),
        _ => return None,
    };
    Some((shape, numbers, dtype == Dtype::F16))
}
