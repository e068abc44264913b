//! Owns the networks, as data: what layers each is made of, and so its parameters' names and shapes.
//! Must not hold a weight nor compute anything.

use crate::protocol::CLASSES;
use crate::run_config::ModelKind;

/// One layer. Activations are `[batch, height, width, channels]` until `Flatten` and `[batch, features]` after it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Layer {
    /// Convolution with stride 1, then 2x2 max-pooling with stride 2.
    ConvPool {
        /// Names its parameters (`NAME.weight`, `NAME.bias`).
        name: &'static str,
        /// Channels in.
        inputs: usize,
        /// Channels out.
        outputs: usize,
        /// Pixels along a side of the kernel.
        kernel: usize,
        /// Zero pixels added at each edge.
        padding: usize,
        /// Whether a `ReLU` follows.
        relu: bool,
    },
    /// From pictures to features in the order channel, row, column: the order `PyTorch` flattens in, so that the next
    /// layer's weights mean the same elsewhere.
    Flatten,
    /// `x Wᵀ + b`.
    Linear {
        /// Names its parameters (`NAME.weight`, `NAME.bias`).
        name: &'static str,
        /// Features in.
        inputs: usize,
        /// Features out.
        outputs: usize,
        /// Whether a `ReLU` follows.
        relu: bool,
    },
    /// Sets this share of features to zero while training and scales the others up (Srivastava et al. 2014).
    Dropout(f32),
}

/// The layers of a model, from the 28x28 picture to ten logits.
pub const fn layers(model: ModelKind) -> &'static [Layer] {
    use Layer::{ConvPool, Dropout, Flatten, Linear};
    match model {
        ModelKind::Mlp => &[
            Flatten,
            Linear { name: "fc1", inputs: 784, outputs: 256, relu: true },
            Linear { name: "fc2", inputs: 256, outputs: 256, relu: true },
            Linear { name: "fc3", inputs: 256, outputs: CLASSES, relu: false },
        ],
        ModelKind::LeNet => &[
            ConvPool { name: "conv1", inputs: 1, outputs: 6, kernel: 5, padding: 2, relu: true },
            ConvPool { name: "conv2", inputs: 6, outputs: 16, kernel: 5, padding: 0, relu: true },
            Flatten,
            Linear { name: "fc1", inputs: 16 * 5 * 5, outputs: 120, relu: true },
            Linear { name: "fc2", inputs: 120, outputs: 84, relu: true },
            Linear { name: "fc3", inputs: 84, outputs: CLASSES, relu: false },
        ],
        // As in candle's MNIST example: no activation follows the convolutions but the maximum itself.
        ModelKind::ConvNet => &[
            ConvPool { name: "conv1", inputs: 1, outputs: 32, kernel: 5, padding: 0, relu: false },
            ConvPool { name: "conv2", inputs: 32, outputs: 64, kernel: 5, padding: 0, relu: false },
            Flatten,
            Linear { name: "fc1", inputs: 64 * 4 * 4, outputs: 1024, relu: true },
            Dropout(0.5),
            Linear { name: "fc2", inputs: 1024, outputs: CLASSES, relu: false },
        ],
        ModelKind::Speedrun => &[
            ConvPool { name: "conv1", inputs: 1, outputs: 24, kernel: 5, padding: 0, relu: true },
            ConvPool { name: "conv2", inputs: 24, outputs: 32, kernel: 3, padding: 0, relu: true },
            Flatten,
            Linear { name: "fc1", inputs: 32 * 5 * 5, outputs: 256, relu: true },
            Linear { name: "fc2", inputs: 256, outputs: CLASSES, relu: false },
        ],
    }
}

impl Layer {
    /// Name and shape of its weight (convolution `[out, in, height, width]`, linear `[out, in]`: `PyTorch`'s layouts) and its
    /// count of outputs, which is the shape of its bias; `None` for layers without parameters.
    fn weight(&self) -> Option<(&'static str, Vec<usize>, usize)> {
        match *self {
            Self::ConvPool { name, inputs, outputs, kernel, .. } => Some((name, vec![outputs, inputs, kernel, kernel], outputs)),
            Self::Linear { name, inputs, outputs, .. } => Some((name, vec![outputs, inputs], outputs)),
            Self::Flatten | Self::Dropout(_) => None,
        }
    }
}

/// Name and shape of every parameter of a model, in the order of its layers, each weight before its bias.
pub fn parameter_shapes(model: ModelKind) -> Vec<(String, Vec<usize>)> {
    layers(model)
        .iter()
        .filter_map(Layer::weight)
        .flat_map(|(name, shape, outputs)| [(format!("{name}.weight"), shape), (format!("{name}.bias"), vec![outputs])])
        .collect()
}

/// Trainable numbers of a model.
pub fn parameter_count(model: ModelKind) -> u64 {
    parameter_shapes(model).iter().map(|(_, shape)| shape.iter().product::<usize>() as u64).sum()
}
