//! The network of an ONNX file. Few bytes are a file with operators: these choose operators,
//! attributes and weights, of which a file is written.
#![no_main]

use inkling::nn::onnx::proto::{
    AttributeProto, DimensionProto, GraphProto, ModelProto, NodeProto, OperatorSetIdProto,
    TensorProto, TensorShapeProto, TensorTypeProto, TypeProto, ValueInfoProto, attribute_type,
    data_type,
};
use inkling::nn::onnx::{OnnxGraph, SUPPORTED};
use inkling::nn::{Mode, Net};
use inkling::records::Normalization;
use libfuzzer_sys::arbitrary::{Result, Unstructured};
use prost::Message;

/// Small ones, and those that overflow. What lies between would only be a long computation, within
/// its limits.
const INTEGERS: [i64; 24] = [
    0,
    1,
    2,
    3,
    4,
    5,
    7,
    8,
    9,
    10,
    14,
    28,
    784,
    -1,
    -2,
    -3,
    -4,
    -28,
    1 << 31,
    1 << 32,
    1 << 62,
    i64::MAX,
    i64::MIN,
    i64::MIN + 1,
];
const FLOATS: [f32; 10] = [
    0.0,
    1.0,
    -1.0,
    0.5,
    1e-5,
    3.0,
    f32::MAX,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::NAN,
];
/// The names of attributes with integers, those with floats, and those with a text and what it may
/// be.
const INTEGER_ATTRIBUTES: [&str; 21] = [
    "allowzero",
    "axes",
    "axis",
    "ceil_mode",
    "count_include_pad",
    "dilations",
    "end",
    "exclusive",
    "group",
    "keepdims",
    "kernel_shape",
    "noop_with_empty_axes",
    "num_outputs",
    "pads",
    "perm",
    "split",
    "start",
    "strides",
    "to",
    "transA",
    "transB",
];
const FLOAT_ATTRIBUTES: [&str; 5] = ["alpha", "beta", "epsilon", "gamma", "value_float"];
const TEXT_ATTRIBUTES: [(&str, &str); 6] = [
    ("approximate", "tanh"),
    ("auto_pad", "SAME_LOWER"),
    ("auto_pad", "SAME_UPPER"),
    ("auto_pad", "VALID"),
    ("auto_pad", "NOTSET"),
    ("value_string", ""),
];
const INPUTS: [&[i64]; 5] = [
    &[1, 1, 28, 28],
    &[1, 28, 28, 1],
    &[1, 28, 28],
    &[1, 784],
    &[-1, 1, 28, 28],
];

libfuzzer_sys::fuzz_target!(
    // A panic in rten is caught, and is no finding.
    init: std::panic::set_hook(Box::new(|panic| {
        if !panic.location().is_some_and(|place| place.file().contains("rten")) {
            eprintln!("{panic}");
        }
    })),
    |bytes: &[u8]| {
        let Ok(model) = model(&mut Unstructured::new(bytes)) else { return };
        let Ok(graph) = OnnxGraph::open(&model.encode_to_vec()) else { return };
        let classes = graph.classes();
        let image: Vec<u8> = (0..28 * 28).map(|pixel| pixel as u8).collect();
        let net = Net::of_graph(graph, Normalization::MNIST);
        if let Ok(logits) = net.forward(&[image.clone(), image].concat(), Mode::Eval) {
            assert_eq!(logits.dims(), [2, classes]);
        }
    }
);

fn model(choices: &mut Unstructured<'_>) -> Result<ModelProto> {
    let mut graph = GraphProto {
        name: "graph".to_owned(),
        ..GraphProto::default()
    };
    graph.input.push(value("x", choices.choose(&INPUTS)?));
    let mut values = vec!["x".to_owned()];
    for number in 0..choices.int_in_range(1..=8)? {
        let node = node(choices, number, &values, &mut graph.initializer)?;
        values.extend_from_slice(&node.output);
        graph.node.push(node);
    }
    graph
        .output
        .push(value(&values[values.len() - 1], &[-1, -1]));
    let version = choices.int_in_range(7..=26)?;
    let opset = OperatorSetIdProto {
        domain: String::new(),
        version,
    };
    Ok(ModelProto {
        ir_version: 8,
        graph: Some(graph),
        opset_import: vec![opset],
        ..ModelProto::default()
    })
}

/// An input or output with these lengths, of which -1 is any.
fn value(name: &str, lengths: &[i64]) -> ValueInfoProto {
    let dimension = |&length: &i64| match length {
        -1 => DimensionProto {
            dim_value: None,
            dim_param: Some("any".to_owned()),
        },
        _ => DimensionProto {
            dim_value: Some(length),
            dim_param: None,
        },
    };
    let shape = TensorShapeProto {
        dim: lengths.iter().map(dimension).collect(),
    };
    let tensor_type = TensorTypeProto {
        elem_type: data_type::FLOAT,
        shape: Some(shape),
    };
    ValueInfoProto {
        name: name.to_owned(),
        r#type: Some(TypeProto {
            tensor_type: Some(tensor_type),
        }),
        doc_string: String::new(),
    }
}

/// An operator of what was computed before it, mostly of what came last, and of weights.
fn node(
    choices: &mut Unstructured<'_>,
    number: usize,
    values: &[String],
    weights: &mut Vec<TensorProto>,
) -> Result<NodeProto> {
    let operators: Vec<&str> = choices.choose(&SUPPORTED)?.split(' ').collect();
    let mut node = NodeProto {
        op_type: (*choices.choose(&operators)?).to_owned(),
        ..NodeProto::default()
    };
    for index in 0..choices.int_in_range(1..=5)? {
        node.input.push(match choices.int_in_range(0..=5)? {
            0 => String::new(),
            1 => choices.choose(values)?.clone(),
            2 | 3 if index > 0 => {
                let name = format!("w{number}.{index}");
                weights.push(weight(choices, &name)?);
                name
            }
            _ => values[values.len() - 1].clone(),
        });
    }
    node.output = (0..choices.int_in_range(1..=2)?)
        .map(|index| format!("v{number}.{index}"))
        .collect();
    for _ in 0..choices.int_in_range(0..=4)? {
        node.attribute.push(attribute(choices)?);
    }
    Ok(node)
}

fn attribute(choices: &mut Unstructured<'_>) -> Result<AttributeProto> {
    let mut attribute = AttributeProto::default();
    match choices.int_in_range(0..=6)? {
        0 => {
            attribute.name = (*choices.choose(&FLOAT_ATTRIBUTES)?).to_owned();
            (attribute.f, attribute.r#type) =
                (Some(*choices.choose(&FLOATS)?), attribute_type::FLOAT);
        }
        1 => {
            let (name, text) = choices.choose(&TEXT_ATTRIBUTES)?;
            attribute.name = (*name).to_owned();
            // `AttributeType::STRING`.
            (attribute.s, attribute.r#type) = (Some(text.as_bytes().to_vec()), 3);
        }
        kind => {
            attribute.name = (*choices.choose(&INTEGER_ATTRIBUTES)?).to_owned();
            if kind < 4 {
                (attribute.i, attribute.r#type) =
                    (Some(*choices.choose(&INTEGERS)?), attribute_type::INT);
            } else {
                (attribute.ints, attribute.r#type) = (integers(choices, 4)?, attribute_type::INTS);
            }
        }
    }
    Ok(attribute)
}

fn integers(choices: &mut Unstructured<'_>, most: usize) -> Result<Vec<i64>> {
    (0..choices.int_in_range(0..=most)?)
        .map(|_| choices.choose(&INTEGERS).copied())
        .collect()
}

/// Weights or integers of up to five dimensions; now and then with more or fewer numbers than these
/// say.
fn weight(choices: &mut Unstructured<'_>, name: &str) -> Result<TensorProto> {
    let mut tensor = TensorProto {
        name: name.to_owned(),
        ..TensorProto::default()
    };
    match choices.int_in_range(0..=4)? {
        0 | 1 => {
            let numbers = integers(choices, 5)?;
            (tensor.dims, tensor.data_type) = (vec![numbers.len() as i64], data_type::INT64);
            tensor.raw_data = numbers
                .iter()
                .flat_map(|number| number.to_le_bytes())
                .collect();
        }
        kind => {
            let lengths = [0, 1, 1, 2, 3, 4, 5, 10, 28];
            tensor.dims = (0..choices.int_in_range(0..=4)?)
                .map(|_| choices.choose(&lengths).copied())
                .collect::<Result<_>>()?;
            let formats = [
                data_type::FLOAT,
                data_type::FLOAT,
                data_type::FLOAT,
                data_type::UINT8,
                data_type::INT8,
                data_type::FLOAT16,
            ];
            tensor.data_type = *choices.choose(&formats)?;
            let bytes = match tensor.data_type {
                data_type::FLOAT => 4,
                data_type::FLOAT16 => 2,
                _ => 1,
            };
            let numbers = tensor.dims.iter().product::<i64>().min(1 << 16) as usize;
            let byte = choices.arbitrary::<u8>()?;
            tensor.raw_data = vec![byte; numbers * bytes];
            if kind == 4 && choices.ratio(1, 8)? {
                tensor.dims.push(*choices.choose(&INTEGERS)?);
            }
        }
    }
    Ok(tensor)
}
