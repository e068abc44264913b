//! The operators of an ONNX file, read before anything is computed.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};

use super::wire::{EXTERNAL_DATA, Fields, Value, text, varints};

/// More operators than any network for digits has.
const MAX_OPERATORS: usize = 10_000;
/// The names of all operators that are computed, with spaces between them, by what they need.
pub const SUPPORTED: [&str; 3] = [NO_LARGER, BROADCAST, OTHERS];
/// Operators that give as many numbers as their first input has, or fewer.
const NO_LARGER: &str = "\
    Abs ArgMax ArgMin AveragePool BatchNormalization Cast Ceil Clip Cos DequantizeLinear \
    DynamicQuantizeLinear Elu Erf Exp Flatten Floor Gelu GlobalAveragePool GlobalMaxPool \
    HardSigmoid HardSwish Identity InstanceNormalization LayerNormalization LeakyRelu Log \
    LogSoftmax LpNormalization MaxPool Neg Not QuantizeLinear RMSNormalization Reciprocal ReduceL1 \
    ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum \
    ReduceSumSquare Relu Reshape Round Sigmoid Sign Sin Slice Softmax Softplus Softsign Split Sqrt \
    Squeeze Swish Tanh Transpose Trilu";
/// Operators that combine numbers of inputs whose shapes are broadcast.
const BROADCAST: &str = "\
    Add And Div Equal Greater GreaterOrEqual Less LessOrEqual Max Mean Min Mod Mul Or PRelu Pow \
    Sub Sum Where Xor";
/// Operators with a size parameter.
const OTHERS: &str = "\
    Concat Constant ConstantOfShape Conv ConvInteger Einsum Expand GRU Gather Gemm LSTM MatMul \
    MatMulInteger Pad Shape Tile Unsqueeze";

#[derive(Clone, Debug, Default)]
pub struct Operator<'a> {
    /// Its name in the standard.
    pub op_type: &'a str,
    /// The names of what goes in; empty if something is left out.
    pub inputs: Vec<&'a str>,
    /// The names of what comes out.
    pub outputs: Vec<&'a str>,
    integers: HashMap<&'a str, Vec<i64>>,
    /// Which axes are summed over, of `Einsum`.
    pub equation: &'a str,
    /// Whether padding follows from the sizes of what goes in.
    pub has_auto_padding: bool,
}

/// All of a file's, in the order in which they are computed.
#[derive(Clone, Debug, Default)]
pub struct Operators<'a> {
    pub list: Vec<Operator<'a>>,
    pub input: &'a str,
    /// The name of the first output.
    pub output: &'a str,
    /// The numbers in all weights.
    pub parameters: u64,
}

impl<'a> Operators<'a> {
    /// Reads them, in whatever order the file has them. Nothing is accepted that contains graphs or
    /// types within others, to any depth: whoever reads those may run out of stack.
    pub fn read(bytes: &'a [u8]) -> Result<Self, String> {
        let (mut graph, mut operators): (&[u8], _) = (&[], Self::default());
        for field in Fields::of(bytes) {
            match field? {
                (7, Value::Bytes(bytes)) if graph.is_empty() => graph = bytes,
                (7, _) => return Err("it has more than one graph".to_owned()),
                (20 | 25, _) => {
                    return Err("it has local functions or training information".to_owned());
                }
                _ => {}
            }
        }
        let (mut inputs, mut constants) = (Vec::new(), HashSet::new());
        for field in Fields::of(graph) {
            match field? {
                (1, Value::Bytes(node)) if operators.list.len() < MAX_OPERATORS => {
                    operators.list.push(Operator::read(node)?);
                }
                (1, _) => return Err(format!("it has more than {MAX_OPERATORS} operators")),
                (5, Value::Bytes(tensor)) => {
                    let (name, numbers) = tensor_size(tensor)?;
                    operators.parameters += numbers;
                    constants.insert(name);
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
        let [input] = inputs[..] else {
            return Err(format!(
                "it has {} inputs, and not a single image",
                inputs.len()
            ));
        };
        constants.insert(input);
        operators.list = in_order(operators.list, &constants)?;
        Ok(Self { input, ..operators })
    }
}

/// The operators in the order in which they can be computed from the values that are `known`, and
/// otherwise in the order that they had (Kahn 1962).
fn in_order<'a>(
    list: Vec<Operator<'a>>,
    known: &HashSet<&str>,
) -> Result<Vec<Operator<'a>>, String> {
    let mut waiting: HashMap<&str, Vec<usize>> = HashMap::new();
    let mut missing = vec![0_usize; list.len()];
    for (index, operator) in list.iter().enumerate() {
        for &name in &operator.inputs {
            if !name.is_empty() && !known.contains(name) {
                waiting.entry(name).or_default().push(index);
                missing[index] += 1;
            }
        }
    }
    let mut ready: BinaryHeap<Reverse<usize>> = (0..list.len())
        .filter(|&index| missing[index] == 0)
        .map(Reverse)
        .collect();
    let mut order = Vec::with_capacity(list.len());
    while let Some(Reverse(index)) = ready.pop() {
        order.push(index);
        for name in &list[index].outputs {
            for next in waiting.remove(name).unwrap_or_default() {
                missing[next] -= 1;
                if missing[next] == 0 {
                    ready.push(Reverse(next));
                }
            }
        }
    }
    if let Some(index) = (0..list.len()).find(|&index| missing[index] > 0) {
        return Err(format!(
            "its operator {} needs a value that nothing before it computes",
            list[index].op_type
        ));
    }
    let mut list: Vec<Option<Operator<'a>>> = list.into_iter().map(Some).collect();
    Ok(order
        .into_iter()
        .filter_map(|index| list[index].take())
        .collect())
}

impl<'a> Operator<'a> {
    fn read(node: &'a [u8]) -> Result<Self, String> {
        let mut operator = Self::default();
        let mut domain = "";
        for field in Fields::of(node) {
            match field? {
                (1, Value::Bytes(name)) => operator.inputs.push(text(name)?),
                (2, Value::Bytes(name)) => operator.outputs.push(text(name)?),
                (4, Value::Bytes(op_type)) => operator.op_type = text(op_type)?,
                (5, Value::Bytes(attribute)) => operator.attribute(attribute)?,
                (7, Value::Bytes(name)) => domain = text(name)?,
                _ => {}
            }
        }
        let known = SUPPORTED
            .iter()
            .any(|operators| is_among(operator.op_type, operators));
        if !known || !["", "ai.onnx"].contains(&domain) {
            let name = if domain.is_empty() {
                operator.op_type.to_owned()
            } else {
                format!("{domain}.{}", operator.op_type)
            };
            return Err(format!(
                "it has the operator {name}, which Inkling does not support"
            ));
        }
        Ok(operator)
    }

    fn attribute(&mut self, attribute: &'a [u8]) -> Result<(), String> {
        let (mut name, mut integer, mut integers) = ("", None, Vec::new());
        for field in Fields::of(attribute) {
            match field? {
                (1, Value::Bytes(bytes)) => name = text(bytes)?,
                (3, Value::Varint(number)) => integer = Some(number.cast_signed()),
                (4, Value::Bytes(value)) => {
                    self.has_auto_padding |=
                        name == "auto_pad" && !matches!(value, b"NOTSET" | b"VALID");
                    if name == "equation" {
                        self.equation = text(value)?;
                    }
                }
                (8, numbers) => {
                    for number in varints(numbers) {
                        integers.push(number?.cast_signed());
                    }
                }
                (6 | 11 | 14 | 15 | 22 | 23, _) => {
                    return Err(format!("its operator {} contains a subgraph", self.op_type));
                }
                _ => {}
            }
        }
        // Nothing that another reader might understand in another way.
        let is_ambiguous = integer.is_some() && !integers.is_empty();
        integers.extend(integer);
        if is_ambiguous || self.integers.insert(name, integers).is_some() {
            return Err(format!(
                "its operator {} has the attribute \"{name}\" more than once",
                self.op_type
            ));
        }
        Ok(())
    }

    /// Whether it combines numbers of inputs whose shapes are broadcast.
    pub fn broadcasts(&self) -> bool {
        is_among(self.op_type, BROADCAST)
    }

    /// The integers of an attribute; none if it is left out.
    pub fn integers(&self, name: &str) -> &[i64] {
        self.integers.get(name).map_or(&[], Vec::as_slice)
    }
}

fn is_among(op_type: &str, operators: &str) -> bool {
    operators.split(' ').any(|operator| operator == op_type)
}

/// The name of a `TensorProto` and how many numbers it has, whose bytes are in this file.
fn tensor_size(tensor: &[u8]) -> Result<(&str, u64), String> {
    let (mut name, mut numbers) = ("", 1_u64);
    for field in Fields::of(tensor) {
        match field? {
            (1, lengths) => {
                for length in varints(lengths) {
                    numbers = numbers.saturating_mul(length?);
                }
            }
            (8, Value::Bytes(bytes)) => name = text(bytes)?,
            (14, Value::Varint(1)) => return Err(EXTERNAL_DATA.to_owned()),
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
            (2, Value::Bytes(op_type)) => {
                for field in Fields::of(op_type) {
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
