//! The network of the next run as blocks that can be moved, added and removed, and what the run
//! will do, in words.

use crate::data::validation_size;
use crate::nn::{BlockCost, block_costs};
use crate::run_config::{
    HiddenLayer, HiddenLayers, Initialization, LayerOutput, ModelKind, Network, RunConfig, Setting,
};
use crate::text::format::{count, grouped, joined, plain};
use crate::window::{App, Ctx, MyDigitsView, Train};

/// The hidden layers of the next run as they are being put together.
#[derive(Clone, Debug)]
pub struct Blocks {
    pub layers: Vec<HiddenLayer>,
    /// The shapes of their outputs, up to the first layer that does not fit.
    pub outputs: Vec<LayerOutput>,
    /// The one that does not fit, and why.
    pub misfit: Option<(usize, String)>,
    /// The cost of each, and last of the layer that computes the logits; empty while one does not
    /// fit.
    pub costs: Vec<BlockCost>,
    pub classes: usize,
}

impl Blocks {
    /// All costs together.
    pub fn total(&self) -> BlockCost {
        let sum = |of: fn(&BlockCost) -> u64| self.costs.iter().map(of).sum();
        BlockCost {
            parameters: sum(|cost| cost.parameters),
            multiply_adds: sum(|cost| cost.multiply_adds),
        }
    }

    /// Why this layer cannot be added behind the one with this index, if it cannot.
    pub fn why_not_add(&self, layer: HiddenLayer, behind: Option<usize>) -> Option<String> {
        let at = behind.map_or(0, |index| index + 1).min(self.layers.len());
        let mut layers = self.layers[..at].to_vec();
        layers.push(layer);
        // Problems with the layers before or after are shown there.
        let misfit = HiddenLayers::outputs(&layers).1?;
        (misfit.index == Some(at) && !is_open_end(&layers)).then_some(misfit.reason)
    }
}

/// True if there is nothing wrong but that tokens are not pooled yet.
fn is_open_end(layers: &[HiddenLayer]) -> bool {
    let pooled = [layers, &[HiddenLayer::GlobalAveragePooling]].concat();
    HiddenLayers::new(&pooled).is_ok()
}

pub const fn layer_name(layer: HiddenLayer) -> &'static str {
    match layer {
        HiddenLayer::Convolution { .. } => "Convolution",
        HiddenLayer::MaxPooling => "Max pooling",
        HiddenLayer::BatchNorm => "Batch normalization",
        HiddenLayer::Residual { .. } => "Residual block",
        HiddenLayer::Transformer { .. } => "Transformer block",
        HiddenLayer::GlobalAveragePooling => "Global average pooling",
        HiddenLayer::LayerNorm => "Layer normalization",
        HiddenLayer::Dropout { .. } => "Dropout",
        HiddenLayer::Dense { .. } => "Dense layer",
    }
}

/// The description of a layer for somebody who has not met it.
pub const fn layer_description(layer: HiddenLayer) -> &'static str {
    match layer {
        HiddenLayer::Convolution { .. } => {
            "Moves small filters over the image. Each learns one pattern, such as an edge, and its map shows where that is."
        }
        HiddenLayer::MaxPooling => {
            "Keeps the largest of every 2 × 2 values: half the height and width, and small shifts matter less."
        }
        HiddenLayer::BatchNorm => {
            "Brings each map of the convolution to mean 0 and variance 1 over the batch, then scales it. Deep networks learn faster with it."
        }
        HiddenLayer::Residual { .. } => {
            "Two normalized 3 × 3 convolutions whose result is added to their input, so that very deep networks can still learn (He et al. 2016)."
        }
        HiddenLayer::Transformer { .. } => {
            "Lets every place of the image look at all others (self-attention), then passes each through two dense layers (Dosovitskiy et al. 2021)."
        }
        HiddenLayer::GlobalAveragePooling => {
            "The mean of each map over all places: what is in the image, no matter where."
        }
        HiddenLayer::LayerNorm => {
            "Brings the features of each token or image to mean 0 and variance 1, then scales them."
        }
        HiddenLayer::Dropout { .. } => {
            "Sets a random fraction of the values to zero while training, so that the network does not rely on single ones."
        }
        HiddenLayer::Dense { .. } => {
            "Connects each neuron with every value before it. Here patterns become evidence for a digit."
        }
    }
}

/// The settings of a layer, a line each.
pub fn layer_details(layer: HiddenLayer) -> Vec<String> {
    let linear = |has_activation: bool| (!has_activation).then(|| "no activation".to_owned());
    match layer {
        HiddenLayer::Convolution {
            filters,
            kernel,
            stride,
            padding,
            has_activation,
        } => {
            let mut details = vec![format!(
                "{}, {kernel} × {kernel}",
                count(filters.into(), "filter")
            )];
            let moves = [
                (padding > 0).then(|| format!("padding {padding}")),
                (stride > 1).then(|| format!("stride {stride}")),
            ];
            let moves = joined(moves.into_iter().flatten(), ", ");
            details.extend((!moves.is_empty()).then_some(moves));
            details.extend(linear(has_activation));
            details
        }
        HiddenLayer::MaxPooling => vec!["2 × 2".to_owned()],
        HiddenLayer::Residual { filters, stride } => {
            let mut details = vec![count(filters.into(), "filter")];
            details.extend((stride > 1).then(|| format!("stride {stride}")));
            details
        }
        HiddenLayer::Transformer { heads } => vec![count(heads.into(), "head")],
        HiddenLayer::Dropout { percent } => vec![format!("{percent}% of the values")],
        HiddenLayer::Dense {
            neurons,
            has_activation,
        } => {
            let mut details = vec![count(neurons.into(), "neuron")];
            details.extend(linear(has_activation));
            details
        }
        HiddenLayer::BatchNorm | HiddenLayer::GlobalAveragePooling | HiddenLayer::LayerNorm => {
            Vec::new()
        }
    }
}

/// The size of a layer's output: "26 × 26 × 32".
pub fn size(output: LayerOutput) -> String {
    match output {
        LayerOutput::Image { side, channels } => format!("{side} × {side} × {channels}"),
        LayerOutput::Tokens { tokens, features } => format!("{tokens} tokens × {features}"),
        LayerOutput::Features(features) => count(features.into(), "value"),
    }
}

/// A large number in words: "1.2 million".
pub fn in_words(number: u64) -> String {
    let of = |unit: f64| plain((number as f64 / unit * 10.0).round() / 10.0);
    match number {
        0..100_000 => grouped(number),
        100_000..1_000_000_000 => format!("{} million", of(1e6)),
        _ => format!("{} billion", of(1e9)),
    }
}

/// The layer of which alone the settings differ.
fn only_settings_of(before: &[HiddenLayer], after: &[HiddenLayer]) -> Option<usize> {
    let pairs = before.iter().zip(after).enumerate();
    let mut different = pairs.filter(|(_, (before, after))| before != after);
    let (index, (one, other)) = different.next()?;
    let is_only = before.len() == after.len()
        && different.next().is_none()
        && std::mem::discriminant(one) == std::mem::discriminant(other);
    is_only.then_some(index)
}

impl Train {
    /// The hidden layers of the next run, also while they do not fit together.
    fn hidden_layers(&self, ctx: &Ctx) -> Vec<HiddenLayer> {
        let config = &ctx.config;
        let text = (config.model == ModelKind::Cnn).then(|| self.text(ctx, Setting::Layers));
        let text = text.filter(|text| !text.trim().is_empty());
        text.and_then(|text| HiddenLayer::list(&text).ok())
            .unwrap_or_else(|| config.network().hidden_layers().as_slice().to_vec())
    }

    pub fn blocks(&self, ctx: &Ctx) -> Blocks {
        let layers = self.hidden_layers(ctx);
        let classes = self.data_classes(ctx).len();
        let (outputs, misfit) = HiddenLayers::outputs(&layers);
        let costs = match HiddenLayers::new(&layers) {
            Ok(fitting) => {
                let own = Network::from(ModelKind::Cnn);
                block_costs(own.with_layers(Some(fitting)), classes)
            }
            Err(_) => Vec::new(),
        };
        Blocks {
            layers,
            outputs,
            misfit: misfit.map(|misfit| (misfit.index.unwrap_or_default(), misfit.reason)),
            costs,
            classes,
        }
    }

    /// Gives the next run these hidden layers, whether or not they fit together.
    pub fn edit_layers(&mut self, ctx: &mut Ctx, mine: &MyDigitsView, edited: &[HiddenLayer]) {
        // Settings of one layer, moved one after the other, are one change.
        let only = only_settings_of(&self.hidden_layers(ctx), edited);
        if only.is_none() || only != self.edited_layer {
            let text = self.form.typed(Setting::Layers);
            self.former_layers.push((ctx.config.network(), text));
        }
        if ctx.config.model != ModelKind::Cnn {
            let own = RunConfig {
                layers: Some(ctx.config.network().hidden_layers()),
                model: ModelKind::Cnn,
                widths: None,
                ..ctx.config.clone()
            };
            self.configure(ctx, mine, own);
        }
        self.type_text(ctx, mine, Setting::Layers, HiddenLayer::written(edited));
        self.edited_layer = only;
    }

    pub fn can_undo_layers(&self) -> bool {
        !self.former_layers.is_empty()
    }

    pub fn undo_layers(&mut self, ctx: &mut Ctx, mine: &MyDigitsView) {
        if let Some((network, text)) = self.former_layers.pop() {
            let mut config = ctx.config.clone();
            config.set_network(network);
            self.configure(ctx, mine, config);
            self.form.set_typed(Setting::Layers, text);
        }
    }
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
    /// How long a run with these settings takes, if that can be told.
    pub fn time_sentence(&self, config: &RunConfig) -> Option<String> {
        let measured = self.expected_time(config);
        let measured = measured.map(|time| format!("About {time} on this machine."));
        measured.or_else(|| {
            let time = self.rough_time(config)?;
            Some(format!(
                "Roughly {time} on this machine, judged by the number of its operations."
            ))
        })
    }

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
        lines.push(self.time_sentence(config).unwrap_or_else(|| {
            "No time estimate yet: run the benchmark, or train once with the same network, batch size and augmentation."
                .to_owned()
        }));
        lines
    }
}
