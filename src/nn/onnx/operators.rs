//! What an ONNX file computes, before anything of it is computed: its operators, and how much memory and time each may take.

use std::collections::HashMap;

use super::wire::{Fields, Value, text};

/// More operators than any network for digits has.
const MOST_OPERATORS: usize = 10_000;
/// The most numbers that all operators may give for one image: 128 MB of them.
const MOST_VALUES: usize = 32 << 20;
/// The most multiplications for one image: some seconds of them.
const MOST_MULTIPLICATIONS: usize = 4 << 30;

/// Operators that give as many numbers as their first input has, or fewer.
const NO_LARGER: [&str; 46] = [
    "Abs",
    "ArgMax",
    "AveragePool",
    "BatchNormalization",
    "Cast",
    "Celu",
    "Clip",
    "DequantizeLinear",
    "Dropout",
    "Elu",
    "Erf",
    "Exp",
    "Flatten",
    "Floor",
    "Gelu",
    "GlobalAveragePool",
    "GlobalMaxPool",
    "HardSigmoid",
    "HardSwish",
    "Identity",
    "InstanceNormalization",
    "LayerNormalization",
    "LeakyRelu",
    "Log",
    "LogSoftmax",
    "MaxPool",
    "Mish",
    "Neg",
    "QuantizeLinear",
    "Reciprocal",
    "ReduceMax",
    "ReduceMean",
    "ReduceSum",
    "Relu",
    "Reshape",
    "Selu",
    "Sigmoid",
    "Slice",
    "Softmax",
    "Softplus",
    "Softsign",
    "Split",
    "Sqrt",
    "Squeeze",
    "Tanh",
    "Transpose",
];
/// Operators that combine numbers of inputs whose shapes are broadcast.
const BROADCAST: [&str; 9] = ["Add", "Div", "Max", "Min", "Mul", "PRelu", "Pow", "Sub", "Sum"];

/// One operator.
#[derive(Clone, Debug, Default)]
pub struct Operator<'a> {
    /// Its name in the standard.
    pub kind: &'a str,
    /// The names of what goes in; empty where something is left out.
    pub inputs: Vec<&'a str>,
    /// The names of what comes out.
    pub outputs: Vec<&'a str>,
    integers: HashMap<&'a str, Vec<i64>>,
    has_auto_padding: bool,
}

/// All of a file's, in the order in which they are computed.
#[derive(Clone, Debug, Default)]
pub struct Operators<'a> {
    pub list: Vec<Operator<'a>>,
    /// The name of the only input.
    pub input: &'a str,
    /// The name of the first output.
    pub output: &'a str,
    /// The numbers in all weights.
    pub parameters: u64,
}

impl<'a> Operators<'a> {
    /// Reads them. Nothing is accepted that contains graphs or types within others, to any depth: whoever reads those may run out of stack.
    pub fn read(bytes: &'a [u8]) -> Result<Self, String> {
        let (mut graph, mut operators): (&[u8], _) = (&[], Self::default());
        for field in Fields::of(bytes) {
            match field? {
                (7, Value::Bytes(bytes)) => graph = bytes,
                (20 | 25, _) => return Err("it has functions or training steps of its own".to_owned()),
                _ => {}
            }
        }
        let (mut inputs, mut constants) = (Vec::new(), Vec::new());
        for field in Fields::of(graph) {
            match field? {
                (1, Value::Bytes(node)) if operators.list.len() < MOST_OPERATORS => operators.list.push(Operator::read(node)?),
                (1, _) => return Err(format!("it has more than {MOST_OPERATORS} operators")),
                (5, Value::Bytes(tensor)) => {
                    let (name, numbers) = tensor_size(tensor)?;
                    operators.parameters += numbers;
                    constants.push(name);
                }
                (11, Value::Bytes(value)) => inputs.push(value_name(value)?),
                (12, Value::Bytes(value)) => {
                    let name = value_name(value)?;
                    if operators.output.is_empty() {
                        operators.output = name;
                    }
                }
                (13, Value::Bytes(value)) => {
                    value_name(value)?;
                }
                (15, _) => return Err("it has sparse weights".to_owned()),
                _ => {}
            }
        }
        // Older files list their weights among the inputs.
        inputs.retain(|name| !constants.contains(name));
        let [input] = inputs[..] else { return Err(format!("it has {} inputs, and not a single image", inputs.len())) };
        Ok(Self { input, ..operators })
    }
}

impl<'a> Operator<'a> {
    fn read(node: &'a [u8]) -> Result<Self, String> {
        let mut operator = Self::default();
        let mut domain = "";
        for field in Fields::of(node) {
            match field? {
                (1, Value::Bytes(name)) => operator.inputs.push(text(name)?),
                (2, Value::Bytes(name)) => operator.outputs.push(text(name)?),
                (4, Value::Bytes(kind)) => operator.kind = text(kind)?,
                (5, Value::Bytes(attribute)) => operator.attribute(attribute)?,
                (7, Value::Bytes(name)) => domain = text(name)?,
                _ => {}
            }
        }
        let known = NO_LARGER.contains(&operator.kind) || BROADCAST.contains(&operator.kind);
        let known = known || ["Concat", "Constant", "Conv", "Gather", "Gemm", "MatMul", "Shape", "Unsqueeze"].contains(&operator.kind);
        if !known || !["", "ai.onnx"].contains(&domain) {
            let name = if domain.is_empty() { operator.kind.to_owned() } else { format!("{domain}.{}", operator.kind) };
            return Err(format!("it has the operator {name}, which Inkling does not support"));
        }
        Ok(operator)
    }

    fn attribute(&mut self, attribute: &'a [u8]) -> Result<(), String> {
        let (mut name, mut integers) = ("", Vec::new());
        for field in Fields::of(attribute) {
            match field? {
                (1, Value::Bytes(bytes)) => name = text(bytes)?,
                (3 | 8, Value::Varint(number)) => integers.push(number.cast_signed()),
                (4, Value::Bytes(value)) => self.has_auto_padding |= name == "auto_pad" && !matches!(value, b"NOTSET" | b"VALID"),
                (8, Value::Bytes(mut packed)) => {
                    while !packed.is_empty() {
                        let number = prost::encoding::decode_varint(&mut packed).map_err(|error| error.to_string())?;
                        integers.push(number.cast_signed());
                    }
                }
                (6 | 11 | 14 | 15 | 22 | 23, _) => return Err(format!("its operator {} contains operators of its own", self.kind)),
                _ => {}
            }
        }
        self.integers.insert(name, integers);
        Ok(())
    }

    fn integers(&self, name: &str) -> &[i64] {
        self.integers.get(name).map_or(&[], Vec::as_slice)
    }

    /// At most how many numbers it gives, and the multiplications for all of them, from the shapes of its inputs; `None` where they do not tell.
    fn cost(&self, shapes: &[Option<Vec<usize>>]) -> Option<(usize, usize)> {
        let shape = |index: usize| shapes.get(index)?.as_deref();
        let size = |index: usize| Some(product(shape(index)?));
        Some(match self.kind {
            "Shape" => (shape(0)?.len(), 0),
            "Unsqueeze" => (size(0)?, 0),
            "MaxPool" | "AveragePool" => {
                let kernel = self.integers("kernel_shape").iter().map(|&length| usize::try_from(length).unwrap_or(usize::MAX));
                let outputs = self.moved(shape(0)?, product(shape(0)?.get(..2)?))?;
                (outputs, outputs.saturating_mul(kernel.fold(1, usize::saturating_mul)))
            }
            "Conv" => {
                let weight = shape(1)?;
                let outputs = self.moved(shape(0)?, *weight.first()?)?;
                (outputs, outputs.saturating_mul(product(weight.get(1..)?)))
            }
            "Gather" => {
                let gathered = size(0)?.saturating_mul(size(1)?.max(1));
                (gathered, gathered)
            }
            "Concat" => {
                let all = (0..self.inputs.len()).try_fold(0_usize, |sum, index| Some(sum.saturating_add(size(index)?)))?;
                (all, all)
            }
            "Gemm" => {
                let (&[a, b], &[c, d]) = (shape(0)?, shape(1)?) else { return None };
                let (rows, inner) = if self.integers("transA") == [1] { (b, a) } else { (a, b) };
                let columns = if self.integers("transB") == [1] { c } else { d };
                let outputs = rows.saturating_mul(columns);
                (outputs, outputs.saturating_mul(inner))
            }
            "MatMul" => {
                let ([first @ .., rows, inner], [second @ .., _, columns]) = (shape(0)?, shape(1)?) else { return None };
                let outputs = broadcast([first, second]).saturating_mul(*rows).saturating_mul(*columns);
                (outputs, outputs.saturating_mul(*inner))
            }
            kind if BROADCAST.contains(&kind) => {
                let shapes = (0..self.inputs.len()).map(shape).collect::<Option<Vec<_>>>()?;
                let outputs = broadcast(shapes);
                (outputs, outputs)
            }
            _ => (size(0)?, size(0)?),
        })
    }

    /// At most how many numbers come of an input of this shape where a window is moved over it, with so many channels in all images.
    fn moved(&self, input: &[usize], channels: usize) -> Option<usize> {
        let places = input.get(2..)?;
        let number = |name: &str, index: usize| self.integers(name).get(index).map(|&number| usize::try_from(number).unwrap_or(usize::MAX));
        let mut outputs = product(input.get(..1)?).saturating_mul(channels);
        for (axis, &length) in places.iter().enumerate() {
            let padding = [axis, axis + places.len()].map(|index| number("pads", index).unwrap_or(0));
            // Padding of its own never makes more places than there are; one more comes of rounding up.
            let padded = if self.has_auto_padding { length } else { length.saturating_add(padding[0]).saturating_add(padding[1]) };
            let stride = number("strides", axis).unwrap_or(1).max(1);
            outputs = outputs.saturating_mul((padded / stride).saturating_add(1));
        }
        Some(outputs)
    }
}

/// What is left of the memory and time that a network may take for an image.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    values: usize,
    multiplications: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self { values: MOST_VALUES, multiplications: MOST_MULTIPLICATIONS }
    }
}

impl Budget {
    /// Takes from it what this operator needs for inputs of these shapes; an error where that is too much.
    pub fn take(&mut self, operator: &Operator<'_>, shapes: &[Option<Vec<usize>>]) -> Result<(), String> {
        let unknown = || format!("the shapes of what goes into its operator {} are not known", operator.kind);
        let (values, multiplications) = operator.cost(shapes).ok_or_else(unknown)?;
        let left = self.values.checked_sub(values).zip(self.multiplications.checked_sub(multiplications));
        let (values, multiplications) =
            left.ok_or_else(|| format!("its operator {} takes more memory or time than a network for small images needs", operator.kind))?;
        *self = Self { values, multiplications };
        Ok(())
    }
}

fn product(lengths: &[usize]) -> usize {
    lengths.iter().copied().fold(1, usize::saturating_mul)
}

/// The size of what these shapes are broadcast to.
fn broadcast<'s>(shapes: impl IntoIterator<Item = &'s [usize]>) -> usize {
    let mut lengths: Vec<usize> = Vec::new();
    for shape in shapes {
        lengths.resize(lengths.len().max(shape.len()), 1);
        // The last dimensions are aligned.
        lengths.iter_mut().zip(shape.iter().rev()).for_each(|(length, &other)| *length = (*length).max(other));
    }
    product(&lengths)
}

/// The name of a `TensorProto` and how many numbers it has, whose bytes are in this file.
fn tensor_size(tensor: &[u8]) -> Result<(&str, u64), String> {
    let (mut name, mut numbers) = ("", 1_u64);
    for field in Fields::of(tensor) {
        match field? {
            (1, Value::Varint(length)) => numbers = numbers.saturating_mul(length),
            (1, Value::Bytes(mut packed)) => {
                while !packed.is_empty() {
                    let length = prost::encoding::decode_varint(&mut packed).map_err(|error| error.to_string())?;
                    numbers = numbers.saturating_mul(length);
                }
            }
            (8, Value::Bytes(bytes)) => name = text(bytes)?,
            (14, Value::Varint(1)) => return Err("its weights are in another file; save the model as a single one".to_owned()),
            _ => {}
        }
    }
    // A damaged file may claim any.
    Ok((name, numbers.min(tensor.len() as u64)))
}

/// The name of a `ValueInfoProto`, which must be a tensor.
fn value_name(value: &[u8]) -> Result<&str, String> {
    let mut name = "";
    for field in Fields::of(value) {
        match field? {
            (1, Value::Bytes(bytes)) => name = text(bytes)?,
            (2, Value::Bytes(kind)) => {
                for field in Fields::of(kind) {
                    if matches!(field?, (4 | 5 | 7 | 8 | 9, _)) {
                        return Err(format!("its value \"{name}\" is not a tensor"));
                    }
                }
            }
            _ => {}
        }
    }
    Ok(name)
}
