//! The result of a run.

use crate::nn::{FORMAT_VERSION, ModelCard, ModelFile, Net};
use crate::records::RunSummary;

/// A model with the summary of its run, which completed at least one epoch.
#[derive(Clone, Debug)]
pub struct TrainedModel {
    /// The summary of the run; it has no folder yet.
    pub summary: RunSummary,
    /// The network with the weights of the epoch that was kept.
    pub net: Net,
    /// 99 % of the validation images have a digit score of at least this.
    pub digit_threshold: f32,
}

impl TrainedModel {
    /// The model as it is saved.
    pub fn model_file(&self) -> ModelFile {
        let RunSummary { config, .. } = &self.summary;
        let kept = self.summary.kept();
        let card = ModelCard {
            version: FORMAT_VERSION,
            model: self.net.model(),
            labels: ModelCard::digit_labels(),
            normalization: self.net.normalization(),
            digit_threshold: self.digit_threshold,
            data: config.data.clone(),
            epochs: kept.map_or(0, |record| record.epoch),
            validation_accuracy: kept.map(|record| record.validation_accuracy),
            config: config.clone(),
        };
        ModelFile { net: self.net.clone(), card }
    }
}
