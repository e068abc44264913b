//! Owns ONNX files: the whole model as operators that onnxruntime, tract and other programs compute, with dynamic batch, and if asked
//! for with everything from raw pixels to probabilities inside. Must not know where they are written.

mod graph;
pub mod proto;
mod weights;

use prost::Message;

use self::graph::{Graph, int};
use self::proto::{
    DimensionProto, GraphProto, ModelProto, OperatorSetIdProto, StringStringEntryProto, TensorShapeProto, TensorTypeProto, TypeProto,
    ValueInfoProto, data_type,
};
use self::weights::Weights;
use super::{ExportError, Subject};
use crate::ink::SIDE;
use crate::nn::{Net, layers};
use crate::records::{CLASSES, ExportSpec, TensorInfo};

/// The name of the input and of the output: of raw pixels and probabilities, or of normalised numbers and logits.
pub const fn names(preprocessing: bool) -> [&'static str; 2] {
    if preprocessing { ["image", "probabilities"] } else { ["input", "logits"] }
}

/// A file's bytes, and the weights in it.
pub fn write(subject: &Subject, spec: &ExportSpec, quantize: bool) -> Result<(Vec<u8>, Vec<TensorInfo>), ExportError> {
    let net = &subject.file.net;
    let [input, output] = names(spec.preprocessing);
    let mut graph = Graph::new(input, Weights::new(net, spec.weights, quantize));
    if spec.preprocessing {
        normalise(&mut graph, net);
    }
    graph.through(&layers(net.model(), subject.file.card.config.activation))?;
    if spec.preprocessing {
        graph.op("Softmax", "softmax", &[], vec![int("axis", -1)]);
    }
    let (nodes, Weights { initializers, widening, listed, .. }) = graph.finish(output);
    let side = Dimension::Of(SIDE);
    let (given, format): (&[Dimension], i32) = if spec.preprocessing {
        (&[Dimension::Batch, side, side], data_type::UINT8)
    } else {
        (&[Dimension::Batch, Dimension::Of(1), side, side], data_type::FLOAT)
    };
    let answers = [Dimension::Batch, Dimension::Of(CLASSES)];
    let [input_says, output_says] = subject.signature(spec.preprocessing);
    let graph = GraphProto {
        node: widening.into_iter().chain(nodes).collect(),
        name: subject.name(),
        initializer: initializers,
        doc_string: subject.sentence(),
        input: vec![value(input, given, format, input_says)],
        output: vec![value(output, &answers, data_type::FLOAT, output_says)],
    };
    let metadata = subject.metadata().into_iter().map(|(key, value)| StringStringEntryProto { key: key.to_owned(), value });
    let model = ModelProto {
        ir_version: ir_version(spec.opset),
        producer_name: "Inkling".to_owned(),
        producer_version: env!("CARGO_PKG_VERSION").to_owned(),
        domain: String::new(),
        model_version: 1,
        doc_string: subject.sentence(),
        graph: Some(graph),
        opset_import: vec![OperatorSetIdProto { domain: String::new(), version: i64::from(spec.opset) }],
        metadata_props: metadata.collect(),
    };
    Ok((model.encode_to_vec(), listed))
}

/// From bytes to what the network takes, in the order in which Inkling itself computes it, so that not a bit differs.
fn normalise(graph: &mut Graph<'_>, net: &Net) {
    let normalization = net.normalization();
    let channel = graph.weights.integers("preprocess.channel_axis", &[1]);
    let numbers = [("preprocess.white", 255.0), ("preprocess.mean", normalization.mean), ("preprocess.std", normalization.std)];
    let [white, mean, std] = numbers.map(|(name, value)| graph.weights.scalar(name, value));
    graph.op("Cast", "preprocess.to_float", &[], vec![int("to", i64::from(data_type::FLOAT))]);
    graph.op("Unsqueeze", "preprocess.add_channel", &[channel], Vec::new());
    graph.op("Div", "preprocess.to_unit", &[white], Vec::new());
    graph.op("Sub", "preprocess.center", &[mean], Vec::new());
    graph.op("Div", "preprocess.normalize", &[std], Vec::new());
}

/// The file format that came with an operator set (onnx's table of versions).
const fn ir_version(opset: u32) -> i64 {
    match opset {
        ..=20 => 9,
        21 | 22 => 10,
        23 => 11,
        24 => 12,
        _ => 13,
    }
}

#[derive(Clone, Copy)]
enum Dimension {
    /// As many pictures as are given at a time.
    Batch,
    Of(usize),
}

fn value(name: &str, shape: &[Dimension], elem_type: i32, doc_string: String) -> ValueInfoProto {
    let dim = shape.iter().map(|length| match length {
        Dimension::Batch => DimensionProto { dim_value: None, dim_param: Some("batch".to_owned()) },
        Dimension::Of(length) => DimensionProto { dim_value: Some(*length as i64), dim_param: None },
    });
    let shape = Some(TensorShapeProto { dim: dim.collect() });
    let tensor_type = Some(TensorTypeProto { elem_type, shape });
    ValueInfoProto { name: name.to_owned(), r#type: Some(TypeProto { tensor_type }), doc_string }
}
