//! What autotuning found on this machine's GPUs, in a file that outlives the engine.

use std::path::Path;

use crate::device::HAS_CUDA;
use crate::nn::autotuning::{Autotuned, newly_found, recall};
use crate::system::files::{read_limited, write_whole};

const FILE: &str = "autotuning.json";
/// A larger file is not ours: a run finds some dozen products.
const MAX_BYTES: u64 = 16 << 20;

/// Has runs use what was found earlier. A file that cannot be read is as good as none: everything
/// is found again.
pub(super) fn load(folder: &Path) {
    if HAS_CUDA && let Some(found) = read(&folder.join(FILE)) {
        recall(found);
    }
}

/// Saves what was found since it was saved last, with what other engines found meanwhile.
pub(super) fn save(folder: &Path) {
    let Some(mut all) = newly_found() else { return };
    let path = folder.join(FILE);
    all.add(read(&path).unwrap_or_default());
    // Names and numbers alone: the first cannot fail.
    let Ok(json) = serde_json::to_vec_pretty(&all) else {
        return;
    };
    if let Err(error) = write_whole(&path, &json) {
        tracing::warn!(%error, "what autotuning found is not saved");
    }
}

fn read(path: &Path) -> Option<Autotuned> {
    serde_json::from_slice(&read_limited(path, MAX_BYTES).ok()?)
        .inspect_err(|error| tracing::warn!(%error, "autotuning is not read"))
        .ok()
}
