//! ONNX files: the weights of their layers, under names and in layouts as `PyTorch` has them, and
//! what the file says of itself.
//!
//! The operators are walked through in their order. It is followed what becomes of weights: whether
//! a matrix is transposed, or the values of an image lie with the channels last, as in Keras. The
//! hidden layers are read as if one operator followed the other: whether a network of these layers
//! computes the same as the graph is tried afterwards.

use std::collections::{BTreeMap, HashMap};

use prost::Message;

use super::tensors::{Tensor, Weights, strided};
use crate::nn::onnx::proto::StringStringEntryProto;
use crate::nn::onnx::wire::{Fields, Value};
use crate::nn::onnx::{OnnxGraph, Operator};
use crate::records::{Calibration, ImportSpec, Normalization};
use crate::run_config::{Classes, DataSpec, HiddenLayers};
use crate::text::format::joined;

/// The most entries of the metadata that are read.
const MAX_ENTRIES: usize = 100;
/// The longest entry of the metadata, in bytes.
const MAX_ENTRY_BYTES: usize = 64 << 10;
/// What makes an image with its channels first one with its channels last, and back.
const TO_CHANNELS_LAST: [i64; 4] = [0, 2, 3, 1];
const TO_CHANNELS_FIRST: [i64; 4] = [0, 3, 1, 2];
/// The inputs of a batch normalization after the first.
const BATCH_NORM: [&str; 4] = ["weight", "bias", "running_mean", "running_var"];

#[derive(Debug)]
pub struct OnnxFile {
    pub description: Description,
    /// What its hidden layers seem to be.
    pub layers: Option<HiddenLayers>,
    /// Its network, or why it cannot be computed.
    pub graph: Result<OnnxGraph, String>,
}

/// Opens the file with these bytes. Errors say what is wrong.
pub fn open(bytes: &[u8]) -> Result<Weights, String> {
    let mut description = Description::default();
    for field in Fields::of(bytes) {
        if let (14, Value::Bytes(entry)) = field?
            && entry.len() <= MAX_ENTRY_BYTES
            && description.0.len() < MAX_ENTRIES
        {
            let StringStringEntryProto { key, value } =
                StringStringEntryProto::decode(entry).map_err(|error| error.to_string())?;
            description.0.insert(key, value);
        }
    }
    // A tensor may be the weight of many layers.
    let mut walk = Walk {
        room: bytes.len(),
        ..Walk::default()
    };
    let graph = OnnxGraph::open_and_show(bytes, &mut |operator, constant| {
        walk.operator(operator, &|index| {
            let (shape, values) = constant(index)?;
            Some(Tensor { shape, values })
        });
    });
    Ok(Weights {
        tensors: walk.weights,
        calibration: description.calibration(),
        onnx: Some(OnnxFile {
            description,
            layers: hidden_layers(&walk.hidden),
            graph,
        }),
    })
}

/// What a file says of itself: Inkling writes that into its exports.
#[derive(Debug, Default)]
pub struct Description(HashMap<String, String>);

impl Description {
    fn entry<T: std::str::FromStr>(&self, key: &str) -> Option<T> {
        self.0.get(key)?.parse().ok()
    }

    fn calibration(&self) -> Option<Calibration> {
        let calibration = Calibration {
            temperature: self.entry("temperature")?,
            digit_threshold: self.entry("digit_threshold")?,
        };
        calibration.is_valid().then_some(calibration)
    }

    /// What is known of the file, with what it says where nobody else does.
    pub fn described(&self, spec: &ImportSpec) -> ImportSpec {
        let normalization = || {
            let (mean, std) = (self.entry::<f32>("mean")?, self.entry::<f32>("std")?);
            let is_valid = mean.is_finite() && std.is_finite() && std > 0.0;
            is_valid.then_some(Normalization { mean, std })
        };
        // Whatever it names is not looked for.
        let data = || {
            let name = self.0.get("data")?.as_str();
            let data = serde_json::from_value::<DataSpec>(name.into()).ok()?;
            Some(data.without_folders())
        };
        ImportSpec {
            model: spec.model.or_else(|| self.entry("model")),
            layers: spec.layers.or_else(|| self.entry("layers")),
            activation: spec.activation.or_else(|| self.entry("activation")),
            normalization: spec.normalization.or_else(normalization),
            data: spec.data.clone().or_else(data),
            ..spec.clone()
        }
    }

    /// What it says that its classes stand for.
    pub fn classes(&self) -> Option<Classes> {
        serde_json::from_str(self.0.get("labels")?).ok()
    }
}

#[derive(Default)]
struct Walk {
    weights: BTreeMap<String, Tensor>,
    /// How many numbers all weights may still have.
    room: usize,
    /// The layer whose product this value is, and how many values it has if its bias was not part
    /// of it.
    products: HashMap<String, (String, usize)>,
    /// The channels that the last convolution gave.
    channels: usize,
    /// Whether images have their channels last, since the last convolution.
    channels_last: bool,
    /// How many layers have weights.
    layers: usize,
    /// Each convolution or dense layer as it is written in [`HiddenLayers`], without activation
    /// unless one was seen, with what is behind it.
    hidden: Vec<String>,
}

/// The network of these layers, of which the last gives the logits.
fn hidden_layers(layers: &[String]) -> Option<HiddenLayers> {
    let (_, hidden) = layers.split_last()?;
    joined(hidden, "-").parse().ok()
}

impl Walk {
    fn operator(&mut self, operator: &Operator<'_>, constant: &dyn Fn(usize) -> Option<Tensor>) {
        let input = |index: usize| operator.inputs.get(index).copied().unwrap_or_default();
        let Some(&output) = operator.outputs.first() else {
            return;
        };
        match operator.op_type {
            "Identity" | "Cast" | "Transpose" => {
                let permutation = operator.integers("perm");
                if permutation == TO_CHANNELS_LAST || permutation == TO_CHANNELS_FIRST {
                    self.channels_last = permutation == TO_CHANNELS_LAST;
                }
                if let Some(product) = self.products.get(input(0)).cloned() {
                    self.products.insert(output.to_owned(), product);
                }
            }
            "Conv" => {
                if let Some(kernel) = constant(1) {
                    self.channels = kernel.shape.first().copied().unwrap_or_default();
                    self.channels_last = false;
                    let size = kernel.shape.last().copied().unwrap_or_default();
                    let first = |name: &str, usual| {
                        operator.integers(name).first().copied().unwrap_or(usual)
                    };
                    let (padding, stride) = (first("pads", 0), first("strides", 1));
                    let layer = format!("{}C{size}P{padding}S{stride}L", self.channels);
                    self.hidden.push(layer);
                    self.product(output, input(1), kernel, constant(2));
                }
            }
            "Gemm" | "MatMul" => {
                let is_transposed = operator.integers("transB") == [1];
                let matrix = constant(1).filter(|matrix| matrix.shape.len() == 2);
                let transposed = |matrix: Tensor| {
                    if is_transposed {
                        Some(matrix)
                    } else {
                        matrix.transposed()
                    }
                };
                if let Some(matrix) = matrix.and_then(transposed) {
                    let matrix = self.with_channels_first(matrix);
                    self.hidden.push(format!("{}L", matrix.shape[0]));
                    self.product(output, input(1), matrix, constant(2));
                }
            }
            "Add" => {
                let bias = [(0, 1), (1, 0)].into_iter().find_map(|(product, bias)| {
                    let (layer, outputs) = self.products.get(input(product))?.clone();
                    let Tensor { values, .. } = constant(bias)?;
                    let shape = vec![values.len()];
                    (outputs > 0 && values.len() == outputs)
                        .then_some((layer, Tensor { shape, values }))
                });
                match bias {
                    Some((layer, bias)) => self.add(format!("{layer}.bias"), Some(bias)),
                    None => self.others(operator, constant),
                }
            }
            "BatchNormalization" => {
                let layer = self.layer(input(1));
                for (part, index) in BATCH_NORM.into_iter().zip(1..) {
                    self.add(format!("{layer}.{part}"), constant(index));
                }
            }
            _ => {
                if let Some(last) = self.hidden.last_mut() {
                    match operator.op_type {
                        "MaxPool" => last.push_str("-MP2"),
                        "GlobalAveragePool" | "ReduceMean" => last.push_str("-GAP"),
                        "Relu" | "LeakyRelu" | "Tanh" | "Sigmoid" | "Erf" | "Gelu" => {
                            *last = last.replace('L', "");
                        }
                        _ => {}
                    }
                }
                self.others(operator, constant);
            }
        }
    }

    /// Constants that go into any other operator are weights if their names say so.
    fn others(&mut self, operator: &Operator<'_>, constant: &dyn Fn(usize) -> Option<Tensor>) {
        for (index, name) in operator.inputs.iter().enumerate() {
            let part = name.rsplit('.').next().unwrap_or_default();
            if matches!(part, "weight" | "bias" | "pos_embed") {
                let constant = constant(index).filter(|constant| !constant.shape.is_empty());
                self.add((*name).to_owned(), constant);
            }
        }
    }

    /// The name of a layer with this weight: `fc1` of `fc1.weight`, else one by its position.
    fn layer(&mut self, weight: &str) -> String {
        self.layers += 1;
        weight
            .strip_suffix(".weight")
            .map_or_else(|| format!("layer{}", self.layers), str::to_owned)
    }

    /// Adds the layer whose product with this weight is the value `output`.
    fn product(&mut self, output: &str, name: &str, weight: Tensor, bias: Option<Tensor>) {
        let outputs = weight.shape.first().copied().unwrap_or_default();
        let layer = self.layer(name);
        let expected = if bias.is_some() { 0 } else { outputs };
        self.add(format!("{layer}.weight"), Some(weight));
        self.add(format!("{layer}.bias"), bias);
        self.products.insert(output.to_owned(), (layer, expected));
    }

    fn add(&mut self, name: String, constant: Option<Tensor>) {
        let constant = constant.filter(|constant| constant.values.len() <= self.room);
        if let Some(constant) = constant.filter(|_| !self.weights.contains_key(&name)) {
            self.room -= constant.values.len();
            self.weights.insert(name, constant);
        }
    }

    /// The matrix of a dense layer, for an image whose channels come first, if they came last after
    /// a convolution.
    fn with_channels_first(&mut self, matrix: Tensor) -> Tensor {
        let (channels, last) = (self.channels, std::mem::take(&mut self.channels_last));
        self.channels = 0;
        let (rows, inputs) = (matrix.shape[0], matrix.shape[1]);
        if !last || channels == 0 || inputs <= channels || !inputs.is_multiple_of(channels) {
            return matrix;
        }
        let axes = [(rows, inputs), (channels, 1), (inputs / channels, channels)];
        let values = strided(&matrix.values, 0, &axes);
        Tensor {
            values: values.unwrap_or_default(),
            ..matrix
        }
    }
}
