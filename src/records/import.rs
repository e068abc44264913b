//! An import: what is known of a file of weights, and how the rest was found out.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::Normalization;
use crate::run_config::{Activation, DataSpec, ModelKind};

/// What is to be imported, and what is known of it. What is left out is found out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ImportSpec {
    /// A safetensors file or a `PyTorch` state dict.
    pub path: PathBuf,
    /// The network.
    pub model: Option<ModelKind>,
    /// The nonlinearity between its layers.
    pub activation: Option<Activation>,
    /// How it normalises pixels.
    pub normalization: Option<Normalization>,
    /// What it was trained on.
    pub data: Option<DataSpec>,
}

impl ImportSpec {
    /// A file, and nothing known of it.
    pub const fn of(path: PathBuf) -> Self {
        Self { path, model: None, activation: None, normalization: None, data: None }
    }
}

/// How it was found out what the weights are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ImportFinding {
    /// The file says it itself: Inkling wrote it.
    Described,
    /// The names and shapes of its weights say it.
    Recognised {
        /// Weights that go by another name here: theirs and ours.
        renamed: Vec<(String, String)>,
        /// Share of digits written by Inkling that it reads rightly, with this activation and this normalisation.
        accuracy: f64,
        /// How many digits.
        images: u64,
        /// False where it reads so badly that activation and normalisation are a mere guess, and nobody named them.
        sure: bool,
    },
}
