//! Residual networks for small images (He et al. 2016, section 4.2), with torchvision's names.
//! ResNet-34 has the blocks of the one for large images (table 1) in the same form: its first
//! convolution is small and without pooling, and it has a quarter of the channels.

use super::{batch_norm, conv, linear};
use crate::nn::Layer;
use crate::run_config::Activation;

/// The net with this many blocks in each stage, which has this many channels and half the height
/// and width of the one before: 28, 14, 7, 4. It is two layers deep for each block, and two more.
pub fn layers(
    blocks: &[usize],
    widths: &[usize],
    activation: Activation,
    classes: usize,
) -> Vec<Layer> {
    let mut inputs = widths.first().copied().unwrap_or(1);
    let mut layers = vec![
        conv("conv1", 1, inputs, 3, 1),
        batch_norm("bn1", inputs, Some(activation)),
    ];
    for (stage, (&outputs, &blocks)) in (1..).zip(widths.iter().zip(blocks)) {
        for index in 0..blocks {
            let stride = if stage > 1 && index == 0 { 2 } else { 1 };
            layers.push(block(
                &format!("layer{stage}.{index}"),
                inputs,
                outputs,
                stride,
                activation,
            ));
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
fn block(
    name: &str,
    inputs: usize,
    outputs: usize,
    stride: usize,
    activation: Activation,
) -> Layer {
    let body = vec![
        conv(format!("{name}.conv1"), inputs, outputs, 3, stride),
        batch_norm(format!("{name}.bn1"), outputs, Some(activation)),
        conv(format!("{name}.conv2"), outputs, outputs, 3, 1),
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
            conv(format!("{name}.downsample.0"), inputs, outputs, 1, stride),
            batch_norm(format!("{name}.downsample.1"), outputs, None),
        ]
    };
    Layer::Residual {
        body,
        shortcut,
        activation: Some(activation),
    }
}
