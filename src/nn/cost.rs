//! Owns what a model costs to compute, counted from its layers: the nominal floating-point operations of reading and of
//! learning from one picture. Must not time anything.

use super::ops::Kernel;
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
    let mut walk = Walk { total: Flops::default(), side: SIDE, tokens: 1 };
    // Activations are not counted: any stands for all.
    walk.through(&layers(model, Activation::default()));
    walk.total
}

/// A way through the layers.
struct Walk {
    total: Flops,
    /// Pixels along a side of what comes next.
    side: usize,
    /// Rows that a linear layer sees of one picture.
    tokens: usize,
}

impl Walk {
    fn through(&mut self, layers: &[Layer]) {
        for layer in layers {
            let products = self.products(layer);
            self.add(products);
        }
    }

    fn add(&mut self, products: usize) {
        let forward = 2 * products as u64;
        let passes = if self.total.forward == 0 { 2 } else { 3 };
        self.total.forward += forward;
        self.total.training += passes * forward;
    }

    /// Products in one layer.
    fn products(&mut self, layer: &Layer) -> usize {
        match *layer {
            Layer::ConvPool { inputs, outputs, kernel, padding, .. } => {
                let out = self.side + 2 * padding + 1 - kernel;
                self.side = out / 2;
                out * out * outputs * inputs * kernel * kernel
            }
            Layer::Conv { inputs, outputs, kernel, .. } => {
                self.slide(kernel);
                self.side * self.side * outputs * inputs * kernel.size * kernel.size
            }
            Layer::Tokens => {
                self.tokens = self.side * self.side;
                0
            }
            Layer::GlobalAveragePool => {
                (self.side, self.tokens) = (1, 1);
                0
            }
            Layer::Residual { ref body, ref shortcut, .. } => {
                let start = self.side;
                self.through(body);
                let end = std::mem::replace(&mut self.side, start);
                self.through(shortcut);
                self.side = end;
                0
            }
            Layer::Linear { inputs, outputs, .. } => self.tokens * inputs * outputs,
            // Each token's query with each key, and each share with each value.
            Layer::Attention { features, .. } => 2 * self.tokens * self.tokens * features,
            Layer::BatchNorm { .. } | Layer::LayerNorm { .. } | Layer::Positions { .. } | Layer::Flatten | Layer::Dropout(_) => 0,
        }
    }

    fn slide(&mut self, kernel: Kernel) {
        self.side = (self.side + 2 * kernel.padding).saturating_sub(kernel.size) / kernel.stride + 1;
    }
}
