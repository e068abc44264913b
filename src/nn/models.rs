//! The networks, as data: the layers of each, and so the names and shapes of its parameters.

mod attention;
mod resnet;
mod tiny;

use super::ops::Window;
use super::{Layer, ParameterSpec};
use crate::run_config::{Activation, ModelKind};

/// The layers of a model, from the 28x28 image to a logit for each of so many classes.
pub fn layers(model: ModelKind, activation: Activation, classes: usize) -> Vec<Layer> {
    let act = Some(activation);
    match model {
        ModelKind::Linear => vec![Layer::Flatten, linear("fc1", 784, classes, None)],
        ModelKind::MlpSmall => vec![Layer::Flatten, linear("fc1", 784, 100, act), linear("fc2", 100, classes, None)],
        ModelKind::MlpLarge => {
            vec![Layer::Flatten, linear("fc1", 784, 512, act), linear("fc2", 512, 512, act), linear("fc3", 512, classes, None)]
        }
        ModelKind::Mlp => {
            vec![Layer::Flatten, linear("fc1", 784, 256, act), linear("fc2", 256, 256, act), linear("fc3", 256, classes, None)]
        }
        ModelKind::LeNet => vec![
            Layer::ConvPool { name: "conv1".to_owned(), inputs: 1, outputs: 6, kernel: 5, padding: 2, bias: true, activation: act },
            Layer::ConvPool { name: "conv2".to_owned(), inputs: 6, outputs: 16, kernel: 5, padding: 0, bias: true, activation: act },
            Layer::Flatten,
            linear("fc1", 16 * 5 * 5, 120, act),
            linear("fc2", 120, 84, act),
            linear("fc3", 84, classes, None),
        ],
        // As in candle's MNIST example: no activation follows the convolutions but the maximum itself.
        ModelKind::ConvNet => vec![
            Layer::ConvPool { name: "conv1".to_owned(), inputs: 1, outputs: 32, kernel: 5, padding: 0, bias: true, activation: None },
            Layer::ConvPool { name: "conv2".to_owned(), inputs: 32, outputs: 64, kernel: 5, padding: 0, bias: true, activation: None },
            Layer::Flatten,
            linear("fc1", 64 * 4 * 4, 1024, act),
            Layer::Dropout(0.5),
            linear("fc2", 1024, classes, None),
        ],
        ModelKind::PyTorchExample => vec![
            Layer::Conv { name: "conv1".to_owned(), inputs: 1, outputs: 32, kernel: Window { size: 3, stride: 1, padding: 0 }, bias: true },
            Layer::Activation(activation),
            Layer::ConvPool { name: "conv2".to_owned(), inputs: 32, outputs: 64, kernel: 3, padding: 0, bias: true, activation: act },
            Layer::Dropout(0.25),
            Layer::Flatten,
            linear("fc1", 64 * 12 * 12, 128, act),
            Layer::Dropout(0.5),
            linear("fc2", 128, classes, None),
        ],
        ModelKind::Speedrun => vec![
            Layer::ConvPool { name: "conv1".to_owned(), inputs: 1, outputs: 24, kernel: 5, padding: 0, bias: true, activation: act },
            Layer::ConvPool { name: "conv2".to_owned(), inputs: 24, outputs: 32, kernel: 3, padding: 0, bias: true, activation: act },
            Layer::Flatten,
            linear("fc1", 32 * 5 * 5, 256, act),
            linear("fc2", 256, classes, None),
        ],
        ModelKind::ConvNetBn => vec![
            conv_pool("conv1", 1, 32, 5),
            batch_norm("bn1", 32, act),
            conv_pool("conv2", 32, 64, 3),
            batch_norm("bn2", 64, act),
            conv_pool("conv3", 64, 128, 3),
            batch_norm("bn3", 128, act),
            Layer::Flatten,
            linear("fc1", 128 * 3 * 3, 256, act),
            linear("fc2", 256, classes, None),
        ],
        ModelKind::Tiny => tiny::layers(activation, classes),
        ModelKind::ResNet8 => resnet::layers(&[1; 3], activation, classes),
        ModelKind::ResNet14 => resnet::layers(&[2; 3], activation, classes),
        ModelKind::ResNet20 => resnet::layers(&[3; 3], activation, classes),
        ModelKind::ResNet34 => resnet::layers(&[3, 4, 6, 3], activation, classes),
        ModelKind::Attention => attention::layers(activation, classes),
    }
}

fn linear(name: &str, inputs: usize, outputs: usize, activation: Option<Activation>) -> Layer {
    Layer::Linear { name: name.to_owned(), inputs, outputs, activation }
}

/// A convolution without bias, as large as its input when the stride is 1: a batch normalisation follows.
fn conv(name: impl Into<String>, inputs: usize, outputs: usize, size: usize, stride: usize) -> Layer {
    Layer::Conv { name: name.into(), inputs, outputs, kernel: Window { size, stride, padding: size / 2 }, bias: false }
}

/// A convolution without bias, as large as its input, and the largest number of every 2x2: a batch normalisation follows.
fn conv_pool(name: impl Into<String>, inputs: usize, outputs: usize, kernel: usize) -> Layer {
    Layer::ConvPool { name: name.into(), inputs, outputs, kernel, padding: kernel / 2, bias: false, activation: None }
}

fn batch_norm(name: impl Into<String>, channels: usize, activation: Option<Activation>) -> Layer {
    Layer::BatchNorm { name: name.into(), channels, scale: 1.0, activation }
}

/// Every parameter of a model for so many classes, in the order of its layers.
pub fn parameter_specs(model: ModelKind, classes: usize) -> Vec<ParameterSpec> {
    // Activations have no parameters: any stands for all.
    layers(model, Activation::default(), classes).iter().flat_map(Layer::parameters).collect()
}

/// Trainable numbers of a model for so many classes.
pub fn parameter_count(model: ModelKind, classes: usize) -> u64 {
    let trainable = parameter_specs(model, classes).into_iter().filter(|spec| spec.role.is_trainable());
    trainable.map(|spec| spec.shape.iter().product::<usize>() as u64).sum()
}
