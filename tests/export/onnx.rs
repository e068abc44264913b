//! ONNX files, decoded: operators, names, shapes, weights.

use std::collections::BTreeSet;

use inkling::nn::onnx::proto::{GraphProto, ModelProto, TensorProto, data_type};
use inkling::nn::parameter_specs;
use inkling::records::{ExportSpec, OPSETS};
use inkling::run_config::{Activation, ExportFormat, ModelKind, WeightFormat};
use prost::Message;

use super::{file, untrained_model};

fn model(
    kind: ModelKind,
    activation: Activation,
    change: impl FnOnce(&mut ExportSpec),
) -> ModelProto {
    let mut spec = ExportSpec::new(ExportFormat::Onnx);
    change(&mut spec);
    ModelProto::decode(file(&untrained_model(kind, activation), &spec, "model").as_slice()).unwrap()
}

fn graph(model: &ModelProto) -> &GraphProto {
    model.graph.as_ref().unwrap()
}

fn initializer<'a>(model: &'a ModelProto, name: &str) -> &'a TensorProto {
    graph(model)
        .initializer
        .iter()
        .find(|tensor| tensor.name == name)
        .unwrap_or_else(|| panic!("no {name}"))
}

fn bytes_of(tensor: &TensorProto) -> usize {
    let size = match tensor.data_type {
        data_type::FLOAT => 4,
        data_type::FLOAT16 => 2,
        data_type::INT8 => 1,
        data_type::INT64 => 8,
        other => panic!("data type {other}"),
    };
    tensor.dims.iter().product::<i64>() as usize * size
}

/// Everything that the format itself demands of a graph.
fn check(model: &ModelProto) {
    let graph = graph(model);
    let mut known: BTreeSet<&str> = graph
        .initializer
        .iter()
        .map(|tensor| tensor.name.as_str())
        .collect();
    known.extend(graph.input.iter().map(|input| input.name.as_str()));
    let mut names = BTreeSet::new();
    for node in &graph.node {
        assert!(
            names.insert(&node.name) && !node.name.is_empty(),
            "{} twice",
            node.name
        );
        for input in &node.input {
            assert!(
                known.contains(input.as_str()),
                "{} takes {input}, which nothing gave before",
                node.name
            );
        }
        for output in &node.output {
            assert!(known.insert(output), "{output} is given twice");
        }
    }
    for output in &graph.output {
        assert!(
            known.contains(output.name.as_str()),
            "nothing gives {}",
            output.name
        );
    }
    for tensor in &graph.initializer {
        assert_eq!(tensor.raw_data.len(), bytes_of(tensor), "{}", tensor.name);
        assert!(
            graph
                .node
                .iter()
                .any(|node| node.input.contains(&tensor.name)),
            "{} is used by nothing",
            tensor.name
        );
    }
}

#[test]
fn every_graph_is_whole_and_names_every_layer() {
    for &kind in ModelKind::ALL {
        for &activation in Activation::ALL {
            for (preprocessing, quantize, weights) in [
                (true, false, WeightFormat::F32),
                (false, true, WeightFormat::F16),
            ] {
                let model = model(kind, activation, |spec| {
                    (spec.preprocessing, spec.quantize, spec.weights) =
                        (preprocessing, quantize, weights);
                });
                check(&model);
                for spec in parameter_specs(kind, 10)
                    .iter()
                    .filter(|spec| spec.name.ends_with(".weight"))
                {
                    let layer = spec.name.trim_end_matches(".weight");
                    assert!(
                        graph(&model).node.iter().any(|node| node.name == layer),
                        "{kind} has no operator named {layer}"
                    );
                }
            }
        }
    }
}

#[test]
fn raw_pictures_go_in_and_probabilities_come_out() {
    let model = model(ModelKind::LeNet, Activation::Relu, |_| ());
    let shape = |value: &inkling::nn::onnx::proto::ValueInfoProto| {
        let tensor = value.r#type.as_ref().unwrap().tensor_type.as_ref().unwrap();
        let dims = &tensor.shape.as_ref().unwrap().dim;
        (
            value.name.clone(),
            tensor.elem_type,
            dims.iter()
                .map(|dim| {
                    dim.dim_param
                        .clone()
                        .unwrap_or_else(|| dim.dim_value.unwrap().to_string())
                })
                .collect::<Vec<_>>(),
        )
    };
    let named = |lengths: &[&str]| {
        lengths
            .iter()
            .map(|&length| length.to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        shape(&graph(&model).input[0]),
        (
            "image".to_owned(),
            data_type::UINT8,
            named(&["batch", "28", "28"])
        )
    );
    assert_eq!(
        shape(&graph(&model).output[0]),
        (
            "probabilities".to_owned(),
            data_type::FLOAT,
            named(&["batch", "10"])
        )
    );
    assert_eq!(graph(&model).node.last().unwrap().op_type, "Softmax");
    let props = |key: &str| {
        model
            .metadata_props
            .iter()
            .find(|entry| entry.key == key)
            .map(|entry| entry.value.clone())
    };
    assert!(
        props("temperature").is_some_and(|text| text == "1.25"),
        "logits are divided by it before the softmax"
    );
    assert_eq!(
        props("labels").unwrap(),
        r#"["0","1","2","3","4","5","6","7","8","9"]"#
    );
    assert!(
        props("preprocessing").unwrap().contains("0.1307") && props("data").unwrap() == "builtin"
    );
}

/// `OpenVINO` 2026.4 moves the operators `Gelu` and `x · sigmoid(x)`, and what it recognizes as
/// these, before max pooling.
#[test]
fn behind_max_pooling_activations_that_are_not_monotonic_are_no_single_operator() {
    for opset in OPSETS {
        for (activation, operators) in [
            (Activation::Gelu, vec!["Div", "Mul"]),
            (Activation::Silu, vec!["Mul"]),
        ] {
            let model = model(ModelKind::LeNet, activation, |spec| spec.opset = opset);
            check(&model);
            let graph = graph(&model);
            let pools: Vec<_> = graph
                .node
                .iter()
                .filter(|node| node.op_type == "MaxPool")
                .collect();
            assert_eq!(pools.len(), 2);
            for pool in pools {
                let mut readers: Vec<_> = graph
                    .node
                    .iter()
                    .filter(|node| node.input.contains(&pool.output[0]))
                    .map(|node| node.op_type.as_str())
                    .collect();
                readers.sort_unstable();
                assert_eq!(readers, operators, "{activation} in operator set {opset}");
            }
        }
    }
}

#[test]
fn the_operator_set_is_the_one_asked_for() {
    // The first operator set that has each operator in the form that is used, from onnx's change
    // log.
    let first = |op_type: &str| match op_type {
        "Gelu" => 20,
        "Add" | "BatchNormalization" | "Cast" | "Conv" | "DequantizeLinear" | "Div" | "Erf"
        | "Flatten" | "Gemm" | "LeakyRelu" | "MatMul" | "MaxPool" | "Mul" | "ReduceMean"
        | "Relu" | "Reshape" | "Sigmoid" | "Softmax" | "Split" | "Sqrt" | "Sub" | "Tanh"
        | "Transpose" | "Unsqueeze" => 13,
        other => panic!("{other} was never checked"),
    };
    for opset in OPSETS {
        for kind in [
            ModelKind::ConvNetBn,
            ModelKind::ResNet8,
            ModelKind::Attention,
        ] {
            for &activation in Activation::ALL {
                let model = model(kind, activation, |spec| {
                    (spec.opset, spec.quantize) = (opset, activation == Activation::Relu);
                });
                check(&model);
                assert_eq!(model.opset_import[0].version, i64::from(opset));
                for node in &graph(&model).node {
                    assert!(
                        first(&node.op_type) <= opset,
                        "{} in operator set {opset}",
                        node.op_type
                    );
                    // Its axes were an attribute and became an input.
                    assert!(
                        node.op_type != "ReduceMean" || (node.input.len() == 2) == (opset >= 18),
                        "{} in {opset}",
                        node.name
                    );
                }
            }
        }
    }
}

#[test]
fn a_file_is_as_old_as_it_can_be_unless_another_operator_set_is_asked_for() {
    for &kind in ModelKind::ALL {
        let model = model(kind, Activation::Gelu, |_| ());
        assert_eq!(
            (model.opset_import[0].version, model.ir_version),
            (17, 8),
            "{kind}"
        );
    }
    let version =
        |opset| model(ModelKind::Mlp, Activation::Relu, |spec| spec.opset = opset).ir_version;
    assert_eq!(
        [13, 15, 18, 19, 21, 23, 26].map(version),
        [7, 8, 8, 9, 10, 11, 13]
    );
}

#[test]
fn weights_are_stored_as_asked_for() {
    let exported = untrained_model(ModelKind::LeNet, Activation::Relu);
    let values = exported
        .file
        .net
        .parameters()
        .iter()
        .find(|parameter| parameter.name() == "fc1.weight")
        .unwrap()
        .values()
        .unwrap();
    let whole = model(ModelKind::LeNet, Activation::Relu, |_| ());
    let stored: Vec<f32> = initializer(&whole, "fc1.weight")
        .raw_data
        .as_chunks()
        .0
        .iter()
        .map(|bytes| f32::from_le_bytes(*bytes))
        .collect();
    assert_eq!(stored, values);

    let half = model(ModelKind::LeNet, Activation::Relu, |spec| {
        spec.weights = WeightFormat::F16;
    });
    assert_eq!(
        initializer(&half, "fc1.weight_f16").data_type,
        data_type::FLOAT16
    );

    let eighth = model(ModelKind::LeNet, Activation::Relu, |spec| {
        spec.quantize = true;
    });
    let (integers, scales) = (
        initializer(&eighth, "fc1.weight_int8"),
        initializer(&eighth, "fc1.weight_scale"),
    );
    assert_eq!(
        (integers.data_type, scales.dims.as_slice()),
        (data_type::INT8, [120].as_slice())
    );
    let scales: Vec<f32> = scales
        .raw_data
        .as_chunks()
        .0
        .iter()
        .map(|bytes| f32::from_le_bytes(*bytes))
        .collect();
    for (index, (&byte, value)) in integers.raw_data.iter().zip(&values).enumerate() {
        let scale = scales[index / 400];
        assert!(
            (f32::from(byte.cast_signed()) * scale - value).abs() <= 0.501 * scale,
            "number {index}"
        );
    }
    assert_eq!(initializer(&eighth, "fc1.bias").data_type, data_type::FLOAT);
    assert!(
        eighth.encoded_len() * 3 < whole.encoded_len(),
        "{} bytes of {}",
        eighth.encoded_len(),
        whole.encoded_len()
    );
}

#[test]
fn logits_are_divided_by_the_temperature_whatever_comes_out() {
    for (preprocessing, quantize) in [(true, false), (false, false), (true, true)] {
        let model = model(ModelKind::LeNet, Activation::Relu, |spec| {
            (spec.preprocessing, spec.quantize) = (preprocessing, quantize);
        });
        let nodes = &graph(&model).node;
        let divided = nodes.iter().find(|node| node.name == "calibrate").unwrap();
        assert_eq!(
            (divided.op_type.as_str(), divided.input.as_slice()),
            (
                "Div",
                ["fc3".to_owned(), "calibrate.temperature".to_owned()].as_slice()
            )
        );
        assert_eq!(
            initializer(&model, "calibrate.temperature").raw_data,
            1.25_f32.to_le_bytes()
        );
        let output = &graph(&model).output[0].name;
        if preprocessing {
            assert_eq!(
                (&nodes.last().unwrap().input, &nodes.last().unwrap().output),
                (&divided.output, &vec![output.clone()])
            );
        } else {
            assert_eq!(&divided.output, &vec![output.clone()]);
        }
    }
}
