//! What autotuning found: of several ways to compute a product, the one that was the fastest on a GPU. How they are computed and timed is up to backends.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

/// Another way replaces the usual one only where it takes at most this share of its time: what is measured varies by about as much.
const WORTH_CHANGING: f32 = 0.97;

/// The fastest way to compute each product, by its number, for each GPU with its libraries.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Autotuned(BTreeMap<String, BTreeMap<String, usize>>);

impl Autotuned {
    /// What is known of this product on this GPU.
    pub fn get(&self, gpu: &str, product: &str) -> Option<usize> {
        self.0.get(gpu)?.get(product).copied()
    }

    /// The fastest of so many ways to compute a product on this GPU: as it was found before, else by timing each, and the usual one, which is the first,
    /// where none is much faster. `seconds` is `None` for a way that cannot compute this product.
    fn choose(&self, gpu: &str, product: &str, ways: usize, mut seconds: impl FnMut(usize) -> Option<f32>) -> usize {
        if let Some(way) = self.get(gpu, product).filter(|way| *way < ways) {
            return way;
        }
        let usual = seconds(0).unwrap_or(f32::INFINITY);
        let others = (1..ways).filter_map(|way| Some((way, seconds(way)?)));
        let fastest = others.min_by(|(_, a), (_, b)| a.total_cmp(b)).filter(|(_, seconds)| *seconds < WORTH_CHANGING * usual);
        fastest.map_or(0, |(way, _)| way)
    }

    /// Adds what is not known yet.
    pub fn add(&mut self, others: Self) {
        for (gpu, products) in others.0 {
            let known = self.0.entry(gpu).or_default();
            for (product, way) in products {
                known.entry(product).or_insert(way);
            }
        }
    }

    fn insert(&mut self, gpu: &str, product: &str, way: usize) {
        self.0.entry(gpu.to_owned()).or_default().insert(product.to_owned(), way);
    }
}

/// What this process knows, and whether it has found something since that was asked for.
static KNOWN: Mutex<(Autotuned, bool)> = Mutex::new((Autotuned(BTreeMap::new()), false));

fn known() -> MutexGuard<'static, (Autotuned, bool)> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The fastest of so many ways to compute a product on this GPU, the first of which is the usual one; see [`Autotuned`].
pub fn fastest(gpu: &str, product: &str, ways: usize, seconds: impl FnMut(usize) -> Option<f32>) -> usize {
    let before = known().0.clone();
    let way = before.choose(gpu, product, ways, seconds);
    if before.get(gpu, product) != Some(way) {
        let (found, is_new) = &mut *known();
        found.insert(gpu, product, way);
        *is_new = true;
    }
    way
}

/// Adds what was found earlier; what this process found itself stays.
pub fn recall(earlier: Autotuned) {
    known().0.add(earlier);
}

/// All that is known, where something was found since this was asked last.
pub fn newly_found() -> Option<Autotuned> {
    let (found, is_new) = &mut *known();
    std::mem::take(is_new).then(|| found.clone())
}
