//! What autotuning found: of several algorithms for a product, the one that was the fastest on a
//! GPU. How candidates are run and timed is up to backends.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

/// Another candidate replaces the default only if it takes at most this fraction of its time:
/// measurements vary by about as much.
const WORTH_CHANGING: f32 = 0.97;

/// The index of the fastest candidate for each product, for each GPU with its libraries.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Autotuned(BTreeMap<String, BTreeMap<String, usize>>);

impl Autotuned {
    /// The measurements of this product on this GPU.
    pub fn get(&self, gpu: &str, product: &str) -> Option<usize> {
        self.0.get(gpu)?.get(product).copied()
    }

    /// Adds what is not known yet.
    pub fn add(&mut self, others: Self) {
        for (gpu, products) in others.0 {
            let known = self.0.entry(gpu).or_default();
            for (product, candidate) in products {
                known.entry(product).or_insert(candidate);
            }
        }
    }

    fn insert(&mut self, gpu: &str, product: &str, candidate: usize) {
        self.0
            .entry(gpu.to_owned())
            .or_default()
            .insert(product.to_owned(), candidate);
    }
}

/// What this process knows, and whether it has found something since that was asked for.
static KNOWN: Mutex<(Autotuned, bool)> = Mutex::new((Autotuned(BTreeMap::new()), false));

fn known() -> MutexGuard<'static, (Autotuned, bool)> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The fastest of this many candidates for a product on this GPU: as it was found before, else by
/// timing each. The first is the default, which stays if none is much faster. `seconds` is
/// `None` for a candidate that cannot compute this product.
pub fn fastest(
    gpu: &str,
    product: &str,
    candidates: usize,
    mut seconds: impl FnMut(usize) -> Option<f32>,
) -> usize {
    let before = known()
        .0
        .get(gpu, product)
        .filter(|candidate| *candidate < candidates);
    if let Some(candidate) = before {
        return candidate;
    }
    let default = seconds(0).unwrap_or(f32::INFINITY);
    let others = (1..candidates).filter_map(|candidate| Some((candidate, seconds(candidate)?)));
    let fastest = others
        .min_by(|(_, a), (_, b)| a.total_cmp(b))
        .filter(|(_, seconds)| *seconds < WORTH_CHANGING * default);
    let candidate = fastest.map_or(0, |(candidate, _)| candidate);
    let (found, is_new) = &mut *known();
    found.insert(gpu, product, candidate);
    *is_new = true;
    candidate
}

/// Adds what was found earlier; what this process found itself stays.
pub fn recall(earlier: Autotuned) {
    known().0.add(earlier);
}

/// All that is known, if something was found since this was asked last.
pub fn newly_found() -> Option<Autotuned> {
    let (found, is_new) = &mut *known();
    std::mem::take(is_new).then(|| found.clone())
}
