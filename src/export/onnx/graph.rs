//! Turns a network's layers into ONNX operators, each named after its layer.

use super::decomposed::GELU;
use super::weights::Weights;
use crate::export::ExportError;
use crate::nn::onnx::proto::{AttributeProto, NodeProto, attribute_type};
use crate::nn::{Layer, ops::Window};
use crate::run_config::Activation;

/// The slope of a leaky `ReLU` below zero, as in `nn::ops`.
const LEAK: f32 = 0.01;
/// What is added to variances, as in `nn::ops`.
const EPSILON: f32 = 1e-5;

/// A graph under construction: each operator takes the output of the previous one.
pub struct Graph<'a> {
    /// The operators so far, in the order of execution.
    pub nodes: Vec<NodeProto>,
    pub weights: Weights<'a>,
    /// The name of the value that the next layer takes.
    pub(super) value: String,
    /// The operator set that the file is written for.
    pub(super) opset: u32,
    /// True between `Tokens` and `GlobalAveragePool`, where values have the shape
    /// `[batch, tokens, features]`.
    is_sequence: bool,
    /// The name of the last layer that has one.
    last: String,
}

impl<'a> Graph<'a> {
    /// An empty graph with the input `value`, of operators that `opset` has.
    pub fn new(value: &str, weights: Weights<'a>, opset: u32) -> Self {
        Self {
            nodes: Vec::new(),
            weights,
            value: value.to_owned(),
            opset,
            is_sequence: false,
            last: String::new(),
        }
    }

    pub fn add_layers(&mut self, layers: &[Layer]) -> Result<(), ExportError> {
        layers.iter().try_for_each(|layer| self.add_layer(layer))
    }

    fn add_layer(&mut self, layer: &Layer) -> Result<(), ExportError> {
        match layer {
            Layer::ConvPool {
                name,
                kernel,
                padding,
                bias,
                activation,
                ..
            } => {
                self.convolution(
                    name,
                    Window {
                        size: *kernel,
                        stride: 1,
                        padding: *padding,
                    },
                    *bias,
                )?;
                self.op(
                    "MaxPool",
                    &format!("{name}.pool"),
                    &[],
                    vec![ints("kernel_shape", &[2, 2]), ints("strides", &[2, 2])],
                );
                self.activate_pooled(name, *activation);
            }
            Layer::Conv {
                name, kernel, bias, ..
            } => self.convolution(name, *kernel, *bias)?,
            Layer::BatchNorm {
                name, activation, ..
            } => {
                let weights = ["weight", "bias", "running_mean", "running_var"]
                    .map(|what| format!("{name}.{what}"));
                let inputs = weights
                    .iter()
                    .map(|weight| self.weights.parameter(weight))
                    .collect::<Result<Vec<_>, _>>()?;
                self.op(
                    "BatchNormalization",
                    name,
                    &inputs,
                    vec![float("epsilon", EPSILON)],
                );
                self.last.clone_from(name);
                self.activate(name, *activation);
            }
            Layer::Activation(activation) => {
                let name = self.last.clone();
                self.activate(&name, Some(*activation));
            }
            Layer::GlobalAveragePool if self.is_sequence => {
                self.mean("pool", &[1], false);
                self.is_sequence = false;
            }
            Layer::GlobalAveragePool => self.mean("pool", &[2, 3], false),
            Layer::Residual {
                body,
                shortcut,
                activation,
            } => self.residual(body, shortcut, *activation)?,
            Layer::Tokens => {
                // 0 keeps a dimension: [batch, channels, height, width] becomes [batch, channels,
                // height * width].
                let shape = self.weights.integers("tokens.shape", &[0, 0, -1]);
                self.op("Reshape", "tokens.flatten", &[shape], Vec::new());
                self.op("Transpose", "tokens", &[], vec![ints("perm", &[0, 2, 1])]);
                self.is_sequence = true;
            }
            Layer::Positions { name, .. } => {
                let positions = self.weights.parameter(name)?;
                self.op("Add", &format!("{name}.add"), &[positions], Vec::new());
            }
            Layer::LayerNorm { name, .. } => {
                self.layer_norm(name)?;
                self.last.clone_from(name);
            }
            Layer::Attention { features, heads } => self.attention(*features, *heads),
            Layer::Flatten => self.op("Flatten", "flatten", &[], vec![int("axis", 1)]),
            Layer::Linear {
                name, activation, ..
            } => {
                self.linear(name)?;
                self.activate(name, *activation);
            }
            // Dropout is inactive outside training.
            Layer::Dropout(_) => {}
        }
        Ok(())
    }

    fn convolution(&mut self, name: &str, kernel: Window, bias: bool) -> Result<(), ExportError> {
        let Window {
            size,
            stride,
            padding,
        } = kernel;
        let [size, stride, padding] = [size, stride, padding].map(|length| length as i64);
        let mut inputs = vec![self.weights.parameter(&format!("{name}.weight"))?];
        if bias {
            inputs.push(self.weights.parameter(&format!("{name}.bias"))?);
        }
        let attributes = vec![
            ints("kernel_shape", &[size; 2]),
            ints("strides", &[stride; 2]),
            ints("pads", &[padding; 4]),
        ];
        self.op("Conv", name, &inputs, attributes);
        name.clone_into(&mut self.last);
        Ok(())
    }

    fn linear(&mut self, name: &str) -> Result<(), ExportError> {
        let weight = format!("{name}.weight");
        if self.is_sequence {
            let weight = self.weights.transposed(&weight)?;
            let bias = self.weights.parameter(&format!("{name}.bias"))?;
            self.op("MatMul", &format!("{name}.matmul"), &[weight], Vec::new());
            self.op("Add", name, &[bias], Vec::new());
        } else {
            let inputs = [
                self.weights.parameter(&weight)?,
                self.weights.parameter(&format!("{name}.bias"))?,
            ];
            self.op("Gemm", name, &inputs, vec![int("transB", 1)]);
        }
        name.clone_into(&mut self.last);
        Ok(())
    }

    fn residual(
        &mut self,
        body: &[Layer],
        shortcut: &[Layer],
        activation: Option<Activation>,
    ) -> Result<(), ExportError> {
        let input = self.value.clone();
        self.add_layers(body)?;
        let block = parent(&self.last).to_owned();
        let residual = std::mem::replace(&mut self.value, input);
        self.add_layers(shortcut)?;
        self.op("Add", &format!("{block}.add"), &[residual], Vec::new());
        self.activate(&block, activation);
        Ok(())
    }

    /// From `[batch, tokens, 3 features]` to `[batch, tokens, features]`: `softmax(Q Kᵀ / √d) V` of
    /// every head.
    fn attention(&mut self, features: usize, heads: usize) {
        let name = parent(&self.last).to_owned();
        let depth = features / heads.max(1);
        let [features, heads] = [features, heads].map(|length| length as i64);
        let sizes = self
            .weights
            .integers(&format!("{name}.split.sizes"), &[features; 3]);
        let shape = self
            .weights
            .integers(&format!("{name}.heads.shape"), &[0, 0, heads, depth as i64]);
        let joined = self
            .weights
            .integers(&format!("{name}.join.shape"), &[0, 0, features]);
        let scale = self
            .weights
            .scalar(&format!("{name}.scale.factor"), 1.0 / (depth as f32).sqrt());
        let parts = ["query", "key", "value"].map(|part| format!("{name}.{part}"));
        self.nodes.push(NodeProto {
            input: vec![self.value.clone(), sizes],
            output: parts.to_vec(),
            name: format!("{name}.split"),
            op_type: "Split".to_owned(),
            attribute: vec![int("axis", -1)],
        });
        // Keys are transposed here for the matrix product with the queries.
        let [query, key, value] = [[0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]];
        let heads = parts
            .into_iter()
            .zip([query, key, value])
            .map(|(part, order)| {
                self.value.clone_from(&part);
                self.op(
                    "Reshape",
                    &format!("{part}.split"),
                    std::slice::from_ref(&shape),
                    Vec::new(),
                );
                self.op(
                    "Transpose",
                    &format!("{part}.heads"),
                    &[],
                    vec![ints("perm", &order)],
                );
                self.value.clone()
            });
        let heads: Vec<String> = heads.collect();
        let [query, key, value] = heads.as_slice() else {
            return;
        };
        self.value.clone_from(query);
        self.op("Mul", &format!("{name}.scale"), &[scale], Vec::new());
        self.op(
            "MatMul",
            &format!("{name}.scores"),
            std::slice::from_ref(key),
            Vec::new(),
        );
        self.op(
            "Softmax",
            &format!("{name}.softmax"),
            &[],
            vec![int("axis", -1)],
        );
        self.op(
            "MatMul",
            &format!("{name}.mix"),
            std::slice::from_ref(value),
            Vec::new(),
        );
        self.op(
            "Transpose",
            &format!("{name}.tokens"),
            &[],
            vec![ints("perm", &[0, 2, 1, 3])],
        );
        self.op("Reshape", &format!("{name}.join"), &[joined], Vec::new());
    }

    /// An activation behind max pooling. `OpenVINO` (2026.4) moves GELU and `SiLU` before it, which
    /// changes the result: unlike the others they fall before they rise. It does not know them in
    /// several operators.
    fn activate_pooled(&mut self, name: &str, activation: Option<Activation>) {
        match activation {
            Some(activation @ Activation::Gelu) => self.gelu(&format!("{name}.{activation}")),
            Some(activation @ Activation::Silu) => self.silu(&format!("{name}.{activation}")),
            _ => self.activate(name, activation),
        }
    }

    fn activate(&mut self, name: &str, activation: Option<Activation>) {
        let Some(activation) = activation else { return };
        let named = format!("{name}.{activation}");
        match activation {
            Activation::Relu => self.op("Relu", &named, &[], Vec::new()),
            Activation::LeakyRelu => self.op("LeakyRelu", &named, &[], vec![float("alpha", LEAK)]),
            Activation::Gelu if self.opset >= GELU => self.op("Gelu", &named, &[], Vec::new()),
            Activation::Gelu => self.gelu(&named),
            Activation::Silu => {
                let x = self.value.clone();
                self.op("Sigmoid", &format!("{name}.sigmoid"), &[], Vec::new());
                self.op("Mul", &named, &[x], Vec::new());
            }
            Activation::Tanh => self.op("Tanh", &named, &[], Vec::new()),
        }
    }

    /// Adds an operator that takes the current value and `inputs`; its output has its name and
    /// becomes the current value.
    pub fn op(
        &mut self,
        op_type: &str,
        name: &str,
        inputs: &[String],
        attribute: Vec<AttributeProto>,
    ) {
        let input = std::iter::once(self.value.clone())
            .chain(inputs.iter().cloned())
            .collect();
        self.nodes.push(NodeProto {
            input,
            output: vec![name.to_owned()],
            name: name.to_owned(),
            op_type: op_type.to_owned(),
            attribute,
        });
        name.clone_into(&mut self.value);
    }

    /// Renames the current value to `output` and returns the finished nodes and weights.
    pub fn finish(mut self, output: &str) -> (Vec<NodeProto>, Weights<'a>) {
        for node in &mut self.nodes {
            node.output
                .iter_mut()
                .filter(|name| **name == self.value)
                .for_each(|name| output.clone_into(name));
        }
        (self.nodes, self.weights)
    }
}

/// The module that contains a layer: `layer1.0` for `layer1.0.bn2`.
fn parent(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(parent, _)| parent)
}

pub fn int(name: &str, value: i64) -> AttributeProto {
    AttributeProto {
        name: name.to_owned(),
        i: Some(value),
        r#type: attribute_type::INT,
        ..AttributeProto::default()
    }
}

/// An attribute that is a list of integers.
pub fn ints(name: &str, values: &[i64]) -> AttributeProto {
    AttributeProto {
        name: name.to_owned(),
        ints: values.to_vec(),
        r#type: attribute_type::INTS,
        ..AttributeProto::default()
    }
}

fn float(name: &str, value: f32) -> AttributeProto {
    AttributeProto {
        name: name.to_owned(),
        f: Some(value),
        r#type: attribute_type::FLOAT,
        ..AttributeProto::default()
    }
}
