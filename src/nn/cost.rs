//! Owns what a model costs to compute, counted from its layers: the nominal floating-point operations of reading and of
//! learning from one picture. Must not time anything.

use super::{Layer, layers};
use crate::ink::SIDE;
use crate::run_config::{Activation, ModelKind};

/// Nominal floating-point operations for one picture: two (a product and a sum) for each weight at each place it is used.
/// Biases, activations, pooling and the loss are not counted, as is usual.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flops {
    /// From pixels to logits.
    pub forward: u64,
    /// Forward and backward: the weights' gradients cost as much as the forward pass, and the inputs' as much again, but
    /// for the first layer, whose input is the picture.
    pub training: u64,
}

/// What a model costs.
pub fn flops(model: ModelKind) -> Flops {
    let mut total = Flops::default();
    let mut side = SIDE;
    // Activations are not counted: any stands for all.
    for layer in layers(model, Activation::default()) {
        let forward = 2 * match layer {
            Layer::ConvPool { inputs, outputs, kernel, padding, .. } => {
                let out = side + 2 * padding + 1 - kernel;
                side = out / 2;
                (out * out * outputs * inputs * kernel * kernel) as u64
            }
            Layer::Linear { inputs, outputs, .. } => (inputs * outputs) as u64,
            Layer::Flatten | Layer::Dropout(_) => 0,
        };
        let passes = if total.forward == 0 { 2 } else { 3 };
        total.forward += forward;
        total.training += passes * forward;
    }
    total
}
