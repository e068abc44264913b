//! Owns what the results screen shows: one evaluation and whose it is.
//! Must not know how it is drawn.

use crate::records::{Evaluation, ModelInfo};
use crate::run_config::DataSpec;

/// A model, measured.
#[derive(Clone, Debug)]
pub struct ResultsView {
    /// The model.
    pub model: ModelInfo,
    /// Whose test split.
    pub data: DataSpec,
    /// The figures.
    pub evaluation: Evaluation,
}
