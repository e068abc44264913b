//! `PyTorch` files: a state dict that `torch.load(weights_only=True)` accepts, and `model.py`, the
//! network as a readable module.

mod modules;

use std::io::{Cursor, Write};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use self::modules::modules;
use super::untrusted::Untrusted;
use super::{ExportError, ExportedModel, little_endian};
use crate::ink::SIDE;
use crate::nn::layers;
use crate::records::{Normalization, TensorInfo};
use crate::run_config::{ModelKind, WeightFormat};
use crate::text::format::joined;

/// Alignment of storages in bytes, as torch has it, so that they can be memory-mapped.
const ALIGNMENT: u16 = 64;

/// The entry of the archive with the [`crate::records::Calibration`] of its weights, as JSON.
pub const CALIBRATION: &str = "inkling.json";

/// Encodes the state dict: a zip archive with a pickle that describes the tensors and one file of
/// raw values for each.
pub fn write(
    model: &ExportedModel,
    format: WeightFormat,
) -> Result<(Vec<u8>, Vec<TensorInfo>), ExportError> {
    let storage = match format {
        WeightFormat::F32 => "FloatStorage",
        WeightFormat::F16 => "HalfStorage",
    };
    let folder = model.name();
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let stored = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .with_alignment(ALIGNMENT);
    let mut add = |name: &str, bytes: &[u8]| -> Result<(), ExportError> {
        zip.start_file(format!("{folder}/{name}"), stored)
            .map_err(|error| ExportError::of(&error))?;
        zip.write_all(bytes)
            .map_err(|error| ExportError::of(&error))
    };
    let parameters = model.file.net.parameters();
    let mut pickler = Pickler::new(parameters.len());
    let mut listed = Vec::new();
    for (index, parameter) in parameters.iter().enumerate() {
        let shape = parameter.tensor().dims().to_vec();
        pickler.tensor(parameter.name(), index, storage, &shape);
        let shape = shape.iter().map(|&length| length as u64).collect();
        listed.push(TensorInfo {
            name: parameter.name().to_owned(),
            shape,
            format: format.into(),
        });
    }
    add("data.pkl", &pickler.finish())?;
    add("byteorder", b"little")?;
    for (index, parameter) in parameters.iter().enumerate() {
        let bytes = little_endian(&parameter.values()?, format);
        add(&format!("data/{index}"), &bytes)?;
    }
    // Torch reads only what it knows; an import brings this back.
    add(
        CALIBRATION,
        &serde_json::to_vec(&model.file.card.calibration)
            .map_err(|error| ExportError::of(&error))?,
    )?;
    add("version", b"3\n")?;
    let bytes = zip
        .finish()
        .map_err(|error| ExportError::of(&error))?
        .into_inner();
    Ok((bytes, listed))
}

/// The pickle of a state dict: protocol 2, with the same opcodes that `torch.save` writes for a
/// dict of tensors.
struct Pickler {
    bytes: Vec<u8>,
}

impl Pickler {
    /// Starts an empty ordered dict; `tensors` is the expected number of tensors.
    fn new(tensors: usize) -> Self {
        let mut pickler = Self {
            bytes: Vec::with_capacity(128 * tensors),
        };
        pickler.op(b"\x80\x02");
        pickler.empty_dict();
        // The items between this mark and the final opcode are added to it.
        pickler.op(b"(");
        pickler
    }

    /// Adds the tensor `name` of this shape, whose values are in storage `index` of this class in
    /// row-major order.
    fn tensor(&mut self, name: &str, index: usize, storage: &str, shape: &[usize]) {
        let count: usize = shape.iter().product();
        self.text(name);
        self.global("torch._utils", "_rebuild_tensor_v2");
        self.op(b"(");
        self.op(b"(");
        self.text("storage");
        self.global("torch", storage);
        self.text(&index.to_string());
        self.text("cpu");
        self.integer(count);
        // A tuple of these five is the persistent id by which torch finds the storage.
        self.op(b"tQ");
        self.integer(0);
        self.integers(shape);
        let strides: Vec<usize> = (0..shape.len())
            .map(|axis| shape.iter().skip(axis + 1).product())
            .collect();
        self.integers(&strides);
        // requires_grad is false, and there are no hooks.
        self.op(b"\x89");
        self.empty_dict();
        self.op(b"tR");
    }

    fn finish(mut self) -> Vec<u8> {
        self.op(b"u.");
        self.bytes
    }

    fn empty_dict(&mut self) {
        self.global("collections", "OrderedDict");
        self.op(b")R");
    }

    fn op(&mut self, code: &[u8]) {
        self.bytes.extend_from_slice(code);
    }

    fn global(&mut self, module: &str, name: &str) {
        self.op(b"c");
        self.op(module.as_bytes());
        self.op(b"\n");
        self.op(name.as_bytes());
        self.op(b"\n");
    }

    fn text(&mut self, text: &str) {
        self.op(b"X");
        self.op(&(text.len() as u32).to_le_bytes());
        self.op(text.as_bytes());
    }

    fn integer(&mut self, value: usize) {
        self.op(b"J");
        self.op(&(value as i32).to_le_bytes());
    }

    fn integers(&mut self, values: &[usize]) {
        self.op(b"(");
        values.iter().for_each(|&value| self.integer(value));
        self.op(b"t");
    }
}

/// The source of `{stem}.py`, which loads the file `weights` from its own folder.
pub fn model_py(model: &ExportedModel, weights: &str, stem: &str) -> String {
    let card = &model.file.card;
    let Normalization { mean, std } = card.normalization;
    let layers = layers(card.network(), card.config.activation, card.labels.len());
    let class = class_name(card.model);
    let about = (card.model == ModelKind::Attention)
        .then_some("A small vision transformer (Dosovitskiy et al. 2021).");
    let module = modules(&class, about, &layers);
    format!(
        r#""""{title}. {sentence}

    from {stem} import load, preprocess

    model = load("{weights_doc}")
    probabilities = model(preprocess(images)).softmax(1)  # images: [n, {SIDE}, {SIDE}] bytes, light ink on a dark background

Or from a terminal, with images of {SIDE}x{SIDE} pixels: python {stem}.py image.png …
Generated by Inkling {version}. Needs torch; the command line also needs pillow and numpy.
"""
import json
import sys
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import nn

LABELS = [{labels}]
MEAN, STD = {mean}, {std}
# Fitted on validation images, so that confidence matches accuracy (Guo et al. 2017).
TEMPERATURE = {temperature}
WEIGHTS = Path(__file__).with_name({weights})


{module}

def preprocess(images):
    """Convert bytes [n, {SIDE}, {SIDE}], light ink on a dark background, to the network's input: normalized floats [n, 1, {SIDE}, {SIDE}]."""
    return (torch.as_tensor(images).float().unsqueeze(1) / 255 - MEAN) / STD


def load(path=WEIGHTS):
    """Return the network with the trained weights, in evaluation mode."""
    model = {class}()
    model.load_state_dict(torch.load(path, weights_only=True))
    return model.eval()


if __name__ == "__main__":
    import numpy
    from PIL import Image

    model = load()
    for path in sys.argv[1:]:
        image = numpy.asarray(Image.open(path).convert("L"))
        if image.shape != ({SIDE}, {SIDE}):
            sys.exit(f"{{path}}: the image must be {SIDE}x{SIDE} pixels")
        with torch.no_grad():
            probabilities = model(preprocess(image[None].copy())).softmax(1)[0].tolist()
        best = max(range(len(LABELS)), key=probabilities.__getitem__)
        print(json.dumps({{"path": path, "digit": best, "label": LABELS[best], "confidence": probabilities[best], "probabilities": probabilities}}))
"#,
        version = env!("CARGO_PKG_VERSION"),
        temperature = card.calibration.temperature,
        labels = joined(model.labels().iter().map(Untrusted::python_string), ", "),
        title = model.title().python_doc(),
        sentence = model.description().python_doc(),
        stem = Untrusted::from(stem).python_doc(),
        weights_doc = Untrusted::from(weights).python_doc(),
        weights = Untrusted::from(weights).python_string(),
    )
}

fn class_name(model: ModelKind) -> String {
    model
        .label()
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .collect()
}
