//! The network of the next run as a row of blocks, and what the run will do, in words.

use crate::data::validation_size;
use crate::nn::{Layer, layers};
use crate::run_config::{Activation, Initialization, Network, RunConfig};
use crate::text::format::{count, grouped, plain_percent};
use crate::window::App;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// What it is, such as "Convolution".
    pub name: &'static str,
    /// Its size and what follows it: "24 kernels, 5 × 5", "2 × 2 max pooling".
    pub details: Vec<String>,
    pub parameters: u64,
    /// How many of them follow each other.
    pub repeats: u32,
}

/// The blocks of a network, from the image to a probability for each class.
pub fn blocks(network: impl Into<Network>, activation: Activation, classes: usize) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    for layer in layers(network, activation, classes) {
        let trainable = layer.parameters().into_iter();
        let trainable = trainable.filter(|spec| spec.role.is_trainable());
        let sizes = trainable.map(|spec| spec.shape.iter().product::<usize>());
        let parameters = sizes.sum::<usize>() as u64;
        let (name, details) = described(&layer);
        match (name, blocks.last_mut()) {
            (None, Some(last)) => {
                last.details.extend(details);
                last.parameters += parameters;
            }
            (None, None) => {}
            // Parameters of equal blocks may differ where sizes change.
            (Some(name), Some(last)) if last.name == name && last.details == details => {
                last.repeats += 1;
                last.parameters += parameters;
            }
            (Some(name), _) => blocks.push(Block {
                name,
                details,
                parameters,
                repeats: 1,
            }),
        }
    }
    blocks
}

/// What a layer is, if it is not a part of the block before, and its details.
fn described(layer: &Layer) -> (Option<&'static str>, Vec<String>) {
    let mut details = Vec::new();
    let mut detail = |text: &str| details.push(text.to_owned());
    let (name, activation) = match layer {
        Layer::Conv {
            outputs,
            kernel,
            pool,
            activation,
            ..
        } => {
            detail(&format!("{outputs} filters, {0} × {0}", kernel.size));
            if *pool {
                detail("2 × 2 max pooling");
            }
            (Some("Convolution"), *activation)
        }
        Layer::Residual {
            body, activation, ..
        } => {
            let attends = |layer: &Layer| matches!(layer, Layer::Attention { .. });
            let channels = body.iter().find_map(|layer| match layer {
                Layer::Conv { outputs, .. } => Some(*outputs),
                _ => None,
            });
            match channels {
                Some(channels) if !body.iter().any(attends) => {
                    detail(&format!("{channels} filters"));
                    (Some("Residual block"), *activation)
                }
                _ => {
                    detail("residual");
                    let name = if body.iter().any(attends) {
                        "Self-attention"
                    } else {
                        "Feed-forward"
                    };
                    (Some(name), None)
                }
            }
        }
        Layer::Linear {
            inputs,
            outputs,
            activation,
            ..
        } => {
            let [inputs, outputs] = [inputs, outputs].map(|&size| grouped(size as u64));
            detail(&format!("{inputs} to {outputs} features"));
            (Some("Dense"), *activation)
        }
        Layer::BatchNorm { activation, .. } => {
            detail("batch norm");
            (None, *activation)
        }
        Layer::Activation(activation) => (None, Some(*activation)),
        Layer::GlobalAveragePool => {
            detail("global average pooling");
            (None, None)
        }
        Layer::Dropout(share) => {
            detail(&format!("dropout {}", plain_percent(f64::from(*share))));
            (None, None)
        }
        Layer::Tokens
        | Layer::Positions { .. }
        | Layer::LayerNorm { .. }
        | Layer::Attention { .. }
        | Layer::Flatten => (None, None),
    };
    details.extend(activation.map(|activation| activation.label().to_owned()));
    (name, details)
}

/// The phase before the first step, if there is one.
fn initialization_outline(config: &RunConfig) -> Option<String> {
    let first = match config.initialization {
        _ if config.initial_weights.is_some() => return None,
        Initialization::Random => return None,
        Initialization::Lsuv => {
            "LSUV (each layer's output scaled to unit variance on training images)"
        }
        Initialization::Zca => "ZCA (first filters that whiten training images, then LSUV)",
        Initialization::Pca => {
            "PCA (principal components of training images as the first filters, then LSUV)"
        }
    };
    Some(format!("Initialization: {first}."))
}

impl App {
    /// What the next run will do: "12 epochs over 55,000 images, 128 images a step: 5,160 steps.",
    /// and how long that takes. With settings that cannot be trained, what is wrong with them.
    pub fn run_outline(&self) -> Vec<String> {
        let obstacles = self.validation_errors();
        if !obstacles.is_empty() {
            let intro = "Correct these settings to see what the run will do:";
            let obstacles = obstacles.into_iter().map(|obstacle| obstacle.message.what);
            return std::iter::once(intro.to_owned()).chain(obstacles).collect();
        }
        let config = &self.ctx.config;
        let epochs = count(config.epochs.into(), "epoch");
        let mut lines = Vec::from_iter(initialization_outline(config));
        if let Some((train, test)) = self.train.images(&self.ctx) {
            let held_out = validation_size(train);
            let learned_from = config.images_used(train - held_out);
            let step = u64::from(config.batch_size.max(1)) * u64::from(config.accumulation.max(1));
            let steps = learned_from.div_ceil(step) * u64::from(config.epochs);
            let [learned_from, step, steps, held_out, test] =
                [learned_from, step, steps, held_out, test].map(grouped);
            lines.push(format!(
                "{epochs} over {learned_from} images, {step} images a step: {steps} steps."
            ));
            lines.push(format!(
                "Validated on {held_out} images after each epoch, tested on {test} at the end."
            ));
        } else {
            let size = grouped(u64::from(config.batch_size));
            lines.push(format!("{epochs}, {size} images a step."));
        }
        lines.push(match self.expected_time(config) {
            Some(time) => format!("About {time} on this machine."),
            None => {
                "No time estimate yet: run the benchmark, or train once with the same network, batch size and augmentation."
                    .to_owned()
            }
        });
        lines
    }
}
