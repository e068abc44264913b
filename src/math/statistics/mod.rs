//! The statistics of measurements: of one evaluation, of two models on the same images, and of
//! repeated measurements.

mod evaluation;
mod mean;
mod paired;

pub use evaluation::{
    ClassScore, auroc, calibration_error, cell_sentence, class_scores, error_count,
    reliability_sentence, wilson_interval,
};
pub use mean::{MeanInterval, mean_interval};
pub use paired::{PairedResult, compare_with, holm, mcnemar, paired_interval};
