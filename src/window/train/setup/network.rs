//! The network of the next run as a row of blocks, and what the run will do, in words.

use crate::data::validation_size;
use crate::nn::{Layer, layers};
use crate::run_config::{Activation, Initialization, Network, RunConfig};
use crate::text::format::grouped;
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
        let parameters: usize = layer
            .parameters()
            .iter()
            .filter(|spec| spec.role.is_trainable())
            .map(|spec| spec.shape.iter().product::<usize>())
            .sum();
        let parameters = parameters as u64;
        match described(&layer) {
            Described::Block(name, details) => {
                // Parameters of equal blocks may differ where sizes change.
                let equal = blocks
                    .last_mut()
                    .filter(|last| last.name == name && last.details == details);
                match equal {
                    Some(last) => {
                        (last.repeats, last.parameters) =
                            (last.repeats + 1, last.parameters + parameters);
                    }
                    None => blocks.push(Block {
                        name,
                        details,
                        parameters,
                        repeats: 1,
                    }),
                }
            }
            Described::Part(detail) => {
                if let Some(last) = blocks.last_mut() {
                    last.details.extend(detail);
                    last.parameters += parameters;
                }
            }
        }
    }
    blocks
}

enum Described {
    Block(&'static str, Vec<String>),
    /// Belongs to the block before.
    Part(Vec<String>),
}

fn described(layer: &Layer) -> Described {
    let followed_by = |activation: &Option<Activation>| {
        activation
            .as_ref()
            .map(|activation| activation.label().to_owned())
    };
    match layer {
        Layer::Conv {
            outputs,
            kernel,
            pool,
            activation,
            ..
        } => {
            let size = format!("{outputs} kernels, {0} × {0}", kernel.size);
            let pooling = pool.then(|| "2 × 2 max pooling".to_owned());
            let details = std::iter::once(size).chain(pooling);
            Described::Block(
                "Convolution",
                details.chain(followed_by(activation)).collect(),
            )
        }
        Layer::Residual {
            body, activation, ..
        } => {
            let attention = body
                .iter()
                .any(|layer| matches!(layer, Layer::Attention { .. }));
            let channels = body.iter().find_map(|layer| match layer {
                Layer::Conv { outputs, .. } => Some(format!("{outputs} channels")),
                _ => None,
            });
            match (attention, channels) {
                (true, _) => Described::Block("Self-attention", vec!["residual".to_owned()]),
                (false, Some(channels)) => Described::Block(
                    "Residual block",
                    std::iter::once(channels)
                        .chain(followed_by(activation))
                        .collect(),
                ),
                (false, None) => Described::Block("Feed-forward", vec!["residual".to_owned()]),
            }
        }
        Layer::Linear {
            inputs,
            outputs,
            activation,
            ..
        } => {
            let size = [format!(
                "{} to {} features",
                grouped(*inputs as u64),
                grouped(*outputs as u64)
            )];
            Described::Block(
                "Linear",
                size.into_iter().chain(followed_by(activation)).collect(),
            )
        }
        Layer::BatchNorm { activation, .. } => Described::Part(
            std::iter::once("batch norm".to_owned())
                .chain(followed_by(activation))
                .collect(),
        ),
        Layer::Activation(activation) => Described::Part(vec![activation.label().to_owned()]),
        Layer::GlobalAveragePool => Described::Part(vec!["mean over all places".to_owned()]),
        Layer::Dropout(share) => Described::Part(vec![format!("dropout {:.0} %", share * 100.0)]),
        Layer::Tokens
        | Layer::Positions { .. }
        | Layer::LayerNorm { .. }
        | Layer::Attention { .. }
        | Layer::Flatten => Described::Part(Vec::new()),
    }
}

impl App {
    /// What the next run will do: "12 epochs over 55,000 images, 128 images a step: 5,160 steps.",
    /// and how long that takes. With settings that cannot be trained, what is wrong with them.
    pub fn run_outline(&self) -> Vec<String> {
        let obstacles = self.validation_errors();
        if !obstacles.is_empty() {
            let intro =
                "What the run does is shown here once its settings are corrected:".to_owned();
            return std::iter::once(intro)
                .chain(obstacles.into_iter().map(|obstacle| obstacle.message.what))
                .collect();
        }
        let config = &self.ctx.config;
        let mut lines = Vec::new();
        lines.extend(initialization_outline(config));
        let epochs = if config.epochs == 1 {
            "1 epoch".to_owned()
        } else {
            format!("{} epochs", grouped(u64::from(config.epochs)))
        };
        if let Some((train, test)) = self.train.images(&self.ctx) {
            let held_out = validation_size(train);
            let learned_from = train - held_out;
            let step = u64::from(config.batch_size.max(1)) * u64::from(config.accumulation.max(1));
            let steps = learned_from.div_ceil(step) * u64::from(config.epochs);
            lines.push(format!(
                "{epochs} over {} images, {} images a step: {} steps.",
                grouped(learned_from),
                grouped(step),
                grouped(steps)
            ));
            lines.push(format!(
                "{} held-out images measure it after each epoch, {} test images once at the end.",
                grouped(held_out),
                grouped(test)
            ));
        } else {
            lines.push(format!(
                "{epochs}, {} images a step.",
                grouped(u64::from(config.batch_size))
            ));
        }
        lines.push(match self.expected_time(config) {
            Some(time) => format!("About {time} on this machine."),
            None => {
                "How long it takes on this machine is known after a benchmark, or a run with the same network, batch size and augmentation."
                    .to_owned()
            }
        });
        lines
    }
}

/// The phase before the first step, where there is one.
fn initialization_outline(config: &RunConfig) -> Option<String> {
    let first = match config.initialization {
        _ if config.initial_weights.is_some() => return None,
        Initialization::Random => return None,
        Initialization::Lsuv => "weights that give every layer's output unit variance",
        Initialization::Zca => {
            "first filters that whiten the data, and unit variance after every layer"
        }
        Initialization::Pca => {
            "principal components of the data as the first filters, and unit variance after every layer"
        }
    };
    Some(format!(
        "Before the first step, statistics of the training images: {first}."
    ))
}
