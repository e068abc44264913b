//! The content of the Results screen: an evaluation, its model and its data set.

use crate::records::{Evaluation, ModelInfo};
use crate::run_config::{DataSpec, EvaluationSplit};

/// A model's evaluation.
#[derive(Clone, Debug)]
pub struct ResultsView {
    /// The model.
    pub model: ModelInfo,
    /// The data set.
    pub data: DataSpec,
    /// Which of its images.
    pub split: EvaluationSplit,
    /// The figures.
    pub evaluation: Evaluation,
}
