//! The file with the newest evaluation of a run's model that a person asked for. Only a run whose
//! model was evaluated has it; its evaluation on test images after training stands in its summary.

use std::io::ErrorKind;
use std::path::Path;

use super::RunError;
use super::folder::unwritable;
use crate::records::SplitEvaluation;
use crate::system::files::{read_limited, write_whole};

pub const EVALUATION: &str = "evaluation.json";

/// Larger files are not read; one with all its misclassified images has about 200 kB.
const MAX_BYTES: u64 = 2 << 20;

/// The evaluation in `folder`, if there is one that can be read.
pub fn read(folder: &Path) -> Option<SplitEvaluation> {
    let reason = match read_limited(&folder.join(EVALUATION), MAX_BYTES) {
        Ok(bytes) => match serde_json::from_slice(&bytes) {
            Ok(evaluation) => return Some(evaluation),
            Err(error) => error.to_string(),
        },
        Err(error) if error.kind() == ErrorKind::NotFound => return None,
        Err(error) => error.to_string(),
    };
    tracing::info!(reason, folder = %folder.display(), "a model's evaluation is ignored");
    None
}

/// Replaces the evaluation in `folder`.
pub fn write(folder: &Path, evaluation: &SplitEvaluation) -> Result<(), RunError> {
    let path = folder.join(EVALUATION);
    let json = serde_json::to_vec(evaluation).map_err(|error| unwritable(&path, &error.into()))?;
    Ok(write_whole(&path, &json)?)
}
