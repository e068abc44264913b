//! ONNX files: the complete model as standard operators with a dynamic batch size, optionally
//! including everything from raw pixels to probabilities.

mod graph;
mod weights;

use prost::Message;

use self::graph::int;
pub(super) use self::graph::{Graph, float};
use self::weights::Weights;
pub use self::weights::quantized;
use super::{ExportError, ExportedModel};
use crate::ink::SIDE;
use crate::nn::onnx::proto::{
    DimensionProto, GraphProto, ModelProto, OperatorSetIdProto, StringStringEntryProto,
    TensorShapeProto, TensorTypeProto, TypeProto, ValueInfoProto, data_type,
};
use crate::nn::{Net, Shape, layers};
use crate::records::{ExportSpec, TensorInfo};

/// The names of the input and the output: raw pixels and probabilities, or normalized values and
/// logits.
pub const fn io_names(preprocessing: bool) -> [&'static str; 2] {
    if preprocessing {
        ["image", "probabilities"]
    } else {
        ["input", "logits"]
    }
}

/// Encodes the file; returns its bytes and the weights in it.
pub fn write(
    model: &ExportedModel,
    spec: &ExportSpec,
    quantize: bool,
) -> Result<(Vec<u8>, Vec<TensorInfo>), ExportError> {
    let net = &model.file.net;
    let [input, output] = io_names(spec.preprocessing);
    let mut graph = Graph::new(input, Weights::new(net, spec.weights, quantize), spec.opset);
    if spec.preprocessing {
        normalize(&mut graph, net);
    }
    graph.add_layers(
        &layers(
            net.network(),
            model.file.card.config.activation,
            net.classes(),
        ),
        Shape::INPUT,
    )?;
    let temperature = graph.weights.scalar(
        "calibrate.temperature",
        model.file.card.calibration.temperature,
    );
    graph.op("Div", "calibrate", &[&temperature], []);
    if spec.preprocessing {
        graph.op("Softmax", "softmax", &[], [int("axis", -1)]);
    }
    let (
        nodes,
        Weights {
            initializers,
            conversions,
            infos,
            ..
        },
    ) = graph.finish(output);
    let side = Dimension::Of(SIDE);
    let (input_shape, format): (&[Dimension], i32) = if spec.preprocessing {
        (&[Dimension::Batch, side, side], data_type::UINT8)
    } else {
        (
            &[Dimension::Batch, Dimension::Of(1), side, side],
            data_type::FLOAT,
        )
    };
    let output_shape = [Dimension::Batch, Dimension::Of(net.classes())];
    let [input_doc, output_doc] = model.signature(spec.preprocessing);
    let graph = GraphProto {
        node: conversions.into_iter().chain(nodes).collect(),
        name: model.name(),
        initializer: initializers,
        doc_string: model.description().plain(),
        input: vec![value(input, input_shape, format, input_doc.plain())],
        output: vec![value(
            output,
            &output_shape,
            data_type::FLOAT,
            output_doc.plain(),
        )],
    };
    let metadata = model
        .metadata()
        .into_iter()
        .map(|(key, value)| StringStringEntryProto {
            key: key.to_owned(),
            value,
        });
    let model = ModelProto {
        ir_version: ir_version(spec.opset),
        producer_name: "Inkling".to_owned(),
        producer_version: env!("CARGO_PKG_VERSION").to_owned(),
        domain: String::new(),
        model_version: 1,
        doc_string: model.description().plain(),
        graph: Some(graph),
        opset_import: vec![OperatorSetIdProto {
            domain: String::new(),
            version: i64::from(spec.opset),
        }],
        metadata_props: metadata.collect(),
    };
    Ok((model.encode_to_vec(), infos))
}

/// Adds the normalization of pixels, with the same operations in the same order as in Inkling, so
/// that results are bit-identical.
fn normalize(graph: &mut Graph<'_>, net: &Net) {
    let normalization = net.normalization();
    let channel = graph.weights.integers("preprocess.channel_axis", &[1]);
    let numbers = [
        ("preprocess.white", 255.0),
        ("preprocess.mean", normalization.mean),
        ("preprocess.std", normalization.std),
    ];
    let [white, mean, std] = numbers.map(|(name, value)| graph.weights.scalar(name, value));
    graph.op(
        "Cast",
        "preprocess.to_float",
        &[],
        [int("to", i64::from(data_type::FLOAT))],
    );
    graph.op("Unsqueeze", "preprocess.add_channel", &[&channel], []);
    graph.op("Div", "preprocess.to_unit", &[&white], []);
    graph.op("Sub", "preprocess.center", &[&mean], []);
    graph.op("Div", "preprocess.normalize", &[&std], []);
}

/// The IR version released with an operator set (onnx's table of versions).
const fn ir_version(opset: u32) -> i64 {
    match opset {
        ..=14 => 7,
        15..=18 => 8,
        19 | 20 => 9,
        21 | 22 => 10,
        23 => 11,
        24 => 12,
        _ => 13,
    }
}

#[derive(Clone, Copy)]
enum Dimension {
    Batch,
    Of(usize),
}

fn value(name: &str, shape: &[Dimension], elem_type: i32, doc_string: String) -> ValueInfoProto {
    let dim = shape.iter().map(|length| match length {
        Dimension::Batch => DimensionProto {
            dim_value: None,
            dim_param: Some("batch".to_owned()),
        },
        Dimension::Of(length) => DimensionProto {
            dim_value: Some(*length as i64),
            dim_param: None,
        },
    });
    let shape = Some(TensorShapeProto { dim: dim.collect() });
    let tensor_type = Some(TensorTypeProto { elem_type, shape });
    ValueInfoProto {
        name: name.to_owned(),
        r#type: Some(TypeProto { tensor_type }),
        doc_string,
    }
}
