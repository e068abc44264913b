//! The content of the Results screen: an evaluation, its model and its data set.

pub mod view;

use crate::records::{ModelInfo, SplitEvaluation};

#[derive(Clone, Debug)]
pub struct ResultsView {
    pub model: ModelInfo,
    /// The figures, and the images they are of.
    pub measured: SplitEvaluation,
}

/// The content of the results screen.
#[derive(Debug, Default)]
pub struct Results {
    pub shown: Option<ResultsView>,
}
