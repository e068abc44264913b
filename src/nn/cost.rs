//! The nominal cost of a network, counted from its layers: floating-point operations and memory per
//! image.

use super::layer::{Step, walk};
use super::models::{layers_of_blocks, trainable_numbers};
use super::shape::Shape;
use super::{Layer, layers};
use crate::ink::PIXELS;
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
    /// and so do the gradients of the inputs, which the first layer does not need.
    pub training: u64,
}

/// The operations of a network per image.
pub fn flops(network: impl Into<Network>) -> Flops {
    Cost::of(network).total
}

/// The operations of every layer that has any, per image, by its name.
pub fn layer_flops(network: impl Into<Network>) -> Vec<(String, Flops)> {
    Cost::of(network).layers
}

/// The cost of a hidden layer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockCost {
    /// Trainable numbers.
    pub parameters: u64,
    /// Multiplications, each with an addition, in its products for one image.
    pub multiply_adds: u64,
}

/// The cost of each hidden layer of a network, then of the layer that computes the logits.
pub fn block_costs(network: impl Into<Network>, classes: usize) -> Vec<BlockCost> {
    let mut shape = Shape::INPUT;
    let blocks = layers_of_blocks(network, Activation::default(), classes);
    let block = |layers: Vec<Layer>| {
        let mut cost = BlockCost::default();
        for step in walk(&layers, shape) {
            shape = step.output;
            cost.parameters += trainable_numbers(&step.layer.parameters());
            let products = step.flattened().into_iter().map(Step::multiplications);
            cost.multiply_adds += products.sum::<usize>() as u64;
        }
        cost
    };
    blocks.into_iter().map(block).collect()
}

/// Values in the outputs of all layers for one image; all are held until the backward pass.
pub fn activations(network: impl Into<Network>) -> u64 {
    Cost::of(network).activations as u64
}

/// How many layers of a network make a segment of activation checkpointing: with as many, the
/// fewest values are held.
pub fn checkpointed_layers(network: impl Into<Network>) -> usize {
    checkpointing(network).0
}

/// Values that are held for one image with activation checkpointing.
pub fn checkpointed_activations(network: impl Into<Network>) -> u64 {
    checkpointing(network).1
}

/// The best size of a segment, and the values that are held with it.
fn checkpointing(network: impl Into<Network>) -> (usize, u64) {
    let layers = layers_of(network);
    let steps: Vec<Step<'_>> = walk(&layers, Shape::INPUT).collect();
    (1..=steps.len())
        .map(|size| (size, checkpointed_values(&steps, size)))
        .min_by_key(|(_, values)| *values)
        .unwrap_or((1, 0))
}

/// The inputs of all segments of this many layers but the first, which is the image, and all
/// activations of the largest.
fn checkpointed_values(steps: &[Step<'_>], size: usize) -> u64 {
    let kept: usize = steps
        .chunks(size)
        .skip(1)
        .filter_map(<[_]>::first)
        .map(|first| first.input.values())
        .sum();
    let held = |segment: &[Step<'_>]| -> usize {
        let steps = segment.iter().flat_map(|step| step.flattened());
        steps.map(|step| step.output.values()).sum()
    };
    let largest = steps.chunks(size).map(held).max();
    (kept + largest.unwrap_or_default()) as u64
}

/// Peak number of values that an NVIDIA GPU holds per image in training: those held for the
/// backward pass, and the workspace of a layer.
pub fn gpu_values_in_training(network: impl Into<Network>) -> u64 {
    let cost = Cost::of(network);
    (PIXELS + cost.activations + cost.saved + cost.workspace) as u64
}

/// The same in recognition: only the workspace of a layer.
pub fn gpu_values_in_recognition(network: impl Into<Network>) -> u64 {
    Cost::of(network).workspace as u64
}

fn layers_of(network: impl Into<Network>) -> Vec<Layer> {
    // All activations cost the same.
    layers(network, Activation::default(), CLASSES)
}

#[derive(Default)]
struct Cost {
    total: Flops,
    /// Of each layer, by its name.
    layers: Vec<(String, Flops)>,
    activations: usize,
    /// Values that layers save for the backward pass besides their outputs.
    saved: usize,
    /// The largest workspace of a layer in values: for a convolution, its im2col matrix and its
    /// output.
    workspace: usize,
}

impl Cost {
    fn of(network: impl Into<Network>) -> Self {
        let mut cost = Self::default();
        for step in walk(&layers_of(network), Shape::INPUT).flat_map(Step::flattened) {
            cost.add_flops(step.layer.name(), step.multiplications());
            cost.activations += step.output.values();
            let (saved, workspace) = gpu_values(step);
            cost.saved += saved;
            cost.workspace = cost.workspace.max(workspace);
        }
        cost
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
}

/// The values that a layer saves besides its output, and its workspace.
fn gpu_values(Step { layer, input, .. }: Step<'_>) -> (usize, usize) {
    match *layer {
        Layer::Conv {
            inputs,
            outputs,
            kernel,
            ..
        } => {
            let row = (kernel.size * kernel.size * inputs + 1).next_multiple_of(8) + outputs;
            (0, kernel.positions(input.side()).pow(2) * row)
        }
        // Queries, keys, values and attention weights are saved; the backward pass needs their
        // gradients as workspace.
        Layer::Attention { features, heads } => {
            let tokens = input.places();
            let values = |matrices: usize| tokens * (3 * features + matrices * heads * tokens);
            (values(1), values(2))
        }
        _ => (0, 0),
    }
}
