//! An ONNX file's network, ready to be computed.

use std::collections::{HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use candle_core::{Device, Tensor};
use rayon::prelude::*;
use rten::{
    DataType, Dimension, Model, ModelOptions, NodeId, Value, ValueOrView, ValueType, ValueView,
};
use rten_tensor::{AsView, Layout};

use super::budget::Budget;
use super::operators::{Operator, Operators};
use crate::ink::{PIXELS, SIDE};

/// The classes that a network can have.
const CLASSES: std::ops::RangeInclusive<usize> = 2..=1000;

/// The shape of a constant, and its numbers in row-major order.
pub type Constant = (Vec<usize>, Vec<f32>);

/// An operator, with the constants among its inputs by their index.
pub type Shown<'s> = dyn FnMut(&Operator<'_>, &dyn Fn(usize) -> Option<Constant>) + 's;

/// A network with one image as its input and a score for each class as its output. Clones share it.
#[derive(Clone)]
pub struct OnnxGraph {
    bytes: Arc<[u8]>,
    model: Arc<Model>,
    input: NodeId,
    output: NodeId,
    /// Of one image.
    input_shape: Vec<usize>,
    classes: usize,
    /// True if the last operator is a softmax.
    gives_probabilities: bool,
    parameters: u64,
    multiplications: usize,
}

impl std::fmt::Debug for OnnxGraph {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            input_shape,
            classes,
            parameters,
            ..
        } = self;
        f.debug_struct("OnnxGraph")
            .field("input", input_shape)
            .field("classes", classes)
            .field("parameters", parameters)
            .finish()
    }
}

impl OnnxGraph {
    /// Opens the ONNX file with these bytes, and computes its network once, operator by operator:
    /// none is computed that would take too much memory or time. Errors say why the network cannot
    /// be used.
    pub fn open(bytes: &[u8]) -> Result<Self, String> {
        Self::open_and_show(bytes, &mut |_, _| {})
    }

    /// The same, and `show` gets every operator when its turn comes.
    pub fn open_and_show(bytes: &[u8], show: &mut Shown<'_>) -> Result<Self, String> {
        let operators = Operators::read(bytes)?;
        let load = |optimized| {
            let mut options = ModelOptions::with_all_ops();
            options.enable_optimization(optimized);
            catch(|| options.load(bytes.to_vec()))?
                .map_err(|error| format!("its network cannot be read ({error})"))
        };
        let model = load(false)?;
        let input = node(&model, operators.input)?;
        let declared = model
            .node_info(input)
            .and_then(|info| info.shape())
            .unwrap_or_default();
        let input_shape = shape_of_one_image(&declared)?;
        let input_type = model.node_info(input).and_then(|info| info.dtype());
        let takes_bytes = matches!(input_type, Some(ValueType::Tensor(DataType::UInt8)));
        let blank = if takes_bytes {
            Value::from_shape(&input_shape, vec![0_u8; PIXELS]).map_err(|error| error.to_string())
        } else {
            Value::from_shape(&input_shape, vec![0_f32; PIXELS]).map_err(|error| error.to_string())
        }?;
        let mut budget = Budget::default();
        let values = evaluate(&model, &operators, blank, &mut budget, show)?;
        if takes_bytes {
            return Err("it takes pixels as bytes, and not as floating-point numbers".to_owned());
        }
        let Some(Value::FloatTensor(scores)) = values.get(operators.output) else {
            return Err(
                "its output is not computed by an operator, or is not a floating-point tensor"
                    .to_owned(),
            );
        };
        let classes = match *scores.shape() {
            [1, classes] | [classes] if CLASSES.contains(&classes) => classes,
            ref other => {
                return Err(format!(
                    "its output has the shape {other:?}, and not a score for each class"
                ));
            }
        };
        let last = operators
            .list
            .iter()
            .rev()
            .find(|operator| operator.outputs.contains(&operators.output));
        // Whatever the library merges or computes in advance is within the budget now.
        let model = load(true)?;
        let input = node(&model, operators.input)?;
        Ok(Self {
            gives_probabilities: last.is_some_and(|operator| operator.op_type == "Softmax"),
            parameters: operators.parameters,
            multiplications: budget.multiplications(),
            output: node(&model, operators.output)?,
            bytes: bytes.into(),
            model: Arc::new(model),
            input,
            input_shape,
            classes,
        })
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub const fn classes(&self) -> usize {
        self.classes
    }

    /// Whether images have their channels last, or none.
    pub fn has_channels_last(&self) -> bool {
        matches!(*self.input_shape, [_, SIDE, SIDE] | [_, SIDE, SIDE, _])
    }

    /// The numbers in its weights.
    pub const fn parameters(&self) -> u64 {
        self.parameters
    }

    /// About how many multiplications it takes for an image.
    pub const fn multiplications(&self) -> usize {
        self.multiplications
    }

    /// The logits `[n, classes]` of normalized images `[n, height, width, 1]`; of a network that
    /// gives probabilities their logarithms.
    pub fn logits(&self, images: &Tensor) -> candle_core::Result<Tensor> {
        let values = images
            .to_device(&Device::Cpu)?
            .flatten_all()?
            .to_vec1::<f32>()?;
        // On the library's own threads: handing it every image would cost more than classifying a
        // small one. A thread that waits would start more images, each with its own memory.
        let logits = rten::thread_pool().run(|| {
            let at_once = (values.len() / PIXELS).div_ceil(rayon::current_num_threads());
            values
                .par_chunks_exact(PIXELS)
                .with_min_len(at_once.max(1))
                .map(|image| self.logits_of(image).map_err(candle_core::Error::msg))
                .collect::<candle_core::Result<Vec<_>>>()
        })?;
        Tensor::from_vec(
            logits.concat(),
            (values.len() / PIXELS, self.classes),
            images.device(),
        )
    }

    fn logits_of(&self, image: &[f32]) -> Result<Vec<f32>, String> {
        let image = Value::from_shape(&self.input_shape, image.to_vec())
            .map_err(|error| error.to_string())?;
        let [value] = catch(|| {
            self.model
                .run_n(vec![(self.input, image.into())], [self.output], None)
        })?
        .map_err(|error| error.to_string())?;
        let scores: Vec<f32> = match value {
            Value::FloatTensor(scores) => scores.into_data(),
            _ => Vec::new(),
        };
        if scores.len() != self.classes {
            return Err("its output depends on the image in more than its numbers".to_owned());
        }
        let logarithm = |probability: f32| {
            if probability.is_nan() {
                probability
            } else {
                probability.max(f32::MIN_POSITIVE).ln()
            }
        };
        Ok(if self.gives_probabilities {
            scores.into_iter().map(logarithm).collect()
        } else {
            scores
        })
    }
}

/// A library of others meets what nobody tried: a panic in it is an error like another.
fn catch<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|_| "its network cannot be computed".to_owned())
}

fn node(model: &Model, name: &str) -> Result<NodeId, String> {
    model
        .find_node(name)
        .ok_or_else(|| format!("it has no value named \"{name}\""))
}

/// The shape of an input that takes one gray image, if `declared` allows that.
fn shape_of_one_image(declared: &[Dimension]) -> Result<Vec<usize>, String> {
    const SHAPES: [&[usize]; 4] = [
        &[1, 1, SIDE, SIDE],
        &[1, SIDE, SIDE, 1],
        &[1, SIDE, SIDE],
        &[1, PIXELS],
    ];
    let allows = |dimension: &Dimension, length: usize| match dimension {
        Dimension::Fixed(fixed) => *fixed == length,
        Dimension::Symbolic(_) => true,
    };
    let fits = |shape: &&[usize]| {
        declared.is_empty()
            || (shape.len() == declared.len()
                && declared
                    .iter()
                    .zip(*shape)
                    .all(|(dimension, length)| allows(dimension, *length)))
    };
    let shape = SHAPES.into_iter().find(fits);
    shape.map(<[usize]>::to_vec).ok_or_else(|| {
        let lengths: Vec<String> = declared
            .iter()
            .map(|dimension| match dimension {
                Dimension::Fixed(length) => length.to_string(),
                Dimension::Symbolic(_) => "any".to_owned(),
            })
            .collect();
        format!(
            "its input has the shape {}, and not the shape of one grayscale image of {SIDE}x{SIDE}",
            lengths.join("x")
        )
    })
}

/// Every value that the operators compute for this image, within the budget.
fn evaluate<'a>(
    model: &Model,
    operators: &Operators<'a>,
    image: Value,
    budget: &mut Budget,
    show: &mut Shown<'_>,
) -> Result<HashMap<&'a str, Value>, String> {
    let mut values = HashMap::from([(operators.input, image)]);
    // The names of what depends on the image.
    let mut varying = HashSet::from([operators.input]);
    // What is constant is known since the file was read.
    for operator in operators
        .list
        .iter()
        .filter(|operator| operator.op_type != "Constant")
    {
        let known: Vec<Option<Vec<usize>>> = operator
            .inputs
            .iter()
            .map(|name| match values.get(name) {
                Some(value) => Some(value.shape().as_ref().to_vec()),
                None => constant_shape(model, name),
            })
            .collect();
        budget.take(operator, &known, |index| {
            let name = operator.inputs.get(index)?;
            match values.get(name) {
                Some(value) => integers(value.as_view()),
                None => integers(constant(model, name)?.as_view()),
            }
        })?;
        show(operator, &|index| {
            let name = operator.inputs.get(index)?;
            match values.get(name) {
                Some(_) if varying.contains(name) => None,
                Some(value) => floats(value.as_view()),
                None => floats(constant(model, name)?.as_view()),
            }
        });
        if operator.inputs.iter().any(|name| varying.contains(name)) {
            varying.extend(&operator.outputs);
        }
        let outputs = operator
            .outputs
            .iter()
            .filter(|name| !name.is_empty())
            .map(|name| node(model, name))
            .collect::<Result<Vec<_>, _>>()?;
        let mut inputs: Vec<(NodeId, ValueOrView<'_>)> = Vec::new();
        for name in &operator.inputs {
            if let Some(value) = values.get(name) {
                let id = node(model, name)?;
                if !inputs.iter().any(|(other, _)| *other == id) {
                    inputs.push((id, value.into()));
                }
            }
        }
        let computed = catch(|| model.run(inputs, &outputs, None))?.map_err(|error| {
            format!(
                "its operator {} cannot be computed ({error})",
                operator.op_type
            )
        })?;
        values.extend(
            operator
                .outputs
                .iter()
                .copied()
                .filter(|name| !name.is_empty())
                .zip(computed),
        );
    }
    Ok(values)
}

/// A constant of the file.
fn constant(model: &Model, name: &str) -> Option<Value> {
    let id = model.find_node(name)?;
    catch(|| model.run(Vec::new(), &[id], None))
        .ok()?
        .ok()?
        .pop()
}

/// The numbers of a tensor of integers, as the library has them: of 32 bits.
fn integers(value: ValueView<'_>) -> Option<Vec<i32>> {
    match value {
        ValueView::Int32Tensor(tensor) => Some(tensor.to_vec()),
        _ => None,
    }
}

fn floats(value: ValueView<'_>) -> Option<Constant> {
    match value {
        ValueView::FloatTensor(tensor) => Some((tensor.shape().to_vec(), tensor.to_vec())),
        _ => None,
    }
}

fn constant_shape(model: &Model, name: &str) -> Option<Vec<usize>> {
    let fixed = |dimension: Dimension| match dimension {
        Dimension::Fixed(length) => Some(length),
        Dimension::Symbolic(_) => None,
    };
    model
        .node_info(model.find_node(name)?)?
        .shape()?
        .into_iter()
        .map(fixed)
        .collect()
}
