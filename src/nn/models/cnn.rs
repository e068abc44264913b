//! The CNN whose layers a person chooses.

use super::linear;
use crate::ink::SIDE;
use crate::nn::Layer;
use crate::nn::ops::Window;
use crate::run_config::{Activation, CnnLayer, CnnLayers};

const _: () = assert!(
    CnnLayers::INPUT_SIDE == SIDE,
    "the layers are checked for images of this size"
);

/// Convolutions `conv1`, `conv2`, …, then dense layers `fc1`, `fc2`, …, and one that gives the
/// logits.
pub fn layers(hidden: &CnnLayers, activation: Activation, classes: usize) -> Vec<Layer> {
    let hidden_layers = hidden.as_slice();
    let act = Some(activation);
    let (mut layers, mut convolutions, mut channels) = (Vec::new(), 0, 1);
    for (index, layer) in hidden_layers.iter().enumerate() {
        let CnnLayer::Convolution {
            filters,
            kernel,
            padding,
        } = *layer
        else {
            continue;
        };
        convolutions += 1;
        let (name, inputs, outputs) = (
            format!("conv{convolutions}"),
            channels,
            usize::from(filters),
        );
        let (kernel, padding) = (usize::from(kernel), usize::from(padding));
        if hidden_layers.get(index + 1) == Some(&CnnLayer::MaxPooling) {
            layers.push(Layer::ConvPool {
                name,
                inputs,
                outputs,
                kernel,
                padding,
                bias: true,
                activation: act,
            });
        } else {
            let kernel = Window {
                size: kernel,
                stride: 1,
                padding,
            };
            layers.push(Layer::Conv {
                name,
                inputs,
                outputs,
                kernel,
                bias: true,
            });
            layers.push(Layer::Activation(activation));
        }
        channels = outputs;
    }
    layers.push(Layer::Flatten);
    let mut inputs = channels * hidden.output_side().pow(2);
    let dense = hidden_layers.iter().filter_map(|layer| {
        if let CnnLayer::Dense(neurons) = layer {
            Some(usize::from(*neurons))
        } else {
            None
        }
    });
    let mut number = 1;
    for outputs in dense {
        layers.push(linear(&format!("fc{number}"), inputs, outputs, act));
        (inputs, number) = (outputs, number + 1);
    }
    layers.push(linear(&format!("fc{number}"), inputs, classes, None));
    layers
}
