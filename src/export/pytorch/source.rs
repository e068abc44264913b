//! Owns `model.py`: the network as a module that a person would have written. Must not know how the weights are stored.

use super::{residual, transformer};
use crate::export::Subject;
use crate::export::code::Indented;
use crate::ink::SIDE;
use crate::nn::{Layer, layers, ops::Kernel};
use crate::records::Normalization;
use crate::run_config::{Activation, ModelKind};

/// The Python file `stem.py`, beside `weights`, a file of this name.
pub fn model_py(subject: &Subject, weights: &str, stem: &str) -> String {
    let card = &subject.file.card;
    let Normalization { mean, std } = card.normalization;
    let (title, sentence) = (subject.title(), subject.sentence());
    let layers = layers(card.model, card.config.activation);
    let class = class_name(card.model);
    let module = match card.model {
        ModelKind::ResNet8 | ModelKind::ResNet14 | ModelKind::ResNet20 => residual::module(&class, &layers, card.config.activation),
        ModelKind::Attention => transformer::module(&class, &layers, card.config.activation),
        ModelKind::Mlp | ModelKind::LeNet | ModelKind::ConvNet | ModelKind::Speedrun | ModelKind::ConvNetBn | ModelKind::Tiny => {
            chain(&class, &layers)
        }
    };
    format!(
        r#""""{title}. {sentence}

    from {stem} import load, preprocess

    model = load("{weights}")
    probabilities = model(preprocess(pictures)).softmax(1)  # pictures: [n, {SIDE}, {SIDE}] bytes, light ink on dark ground

Or from a terminal, with pictures of {SIDE}x{SIDE} pixels: python {stem}.py picture.png …
Written by Inkling {version}. Needs torch; reading pictures from a terminal needs pillow and numpy as well.
"""
import json
import sys
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import nn

LABELS = {labels}
MEAN, STD = {mean}, {std}
WEIGHTS = Path(__file__).with_name("{weights}")


{module}

def preprocess(pictures):
    """From bytes [n, {SIDE}, {SIDE}], light ink on dark ground, to what the network takes: floats [n, 1, {SIDE}, {SIDE}]."""
    return (torch.as_tensor(pictures).float().unsqueeze(1) / 255 - MEAN) / STD


def load(path=WEIGHTS):
    """The network with the trained weights, ready to read."""
    model = {class}()
    model.load_state_dict(torch.load(path, weights_only=True))
    return model.eval()


if __name__ == "__main__":
    import numpy
    from PIL import Image

    model = load()
    for path in sys.argv[1:]:
        picture = numpy.asarray(Image.open(path).convert("L"))
        if picture.shape != ({SIDE}, {SIDE}):
            sys.exit(f"{{path}}: the picture has to be {SIDE}x{SIDE} pixels; predict.py takes any")
        with torch.no_grad():
            probabilities = model(preprocess(picture[None].copy())).softmax(1)[0].tolist()
        best = max(range(len(LABELS)), key=probabilities.__getitem__)
        print(json.dumps({{"path": path, "digit": LABELS[best], "confidence": probabilities[best], "probabilities": probabilities}}))
"#,
        version = env!("CARGO_PKG_VERSION"),
        labels = crate::export::code::list(&card.labels),
        title = title.replace('"', "'").replace('\\', "/"),
        sentence = sentence.replace('"', "'").replace('\\', "/"),
    )
}

fn class_name(model: ModelKind) -> String {
    model.label().chars().filter(char::is_ascii_alphanumeric).collect()
}

/// A network whose layers follow one another.
fn chain(class: &str, layers: &[Layer]) -> String {
    let mut text = Indented::default();
    text.line(0, &format!("class {class}(nn.Module):"));
    text.line(1, "def __init__(self):");
    text.line(2, "super().__init__()");
    for layer in layers {
        if let Some(constructor) = constructor(layer) {
            text.line(2, &constructor);
        }
    }
    text.blank();
    text.line(1, "def forward(self, x):");
    layers.iter().for_each(|layer| text.line(2, &step(layer)));
    text.line(2, "return x");
    text.finish()
}

/// The line that makes a layer's parameters.
fn constructor(layer: &Layer) -> Option<String> {
    match layer {
        Layer::ConvPool { name, inputs, outputs, kernel, padding, bias, .. } => {
            let kernel = Kernel { size: *kernel, stride: 1, padding: *padding };
            Some(format!("self.{name} = {}", convolution(*inputs, *outputs, kernel, *bias)))
        }
        Layer::Conv { name, inputs, outputs, kernel, bias } => {
            Some(format!("self.{name} = {}", convolution(*inputs, *outputs, *kernel, *bias)))
        }
        Layer::BatchNorm { name, channels, .. } => Some(format!("self.{name} = nn.BatchNorm2d({channels})")),
        Layer::Linear { name, inputs, outputs, .. } => Some(format!("self.{name} = nn.Linear({inputs}, {outputs})")),
        Layer::Dropout(probability) => Some(format!("self.dropout = nn.Dropout({probability})")),
        Layer::LayerNorm { name, features } => Some(format!("self.{name} = nn.LayerNorm({features})")),
        Layer::Positions { name, tokens, features } => Some(format!("self.{name} = nn.Parameter(torch.zeros(1, {tokens}, {features}))")),
        Layer::GlobalAveragePool | Layer::Residual { .. } | Layer::Tokens | Layer::Attention { .. } | Layer::Flatten => None,
    }
}

/// `torch.nn.Conv2d` with what differs from its defaults.
pub fn convolution(inputs: usize, outputs: usize, kernel: Kernel, bias: bool) -> String {
    let Kernel { size, stride, padding } = kernel;
    let mut text = format!("nn.Conv2d({inputs}, {outputs}, {size}");
    if stride != 1 {
        text += &format!(", stride={stride}");
    }
    if padding != 0 {
        text += &format!(", padding={padding}");
    }
    if !bias {
        text += ", bias=False";
    }
    text + ")"
}

/// The line that carries a layer out.
fn step(layer: &Layer) -> String {
    match layer {
        Layer::ConvPool { name, activation, .. } => format!("x = {}", activated(&format!("F.max_pool2d(self.{name}(x), 2)"), *activation)),
        Layer::Conv { name, .. } | Layer::LayerNorm { name, .. } => format!("x = self.{name}(x)"),
        Layer::BatchNorm { name, activation, .. } | Layer::Linear { name, activation, .. } => {
            format!("x = {}", activated(&format!("self.{name}(x)"), *activation))
        }
        Layer::GlobalAveragePool => "x = x.mean((2, 3))".to_owned(),
        Layer::Flatten => "x = x.flatten(1)".to_owned(),
        Layer::Dropout(_) => "x = self.dropout(x)".to_owned(),
        Layer::Tokens => "x = x.flatten(2).transpose(1, 2)".to_owned(),
        Layer::Positions { name, .. } => format!("x = x + self.{name}"),
        // Networks with these have a template of their own.
        Layer::Residual { .. } | Layer::Attention { .. } => "raise NotImplementedError".to_owned(),
    }
}

/// An expression with the activation round it.
pub fn activated(x: &str, activation: Option<Activation>) -> String {
    match activation {
        None => x.to_owned(),
        Some(Activation::Relu) => format!("F.relu({x})"),
        Some(Activation::LeakyRelu) => format!("F.leaky_relu({x}, 0.01)"),
        Some(Activation::Gelu) => format!("F.gelu({x})"),
        Some(Activation::Silu) => format!("F.silu({x})"),
        Some(Activation::Tanh) => format!("torch.tanh({x})"),
    }
}
