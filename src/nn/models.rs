//! The networks, as data: the layers of each, and so the names and shapes of its parameters.

use super::ops::ConvGeometry;
use super::shape::Shape;
use super::{Layer, ParameterSpec};
use crate::ink::SIDE;
use crate::run_config::{Activation, HiddenLayer, LayerOutput, ModelKind, Network};

/// The layers of a network, from the 28x28 image to a logit for each class.
pub fn layers(network: impl Into<Network>, activation: Activation, classes: usize) -> Vec<Layer> {
    layers_of_blocks(network, activation, classes).concat()
}

/// The same: the layers that each of its hidden layers consists of, and those that give the logits.
/// Max pooling is part of the convolution before it.
pub(super) fn layers_of_blocks(
    network: impl Into<Network>,
    activation: Activation,
    classes: usize,
) -> Vec<Vec<Layer>> {
    let network = network.into();
    if network.model() == ModelKind::Onnx {
        // Its only layer is what the file says.
        return Vec::new();
    }
    let hidden = network.hidden_layers();
    let mut builder = Builder {
        activation,
        is_transformer: hidden.has_transformer(),
        has_stem: has_plain_stem(hidden.as_slice()),
        blocks: Vec::new(),
        output: Shape::INPUT,
        convolutions: 0,
        norm: None,
        dense: 0,
        layer_norms: 0,
        residual: None,
        transformer: None,
        previous: None,
    };
    let mut rest = hidden.as_slice();
    while let [layer, following @ ..] = rest {
        builder.blocks.push(Vec::new());
        builder.add(*layer, following);
        builder.previous = Some(*layer);
        rest = following;
    }
    builder.blocks.push(Vec::new());
    builder.finish(classes);
    builder.blocks
}

const _: () = assert!(
    matches!(LayerOutput::INPUT, LayerOutput::Image { side: SIDE, .. }),
    "the layers are checked for images of this size"
);

/// True if nothing but convolutions comes before the first transformer block.
fn has_plain_stem(hidden: &[HiddenLayer]) -> bool {
    let is_transformer = |layer: &HiddenLayer| matches!(layer, HiddenLayer::Transformer { .. });
    let stem = hidden.split(is_transformer).next().unwrap_or_default();
    stem.len() < hidden.len()
        && stem.iter().all(|layer| {
            matches!(
                layer,
                HiddenLayer::Convolution { .. } | HiddenLayer::MaxPooling | HiddenLayer::BatchNorm
            )
        })
}

/// Layers as they are put together, with the names that `PyTorch` users know: `conv1`, `bn1`,
/// `fc1`; `layer1.0` for the first block of a residual network's first stage, as in torchvision;
/// `patch_embed.proj` and `blocks.0` in a transformer, as in timm. What has a part of its name in
/// common follows one another.
struct Builder {
    activation: Activation,
    is_transformer: bool,
    has_stem: bool,
    /// The layers of each hidden layer.
    blocks: Vec<Vec<Layer>>,
    /// The shape of their output.
    output: Shape,
    convolutions: usize,
    /// The normalization of the last convolution, if one follows.
    norm: Option<Layer>,
    dense: usize,
    layer_norms: usize,
    /// Stage of the last residual block, its number in it, and its channels.
    residual: Option<(usize, usize, usize)>,
    /// Sequence of transformer blocks that the last one is in, and its number in it.
    transformer: Option<(usize, usize)>,
    previous: Option<HiddenLayer>,
}

impl Builder {
    /// Adds these to the hidden layer that was begun last.
    fn push(&mut self, layers: impl IntoIterator<Item = Layer>) {
        for layer in layers {
            self.output = layer.output(self.output);
            if let Some(block) = self.blocks.last_mut() {
                block.push(layer);
            }
        }
    }

    fn layers(&self) -> impl DoubleEndedIterator<Item = &Layer> {
        self.blocks.iter().flatten()
    }

    /// Adds a layer that these follow.
    fn add(&mut self, layer: HiddenLayer, following: &[HiddenLayer]) {
        match layer {
            HiddenLayer::Convolution { .. } => self.convolution(layer, following),
            HiddenLayer::MaxPooling => {}
            HiddenLayer::BatchNorm => {
                let norm = self.norm.take();
                self.push(norm);
            }
            HiddenLayer::Residual { filters, stride } => {
                self.residual(usize::from(filters), usize::from(stride));
            }
            HiddenLayer::Transformer { heads } => self.transformer(usize::from(heads)),
            HiddenLayer::GlobalAveragePooling => self.push([Layer::GlobalAveragePool]),
            HiddenLayer::LayerNorm => {
                let is_pooled = self.layers().next_back() == Some(&Layer::GlobalAveragePool);
                let name = if self.is_transformer && is_pooled {
                    "fc_norm".to_owned()
                } else {
                    self.layer_norms += 1;
                    format!("ln{}", self.layer_norms)
                };
                self.push([layer_norm(name, self.output.width())]);
            }
            HiddenLayer::Dropout { percent } => {
                self.push([Layer::Dropout(f32::from(percent) / 100.0)]);
            }
            HiddenLayer::Dense {
                neurons,
                has_activation,
            } => {
                self.dense += 1;
                let activation = has_activation.then_some(self.activation);
                self.linear(
                    format!("fc{}", self.dense),
                    usize::from(neurons),
                    activation,
                );
            }
        }
    }

    fn convolution(&mut self, layer: HiddenLayer, following: &[HiddenLayer]) {
        let HiddenLayer::Convolution {
            filters,
            kernel,
            stride,
            padding,
            has_activation,
        } = layer
        else {
            return;
        };
        let (pooled, after) = match following {
            [HiddenLayer::MaxPooling, after @ ..] => (true, after),
            after => (false, after),
        };
        let (normalized, after) = match after {
            [HiddenLayer::BatchNorm, after @ ..] => (true, after),
            after => (false, after),
        };
        self.convolutions += 1;
        let number = self.convolutions;
        let (name, norm) = match after.first() {
            _ if !self.has_stem => (format!("conv{number}"), format!("bn{number}")),
            Some(HiddenLayer::Transformer { .. }) => {
                ("patch_embed.proj".to_owned(), "patch_embed.norm".to_owned())
            }
            _ => (format!("stem.conv{number}"), format!("stem.bn{number}")),
        };
        let activation = has_activation.then_some(self.activation);
        let outputs = usize::from(filters);
        self.push([Layer::Conv {
            name,
            inputs: self.output.width(),
            outputs,
            kernel: ConvGeometry {
                size: usize::from(kernel),
                stride: usize::from(stride),
                padding: usize::from(padding),
            },
            bias: !normalized,
            pool: pooled,
            activation: activation.filter(|_| pooled && !normalized),
        }]);
        if normalized {
            self.norm = Some(batch_norm(norm, outputs, activation));
        } else if !pooled {
            self.push(activation.map(Layer::Activation));
        }
    }

    fn residual(&mut self, outputs: usize, stride: usize) {
        let (stage, index) = match self.residual {
            None => (1, 0),
            Some((stage, index, channels))
                if stride == 1
                    && channels == outputs
                    && matches!(self.previous, Some(HiddenLayer::Residual { .. })) =>
            {
                (stage, index + 1)
            }
            Some((stage, ..)) => (stage + 1, 0),
        };
        self.residual = Some((stage, index, outputs));
        let name = format!("layer{stage}.{index}");
        let inputs = self.output.width();
        self.push([residual_block(
            &name,
            inputs,
            outputs,
            stride,
            self.activation,
        )]);
    }

    fn transformer(&mut self, heads: usize) {
        let features = self.output.width();
        if let Shape::Image { .. } = self.output {
            let positions = Layer::Positions {
                name: "pos_embed".to_owned(),
                tokens: self.output.places(),
                features,
            };
            self.push([Layer::Tokens, positions]);
        }
        let (sequence, index) = match self.transformer {
            None => (1, 0),
            Some((sequence, index))
                if matches!(self.previous, Some(HiddenLayer::Transformer { .. })) =>
            {
                (sequence, index + 1)
            }
            Some((sequence, _)) => (sequence + 1, 0),
        };
        self.transformer = Some((sequence, index));
        let blocks = if sequence == 1 {
            "blocks".to_owned()
        } else {
            format!("blocks{sequence}")
        };
        let name = |part: &str| format!("{blocks}.{index}.{part}");
        let attention = vec![
            layer_norm(name("norm1"), features),
            linear(name("attn.qkv"), features, 3 * features, None),
            Layer::Attention { features, heads },
            linear(name("attn.proj"), features, features, None),
        ];
        let mlp = vec![
            layer_norm(name("norm2"), features),
            linear(
                name("mlp.fc1"),
                features,
                2 * features,
                Some(self.activation),
            ),
            linear(name("mlp.fc2"), 2 * features, features, None),
        ];
        self.push([attention, mlp].map(|body| Layer::Residual {
            body,
            shortcut: Vec::new(),
            activation: None,
        }));
    }

    fn linear(&mut self, name: String, outputs: usize, activation: Option<Activation>) {
        if let Shape::Image { .. } = self.output {
            self.push([Layer::Flatten]);
        }
        self.push([linear(name, self.output.width(), outputs, activation)]);
    }

    /// Adds the layer that computes the logits.
    fn finish(&mut self, classes: usize) {
        let is_pooled = self
            .layers()
            .any(|layer| *layer == Layer::GlobalAveragePool);
        let name = if self.is_transformer {
            "head".to_owned()
        } else if self.dense == 0 && is_pooled {
            "fc".to_owned()
        } else {
            format!("fc{}", self.dense + 1)
        };
        self.linear(name, classes, None);
    }
}

/// Two convolutions and what goes round them: nothing, or if the size changes a projection
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

fn linear(name: String, inputs: usize, outputs: usize, activation: Option<Activation>) -> Layer {
    Layer::Linear {
        name,
        inputs,
        outputs,
        activation,
    }
}

/// A convolution without bias, as large as its input when the stride is 1: a batch normalization
/// follows.
fn bare_conv(name: String, inputs: usize, outputs: usize, size: usize, stride: usize) -> Layer {
    Layer::Conv {
        name,
        inputs,
        outputs,
        kernel: ConvGeometry {
            size,
            stride,
            padding: size / 2,
        },
        bias: false,
        pool: false,
        activation: None,
    }
}

fn layer_norm(name: String, features: usize) -> Layer {
    Layer::LayerNorm { name, features }
}

fn batch_norm(name: String, channels: usize, activation: Option<Activation>) -> Layer {
    Layer::BatchNorm {
        name,
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
    trainable_numbers(&parameter_specs(network, classes))
}

pub(super) fn trainable_numbers(specs: &[ParameterSpec]) -> u64 {
    let trainable = specs.iter().filter(|spec| spec.role.is_trainable());
    trainable
        .map(|spec| spec.shape.iter().product::<usize>() as u64)
        .sum()
}
