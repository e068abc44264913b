//! Owns what a model costs to compute, counted from its layers: the nominal floating-point operations of reading and of
//! learning from one picture. Must not time anything.

use super::ops::Window;
use super::{Layer, layers};
use crate::ink::{PIXELS, SIDE};
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
    walk(model).total
}

/// Numbers that the layers of a model give for one picture, all of which are kept until their gradients were computed.
pub fn activations(model: ModelKind) -> u64 {
    walk(model).activations as u64
}

/// Numbers that an NVIDIA GPU holds of one picture at most: what is kept for gradients, and beside it what one layer needs for a moment.
pub fn numbers_on_a_gpu(model: ModelKind) -> u64 {
    let Walk { activations, aside, passing, .. } = walk(model);
    (PIXELS + activations + aside + passing) as u64
}

/// The part of them that is held while reading.
pub fn numbers_read_on_a_gpu(model: ModelKind) -> u64 {
    walk(model).passing as u64
}

fn walk(model: ModelKind) -> Walk {
    let mut walk = Walk { total: Flops::default(), activations: 0, aside: 0, passing: 0, side: SIDE, width: 1, tokens: 1 };
    // Which activation it is makes no difference: any stands for all.
    walk.through(&layers(model, Activation::default()));
    walk
}

/// A way through the layers.
struct Walk {
    total: Flops,
    activations: usize,
    /// Numbers that layers keep on a device beside their results.
    aside: usize,
    /// The most numbers that a layer needs for a moment: what a convolution has under its kernel at all places, with its sums.
    passing: usize,
    /// Pixels along a side of what comes next.
    side: usize,
    /// Numbers of a pixel or a token of what comes next.
    width: usize,
    /// Rows that a linear layer sees of one picture.
    tokens: usize,
}

impl Walk {
    fn through(&mut self, layers: &[Layer]) {
        for layer in layers {
            let products = self.products(layer);
            self.add(products);
            self.activations += self.width * if self.tokens > 1 { self.tokens } else { self.side * self.side };
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
                self.lay_out(out, kernel, inputs, outputs);
                (self.side, self.width) = (out / 2, outputs);
                out * out * outputs * inputs * kernel * kernel
            }
            Layer::Conv { inputs, outputs, kernel, .. } => {
                self.slide(kernel);
                self.lay_out(self.side, kernel.size, inputs, outputs);
                self.width = outputs;
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
            Layer::Flatten => {
                (self.side, self.width) = (1, self.side * self.side * self.width);
                0
            }
            Layer::Residual { ref body, ref shortcut, .. } => {
                let (side, width) = (self.side, self.width);
                self.through(body);
                let end = std::mem::replace(&mut self.side, side);
                let end_width = std::mem::replace(&mut self.width, width);
                self.through(shortcut);
                (self.side, self.width) = (end, end_width);
                0
            }
            Layer::Linear { inputs, outputs, .. } => {
                self.width = outputs;
                self.tokens * inputs * outputs
            }
            // Each token's query with each key, and each share with each value.
            Layer::Attention { features, heads } => {
                self.width = features;
                // Queries, keys and values by heads, and the shares; their gradients for a moment.
                self.aside += self.tokens * (3 * features + heads * self.tokens);
                self.passing = self.passing.max(self.tokens * (3 * features + 2 * heads * self.tokens));
                2 * self.tokens * self.tokens * features
            }
            Layer::BatchNorm { .. } | Layer::LayerNorm { .. } | Layer::Positions { .. } | Layer::Dropout(_) => 0,
        }
    }

    fn lay_out(&mut self, side: usize, kernel: usize, inputs: usize, outputs: usize) {
        self.passing = self.passing.max(side * side * ((kernel * kernel * inputs + 1).next_multiple_of(8) + outputs));
    }

    fn slide(&mut self, kernel: Window) {
        self.side = (self.side + 2 * kernel.padding).saturating_sub(kernel.size) / kernel.stride + 1;
    }
}
