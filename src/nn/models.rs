//! The networks, as data: the layers of each, and so the names and shapes of its parameters.

use super::ops::Window;
use super::{Layer, ParameterSpec};
use crate::ink::{PIXELS, SIDE};
use crate::run_config::{Activation, CnnLayer, CnnLayers, ModelKind, Network};

/// The layers of a network, from the 28x28 image to a logit for each class.
pub fn layers(network: impl Into<Network>, activation: Activation, classes: usize) -> Vec<Layer> {
    let network = network.into();
    let act = Some(activation);
    match network.model() {
        ModelKind::Linear | ModelKind::MlpSmall | ModelKind::Mlp | ModelKind::MlpLarge => {
            let widths = network.widths().iter().copied().map(usize::from);
            let mut layers = vec![Layer::Flatten];
            layers.extend(dense(PIXELS, widths, activation, classes));
            layers
        }
        ModelKind::LeNet => {
            let [conv1, conv2, fc1, fc2] = widths(network);
            vec![
                conv_pool("conv1", 1, conv1, (5, 2), act),
                conv_pool("conv2", conv1, conv2, (5, 0), act),
                Layer::Flatten,
                linear("fc1", conv2 * 5 * 5, fc1, act),
                linear("fc2", fc1, fc2, act),
                linear("fc3", fc2, classes, None),
            ]
        }
        ModelKind::ConvNet => {
            // As in candle's MNIST example: no activation follows the convolutions but the maximum
            // itself.
            let [conv1, conv2, fc1] = widths(network);
            vec![
                conv_pool("conv1", 1, conv1, (5, 0), None),
                conv_pool("conv2", conv1, conv2, (5, 0), None),
                Layer::Flatten,
                linear("fc1", conv2 * 4 * 4, fc1, act),
                Layer::Dropout(0.5),
                linear("fc2", fc1, classes, None),
            ]
        }
        ModelKind::PyTorchExample => {
            let [conv1, conv2, fc1] = widths(network);
            vec![
                conv("conv1", 1, conv1, (3, 1, 0)),
                Layer::Activation(activation),
                conv_pool("conv2", conv1, conv2, (3, 0), act),
                Layer::Dropout(0.25),
                Layer::Flatten,
                linear("fc1", conv2 * 12 * 12, fc1, act),
                Layer::Dropout(0.5),
                linear("fc2", fc1, classes, None),
            ]
        }
        ModelKind::Cnn => cnn(&network.cnn_layers(), activation, classes),
        ModelKind::Speedrun => {
            let [conv1, conv2, fc1] = widths(network);
            vec![
                conv_pool("conv1", 1, conv1, (5, 0), act),
                conv_pool("conv2", conv1, conv2, (3, 0), act),
                Layer::Flatten,
                linear("fc1", conv2 * 5 * 5, fc1, act),
                linear("fc2", fc1, classes, None),
            ]
        }
        ModelKind::ConvNetBn => {
            let [conv1, conv2, conv3, fc1] = widths(network);
            vec![
                bare_conv_pool("conv1", 1, conv1, 5),
                batch_norm("bn1", conv1, act),
                bare_conv_pool("conv2", conv1, conv2, 3),
                batch_norm("bn2", conv2, act),
                bare_conv_pool("conv3", conv2, conv3, 3),
                batch_norm("bn3", conv3, act),
                Layer::Flatten,
                linear("fc1", conv3 * 3 * 3, fc1, act),
                linear("fc2", fc1, classes, None),
            ]
        }
        ModelKind::Tiny => {
            // The smallest network that is nearly as accurate as the large ones: 8,938 parameters.
            // Few channels, each normalized, and a mean over all places instead of a large layer:
            // weights are spent on shapes, not on where they are. Pooling comes before
            // normalization, which leaves it a quarter of the numbers.
            let [conv1, conv2, conv3, conv4] = widths(network);
            vec![
                bare_conv_pool("conv1", 1, conv1, 5),
                batch_norm("bn1", conv1, act),
                bare_conv("conv2", conv1, conv2, 3, 1),
                batch_norm("bn2", conv2, act),
                bare_conv_pool("conv3", conv2, conv3, 3),
                batch_norm("bn3", conv3, act),
                bare_conv("conv4", conv3, conv4, 3, 1),
                batch_norm("bn4", conv4, act),
                Layer::GlobalAveragePool,
                linear("fc", conv4, classes, None),
            ]
        }
        ModelKind::ResNet8 => resnet([1; 3], widths(network), activation, classes),
        ModelKind::ResNet14 => resnet([2; 3], widths(network), activation, classes),
        ModelKind::ResNet20 => resnet([3; 3], widths(network), activation, classes),
        ModelKind::ResNet34 => resnet([3, 4, 6, 3], widths(network), activation, classes),
        ModelKind::Attention => vision_transformer(activation, classes),
        // Its only layer is what the file says.
        ModelKind::Onnx => Vec::new(),
    }
}

/// The widths of the hidden layers of a model that takes this many.
fn widths<const N: usize>(network: Network) -> [usize; N] {
    // `Network` has no other number of them.
    let widths = network.widths();
    std::array::from_fn(|index| widths.get(index).copied().map_or(1, usize::from))
}

/// Linear layers `fc1`, `fc2`, … of these widths, and one that gives the logits.
fn dense(
    inputs: usize,
    widths: impl IntoIterator<Item = usize>,
    activation: Activation,
    classes: usize,
) -> Vec<Layer> {
    let (mut layers, mut inputs) = (Vec::new(), inputs);
    let name = |layers: &[Layer]| format!("fc{}", layers.len() + 1);
    for outputs in widths {
        layers.push(linear(name(&layers), inputs, outputs, Some(activation)));
        inputs = outputs;
    }
    layers.push(linear(name(&layers), inputs, classes, None));
    layers
}

const _: () = assert!(
    CnnLayers::INPUT_SIDE == SIDE,
    "the layers are checked for images of this size"
);

/// The CNN whose layers a person chooses: convolutions `conv1`, `conv2`, …, then dense layers.
fn cnn(hidden: &CnnLayers, activation: Activation, classes: usize) -> Vec<Layer> {
    let (mut layers, mut convolutions, mut channels) = (Vec::new(), 0, 1);
    let mut widths = Vec::new();
    let mut rest = hidden.as_slice();
    while let [layer, following @ ..] = rest {
        rest = following;
        match *layer {
            CnnLayer::Convolution {
                filters,
                kernel,
                padding,
            } => {
                convolutions += 1;
                let (name, outputs) = (format!("conv{convolutions}"), usize::from(filters));
                let (size, padding) = (usize::from(kernel), usize::from(padding));
                if following.first() == Some(&CnnLayer::MaxPooling) {
                    let act = Some(activation);
                    layers.push(conv_pool(name, channels, outputs, (size, padding), act));
                } else {
                    layers.push(conv(name, channels, outputs, (size, 1, padding)));
                    layers.push(Layer::Activation(activation));
                }
                channels = outputs;
            }
            CnnLayer::Dense(neurons) => widths.push(usize::from(neurons)),
            // Part of the convolution before it.
            CnnLayer::MaxPooling => {}
        }
    }
    layers.push(Layer::Flatten);
    let inputs = channels * hidden.output_side().pow(2);
    layers.extend(dense(inputs, widths, activation, classes));
    layers
}

/// A residual network for small images (He et al. 2016, section 4.2), with torchvision's names, of
/// this many blocks in each stage, which has this many channels and half the height and width of
/// the one before: 28, 14, 7, 4. It is two layers deep for each block, and two more.
///
/// ResNet-34 has the blocks of the one for large images (table 1) in the same form: its first
/// convolution is small and without pooling, and it has a quarter of the channels.
fn resnet<const STAGES: usize>(
    blocks: [usize; STAGES],
    widths: [usize; STAGES],
    activation: Activation,
    classes: usize,
) -> Vec<Layer> {
    let mut inputs = widths[0];
    let mut layers = vec![
        bare_conv("conv1", 1, inputs, 3, 1),
        batch_norm("bn1", inputs, Some(activation)),
    ];
    for (stage, (outputs, blocks)) in (1..).zip(widths.into_iter().zip(blocks)) {
        for index in 0..blocks {
            let name = format!("layer{stage}.{index}");
            let stride = if stage > 1 && index == 0 { 2 } else { 1 };
            layers.push(residual_block(&name, inputs, outputs, stride, activation));
            inputs = outputs;
        }
    }
    layers.extend([
        Layer::GlobalAveragePool,
        linear("fc", inputs, classes, None),
    ]);
    layers
}

/// Two convolutions and what goes round them: nothing, or where the size changes a projection
/// (their option B).
pub fn residual_block(
    name: &str,
    inputs: usize,
    outputs: usize,
    stride: usize,
    activation: Activation,
) -> Layer {
    let body = vec![
        bare_conv(format!("{name}.conv1"), inputs, outputs, 3, stride),
        batch_norm(format!("{name}.bn1"), outputs, Some(activation)),
        bare_conv(format!("{name}.conv2"), outputs, outputs, 3, 1),
        Layer::BatchNorm {
            name: format!("{name}.bn2"),
            channels: outputs,
            scale: 0.0,
            activation: None,
        },
    ];
    let shortcut = if stride == 1 && inputs == outputs {
        Vec::new()
    } else {
        vec![
            bare_conv(format!("{name}.downsample.0"), inputs, outputs, 1, stride),
            batch_norm(format!("{name}.downsample.1"), outputs, None),
        ]
    };
    Layer::Residual {
        body,
        shortcut,
        activation: Some(activation),
    }
}

/// A small vision transformer (Dosovitskiy et al. 2021) with a convolutional stem (Xiao et al.
/// 2021), with timm's names: two small convolutions, tokens of 4x4 pixels each, the blocks, and a
/// linear layer on the mean of the tokens.
fn vision_transformer(activation: Activation, classes: usize) -> Vec<Layer> {
    /// A seventh of the image's height and width squared.
    const TOKENS: usize = 7 * 7;
    /// Features of a token.
    const FEATURES: usize = 64;
    /// Parts of the features that attend separately.
    const HEADS: usize = 4;
    const BLOCKS: usize = 2;
    let act = Some(activation);
    let layer_norm = |name: String| Layer::LayerNorm {
        name,
        features: FEATURES,
    };
    let mut layers = vec![
        bare_conv_pool("stem.conv1", 1, 16, 3),
        batch_norm("stem.bn1", 16, act),
        bare_conv("stem.conv2", 16, 32, 3, 1),
        batch_norm("stem.bn2", 32, act),
        conv("patch_embed.proj", 32, FEATURES, (2, 2, 0)),
        Layer::Tokens,
        Layer::Positions {
            name: "pos_embed".to_owned(),
            tokens: TOKENS,
            features: FEATURES,
        },
    ];
    for index in 0..BLOCKS {
        let name = |part: &str| format!("blocks.{index}.{part}");
        let attention = vec![
            layer_norm(name("norm1")),
            linear(name("attn.qkv"), FEATURES, 3 * FEATURES, None),
            Layer::Attention {
                features: FEATURES,
                heads: HEADS,
            },
            linear(name("attn.proj"), FEATURES, FEATURES, None),
        ];
        let mlp = vec![
            layer_norm(name("norm2")),
            linear(name("mlp.fc1"), FEATURES, 2 * FEATURES, act),
            linear(name("mlp.fc2"), 2 * FEATURES, FEATURES, None),
        ];
        layers.extend([attention, mlp].map(|body| Layer::Residual {
            body,
            shortcut: Vec::new(),
            activation: None,
        }));
    }
    layers.extend([
        Layer::GlobalAveragePool,
        layer_norm("fc_norm".to_owned()),
        linear("head", FEATURES, classes, None),
    ]);
    layers
}

fn linear(
    name: impl Into<String>,
    inputs: usize,
    outputs: usize,
    activation: Option<Activation>,
) -> Layer {
    Layer::Linear {
        name: name.into(),
        inputs,
        outputs,
        activation,
    }
}

/// A convolution whose kernel has this size, stride and padding.
fn conv(
    name: impl Into<String>,
    inputs: usize,
    outputs: usize,
    (size, stride, padding): (usize, usize, usize),
) -> Layer {
    Layer::Conv {
        name: name.into(),
        inputs,
        outputs,
        kernel: Window {
            size,
            stride,
            padding,
        },
        bias: true,
        pool: false,
        activation: None,
    }
}

/// A convolution whose kernel has this size and padding, the largest number of every 2x2, and the
/// activation.
fn conv_pool(
    name: impl Into<String>,
    inputs: usize,
    outputs: usize,
    (size, padding): (usize, usize),
    activation: Option<Activation>,
) -> Layer {
    Layer::Conv {
        name: name.into(),
        inputs,
        outputs,
        kernel: Window {
            size,
            stride: 1,
            padding,
        },
        bias: true,
        pool: true,
        activation,
    }
}

/// A convolution without bias, as large as its input when the stride is 1: a batch normalization
/// follows.
fn bare_conv(
    name: impl Into<String>,
    inputs: usize,
    outputs: usize,
    size: usize,
    stride: usize,
) -> Layer {
    without_bias(conv(name, inputs, outputs, (size, stride, size / 2)))
}

/// The same with the largest number of every 2x2.
fn bare_conv_pool(name: impl Into<String>, inputs: usize, outputs: usize, size: usize) -> Layer {
    without_bias(conv_pool(name, inputs, outputs, (size, size / 2), None))
}

fn without_bias(mut layer: Layer) -> Layer {
    if let Layer::Conv { bias, .. } = &mut layer {
        *bias = false;
    }
    layer
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
