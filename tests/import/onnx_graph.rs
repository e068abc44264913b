//! ONNX files with networks that Inkling cannot build: computed as they are, within limits.

use std::path::PathBuf;

use inkling::export::{ExportError, ExportedModel, export};
use inkling::import::ImportError;
use inkling::infer::{Classifier, starter_file};
use inkling::math::random::Random;
use inkling::nn::onnx::proto::{
    AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto, attribute_type, data_type,
};
use inkling::nn::onnx::{OnnxGraph, SUPPORTED};
use inkling::nn::{Mode, ModelFile, Net};
use inkling::progress::Unwatched;
use inkling::records::{
    Calibration, ExportSpec, ImportFinding, ImportSpec, ModelRef, Normalization, Trials,
};
use inkling::run_config::{Activation, ConfigError, ExportFormat, ModelKind, WeightFormat};
use inkling::window::ImportQuestion;
use prost::Message;

use super::{accepted, cnn, import};
use crate::export::{file, untrained_model};
use crate::support::logits;

/// From normalized values to logits.
fn spec(opset: u32) -> ExportSpec {
    ExportSpec {
        preprocessing: false,
        opset,
        ..ExportSpec::new(ExportFormat::Onnx)
    }
}

fn starter() -> ExportedModel {
    ExportedModel {
        file: starter_file().unwrap(),
        run: None,
        quantized: None,
    }
}

fn images(count: usize) -> Vec<u8> {
    let mut random = Random::stream(3, "images", 0);
    (0..count * 784)
        .map(|_| random.range(0.0, 255.0) as u8)
        .collect()
}

fn float(name: &str, dims: &[i64], values: &[f32]) -> TensorProto {
    let raw_data = values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    TensorProto {
        name: name.to_owned(),
        dims: dims.to_vec(),
        data_type: data_type::FLOAT,
        raw_data,
    }
}

/// The starter model with a batch normalization after its first convolution that changes nothing,
/// as no network of Inkling's has it.
fn with_batch_norm() -> ModelProto {
    let mut model = ModelProto::decode(file(&starter(), &spec(17), "model").as_slice()).unwrap();
    model.metadata_props.clear();
    let graph = model.graph.as_mut().unwrap();
    let at = graph
        .node
        .iter()
        .position(|node| node.op_type == "Conv")
        .unwrap();
    let output = graph.node[at].output[0].clone();
    for node in &mut graph.node {
        node.input
            .iter_mut()
            .filter(|input| **input == output)
            .for_each(|input| "normalized".clone_into(input));
    }
    let parameters = ["bn.scale", "bn.bias", "bn.mean", "bn.variance"];
    for (name, value) in parameters.into_iter().zip([1.0, 0.0, 0.0, 1.0 - 1e-5]) {
        graph.initializer.push(float(name, &[6], &[value; 6]));
    }
    let input = std::iter::once(output)
        .chain(parameters.map(str::to_owned))
        .collect();
    let node = NodeProto {
        input,
        output: vec!["normalized".to_owned()],
        op_type: "BatchNormalization".to_owned(),
        ..NodeProto::default()
    };
    graph.node.insert(at + 1, node);
    model
}

/// That as a file.
pub fn onnx_graph_bytes() -> Vec<u8> {
    with_batch_norm().encode_to_vec()
}

#[test]
fn every_network_is_computed_as_its_file_says() {
    let images = images(3);
    for &model in ModelKind::ALL {
        let exported = untrained_model(model, Activation::Gelu);
        let net = &exported.file.net;
        let temperature = exported.file.card.calibration.temperature;
        let expected: Vec<f32> = logits(net, &images)
            .into_iter()
            .map(|logit| logit / temperature)
            .collect();
        for opset in [17, 26] {
            let graph = OnnxGraph::open(&file(&exported, &spec(opset), "model"))
                .unwrap_or_else(|error| panic!("{model}: {error}"));
            let found = logits(&Net::of_graph(graph, net.normalization()), &images);
            let largest = expected.iter().map(|logit| logit.abs()).fold(0.0, f32::max);
            let off = found
                .iter()
                .zip(&expected)
                .map(|(a, b)| (a - b).abs())
                .fold(0.0, f32::max);
            assert!(
                found.len() == expected.len() && off <= 1e-4 * largest,
                "{model}, opset {opset}: {off} of {largest}"
            );
        }
    }
}

#[test]
fn a_network_that_cannot_be_built_is_drawn_with_and_measured_but_not_trained() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bn.onnx");
    let bytes = with_batch_norm().encode_to_vec();
    std::fs::write(&path, &bytes).unwrap();
    let imported = import(&ImportSpec::of(path)).unwrap();
    assert!(
        matches!(imported.finding, ImportFinding::Recognized { sure: true, accuracy, .. } if accuracy > 0.9),
        "{:?}",
        imported.finding
    );
    let card = &imported.file.card;
    assert_eq!(
        (card.model, card.normalization),
        (ModelKind::Onnx, starter().file.card.normalization)
    );
    // With the four numbers for each of six channels, and the temperature.
    assert_eq!(
        imported.summary.plan.parameters,
        starter().file.net.parameter_count() + 25
    );
    assert_eq!(
        card.config.problems(),
        [ConfigError::NotTrainable {
            model: ModelKind::Onnx
        }]
    );

    // Saved and read again, it gives what the same network of Inkling's gives before its
    // temperature.
    let stored = imported.file.to_bytes(WeightFormat::F16).unwrap();
    let again = ModelFile::from_bytes(&stored, folder.path()).unwrap();
    let images = images(20);
    let (found, mut expected) = (
        logits(&again.net, &images),
        logits(&starter().file.net, &images),
    );
    let temperature = starter().file.card.calibration.temperature;
    expected.iter_mut().for_each(|logit| *logit /= temperature);
    assert!(
        found
            .iter()
            .zip(&expected)
            .all(|(a, b)| (a - b).abs() < 1e-3),
        "{found:?} {expected:?}"
    );
    let classifier = Classifier::of_file(again, ModelRef::Starter);
    assert!(classifier.needs_cpu());
    assert_eq!(
        classifier.digits(&images, &mut Unwatched).unwrap(),
        crate::support::starter()
            .digits(&images, &mut Unwatched)
            .unwrap()
    );

    let exported = ExportedModel {
        file: imported.file,
        run: None,
        quantized: None,
    };
    for &format in ExportFormat::ALL {
        let result = export(&exported, &ExportSpec::new(format), "model.onnx");
        match format {
            ExportFormat::Onnx => assert_eq!(result.unwrap().files()[0].bytes, bytes),
            ExportFormat::Safetensors | ExportFormat::Card | ExportFormat::Report => {
                assert!(result.is_ok(), "{format}");
            }
            _ => assert_eq!(result.unwrap_err(), ExportError::UnsupportedNetwork),
        }
    }
}

#[test]
fn a_damaged_model_file_with_an_onnx_network_is_refused() {
    let graph = OnnxGraph::open(&with_batch_norm().encode_to_vec()).unwrap();
    let mut card = starter().file.card;
    card.model = ModelKind::Onnx;
    let file = ModelFile {
        net: Net::of_graph(graph, Normalization::MNIST),
        card,
    };
    let bytes = file.to_bytes(WeightFormat::F32).unwrap();
    assert!(ModelFile::from_bytes(&bytes, "model".as_ref()).is_ok());
    // What only claims to have one.
    let claims = ModelFile {
        net: starter().file.net,
        card: file.card,
    }
    .to_bytes(WeightFormat::F32)
    .unwrap();
    assert!(ModelFile::from_bytes(&claims, "model".as_ref()).is_err());
}

fn integers(name: &str, values: &[i64]) -> AttributeProto {
    AttributeProto {
        name: name.to_owned(),
        r#type: attribute_type::INTS,
        ints: values.to_vec(),
        ..AttributeProto::default()
    }
}

/// What opening the file says whose first convolution has these attributes instead of its padding.
fn refusal_of_padding(attributes: Vec<AttributeProto>) -> String {
    refusal(|model| {
        let nodes = &mut model.graph.as_mut().unwrap().node;
        let convolution = nodes
            .iter_mut()
            .find(|node| node.op_type == "Conv")
            .unwrap();
        convolution
            .attribute
            .retain(|attribute| attribute.name != "pads");
        convolution.attribute.extend(attributes);
    })
}

/// What opening the file says after this change to it.
fn refusal(change: impl FnOnce(&mut ModelProto)) -> String {
    let mut model = with_batch_norm();
    change(&mut model);
    OnnxGraph::open(&model.encode_to_vec()).unwrap_err()
}

#[test]
fn what_would_take_too_much_memory_or_time_is_refused_before_it_is_computed() {
    for value in [20_000, 1 << 40, i64::MAX] {
        let reason = refusal_of_padding(vec![integers("pads", &[value; 4])]);
        assert!(
            reason.contains("Conv takes more memory or time"),
            "{value}: {reason}"
        );
    }
    for (op_type, equation) in [
        ("MatMul", None),
        ("Einsum", Some("ab,bc->ac")),
        ("Einsum", Some("ab,bc->")),
    ] {
        let reason = refusal_of_product(op_type, equation);
        assert!(
            reason.contains(&format!("{op_type} takes more memory or time")),
            "{equation:?}: {reason}"
        );
    }
    // What might stand for any number of axes, or does not have as many as there are.
    for equation in ["...,...->...", "ab,b->a"] {
        let reason = refusal_of_product("Einsum", Some(equation));
        assert!(
            reason.contains("shapes of its operator Einsum are unknown"),
            "{equation}: {reason}"
        );
    }
}

/// What is said of a product of a column and a row that are far too long.
fn refusal_of_product(op_type: &str, equation: Option<&str>) -> String {
    let zeros = vec![0.0; 100_000];
    refusal(|model| {
        let graph = model.graph.as_mut().unwrap();
        graph.initializer.extend([
            float("column", &[100_000, 1], &zeros),
            float("row", &[1, 100_000], &zeros),
        ]);
        let mut product = node(op_type, &["column", "row"], "product");
        product
            .attribute
            .extend(equation.map(|equation| AttributeProto {
                name: "equation".to_owned(),
                s: Some(equation.as_bytes().to_vec()),
                // STRING of the standard.
                r#type: 3,
                ..AttributeProto::default()
            }));
        graph.node.insert(0, product);
    })
}

/// A node without attributes.
fn node(op_type: &str, input: &[&str], output: &str) -> NodeProto {
    NodeProto {
        input: input.iter().map(|&name| name.to_owned()).collect(),
        output: vec![output.to_owned()],
        op_type: op_type.to_owned(),
        ..NodeProto::default()
    }
}

fn int64(name: &str, values: &[i64]) -> TensorProto {
    TensorProto {
        name: name.to_owned(),
        dims: vec![values.len() as i64],
        data_type: data_type::INT64,
        raw_data: values.iter().flat_map(|it| it.to_le_bytes()).collect(),
    }
}

#[test]
fn operators_whose_size_is_a_value_are_refused_before_they_are_computed() {
    let large = [i64::from(i32::MAX); 2];
    for (op_type, inputs) in [
        ("ConstantOfShape", vec!["large"]),
        ("Expand", vec!["row", "large"]),
        ("Tile", vec!["row", "large"]),
        ("Pad", vec!["row", "large"]),
    ] {
        let reason = refusal(|model| {
            let graph = model.graph.as_mut().unwrap();
            let sizes = if op_type == "Pad" {
                [large; 2].concat()
            } else {
                large.to_vec()
            };
            graph
                .initializer
                .extend([int64("large", &sizes), float("row", &[1, 1], &[1.0])]);
            graph.node.insert(0, node(op_type, &inputs, "made"));
        });
        assert!(
            reason.contains(&format!("{op_type} takes more memory or time")),
            "{op_type}: {reason}"
        );
    }
    // A size that the file itself computes, too.
    let reason = refusal(|model| {
        let graph = model.graph.as_mut().unwrap();
        graph
            .initializer
            .push(int64("thousands", &[50_000, 50_000]));
        graph
            .node
            .insert(0, node("Identity", &["thousands"], "computed"));
        graph
            .node
            .insert(1, node("ConstantOfShape", &["computed"], "made"));
    });
    assert!(
        reason.contains("ConstantOfShape takes more memory or time"),
        "{reason}"
    );
}

#[test]
fn every_operator_that_is_said_to_be_supported_is_known_to_what_computes_it() {
    for op_type in SUPPORTED.iter().flat_map(|names| names.split(' ')) {
        let mut model = with_batch_norm();
        let graph = model.graph.as_mut().unwrap();
        let image = graph.input[0].name.clone();
        graph.node.insert(0, node(op_type, &[&image], "made"));
        // Without attributes and the other inputs most are refused, but not for their name.
        if let Err(reason) = OnnxGraph::open(&model.encode_to_vec()) {
            assert!(!reason.contains("not supported"), "{op_type}: {reason}");
        }
    }
}

#[test]
fn the_operators_of_a_file_may_come_in_any_order() {
    let bytes = with_batch_norm().encode_to_vec();
    let mut model = with_batch_norm();
    model.graph.as_mut().unwrap().node.reverse();
    let images = images(2);
    let of = |bytes: &[u8]| {
        let graph = OnnxGraph::open(bytes).unwrap();
        logits(&Net::of_graph(graph, Normalization::MNIST), &images)
    };
    assert_eq!(of(&bytes), of(&model.encode_to_vec()));
    let reason = refusal(|model| {
        let nodes = &mut model.graph.as_mut().unwrap().node;
        nodes.push(node("Relu", &["b"], "a"));
        nodes.push(node("Relu", &["a"], "b"));
    });
    assert!(
        reason.contains("Relu needs a value that nothing before it computes"),
        "{reason}"
    );
}

#[test]
fn what_is_not_supported_is_named() {
    let reason = refusal(|model| model.graph.as_mut().unwrap().node[0].op_type = "Loop".to_owned());
    assert_eq!(
        reason,
        "it has the operator Loop, which Inkling does not support"
    );
    let reason = refusal(|model| model.graph.as_mut().unwrap().input.clear());
    assert!(reason.contains("0 inputs"), "{reason}");
    let mut model = with_batch_norm();
    model.graph.as_mut().unwrap().node[0].op_type = "Loop".to_owned();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("loop.onnx");
    std::fs::write(&path, model.encode_to_vec()).unwrap();
    assert!(
        matches!(import(&ImportSpec::of(path)), Err(ImportError::Graph { reason, .. }) if reason.contains("Loop"))
    );
}

#[test]
fn no_damage_makes_it_panic() {
    let bytes = with_batch_norm().encode_to_vec();
    for length in (0..bytes.len()).step_by(bytes.len() / 40) {
        let _ = OnnxGraph::open(&bytes[..length]);
    }
    let mut random = Random::stream(5, "damage", 0);
    for _ in 0..60 {
        let mut damaged = bytes.clone();
        for _ in 0..4 {
            // Most of the file are weights: what describes them is at its beginning and end.
            let at = random.range(0.0, 3000.0) as usize;
            damaged[at] = random.range(0.0, 256.0) as u8;
        }
        if let Ok(graph) = OnnxGraph::open(&damaged) {
            let _ = Net::of_graph(graph, Normalization::MNIST).forward(&images(1), Mode::Eval);
        }
    }
}

#[test]
fn what_another_reader_might_understand_in_another_way_is_refused() {
    let pads = |value| integers("pads", &[value; 4]);
    for attributes in [
        vec![pads(1 << 20), pads(2)],
        vec![AttributeProto {
            i: Some(0),
            ..pads(1 << 20)
        }],
    ] {
        let reason = refusal_of_padding(attributes);
        assert!(reason.contains("\"pads\" more than once"), "{reason}");
    }
    let mut two = with_batch_norm().encode_to_vec();
    two.extend_from_within(..);
    assert_eq!(
        OnnxGraph::open(&two).unwrap_err(),
        "it has more than one graph"
    );
}

/// The `LeNet` of `tests/import/NAME`, as an ONNX file of another program with other operators in
/// the place of these.
fn lenet(name: &str, activation: Activation, replaced: &[(&str, &str)]) -> Vec<u8> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/import")
        .join(name);
    let imported = import(&ImportSpec {
        activation: Some(activation),
        ..accepted(path)
    })
    .unwrap();
    let exported = ExportedModel {
        file: imported.file,
        run: None,
        quantized: None,
    };
    from_elsewhere(exported, |graph| {
        for node in &mut graph.node {
            if let Some((_, new)) = replaced.iter().find(|(old, _)| *old == node.op_type) {
                (*new).clone_into(&mut node.op_type);
            }
        }
    })
}

/// An export of the model as another program would write it, without Inkling's description and
/// temperature, after this change to its graph.
fn from_elsewhere(mut exported: ExportedModel, change: impl FnOnce(&mut GraphProto)) -> Vec<u8> {
    exported.file.card.calibration.temperature = Calibration::NONE.temperature;
    let mut model = ModelProto::decode(file(&exported, &spec(17), "model").as_slice()).unwrap();
    model.metadata_props.clear();
    change(model.graph.as_mut().unwrap());
    model.encode_to_vec()
}

/// A CNN with average pooling: no network that can be trained here has that.
fn averaged() -> Vec<u8> {
    let exported = untrained_model(cnn("4C3P1-MP2-20"), Activation::Relu);
    from_elsewhere(exported, |graph| {
        let pooling = graph.node.iter_mut().find(|node| node.op_type == "MaxPool");
        "AveragePool".clone_into(&mut pooling.unwrap().op_type);
    })
}

/// What was measured where the file is refused.
fn offered(spec: &ImportSpec) -> Trials {
    match import(spec) {
        Err(ImportError::Undecided { trials, .. }) => *trials,
        other => panic!(
            "{}: {:?}",
            spec.path.display(),
            other.map(|imported| imported.finding)
        ),
    }
}

#[test]
fn what_a_refusal_offers_is_what_is_imported_when_it_is_accepted() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("averaged.onnx"), averaged()).unwrap();
    let several = cnn("2C3P1-2C3P1-MP2-2C3P1-MP2-8");
    super::write(
        &at("several.safetensors"),
        &untrained_model(several, Activation::Relu).file.net,
    );
    for (path, model) in [
        (at("averaged.onnx"), ModelKind::Onnx),
        (at("several.safetensors"), ModelKind::Cnn),
    ] {
        let spec = ImportSpec::of(path.clone());
        let trials = offered(&spec);
        let measured = trials.readings[0];
        assert_eq!(
            measured.reading.network.model(),
            model,
            "{}: {trials:?}",
            path.display()
        );
        let question = ImportQuestion {
            spec,
            trials,
            what: String::new(),
        };
        // In a terminal, and with the first button in the window.
        let first = question.choices().swap_remove(0).1;
        for spec in [accepted(path.clone()), first] {
            let imported = import(&spec).unwrap();
            let ImportFinding::Recognized { accuracy, .. } = imported.finding else {
                panic!("described")
            };
            assert!(
                (accuracy - measured.accuracy).abs() < 1e-9,
                "{}: {accuracy} of {measured:?}",
                path.display()
            );
            let card = &imported.file.card;
            let taken = (card.network(), card.normalization);
            let offered = measured.reading;
            assert_eq!(taken, (offered.network, offered.normalization), "{spec:?}");
            if model.is_trainable() {
                assert_eq!(card.config.activation, offered.activation);
            }
        }
    }
}

#[test]
fn a_lead_tells_how_the_network_in_a_file_takes_pixels_however_few_it_recognizes() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(
        at("sigmoid.onnx"),
        lenet(
            "lenet-sigmoid.safetensors",
            Activation::Tanh,
            &[("Tanh", "Sigmoid")],
        ),
    )
    .unwrap();
    let imported = import(&ImportSpec::of(at("sigmoid.onnx"))).unwrap();
    assert_eq!(imported.file.card.normalization.std, 1.0);
    assert!(
        matches!(imported.finding, ImportFinding::Recognized { sure: true, accuracy, .. } if accuracy < 0.95),
        "{:?}",
        imported.finding
    );
}

#[test]
fn a_normalization_that_is_given_is_that_of_the_network_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("averaged.onnx");
    std::fs::write(&path, averaged()).unwrap();
    // The refusal offers to name it: nothing else is guessed then.
    let spec = ImportSpec {
        normalization: Some(Normalization::MNIST),
        ..ImportSpec::of(path)
    };
    assert!(matches!(
        import(&spec).unwrap().finding,
        ImportFinding::Recognized { sure: true, .. }
    ));
}
