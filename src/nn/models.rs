//! The networks, as data: the layers of each, and so the names and shapes of its parameters.

mod attention;
mod cnn;
mod resnet;
mod tiny;

use super::ops::Window;
use super::{Layer, ParameterSpec};
use crate::ink::PIXELS;
use crate::run_config::{Activation, ModelKind, Network};

/// The layers of a network, from the 28x28 image to a logit for each class.
pub fn layers(network: impl Into<Network>, activation: Activation, classes: usize) -> Vec<Layer> {
    let network = network.into();
    let act = Some(activation);
    let widths: Vec<usize> = network.widths().iter().map(|&width| width.into()).collect();
    match (network.model(), widths.as_slice()) {
        (ModelKind::LeNet, &[conv1, conv2, fc1, fc2]) => vec![
            Layer::ConvPool {
                name: "conv1".to_owned(),
                inputs: 1,
                outputs: conv1,
                kernel: 5,
                padding: 2,
                bias: true,
                activation: act,
            },
            Layer::ConvPool {
                name: "conv2".to_owned(),
                inputs: conv1,
                outputs: conv2,
                kernel: 5,
                padding: 0,
                bias: true,
                activation: act,
            },
            Layer::Flatten,
            linear("fc1", conv2 * 5 * 5, fc1, act),
            linear("fc2", fc1, fc2, act),
            linear("fc3", fc2, classes, None),
        ],
        // As in candle's MNIST example: no activation follows the convolutions but the maximum
        // itself.
        (ModelKind::ConvNet, &[conv1, conv2, fc1]) => vec![
            Layer::ConvPool {
                name: "conv1".to_owned(),
                inputs: 1,
                outputs: conv1,
                kernel: 5,
                padding: 0,
                bias: true,
                activation: None,
            },
            Layer::ConvPool {
                name: "conv2".to_owned(),
                inputs: conv1,
                outputs: conv2,
                kernel: 5,
                padding: 0,
                bias: true,
                activation: None,
            },
            Layer::Flatten,
            linear("fc1", conv2 * 4 * 4, fc1, act),
            Layer::Dropout(0.5),
            linear("fc2", fc1, classes, None),
        ],
        (ModelKind::PyTorchExample, &[conv1, conv2, fc1]) => vec![
            Layer::Conv {
                name: "conv1".to_owned(),
                inputs: 1,
                outputs: conv1,
                kernel: Window {
                    size: 3,
                    stride: 1,
                    padding: 0,
                },
                bias: true,
            },
            Layer::Activation(activation),
            Layer::ConvPool {
                name: "conv2".to_owned(),
                inputs: conv1,
                outputs: conv2,
                kernel: 3,
                padding: 0,
                bias: true,
                activation: act,
            },
            Layer::Dropout(0.25),
            Layer::Flatten,
            linear("fc1", conv2 * 12 * 12, fc1, act),
            Layer::Dropout(0.5),
            linear("fc2", fc1, classes, None),
        ],
        (ModelKind::Speedrun, &[conv1, conv2, fc1]) => vec![
            Layer::ConvPool {
                name: "conv1".to_owned(),
                inputs: 1,
                outputs: conv1,
                kernel: 5,
                padding: 0,
                bias: true,
                activation: act,
            },
            Layer::ConvPool {
                name: "conv2".to_owned(),
                inputs: conv1,
                outputs: conv2,
                kernel: 3,
                padding: 0,
                bias: true,
                activation: act,
            },
            Layer::Flatten,
            linear("fc1", conv2 * 5 * 5, fc1, act),
            linear("fc2", fc1, classes, None),
        ],
        (ModelKind::ConvNetBn, &[conv1, conv2, conv3, fc1]) => vec![
            conv_pool("conv1", 1, conv1, 5),
            batch_norm("bn1", conv1, act),
            conv_pool("conv2", conv1, conv2, 3),
            batch_norm("bn2", conv2, act),
            conv_pool("conv3", conv2, conv3, 3),
            batch_norm("bn3", conv3, act),
            Layer::Flatten,
            linear("fc1", conv3 * 3 * 3, fc1, act),
            linear("fc2", fc1, classes, None),
        ],
        (ModelKind::Cnn, _) => cnn::layers(&network.cnn_layers(), activation, classes),
        (ModelKind::Tiny, &[conv1, conv2, conv3, conv4]) => {
            tiny::layers([conv1, conv2, conv3, conv4], activation, classes)
        }
        (ModelKind::ResNet8, widths) => resnet::layers(&[1; 3], widths, activation, classes),
        (ModelKind::ResNet14, widths) => resnet::layers(&[2; 3], widths, activation, classes),
        (ModelKind::ResNet20, widths) => resnet::layers(&[3; 3], widths, activation, classes),
        (ModelKind::ResNet34, widths) => resnet::layers(&[3, 4, 6, 3], widths, activation, classes),
        (ModelKind::Attention, _) => attention::layers(activation, classes),
        // Its only layer is what the file says.
        (ModelKind::Onnx, _) => Vec::new(),
        // `Network` has as many widths as the model takes, so that only those without convolutions
        // are left.
        (_, widths) => mlp(widths, activation, classes),
    }
}

/// Linear layers `fc1`, `fc2`, … of these widths, and one that gives the logits.
fn mlp(widths: &[usize], activation: Activation, classes: usize) -> Vec<Layer> {
    let mut layers = vec![Layer::Flatten];
    let mut inputs = PIXELS;
    for (index, &outputs) in widths.iter().enumerate() {
        layers.push(linear(
            &format!("fc{}", index + 1),
            inputs,
            outputs,
            Some(activation),
        ));
        inputs = outputs;
    }
    layers.push(linear(
        &format!("fc{}", widths.len() + 1),
        inputs,
        classes,
        None,
    ));
    layers
}

fn linear(name: &str, inputs: usize, outputs: usize, activation: Option<Activation>) -> Layer {
    Layer::Linear {
        name: name.to_owned(),
        inputs,
        outputs,
        activation,
    }
}

/// A convolution without bias, as large as its input when the stride is 1: a batch normalisation
/// follows.
fn conv(
    name: impl Into<String>,
    inputs: usize,
    outputs: usize,
    size: usize,
    stride: usize,
) -> Layer {
    Layer::Conv {
        name: name.into(),
        inputs,
        outputs,
        kernel: Window {
            size,
            stride,
            padding: size / 2,
        },
        bias: false,
    }
}

/// A convolution without bias, as large as its input, and the largest number of every 2x2: a batch
/// normalisation follows.
fn conv_pool(name: impl Into<String>, inputs: usize, outputs: usize, kernel: usize) -> Layer {
    Layer::ConvPool {
        name: name.into(),
        inputs,
        outputs,
        kernel,
        padding: kernel / 2,
        bias: false,
        activation: None,
    }
}

fn batch_norm(name: impl Into<String>, channels: usize, activation: Option<Activation>) -> Layer {
    Layer::BatchNorm {
        name: name.into(),
        channels,
        scale: 1.0,
        activation,
    }
}

/// Every parameter of a network for this many classes, in the order of its layers.
pub fn parameter_specs(network: impl Into<Network>, classes: usize) -> Vec<ParameterSpec> {
    // Activations have no parameters: any stands for all.
    layers(network, Activation::default(), classes)
        .iter()
        .flat_map(Layer::parameters)
        .collect()
}

/// Trainable numbers of a network for this many classes.
pub fn parameter_count(network: impl Into<Network>, classes: usize) -> u64 {
    let trainable = parameter_specs(network, classes)
        .into_iter()
        .filter(|spec| spec.role.is_trainable());
    trainable
        .map(|spec| spec.shape.iter().product::<usize>() as u64)
        .sum()
}
