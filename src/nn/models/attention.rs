//! A small vision transformer (Dosovitskiy et al. 2021) with a convolutional stem (Xiao et al.
//! 2021), with timm's names.

use super::{batch_norm, conv, conv_pool, linear};
use crate::nn::Layer;
use crate::nn::ops::Window;
use crate::run_config::Activation;

/// Features of a token.
const FEATURES: usize = 64;
/// Tokens: a seventh of the image's height and width squared.
const TOKENS: usize = 7 * 7;
/// Parts of the features that attend separately.
const HEADS: usize = 4;
/// Transformer blocks.
const BLOCKS: usize = 2;

/// Two small convolutions, tokens of 4x4 pixels each, the blocks, and a linear layer on the mean of
/// the tokens.
pub fn layers(activation: Activation, classes: usize) -> Vec<Layer> {
    let act = Some(activation);
    let mut layers = vec![
        conv_pool("stem.conv1", 1, 16, 3),
        batch_norm("stem.bn1", 16, act),
        conv("stem.conv2", 16, 32, 3, 1),
        batch_norm("stem.bn2", 32, act),
        Layer::Conv {
            name: "patch_embed.proj".to_owned(),
            inputs: 32,
            outputs: FEATURES,
            kernel: Window {
                size: 2,
                stride: 2,
                padding: 0,
            },
            bias: true,
        },
        Layer::Tokens,
        Layer::Positions {
            name: "pos_embed".to_owned(),
            tokens: TOKENS,
            features: FEATURES,
        },
    ];
    for index in 0..BLOCKS {
        let name = format!("blocks.{index}");
        let attention = vec![
            Layer::LayerNorm {
                name: format!("{name}.norm1"),
                features: FEATURES,
            },
            linear(&format!("{name}.attn.qkv"), FEATURES, 3 * FEATURES, None),
            Layer::Attention {
                features: FEATURES,
                heads: HEADS,
            },
            linear(&format!("{name}.attn.proj"), FEATURES, FEATURES, None),
        ];
        let mlp = vec![
            Layer::LayerNorm {
                name: format!("{name}.norm2"),
                features: FEATURES,
            },
            linear(&format!("{name}.mlp.fc1"), FEATURES, 2 * FEATURES, act),
            linear(&format!("{name}.mlp.fc2"), 2 * FEATURES, FEATURES, None),
        ];
        layers.extend([attention, mlp].map(|body| Layer::Residual {
            body,
            shortcut: Vec::new(),
            activation: None,
        }));
    }
    layers.extend([
        Layer::GlobalAveragePool,
        Layer::LayerNorm {
            name: "fc_norm".to_owned(),
            features: FEATURES,
        },
        linear("head", FEATURES, classes, None),
    ]);
    layers
}
