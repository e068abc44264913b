//! The content of the Results screen: an evaluation, its model and its data set.

pub mod view;

use crate::records::{ModelInfo, RecordCard, SplitEvaluation};
use crate::run_config::EvaluationSplit;

#[derive(Clone, Debug)]
pub struct ResultsView {
    pub model: ModelInfo,
    /// The figures, and the images they are of.
    pub measured: SplitEvaluation,
}

impl ResultsView {
    /// The most accurate record on the same test images, of those that list some as hard.
    pub fn record<'r>(&self, records: &'r [RecordCard]) -> Option<&'r RecordCard> {
        let SplitEvaluation {
            data,
            split,
            evaluation,
        } = &self.measured;
        let alike = records.iter().filter(|card| {
            *split == EvaluationSplit::Test
                && card.config.data.tested() == data.tested()
                && card.test_images == evaluation.images
                && !card.hard.is_empty()
        });
        alike.max_by(|a, b| a.test_accuracy().total_cmp(&b.test_accuracy()))
    }
}

/// The content of the results screen.
#[derive(Debug, Default)]
pub struct Results {
    pub shown: Option<ResultsView>,
}
