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

/// Whether the disks of these folders have room for the run and its checkpoints. What the
/// checkpoint of a resumed run takes already (`held`, in bytes) need not be free as well. Where a
/// system does not say, there is room.
pub fn check_disk_space(
    config: &RunConfig,
    runs: &Path,
    checkpoints: &Path,
    held: u64,
) -> Result<(), RunError> {
    let Needed { run, all } = Needed::of(config);
    // Both are on the same disk most often, so that of the checkpoints is to have room for all.
    for (folder, needed, held) in [(runs, run, 0), (checkpoints, all, held)] {
        match disk::available(folder) {
            Ok(available) if available < needed.saturating_sub(held) => {
                return Err(RunError::NoRoom {
                    folder: folder.to_owned(),
                    needed: needed.saturating_sub(held),
                    available,
                });
            }
            Ok(_) => {}
            Err(error) => tracing::info!(%error, "the space on the disk is unknown"),
        }
    }
    Ok(())
}

/// Bytes that a run takes.
struct Needed {
    /// Its model and its samples from the posterior.
    run: u64,
    /// These, its last checkpoint, and the one before, which goes only when that is written.
    all: u64,
}

impl Needed {
    fn of(config: &RunConfig) -> Self {
        let optimizer = OptimizerConfig::new(config, 1).numbers_per_weight() as u64;
        // The weights, the optimizer's state, perhaps the average; once as they are, and once as a
        // rollback needs them.
        let state = 1 + optimizer + u64::from(config.weight_averaging.is_some());
        let samples = posterior_sample_count(config) as u64;
        let (best, model) = (1, 1);
        let weights = NUMBER_BYTES * parameter_count(config.network(), config.data.classes().len());
        let run = weights * (model + samples) + MARGIN;
        Self {
            run,
            all: run + weights * 2 * (2 * state + best + samples),
        }
    }
}
