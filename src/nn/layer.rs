//! Owns what layers there are and which parameters each has. Must not hold a weight nor compute anything.

use crate::run_config::Activation;

use super::Role;

/// One layer. Activations are `[batch, height, width, channels]` until `Flatten` and `[batch, features]` after it.
#[derive(Clone, Debug, PartialEq)]
pub enum Layer {
    /// Convolution with stride 1, then 2x2 max-pooling with stride 2, then the activation.
    ConvPool {
        /// Names its parameters (`NAME.weight`, `NAME.bias`).
        name: String,
        /// Channels in.
        inputs: usize,
        /// Channels out.
        outputs: usize,
        /// Pixels along a side of the kernel.
        kernel: usize,
        /// Zero pixels added at each edge.
        padding: usize,
        /// What follows, if anything.
        activation: Option<Activation>,
    },
    /// From pictures to features in the order channel, row, column: the order `PyTorch` flattens in, so that the next
    /// layer's weights mean the same elsewhere.
    Flatten,
    /// `x Wᵀ + b`.
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
    /// Sets this share of features to zero while training and scales the others up (Srivastava et al. 2014).
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
    /// How it starts.
    pub(super) start: Start,
}

/// The values a parameter starts from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Start {
    /// Uniform between this bound's negative and itself.
    Uniform(f32),
}

impl Layer {
    /// Its parameters, in the order in which they are used and stored.
    pub(super) fn parameters(&self) -> Vec<ParameterSpec> {
        match self {
            Self::ConvPool { name, inputs, outputs, kernel, .. } => affine(name, vec![*outputs, *inputs, *kernel, *kernel]),
            Self::Linear { name, inputs, outputs, .. } => affine(name, vec![*outputs, *inputs]),
            Self::Flatten | Self::Dropout(_) => Vec::new(),
        }
    }
}

/// Weight and bias, uniform in `±1/√fan_in`, as `torch.nn.Conv2d` and `torch.nn.Linear` start out (He et al. 2015 with a = √5).
fn affine(name: &str, shape: Vec<usize>) -> Vec<ParameterSpec> {
    let fan_in: usize = shape.iter().skip(1).product();
    let start = Start::Uniform(1.0 / (fan_in as f32).sqrt());
    let outputs = shape.iter().take(1).copied().collect();
    vec![
        ParameterSpec { name: format!("{name}.weight"), shape, role: Role::Weight, start },
        ParameterSpec { name: format!("{name}.bias"), shape: outputs, role: Role::Bias, start },
    ]
}
