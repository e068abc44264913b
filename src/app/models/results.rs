//! The content of the Results screen: an evaluation, its model and its data set.

use crate::records::{Evaluation, ModelInfo};
use crate::run_config::DataSpec;

/// A model's evaluation.
#[derive(Clone, Debug)]
pub struct ResultsView {
    /// The model.
    pub model: ModelInfo,
    /// Whose test set.
    pub data: DataSpec,
    /// The figures.
    pub evaluation: Evaluation,
}
