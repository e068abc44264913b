//! Owns what presets, networks and other choices are in a learner's words. Must not know where they are shown.

use crate::run_config::{Augmentation, ModelKind, OptimizerKind, Preset, RunConfig, ScheduleKind};

/// What a preset is good for, and what it is.
pub fn preset(preset: Preset) -> String {
    let about = match preset {
        Preset::QuickLook => "The smallest run worth watching.",
        Preset::Speedrun => "About 99 % on MNIST in a single epoch.",
        Preset::Balanced => "About 99.6 % on MNIST, within a minute on two cores.",
        Preset::Best => "A larger network and more epochs, for the last tenth of a percent.",
        Preset::Tiny => "What fewer than 10,000 numbers can learn: about 99.4 % on MNIST.",
    };
    let RunConfig { model, epochs, .. } = RunConfig::preset(preset);
    format!("{about} {}, {epochs} {}.", model.label(), if epochs == 1 { "epoch" } else { "epochs" })
}

/// What a network is.
pub const fn model(model: ModelKind) -> &'static str {
    match model {
        ModelKind::Mlp => "Two hidden layers of 256 neurons, no convolution. The smallest and quickest.",
        ModelKind::LeNet => "LeNet-5 (LeCun et al. 1998), the classic that read cheques.",
        ModelKind::ConvNet => "Two convolutions (32 and 64 filters, 5 x 5), a layer of 1024 and dropout. Accurate, and slow.",
        ModelKind::Speedrun => "Two small convolutions and a layer of 256, built to reach 99 % in one epoch.",
        ModelKind::ConvNetBn => "Three convolutions (32, 64 and 128 filters) with batch norm, and a layer of 256. The most accurate here.",
        ModelKind::Tiny => "Four small convolutions with batch norm. Fewer than 10,000 weights: small enough for a microcontroller.",
        ModelKind::ResNet8 => "The smallest residual net (He et al. 2016): seven convolutions, with a way round each pair.",
        ModelKind::ResNet14 => "A residual net of thirteen convolutions. Accurate, and slow on a CPU.",
        ModelKind::ResNet20 => "A residual net of nineteen convolutions (He et al. 2016). Accurate, and the slowest.",
        ModelKind::Attention => {
            "A small vision transformer (Dosovitskiy et al. 2021): the picture becomes 49 tokens that look at each other. Best with GELU."
        }
    }
}

/// What varying the pictures does.
pub const fn augmentation(augmentation: Augmentation) -> &'static str {
    match augmentation {
        Augmentation::Off => "Every picture is learned from as it is.",
        Augmentation::Gentle => "Small turns, shifts, scalings, slants and bends, as between two careful writers; new ones each epoch.",
        Augmentation::Medium => "A little more of that, and thicker and thinner strokes; worth its time where many epochs are trained.",
        Augmentation::Strong => {
            "Larger turns and bends, and thicker and thinner strokes; needs more epochs, and reads strange hands better."
        }
    }
}

/// How an optimiser goes about it.
pub const fn optimizer(optimizer: OptimizerKind) -> &'static str {
    match optimizer {
        OptimizerKind::AdamW => "Adam with weight decay of its own (Loshchilov & Hutter 2019): a good choice nearly always.",
        OptimizerKind::Sgd => {
            "Plain steps along the gradient, with momentum. WindowRequest a well-chosen, larger learning rate, such as 0.05."
        }
        OptimizerKind::Adam => "Steps scaled for each weight by its past gradients (Kingma & Ba 2015).",
        OptimizerKind::Sgld => "Steps with noise, so that the weights wander among all that fit the data (Welling & Teh 2011).",
        OptimizerKind::Psgld => "SGLD with steps scaled for each weight by its past gradients (Li et al. 2016).",
    }
}

/// How a schedule moves the learning rate.
pub const fn schedule(schedule: ScheduleKind) -> &'static str {
    match schedule {
        ScheduleKind::Constant => "The same learning rate throughout.",
        ScheduleKind::Step => "The full rate for half of the run, then a tenth of it, and a hundredth for the last quarter.",
        ScheduleKind::Cosine => "Up over the first 5 % of the run, then down to zero along a cosine.",
        ScheduleKind::OneCycle => "Up to the full rate over 30 % of the run, then down (Smith & Topin 2018).",
    }
}
