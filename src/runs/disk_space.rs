//! Whether the disk has space for a run, checked before it trains.

use std::path::Path;

use super::RunError;
use crate::nn::parameter_count;
use crate::optim::OptimizerConfig;
use crate::records::posterior_sample_count;
use crate::run_config::RunConfig;
use crate::system::disk;

/// Descriptions, figures of up to 1,000 epochs, and misclassified images.
const MARGIN: u64 = 2 << 20;
const NUMBER_BYTES: u64 = 4;

/// Whether the disks of these folders have room for the run and its checkpoints. Where a system does not say, there is.
pub fn check_disk_space(config: &RunConfig, runs: &Path, checkpoints: &Path) -> Result<(), RunError> {
    let needed = bytes_needed(config);
    for folder in [runs, checkpoints] {
        match disk::available(folder) {
            Ok(available) if available < needed => return Err(RunError::NoRoom { folder: folder.to_owned(), needed, available }),
            Ok(_) => {}
            Err(error) => tracing::info!(%error, "the space on the disk is unknown"),
        }
    }
    Ok(())
}

/// What a run takes at its end: its model and its samples from the posterior, its last checkpoint, and the one before, which goes only when
/// that is written.
fn bytes_needed(config: &RunConfig) -> u64 {
    let optimizer = OptimizerConfig::new(config, 1).numbers_per_weight() as u64;
    // The weights, the optimiser's state, perhaps the average; once as they are, and once as a rollback needs them.
    let state = 1 + optimizer + u64::from(config.weight_averaging.is_some());
    let samples = posterior_sample_count(config) as u64;
    let (best, model) = (1, 1);
    NUMBER_BYTES * parameter_count(config.network(), config.data.classes().len()) * (2 * (2 * state + best + samples) + model + samples)
        + MARGIN
}
