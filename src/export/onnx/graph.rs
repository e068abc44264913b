//! Turns a network's layers into ONNX operators, each named after its layer. If there is a
//! choice, it is older ones, so that programs which lack the newer ones can open the file too:
//! candle-onnx has neither `LayerNormalization` nor `GlobalAveragePool`.

use super::weights::Weights;
use crate::export::ExportError;
use crate::nn::onnx::proto::{AttributeProto, NodeProto, attribute_type};
use crate::nn::{Layer, Shape, Step, walk};

/// Added to variances, as in `nn::ops`.
const EPSILON: f32 = 1e-5;
/// From here on `ReduceMean` takes its axes as an input.
const AXES_AS_INPUT: u32 = 18;

/// A graph under construction: each operator takes the output of the previous one.
pub struct Graph<'a> {
    /// The operators so far, in the order of execution.
    pub nodes: Vec<NodeProto>,
    pub weights: Weights<'a>,
    /// The name of the value that the next layer takes.
    pub value: String,
    /// The operator set that the file is written for.
    pub opset: u32,
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
            last: String::new(),
        }
    }

    pub fn add_layers(&mut self, layers: &[Layer], input: Shape) -> Result<(), ExportError> {
        walk(layers, input).try_for_each(|step| self.add_layer(step))
    }

    fn add_layer(&mut self, Step { layer, input, .. }: Step<'_>) -> Result<(), ExportError> {
        if let Some(name) = layer.parameter_name() {
            name.clone_into(&mut self.last);
        }
        match layer {
            Layer::Conv {
                name,
                kernel,
                pool,
                activation,
                ..
            } => {
                let [size, stride, padding] =
                    [kernel.size, kernel.stride, kernel.padding].map(|length| length as i64);
                let attributes = [
                    ints("kernel_shape", &[size; 2]),
                    ints("strides", &[stride; 2]),
                    ints("pads", &[padding; 4]),
                ];
                self.weighted("Conv", layer, attributes)?;
                if *pool {
                    let attributes = [ints("kernel_shape", &[2, 2]), ints("strides", &[2, 2])];
                    self.op("MaxPool", &format!("{name}.pool"), &[], attributes);
                    self.activate_pooled(name, *activation);
                } else {
                    self.activate(name, *activation);
                }
            }
            Layer::BatchNorm {
                name, activation, ..
            } => {
                self.weighted("BatchNormalization", layer, [float("epsilon", EPSILON)])?;
                self.activate(name, *activation);
            }
            Layer::Activation(activation) => {
                let name = self.last.clone();
                self.activate(&name, Some(*activation));
            }
            Layer::GlobalAveragePool => match input {
                Shape::Tokens { .. } => self.mean("pool", &[1], false),
                Shape::Image { .. } | Shape::Features(_) => self.mean("pool", &[2, 3], false),
            },
            Layer::Residual {
                body,
                shortcut,
                activation,
            } => {
                let x = self.value.clone();
                self.add_layers(body, input)?;
                let block = parent(&self.last).to_owned();
                let residual = std::mem::replace(&mut self.value, x);
                self.add_layers(shortcut, input)?;
                self.op("Add", &format!("{block}.add"), &[&residual], []);
                self.activate(&block, *activation);
            }
            Layer::Tokens => {
                // 0 keeps a dimension: [batch, channels, height, width] becomes [batch, channels,
                // height * width].
                let shape = self.weights.integers("tokens.shape", &[0, 0, -1]);
                self.op("Reshape", "tokens.flatten", &[&shape], []);
                self.op("Transpose", "tokens", &[], [ints("perm", &[0, 2, 1])]);
            }
            Layer::Positions { name, .. } => {
                let positions = self.weights.parameter(name)?;
                self.op("Add", &format!("{name}.add"), &[&positions], []);
            }
            Layer::LayerNorm { name, .. } => self.layer_norm(name)?,
            Layer::Attention { features, heads } => self.attention(*features, *heads),
            Layer::Flatten => self.op("Flatten", "flatten", &[], [int("axis", 1)]),
            Layer::Linear {
                name, activation, ..
            } => {
                if let Shape::Tokens { .. } = input {
                    let weight = self.weights.transposed(&format!("{name}.weight"))?;
                    let bias = self.weights.parameter(&format!("{name}.bias"))?;
                    self.op("MatMul", &format!("{name}.matmul"), &[&weight], []);
                    self.op("Add", name, &[&bias], []);
                } else {
                    self.weighted("Gemm", layer, [int("transB", 1)])?;
                }
                self.activate(name, *activation);
            }
            // Dropout is inactive outside training.
            Layer::Dropout(_) => {}
        }
        Ok(())
    }

    /// An operator that takes all parameters of a layer, and has its name.
    fn weighted<const N: usize>(
        &mut self,
        op_type: &str,
        layer: &Layer,
        attributes: [AttributeProto; N],
    ) -> Result<(), ExportError> {
        let inputs = layer
            .parameters()
            .iter()
            .map(|spec| self.weights.parameter(&spec.name))
            .collect::<Result<Vec<_>, _>>()?;
        let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
        self.op(op_type, layer.name(), &inputs, attributes);
        Ok(())
    }

    /// The mean over these axes, which stay with a length of 1 if `keep` is true.
    fn mean(&mut self, name: &str, axes: &[i64], keep: bool) {
        let keep = int("keepdims", i64::from(keep));
        if self.opset < AXES_AS_INPUT {
            self.op("ReduceMean", name, &[], [ints("axes", axes), keep]);
        } else {
            let axes = self.weights.integers(&format!("{name}.axes"), axes);
            self.op("ReduceMean", name, &[&axes], [keep]);
        }
    }

    /// `(x - mean) / √(variance + ε) · weight + bias` over the last axis; the last operator has the
    /// name of the layer.
    fn layer_norm(&mut self, name: &str) -> Result<(), ExportError> {
        let weight = self.weights.parameter(&format!("{name}.weight"))?;
        let bias = self.weights.parameter(&format!("{name}.bias"))?;
        let epsilon = self.weights.scalar(&format!("{name}.epsilon"), EPSILON);
        let named = |part: &str| format!("{name}.{part}");
        let input = self.value.clone();
        self.mean(&named("mean"), &[-1], true);
        let mean = std::mem::replace(&mut self.value, input);
        self.op("Sub", &named("center"), &[&mean], []);
        let centered = self.value.clone();
        self.op("Mul", &named("square"), &[&centered], []);
        self.mean(&named("variance"), &[-1], true);
        self.op("Add", &named("add_epsilon"), &[&epsilon], []);
        self.op("Sqrt", &named("deviation"), &[], []);
        let deviation = std::mem::replace(&mut self.value, centered);
        self.op("Div", &named("normalize"), &[&deviation], []);
        self.op("Mul", &named("scale"), &[&weight], []);
        self.op("Add", name, &[&bias], []);
        Ok(())
    }

    /// From `[batch, tokens, 3 features]` to `[batch, tokens, features]`: `softmax(Q Kᵀ / √d) V` of
    /// every head.
    fn attention(&mut self, features: usize, heads: usize) {
        let name = parent(&self.last).to_owned();
        let named = |part: &str| format!("{name}.{part}");
        let depth = features / heads.max(1);
        let [features, heads] = [features, heads].map(|length| length as i64);
        let weights = &mut self.weights;
        let sizes = weights.integers(&named("split.sizes"), &[features; 3]);
        let shape = weights.integers(&named("heads.shape"), &[0, 0, heads, depth as i64]);
        let joined = weights.integers(&named("join.shape"), &[0, 0, features]);
        let scale = weights.scalar(&named("scale.factor"), 1.0 / (depth as f32).sqrt());
        let parts = ["query", "key", "value"].map(named);
        self.nodes.push(NodeProto {
            input: vec![self.value.clone(), sizes],
            output: parts.to_vec(),
            name: named("split"),
            op_type: "Split".to_owned(),
            attribute: vec![int("axis", -1)],
        });
        let mut split_heads = |part: &str, order| {
            part.clone_into(&mut self.value);
            self.op("Reshape", &format!("{part}.split"), &[&shape], []);
            let perm = [ints("perm", order)];
            self.op("Transpose", &format!("{part}.heads"), &[], perm);
            self.value.clone()
        };
        let [query, key, value] = &parts;
        let query = split_heads(query, &[0, 2, 1, 3]);
        // Transposed here for the matrix multiplication with the queries.
        let key = split_heads(key, &[0, 2, 3, 1]);
        let value = split_heads(value, &[0, 2, 1, 3]);
        self.value = query;
        self.op("Mul", &named("scale"), &[&scale], []);
        self.op("MatMul", &named("scores"), &[&key], []);
        self.op("Softmax", &named("softmax"), &[], [int("axis", -1)]);
        self.op("MatMul", &named("mix"), &[&value], []);
        let perm = [ints("perm", &[0, 2, 1, 3])];
        self.op("Transpose", &named("tokens"), &[], perm);
        self.op("Reshape", &named("join"), &[&joined], []);
    }

    /// Adds an operator that takes the current value and `inputs`; its output has its name and
    /// becomes the current value.
    pub fn op<const N: usize>(
        &mut self,
        op_type: &str,
        name: &str,
        inputs: &[&str],
        attributes: [AttributeProto; N],
    ) {
        let value = std::mem::replace(&mut self.value, name.to_owned());
        let inputs = inputs.iter().map(|&input| input.to_owned());
        self.nodes.push(NodeProto {
            input: std::iter::once(value).chain(inputs).collect(),
            output: vec![name.to_owned()],
            name: name.to_owned(),
            op_type: op_type.to_owned(),
            attribute: attributes.into(),
        });
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
fn ints(name: &str, values: &[i64]) -> AttributeProto {
    AttributeProto {
        name: name.to_owned(),
        ints: values.to_vec(),
        r#type: attribute_type::INTS,
        ..AttributeProto::default()
    }
}

pub fn float(name: &str, value: f32) -> AttributeProto {
    AttributeProto {
        name: name.to_owned(),
        f: Some(value),
        r#type: attribute_type::FLOAT,
        ..AttributeProto::default()
    }
}
