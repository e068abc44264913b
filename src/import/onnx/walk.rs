//! The operators of an ONNX file, one after the other: what becomes of the weights that go into
//! them.

use std::collections::{BTreeMap, HashMap};

use prost::Message;

use super::tensor;
use crate::import::tensor::Tensor;
use crate::nn::onnx::MAX_OPERATORS;
use crate::nn::onnx::proto::NodeProto;
use crate::nn::onnx::wire::{Fields, Value, text};

/// The longest description of an operator, in bytes.
const MAX_NODE_BYTES: usize = 64 << 10;
/// What makes an image with its channels first one with its channels last.
const TO_CHANNELS_LAST: [i64; 4] = [0, 2, 3, 1];

#[derive(Default)]
pub(super) struct Walk<'a> {
    nodes: usize,
    /// What is known before any image comes.
    pub constants: HashMap<String, Tensor<'a>>,
    pub weights: BTreeMap<String, Tensor<'a>>,
    /// The name of the layer that a matrix product made this value, and how many there are of it: a
    /// sum with as many numbers adds its bias.
    products: HashMap<String, (String, usize)>,
    /// The channels that the last convolution made.
    channels: usize,
    /// Whether images have their channels last, since the last convolution.
    channels_last: bool,
    layers: usize,
}

impl<'a> Walk<'a> {
    pub fn node(&mut self, message: &'a [u8]) -> Result<(), String> {
        self.nodes += 1;
        if self.nodes > MAX_OPERATORS {
            return Err("it has more operators than any supported network".to_owned());
        }
        if let Some((output, constant)) = constant_of(message)? {
            self.constants.insert(output.to_owned(), constant);
            return Ok(());
        }
        if message.len() > MAX_NODE_BYTES {
            return Ok(());
        }
        let node = NodeProto::decode(message)
            .map_err(|error| format!("it is a damaged ONNX file ({error})"))?;
        let Some(output) = node.output.first() else {
            return Ok(());
        };
        let input = |index: usize| {
            node.input
                .get(index)
                .map(String::as_str)
                .unwrap_or_default()
        };
        let known = |walk: &Self, index: usize| walk.constants.get(input(index)).cloned();
        let attribute = |name: &str| node.attribute.iter().find(|it| it.name == name);
        let integer = |name: &str| attribute(name).and_then(|attribute| attribute.i);
        match node.op_type.as_str() {
            "Identity" | "Cast" => {
                if let Some(constant) = known(self, 0) {
                    self.constants.insert(output.clone(), constant);
                } else if let Some(product) = self.products.get(input(0)).cloned() {
                    self.products.insert(output.clone(), product);
                }
            }
            "Transpose" => match (known(self, 0), attribute("perm").map(|it| &it.ints[..])) {
                (Some(constant), Some([1, 0]) | None) if constant.shape.len() == 2 => {
                    self.constants.insert(output.clone(), constant.transposed());
                }
                (None, Some(permutation)) => {
                    self.channels_last = permutation == TO_CHANNELS_LAST;
                    if let Some(product) = self.products.get(input(0)).cloned() {
                        self.products.insert(output.clone(), product);
                    }
                }
                _ => {}
            },
            "DequantizeLinear" => {
                if let (Some(stored), Some(scales)) = (known(self, 0), known(self, 1)) {
                    let axis = usize::try_from(integer("axis").unwrap_or(1)).unwrap_or(usize::MAX);
                    let constant = stored
                        .dequantized(&scales, axis)
                        .ok_or_else(|| format!("\"{}\" has scales that do not fit", input(0)))?;
                    self.constants.insert(output.clone(), constant);
                }
            }
            "Conv" => {
                if let Some(kernel) = known(self, 1) {
                    self.channels = kernel.shape.first().copied().unwrap_or_default();
                    self.channels_last = false;
                    let bias = known(self, 2);
                    self.add_product(output, input(1), kernel, bias);
                }
            }
            "Gemm" | "MatMul" => {
                if let Some(matrix) = known(self, 1).filter(|matrix| matrix.shape.len() == 2) {
                    let is_transposed = node.op_type == "Gemm" && integer("transB") == Some(1);
                    let matrix = if is_transposed {
                        matrix
                    } else {
                        matrix.transposed()
                    };
                    let (matrix, bias) = (self.with_channels_first(matrix), known(self, 2));
                    self.add_product(output, input(1), matrix, bias);
                }
            }
            "Add" => {
                let sum = [(0, 1), (1, 0)].into_iter().find_map(|(product, bias)| {
                    let (layer, outputs) = self.products.get(input(product)).cloned()?;
                    let bias = known(self, bias).filter(|bias| {
                        outputs > 0 && bias.shape.iter().product::<usize>() == outputs
                    })?;
                    Some((layer, bias.flattened()))
                });
                match sum {
                    Some((layer, bias)) => self.add(&layer, "bias", Some(bias)),
                    None => self.plain([0, 1].map(input)),
                }
            }
            "BatchNormalization" => {
                let layer = self.layer(input(1));
                for (index, part) in [
                    (1, "weight"),
                    (2, "bias"),
                    (3, "running_mean"),
                    (4, "running_var"),
                ] {
                    let constant = known(self, index);
                    self.add(&layer, part, constant);
                }
            }
            _ => self.plain(node.input.iter().map(String::as_str)),
        }
        Ok(())
    }

    /// Constants that go into any other operator are weights under their own names, unless they are
    /// scalars.
    fn plain<'n>(&mut self, inputs: impl IntoIterator<Item = &'n str>) {
        for input in inputs {
            let part = input.rsplit('.').next().unwrap_or_default();
            if matches!(part, "weight" | "bias" | "pos_embed") {
                let constant = self
                    .constants
                    .get(input)
                    .filter(|constant| constant.is_weight() && !constant.shape.is_empty())
                    .cloned();
                if let Some(constant) = constant {
                    self.weights.entry(input.to_owned()).or_insert(constant);
                }
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
    fn add_product(
        &mut self,
        output: &str,
        name: &str,
        weight: Tensor<'a>,
        bias: Option<Tensor<'a>>,
    ) {
        let outputs = weight.shape.first().copied().unwrap_or_default();
        let expected = if bias.is_some() { 0 } else { outputs };
        let layer = self.layer(name);
        self.add(&layer, "weight", Some(weight));
        self.add(&layer, "bias", bias);
        self.products.insert(output.to_owned(), (layer, expected));
    }

    fn add(&mut self, layer: &str, part: &str, constant: Option<Tensor<'a>>) {
        if let Some(constant) = constant.filter(Tensor::is_weight) {
            self.weights
                .entry(format!("{layer}.{part}"))
                .or_insert(constant);
        }
    }

    /// The matrix after a convolution, whose channels came last.
    fn with_channels_first(&mut self, matrix: Tensor<'a>) -> Tensor<'a> {
        let inputs = matrix.shape[1];
        let (channels, last) = (self.channels, std::mem::take(&mut self.channels_last));
        self.channels = 0;
        if last && channels > 0 && inputs > channels && inputs.is_multiple_of(channels) {
            matrix.with_channels_first(channels)
        } else {
            matrix
        }
    }
}

/// The output of an operator that is nothing but a tensor, and that tensor.
fn constant_of(message: &[u8]) -> Result<Option<(&str, Tensor<'_>)>, String> {
    let (mut output, mut attribute, mut is_constant) = ("", None, false);
    for field in Fields::of(message) {
        match field? {
            (2, Value::Bytes(name)) => output = text(name)?,
            (4, Value::Bytes(name)) => is_constant = name == b"Constant",
            (5, Value::Bytes(bytes)) => attribute = Some(bytes),
            _ => {}
        }
    }
    let Some(attribute) = attribute.filter(|_| is_constant) else {
        return Ok(None);
    };
    for field in Fields::of(attribute) {
        // The tensor of an attribute.
        if let (5, Value::Bytes(message)) = field? {
            return Ok(tensor(message)?.map(|(_, constant)| (output, constant)));
        }
    }
    Ok(None)
}
