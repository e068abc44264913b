//! The layers, as data: of each its parameters and the shape of what it gives, and the walk that
//! everything takes which goes through a network.

use super::ops::ConvGeometry;
use super::shape::Shape;
use super::{Parameter, Role};
use crate::run_config::Activation;

/// One layer. What goes through it is `[batch, height, width, channels]` until `Flatten` or
/// `GlobalAveragePool` and `[batch, features]` after that; between `Tokens` and `GlobalAveragePool`
/// it is `[batch, tokens, features]`. Its parameters are named after it: `NAME.weight`.
#[derive(Clone, Debug, PartialEq)]
pub enum Layer {
    /// Convolution, then perhaps max pooling, then the activation.
    Conv {
        name: String,
        /// Channels in.
        inputs: usize,
        /// Channels out.
        outputs: usize,
        kernel: ConvGeometry,
        /// Whether it has a bias: if a normalization follows, that has one.
        bias: bool,
        /// Whether 2x2 max pooling with stride 2 follows, for which the kernel has stride 1.
        pool: bool,
        activation: Option<Activation>,
    },
    /// Batch normalization, then the activation.
    BatchNorm {
        name: String,
        /// Channels in and out.
        channels: usize,
        /// The scale it starts from: 0 at the end of a residual block makes the block start as its
        /// shortcut alone (Goyal et al. 2017), 1 elsewhere.
        scale: f32,
        activation: Option<Activation>,
    },
    Activation(Activation),
    /// The mean over all places or tokens.
    GlobalAveragePool,
    /// `activation(body(x) + shortcut(x))` (He et al. 2016); an empty shortcut is `x` itself.
    Residual {
        /// The branch that learns.
        body: Vec<Layer>,
        /// The branch round it.
        shortcut: Vec<Layer>,
        /// The activation after the sum, if any.
        activation: Option<Activation>,
    },
    /// From an image to a sequence: each pixel's channels become a token's features.
    Tokens,
    /// Adds to each token a learned embedding of its place.
    Positions {
        name: String,
        /// Tokens in a sequence.
        tokens: usize,
        /// Features of a token.
        features: usize,
    },
    /// Normalization of each token.
    LayerNorm {
        name: String,
        /// Features of a token.
        features: usize,
    },
    /// Attention of each token to all, from queries, keys and values one after the other: three
    /// times the features that come out.
    Attention {
        /// Features of a token that comes out.
        features: usize,
        /// Into how many parts features are split that attend separately.
        heads: usize,
    },
    /// From images to features in the order channel, row, column: the order `PyTorch` flattens in,
    /// so that the next layer's weights mean the same in `PyTorch`.
    Flatten,
    /// `x Wᵀ + b`, for each token if there are tokens.
    Linear {
        name: String,
        /// Features in.
        inputs: usize,
        /// Features out.
        outputs: usize,
        activation: Option<Activation>,
    },
    /// Sets this fraction of features to zero while training and scales the others up (Srivastava
    /// et al. 2014).
    Dropout(f32),
}

/// A parameter before it has values.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterSpec {
    /// As in the model file: `fc1.weight`.
    pub name: String,
    /// Convolution `[out, in, height, width]`, linear `[out, in]`: `PyTorch`'s layouts.
    pub shape: Vec<usize>,
    pub role: Role,
    pub(super) init: Init,
}

impl ParameterSpec {
    /// The parameter with these values; an error if they are not as many as its shape takes.
    pub fn with_values(self, values: Vec<f32>) -> candle_core::Result<Parameter> {
        Ok(Parameter::new(self.name, values, &self.shape)?.with_role(self.role))
    }
}

/// The initial values of a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Init {
    /// Uniform between this bound's negative and itself.
    Uniform(f32),
    /// Normal around 0 with this standard deviation.
    Normal(f32),
    Constant(f32),
}

impl Layer {
    pub const fn is_dropout(&self) -> bool {
        matches!(self, Self::Dropout(_))
    }

    /// Its name: the name of its parameters, or of what it does if it has none.
    pub fn name(&self) -> &str {
        match self {
            Self::Conv { name, .. }
            | Self::BatchNorm { name, .. }
            | Self::Positions { name, .. }
            | Self::LayerNorm { name, .. }
            | Self::Linear { name, .. } => name,
            Self::Activation(_) => "activation",
            Self::GlobalAveragePool => "global average pooling",
            Self::Residual { .. } => "residual sum",
            Self::Tokens => "tokens",
            Self::Attention { .. } => "attention",
            Self::Flatten => "flatten",
            Self::Dropout(_) => "dropout",
        }
    }

    /// The name of its parameters, if it has any.
    pub fn parameter_name(&self) -> Option<&str> {
        let is_named = !matches!(self, Self::Residual { .. }) && !self.parameters().is_empty();
        is_named.then(|| self.name())
    }

    /// Its parameters, in the order in which they are stored; a residual layer's are in its
    /// branches.
    pub fn parameters(&self) -> Vec<ParameterSpec> {
        match self {
            Self::Conv {
                name,
                inputs,
                outputs,
                kernel,
                bias,
                ..
            } => {
                let shape = vec![*outputs, *inputs, kernel.size, kernel.size];
                if *bias {
                    affine(name, shape)
                } else {
                    vec![he(name, shape)]
                }
            }
            Self::BatchNorm {
                name,
                channels,
                scale,
                ..
            } => vec![
                constant(name, "weight", *channels, Role::Norm, *scale),
                constant(name, "bias", *channels, Role::Norm, 0.0),
                constant(name, "running_mean", *channels, Role::Buffer, 0.0),
                constant(name, "running_var", *channels, Role::Buffer, 1.0),
            ],
            Self::Residual { body, shortcut, .. } => body
                .iter()
                .chain(shortcut)
                .flat_map(Self::parameters)
                .collect(),
            // As in ViT (Dosovitskiy et al. 2021). It is a place and not a weight: decay leaves it
            // alone.
            Self::Positions {
                name,
                tokens,
                features,
            } => vec![ParameterSpec {
                name: name.clone(),
                shape: vec![1, *tokens, *features],
                role: Role::Bias,
                init: Init::Normal(0.02),
            }],
            Self::LayerNorm { name, features } => vec![
                constant(name, "weight", *features, Role::Norm, 1.0),
                constant(name, "bias", *features, Role::Norm, 0.0),
            ],
            Self::Linear {
                name,
                inputs,
                outputs,
                ..
            } => affine(name, vec![*outputs, *inputs]),
            Self::Activation(_)
            | Self::GlobalAveragePool
            | Self::Tokens
            | Self::Attention { .. }
            | Self::Flatten
            | Self::Dropout(_) => Vec::new(),
        }
    }

    /// The activation that ends it, if one does.
    pub(super) const fn activation(&self) -> Option<Activation> {
        match self {
            Self::Conv { activation, .. }
            | Self::BatchNorm { activation, .. }
            | Self::Residual { activation, .. }
            | Self::Linear { activation, .. } => *activation,
            Self::Activation(activation) => Some(*activation),
            Self::GlobalAveragePool
            | Self::Tokens
            | Self::Positions { .. }
            | Self::LayerNorm { .. }
            | Self::Attention { .. }
            | Self::Flatten
            | Self::Dropout(_) => None,
        }
    }

    /// The layer without pooling and activation: the sums that a convolution or dense layer
    /// computes; `None` for another.
    pub(super) fn sums(&self) -> Option<Self> {
        let mut sums = self.clone();
        match &mut sums {
            Self::Conv {
                pool, activation, ..
            } => (*pool, *activation) = (false, None),
            Self::Linear { activation, .. } => *activation = None,
            _ => return None,
        }
        Some(sums)
    }

    /// The output for this input.
    pub(super) fn output(&self, input: Shape) -> Shape {
        match self {
            Self::Conv {
                outputs,
                kernel,
                pool,
                ..
            } => {
                let side = kernel.positions(input.side());
                Shape::Image {
                    side: if *pool { side / 2 } else { side },
                    channels: *outputs,
                }
            }
            Self::GlobalAveragePool => Shape::Features(input.width()),
            Self::Residual { body, .. } => {
                walk(body, input).last().map_or(input, |step| step.output)
            }
            Self::Tokens => Shape::Tokens {
                tokens: input.places(),
                features: input.width(),
            },
            Self::Attention { features, .. } => input.with_width(*features),
            Self::Flatten => Shape::Features(input.values()),
            Self::Linear { outputs, .. } => input.with_width(*outputs),
            Self::BatchNorm { .. }
            | Self::Activation(_)
            | Self::Positions { .. }
            | Self::LayerNorm { .. }
            | Self::Dropout(_) => input,
        }
    }
}

/// A layer in its place.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    pub layer: &'a Layer,
    pub input: Shape,
    /// The output.
    pub output: Shape,
}

/// Layers in the order in which they are computed. What is within a residual one is left to whoever
/// meets it: both branches take its input.
pub fn walk(layers: &[Layer], input: Shape) -> impl Iterator<Item = Step<'_>> {
    layers.iter().scan(input, |shape, layer| {
        let input = *shape;
        *shape = layer.output(input);
        Some(Step {
            layer,
            input,
            output: *shape,
        })
    })
}

impl Step<'_> {
    /// It, and before it whatever is within it.
    pub fn flattened(self) -> Vec<Self> {
        let mut steps = Vec::new();
        if let Layer::Residual { body, shortcut, .. } = self.layer {
            for branch in [body, shortcut] {
                steps.extend(walk(branch, self.input).flat_map(Self::flattened));
            }
        }
        steps.push(self);
        steps
    }

    /// The multiplications in its products, for one image.
    pub(super) fn multiplications(self) -> usize {
        let input = self.input;
        match *self.layer {
            Layer::Conv {
                inputs,
                outputs,
                kernel,
                ..
            } => {
                kernel.positions(input.side()).pow(2) * outputs * inputs * kernel.size * kernel.size
            }
            Layer::Linear {
                inputs, outputs, ..
            } => input.places() * inputs * outputs,
            // Queries with keys, and attention weights with values.
            Layer::Attention { features, .. } => 2 * input.places().pow(2) * features,
            Layer::BatchNorm { .. }
            | Layer::Activation(_)
            | Layer::GlobalAveragePool
            | Layer::Residual { .. }
            | Layer::Tokens
            | Layer::Positions { .. }
            | Layer::LayerNorm { .. }
            | Layer::Flatten
            | Layer::Dropout(_) => 0,
        }
    }
}

fn parameter(layer: &str, what: &str, shape: Vec<usize>, role: Role, init: Init) -> ParameterSpec {
    ParameterSpec {
        name: format!("{layer}.{what}"),
        shape,
        role,
        init,
    }
}

fn constant(layer: &str, what: &str, length: usize, role: Role, value: f32) -> ParameterSpec {
    parameter(layer, what, vec![length], role, Init::Constant(value))
}

/// A weight that a normalization and an activation follow: normal with variance `2 / fan_in` (He et
/// al. 2015).
fn he(layer: &str, shape: Vec<usize>) -> ParameterSpec {
    let fan_in: usize = shape.iter().skip(1).product();
    let init = Init::Normal((2.0 / fan_in as f32).sqrt());
    parameter(layer, "weight", shape, Role::Weight, init)
}

/// Weight and bias, uniform in `±1/√fan_in`, as `torch.nn.Conv2d` and `torch.nn.Linear` start out
/// (He et al. 2015 with a = √5).
fn affine(layer: &str, shape: Vec<usize>) -> Vec<ParameterSpec> {
    let fan_in: usize = shape.iter().skip(1).product();
    let init = Init::Uniform(1.0 / (fan_in as f32).sqrt());
    let outputs = shape.iter().take(1).copied().collect();
    vec![
        parameter(layer, "weight", shape, Role::Weight, init),
        parameter(layer, "bias", outputs, Role::Bias, init),
    ]
}
