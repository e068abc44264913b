//! What three targets do with a file of weights.

use inkling::import::{Weights, identify};

/// Reads all its tensors, and looks for the network they are of.
pub fn read(bytes: &[u8]) {
    let Ok(weights) = Weights::open(bytes) else {
        return;
    };
    for tensor in weights.tensors.values() {
        assert_eq!(tensor.shape.iter().product::<usize>(), tensor.values.len());
    }
    let _ = identify(weights.shapes(), None, None);
}
