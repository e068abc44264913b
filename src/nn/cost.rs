//! The nominal cost of a network, counted from its layers: floating-point operations and memory per
//! image.

use super::ops::Window;
use super::{Layer, layers};
use crate::ink::{PIXELS, SIDE};
use crate::run_config::{Activation, Network};

/// The classes that costs are counted with. More of them enlarge the last layer alone, a small part
/// of any model.
const CLASSES: usize = 10;

/// Nominal floating-point operations per image: two (a multiplication and an addition) for each
/// product in a convolution, a linear layer or attention. Biases, activations, pooling and the loss
/// are not counted, as is usual.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flops {
    /// From pixels to logits.
    pub forward: u64,
    /// Forward and backward pass: the gradients of the weights cost as much as the forward pass,
    /// and so do those of the inputs, which the first layer does not need.
    pub training: u64,
}

/// The operations of a network per image.
pub fn flops(network: impl Into<Network>) -> Flops {
    cost(network).total
}

/// The operations of every layer that has any, per image, by its name.
pub fn layer_flops(network: impl Into<Network>) -> Vec<(String, Flops)> {
    cost(network).layers
}

/// Values in the outputs of all layers for one image; all are held until the backward pass.
pub fn activations(network: impl Into<Network>) -> u64 {
    cost(network).activations as u64
}

/// How many layers of a network make a segment of activation checkpointing: with as many, the
/// fewest values are held.
pub fn checkpointed_layers(network: impl Into<Network>) -> usize {
    let network = network.into();
    let layers = layers(network, Activation::default(), CLASSES).len();
    (1..=layers)
        .min_by_key(|&size| checkpointed_values(network, size))
        .unwrap_or(1)
}

/// Values that are held for one image with activation checkpointing.
pub fn checkpointed_activations(network: impl Into<Network>) -> u64 {
    let network = network.into();
    checkpointed_values(network, checkpointed_layers(network))
}

/// The inputs of all segments of this many layers but the first, which is the image, and all
/// activations of the largest.
fn checkpointed_values(network: Network, size: usize) -> u64 {
    let mut cost = CostModel::new();
    let mut kept = 0;
    let mut largest = 0;
    for segment in layers(network, Activation::default(), CLASSES).chunks(size) {
        let before = cost.activations;
        kept += if before == 0 { 0 } else { cost.output() };
        cost.add_layers(segment);
        largest = largest.max(cost.activations - before);
    }
    (kept + largest) as u64
}

/// Peak number of values that an NVIDIA GPU holds per image in training: those held for the
/// backward pass, and the workspace of a layer.
pub fn gpu_values_in_training(network: impl Into<Network>) -> u64 {
    let CostModel {
        activations,
        saved,
        workspace,
        ..
    } = cost(network);
    (PIXELS + activations + saved + workspace) as u64
}

/// The same in recognition: only the workspace of a layer.
pub fn gpu_values_in_recognition(network: impl Into<Network>) -> u64 {
    cost(network).workspace as u64
}

fn cost(network: impl Into<Network>) -> CostModel {
    let mut cost = CostModel::new();
    // All activations cost the same.
    cost.add_layers(&layers(network, Activation::default(), CLASSES));
    cost
}

/// The cost so far, and the shape that the next layer takes.
struct CostModel {
    total: Flops,
    /// Of each layer, by its name.
    layers: Vec<(String, Flops)>,
    activations: usize,
    /// Values that layers save for the backward pass besides their outputs.
    saved: usize,
    /// The largest workspace of a layer in values: for a convolution, its im2col matrix and its
    /// output.
    workspace: usize,
    /// Height and width of the next input.
    side: usize,
    /// Channels or features of the next input.
    width: usize,
    /// Rows per image that a linear layer sees.
    tokens: usize,
}

impl CostModel {
    /// Before the first layer, which takes an image.
    const fn new() -> Self {
        let total = Flops {
            forward: 0,
            training: 0,
        };
        Self {
            total,
            layers: Vec::new(),
            activations: 0,
            saved: 0,
            workspace: 0,
            side: SIDE,
            width: 1,
            tokens: 1,
        }
    }

    /// Values in the newest layer's output.
    const fn output(&self) -> usize {
        self.width
            * if self.tokens > 1 {
                self.tokens
            } else {
                self.side * self.side
            }
    }

    fn add_layers(&mut self, layers: &[Layer]) {
        for layer in layers {
            let multiplications = self.add_layer(layer);
            self.add_flops(layer.name(), multiplications);
            self.activations += self.output();
        }
    }

    fn add_flops(&mut self, name: &str, multiplications: usize) {
        let forward = 2 * multiplications as u64;
        let passes = if self.total.forward == 0 { 2 } else { 3 };
        let flops = Flops {
            forward,
            training: passes * forward,
        };
        self.total.forward += flops.forward;
        self.total.training += flops.training;
        if forward > 0 {
            self.layers.push((name.to_owned(), flops));
        }
    }

    /// Moves on by one layer; returns its number of multiplications.
    fn add_layer(&mut self, layer: &Layer) -> usize {
        match *layer {
            Layer::ConvPool {
                inputs,
                outputs,
                kernel,
                padding,
                ..
            } => {
                let out = self.side + 2 * padding + 1 - kernel;
                self.add_im2col(out, kernel, inputs, outputs);
                (self.side, self.width) = (out / 2, outputs);
                out * out * outputs * inputs * kernel * kernel
            }
            Layer::Conv {
                inputs,
                outputs,
                kernel,
                ..
            } => {
                self.resize(kernel);
                self.add_im2col(self.side, kernel.size, inputs, outputs);
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
            Layer::Residual {
                ref body,
                ref shortcut,
                ..
            } => {
                let (side, width) = (self.side, self.width);
                self.add_layers(body);
                let end = std::mem::replace(&mut self.side, side);
                let end_width = std::mem::replace(&mut self.width, width);
                self.add_layers(shortcut);
                (self.side, self.width) = (end, end_width);
                0
            }
            Layer::Linear {
                inputs, outputs, ..
            } => {
                self.width = outputs;
                self.tokens * inputs * outputs
            }
            // Queries with keys, and attention weights with values.
            Layer::Attention { features, heads } => {
                self.width = features;
                // Queries, keys, values and attention weights are saved; the backward pass needs
                // their gradients as workspace.
                self.saved += self.tokens * (3 * features + heads * self.tokens);
                self.workspace = self
                    .workspace
                    .max(self.tokens * (3 * features + 2 * heads * self.tokens));
                2 * self.tokens * self.tokens * features
            }
            Layer::Activation(_)
            | Layer::BatchNorm { .. }
            | Layer::LayerNorm { .. }
            | Layer::Positions { .. }
            | Layer::Dropout(_) => 0,
        }
    }

    fn add_im2col(&mut self, side: usize, kernel: usize, inputs: usize, outputs: usize) {
        self.workspace = self
            .workspace
            .max(side * side * ((kernel * kernel * inputs + 1).next_multiple_of(8) + outputs));
    }

    fn resize(&mut self, kernel: Window) {
        self.side =
            (self.side + 2 * kernel.padding).saturating_sub(kernel.size) / kernel.stride + 1;
    }
}
