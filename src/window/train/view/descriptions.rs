//! One-sentence descriptions of presets, networks and other choices.

use crate::run_config::{
    Augmentation, Initialization, ModelKind, OptimizerKind, Preset, Row, RunConfig, ScheduleKind,
    Setting,
};
use crate::text::format::count;

/// The purpose of a preset, with its network and epochs.
pub fn preset(preset: Preset) -> String {
    let about = match preset {
        Preset::QuickLook => "A short run to see how training works.",
        Preset::OneEpoch => "The shortest way to 99% on MNIST.",
        Preset::Balanced => "Accurate and still quick.",
        Preset::Best => "A larger network and more epochs, for the highest accuracy.",
        Preset::Compact => {
            "Fewer than 6,000 parameters, and almost as accurate as the larger networks."
        }
    };
    let RunConfig { model, epochs, .. } = RunConfig::preset(preset);
    format!(
        "{about} {}, {}.",
        model.label(),
        count(u64::from(epochs), "epoch")
    )
}

pub const fn model(model: ModelKind) -> &'static str {
    match model {
        ModelKind::Onnx => "The network of an imported ONNX file, which cannot be trained.",
        ModelKind::Linear => {
            "Softmax regression: each digit's score is a weighted sum of the pixels. The simplest network, to compare others with."
        }
        ModelKind::MlpSmall => {
            "Multilayer perceptron with one hidden layer of 100 neurons, as in candle's examples."
        }
        ModelKind::Mlp => {
            "Multilayer perceptron: two hidden layers of 256 neurons, no convolutions. Fast."
        }
        ModelKind::MlpLarge => {
            "Multilayer perceptron with two hidden layers of 512 neurons, as in PyTorch's quickstart."
        }
        ModelKind::PyTorchExample => {
            "The network of PyTorch's MNIST example: two convolutions (32 and 64 filters, 3 × 3) and dropout. Accurate but slow."
        }
        ModelKind::LeNet => {
            "LeNet-5 (LeCun et al. 1998), the classic network, once used to read checks."
        }
        ModelKind::ConvNet => {
            "Two convolutions (32 and 64 filters, 5 × 5), a dense layer of 1024 neurons and dropout. Accurate but slow."
        }
        ModelKind::Cnn => {
            "A network with layers of your choice. At first it is the CNN of Keras' MNIST example."
        }
        ModelKind::Speedrun => {
            "Two small convolutions, batch normalization and a dense layer of 256 neurons, designed to reach 99% in one epoch."
        }
        ModelKind::ConvNetBn => {
            "Three convolutions (32, 64 and 128 filters) with batch normalization, and a dense layer of 256 neurons. The most accurate network here."
        }
        ModelKind::Tiny => {
            "Five small convolutions with batch normalization. Fewer than 6,000 parameters: small enough for a microcontroller."
        }
        ModelKind::ResNet8 => {
            "The smallest residual network (He et al. 2016): seven convolutions, with a skip connection around each pair."
        }
        ModelKind::ResNet14 => {
            "A residual network of 13 convolutions. Accurate, but slow on a CPU."
        }
        ModelKind::ResNet20 => {
            "A residual network of 19 convolutions (He et al. 2016). Accurate, but slow."
        }
        ModelKind::ResNet34 => {
            "A residual network of 33 convolutions with 1.3 million parameters. For fast machines: the slowest by far."
        }
        ModelKind::Attention => {
            "A small vision transformer (Dosovitskiy et al. 2021): self-attention over 49 patches of the image. Works best with GELU."
        }
    }
}

/// The description of a setting and of its value.
pub fn setting(setting: Setting, config: &RunConfig) -> String {
    let Row { help, range, .. } = setting.row();
    let value = match setting {
        Setting::Network => return model(config.model).to_owned(),
        Setting::Widths => return widths(config.model).to_owned(),
        Setting::Layers => return LAYERS.to_owned(),
        Setting::Augmentation => augmentation(config.augmentation),
        Setting::Initialization => initialization(config.initialization),
        Setting::Optimizer => optimizer(config.optimizer),
        Setting::Schedule => schedule(config.schedule),
        _ => "",
    };
    let if_empty = range.and_then(|range| range.if_empty);
    let if_empty = if_empty.map(|what| format!("Leave empty {what}."));
    let parts = [
        (*help).to_owned(),
        value.to_owned(),
        if_empty.unwrap_or_default(),
    ];
    parts.join(" ").trim_end().to_owned()
}

/// How hidden layers are written.
const LAYERS: &str = "32C3: a convolution of 32 filters, 3 × 3 (P1: a padding of 1, S2: a stride of 2, L: no activation). MP2: 2 × 2 max pooling. BN: batch normalization. \
     128: a dense layer of 128 neurons. 64R: a residual block. T4: a transformer block with 4 heads. GAP: global average pooling. LN: layer normalization. D0.5: dropout. \
     Leave empty for the usual ones.";

/// The description of the layers' widths.
const fn widths(model: ModelKind) -> &'static str {
    match model {
        ModelKind::Mlp => {
            "Neurons of each hidden layer, such as 128-64: as many layers as there are widths. Leave empty for the usual ones."
        }
        ModelKind::MlpSmall | ModelKind::MlpLarge => {
            "Neurons of each hidden layer. Leave empty for the usual ones."
        }
        ModelKind::ResNet8 | ModelKind::ResNet14 | ModelKind::ResNet20 | ModelKind::ResNet34 => {
            "Channels of each stage of the network. Leave empty for the usual ones."
        }
        _ => {
            "Filters of each convolution, then neurons of each dense layer. Leave empty for the usual ones."
        }
    }
}

const fn augmentation(augmentation: Augmentation) -> &'static str {
    match augmentation {
        Augmentation::Off => "Training images are used unchanged.",
        Augmentation::Gentle => {
            "Small rotations, shifts, scalings, shears and elastic distortions, drawn anew in every epoch."
        }
        Augmentation::Medium => {
            "Slightly stronger distortions, plus thicker and thinner strokes. Worthwhile for runs of many epochs."
        }
        Augmentation::Strong => {
            "Strong distortions, plus thicker and thinner strokes. Needs more epochs, and recognizes unusual handwriting better."
        }
    }
}

const fn initialization(initialization: Initialization) -> &'static str {
    match initialization {
        Initialization::Random => {
            "Random numbers with a standard deviation that depends on the number of inputs, the fan-in (He et al. 2015)."
        }
        Initialization::Lsuv => {
            "Layer-sequential unit variance: orthonormal weights, scaled so that each layer's output has a variance of 1 on training images \
             (Mishkin & Matas 2016)."
        }
        Initialization::Pca => {
            "LSUV, with the principal components of the training images as the first filters."
        }
        Initialization::Zca => {
            "LSUV, with first filters that whiten each pixel of the training images by its neighbors (ZCA whitening, Bell & Sejnowski 1997)."
        }
    }
}

const fn optimizer(optimizer: OptimizerKind) -> &'static str {
    match optimizer {
        OptimizerKind::AdamW => {
            "Adam with decoupled weight decay (Loshchilov & Hutter 2019). A good default."
        }
        OptimizerKind::Sgd => {
            "Stochastic gradient descent with momentum. Needs a well-chosen, larger learning rate, such as 0.05."
        }
        OptimizerKind::Adam => {
            "Adapts the step size of each weight to its past gradients (Kingma & Ba 2015)."
        }
        OptimizerKind::Lion => {
            "Moves every weight by the learning rate, in the direction of the momentum's sign (Chen et al. 2023). Half of Adam's memory; needs \
             about a fifth of Adam's learning rate."
        }
        OptimizerKind::Adafactor => {
            "Scales steps by the gradients' squares, of which it keeps only the means of rows and columns, and by the weights' size (Shazeer & Stern \
             2018). Next to no memory; needs a learning rate of about 0.01 to 0.05."
        }
        OptimizerKind::Sgld => {
            "Stochastic gradient Langevin dynamics: adds noise to each step, so that the weights sample from the posterior (Welling & Teh 2011). \
             Weight decay sets their prior: use about 0.0001, and no augmentation."
        }
        OptimizerKind::Psgld => {
            "SGLD with a step size adapted to the past gradients of each weight (Li et al. 2016). Weight decay sets the prior of the weights: use \
             about 0.0001, and no augmentation."
        }
    }
}

/// How a schedule changes the learning rate.
const fn schedule(schedule: ScheduleKind) -> &'static str {
    match schedule {
        ScheduleKind::Constant => "The same learning rate for the whole run.",
        ScheduleKind::Step => {
            "The full rate for the first half of the run, then a tenth of it, and a hundredth in the last quarter."
        }
        ScheduleKind::Cosine => {
            "Linear warm-up over the first 5% of the run, then cosine decay to zero."
        }
        ScheduleKind::OneCycle => {
            "Rises to the full rate over the first 30% of the run, then falls (Smith & Topin 2018)."
        }
    }
}
