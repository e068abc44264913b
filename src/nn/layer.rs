//! The layers, as data, and the parameters of each.

use super::Role;
use super::ops::Window;
use crate::run_config::Activation;

/// One layer. What goes through it is `[batch, height, width, channels]` until `Flatten` or
/// `GlobalAveragePool` and `[batch, features]` after that; between `Tokens` and `GlobalAveragePool`
/// it is `[batch, tokens, features]`.
#[derive(Clone, Debug, PartialEq)]
pub enum Layer {
    /// Convolution with stride 1, then 2x2 max-pooling with stride 2, then the activation.
    ConvPool {
        /// Names its parameters (`NAME.weight` and perhaps `NAME.bias`).
        name: String,
        /// Channels in.
        inputs: usize,
        /// Channels out.
        outputs: usize,
        /// Pixels along a side of the kernel.
        kernel: usize,
        /// Zero pixels added at each edge.
        padding: usize,
        /// Whether it has a bias: where a normalisation follows, that has one.
        bias: bool,
        /// What follows, if anything.
        activation: Option<Activation>,
    },
    /// Convolution, and nothing else.
    Conv {
        /// Names its parameters (`NAME.weight` and perhaps `NAME.bias`).
        name: String,
        /// Channels in.
        inputs: usize,
        /// Channels out.
        outputs: usize,
        /// How the kernel moves.
        kernel: Window,
        /// Whether it has a bias: where a normalisation follows, that has one.
        bias: bool,
    },
    /// Batch normalisation, then the activation.
    BatchNorm {
        /// Names its parameters (`NAME.weight`, `NAME.bias`, `NAME.running_mean`,
        /// `NAME.running_var`).
        name: String,
        /// Channels in and out.
        channels: usize,
        /// The scale it starts from: 0 at the end of a residual block makes the block start as its
        /// shortcut alone (Goyal et al. 2017), 1 elsewhere.
        scale: f32,
        /// What follows, if anything.
        activation: Option<Activation>,
    },
    /// The activation alone.
    Activation(Activation),
    /// The mean over all places or tokens.
    GlobalAveragePool,
    /// `activation(body(x) + shortcut(x))` (He et al. 2016); an empty shortcut is `x` itself.
    Residual {
        /// The branch that learns.
        body: Vec<Layer>,
        /// The branch round it.
        shortcut: Vec<Layer>,
        /// What follows the sum, if anything.
        activation: Option<Activation>,
    },
    /// From an image to a sequence: each pixel's channels become a token's features.
    Tokens,
    /// Adds to each token a learned embedding of its place.
    Positions {
        /// Names its parameter.
        name: String,
        /// Tokens in a sequence.
        tokens: usize,
        /// Features of a token.
        features: usize,
    },
    /// Normalisation of each token.
    LayerNorm {
        /// Names its parameters (`NAME.weight`, `NAME.bias`).
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
    /// `x Wᵀ + b`, for each token where there are tokens.
    Linear {
        /// Names its parameters (`NAME.weight`, `NAME.bias`).
        name: String,
        /// Features in.
        inputs: usize,
        /// Features out.
        outputs: usize,
        /// What follows, if anything.
        activation: Option<Activation>,
    },
    /// Sets this share of features to zero while training and scales the others up (Srivastava et
    /// al. 2014).
    Dropout(f32),
}

/// A parameter before it has values.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterSpec {
    /// As in the model file: `fc1.weight`.
    pub name: String,
    /// Convolution `[out, in, height, width]`, linear `[out, in]`: `PyTorch`'s layouts.
    pub shape: Vec<usize>,
    /// What it is for.
    pub role: Role,
    /// How it is initialised.
    pub(super) init: Init,
}

/// The initial values of a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Init {
    /// Uniform between this bound's negative and itself.
    Uniform(f32),
    /// Normal around 0 with this standard deviation.
    Normal(f32),
    /// This value.
    Constant(f32),
}

impl Layer {
    /// True for dropout.
    pub const fn is_dropout(&self) -> bool {
        matches!(self, Self::Dropout(_))
    }

    /// What it is called: the name of its parameters, or of what it does where it has none.
    pub fn name(&self) -> &str {
        match self {
            Self::ConvPool { name, .. }
            | Self::Conv { name, .. }
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

    /// Its parameters, in the order in which they are used and stored.
    pub fn parameters(&self) -> Vec<ParameterSpec> {
        match self {
            Self::ConvPool {
                name,
                inputs,
                outputs,
                kernel,
                bias,
                ..
            } => convolution(name, *inputs, *outputs, *kernel, *bias),
            Self::Conv {
                name,
                inputs,
                outputs,
                kernel,
                bias,
            } => convolution(name, *inputs, *outputs, kernel.size, *bias),
            Self::BatchNorm {
                name,
                channels,
                scale,
                ..
            } => {
                let of = |what, role, value| {
                    parameter(name, what, vec![*channels], role, Init::Constant(value))
                };
                vec![
                    of("weight", Role::Norm, *scale),
                    of("bias", Role::Norm, 0.0),
                    of("running_mean", Role::Buffer, 0.0),
                    of("running_var", Role::Buffer, 1.0),
                ]
            }
            Self::Residual { body, shortcut, .. } => body
                .iter()
                .chain(shortcut)
                .flat_map(Self::parameters)
                .collect(),
            Self::Positions {
                name,
                tokens,
                features,
            } => {
                // As in ViT (Dosovitskiy et al. 2021). It is a place and not a weight: decay leaves
                // it alone.
                let shape = vec![1, *tokens, *features];
                vec![ParameterSpec {
                    name: name.clone(),
                    shape,
                    role: Role::Bias,
                    init: Init::Normal(0.02),
                }]
            }
            Self::LayerNorm { name, features } => {
                let of = |what, value| {
                    parameter(
                        name,
                        what,
                        vec![*features],
                        Role::Norm,
                        Init::Constant(value),
                    )
                };
                vec![of("weight", 1.0), of("bias", 0.0)]
            }
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
}

fn parameter(layer: &str, what: &str, shape: Vec<usize>, role: Role, init: Init) -> ParameterSpec {
    ParameterSpec {
        name: format!("{layer}.{what}"),
        shape,
        role,
        init,
    }
}

fn convolution(
    name: &str,
    inputs: usize,
    outputs: usize,
    size: usize,
    bias: bool,
) -> Vec<ParameterSpec> {
    let shape = vec![outputs, inputs, size, size];
    if bias {
        affine(name, shape)
    } else {
        vec![he(name, shape)]
    }
}

/// A weight that a normalisation and an activation follow: normal with variance `2 / fan_in` (He et
/// al. 2015).
fn he(name: &str, shape: Vec<usize>) -> ParameterSpec {
    let fan_in: usize = shape.iter().skip(1).product();
    parameter(
        name,
        "weight",
        shape,
        Role::Weight,
        Init::Normal((2.0 / fan_in as f32).sqrt()),
    )
}

/// Weight and bias, uniform in `±1/√fan_in`, as `torch.nn.Conv2d` and `torch.nn.Linear` start out
/// (He et al. 2015 with a = √5).
fn affine(name: &str, shape: Vec<usize>) -> Vec<ParameterSpec> {
    let fan_in: usize = shape.iter().skip(1).product();
    let init = Init::Uniform(1.0 / (fan_in as f32).sqrt());
    let outputs = shape.iter().take(1).copied().collect();
    vec![
        parameter(name, "weight", shape, Role::Weight, init),
        parameter(name, "bias", outputs, Role::Bias, init),
    ]
}
