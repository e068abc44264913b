//! ONNX files: Inkling's own come back to the last bit, and those of other programs in whatever
//! layout they have their weights.

use inkling::import::{ImportError, Weights};
use inkling::infer::starter_file;
use inkling::math::random::Random;
use inkling::nn::Net;
use inkling::nn::onnx::OnnxGraph;
use inkling::nn::onnx::proto::{
    AttributeProto, DimensionProto, GraphProto, ModelProto, NodeProto, OperatorSetIdProto,
    StringStringEntryProto, TensorProto, TensorShapeProto, TensorTypeProto, TypeProto,
    ValueInfoProto, attribute_type, data_type,
};
use inkling::nn::onnx::wire::put;
use inkling::records::{Calibration, ExportSpec, ImportFinding, ImportSpec, Normalization};
use inkling::run_config::{
    Activation, Classes, DataSource, DataSpec, ExportFormat, ModelKind, PublicDataset, WeightFormat,
};
use prost::Message;

use super::{accepted, cnn, import, settled};
use crate::export::{file, untrained_model};

fn spec(weights: WeightFormat, quantize: bool) -> ExportSpec {
    ExportSpec {
        weights,
        quantize,
        ..ExportSpec::new(ExportFormat::Onnx)
    }
}

#[test]
fn every_network_that_was_exported_has_its_weights_again() {
    for &model in ModelKind::ALL {
        let exported = untrained_model(model, Activation::Gelu);
        let opsets = [17, 26].map(|opset| ExportSpec {
            opset,
            ..spec(WeightFormat::F32, false)
        });
        let inexact = [
            (spec(WeightFormat::F16, false), 1e-3),
            (spec(WeightFormat::F32, true), 1e-2),
        ];
        for (spec, tolerance) in opsets.into_iter().map(|spec| (spec, 0.0)).chain(inexact) {
            let quantized = spec.quantize && model != ModelKind::Linear;
            let bytes = file(&exported, &spec, "model");
            let weights = Weights::open(&bytes).unwrap();
            let net = &exported.file.net;
            assert_eq!(weights.tensors.len(), net.parameters().len(), "{model}");
            for parameter in net.parameters() {
                let found = &weights.tensors[parameter.name()];
                assert_eq!(
                    found.shape,
                    parameter.tensor().dims(),
                    "{model}: {}",
                    parameter.name()
                );
                let (read, values) = (&found.values, parameter.values().unwrap());
                let largest = values.iter().map(|value| value.abs()).fold(0.0, f32::max);
                let off = read
                    .iter()
                    .zip(&values)
                    .map(|(a, b)| (a - b).abs())
                    .fold(0.0, f32::max);
                assert!(
                    off <= tolerance * largest,
                    "{model}, {}, {quantized}: {off} of {largest}",
                    parameter.name()
                );
            }
        }
    }
}

#[test]
fn what_an_export_says_of_itself_holds_without_any_trial() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("starter.onnx");
    let starter = inkling::export::ExportedModel {
        file: starter_file().unwrap(),
        run: None,
        quantized: None,
    };
    std::fs::write(
        &path,
        file(&starter, &spec(WeightFormat::F32, false), "model"),
    )
    .unwrap();
    let imported = import(&ImportSpec::of(path)).unwrap();
    let (card, before) = (&imported.file.card, &starter.file.card);
    assert_eq!(
        (card.model, card.config.activation, card.normalization),
        (before.model, before.config.activation, before.normalization)
    );
    assert_eq!(
        (card.calibration.temperature, &card.data, &card.labels),
        (
            before.calibration.temperature,
            &before.data,
            &Classes::Digits
        )
    );
    assert_eq!(
        imported.file.net.weights().unwrap(),
        starter.file.net.weights().unwrap()
    );
    assert!(
        matches!(imported.finding, ImportFinding::Recognized { sure: true, accuracy, .. } if accuracy > 0.9)
    );
}

#[test]
fn where_a_cnn_pads_and_pools_its_operators_tell() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cnn.onnx");
    let plain = ExportSpec {
        preprocessing: false,
        ..spec(WeightFormat::F32, false)
    };
    for layers in [
        "4C3P1-5C3P1-MP2-6C3P1-MP2-20",
        "4C3P1-MP2-5C3P1-6C3P1-MP2-20",
        "4C5P2S2-5C3S2-20L-12",
        "6C4S3L-GAP",
    ] {
        let mut exported = untrained_model(cnn(layers), Activation::Relu);
        exported.file.card.calibration = Calibration::NONE;
        // As another program would write it, which says nothing of Inkling's settings.
        let mut model = ModelProto::decode(&*file(&exported, &plain, "model")).unwrap();
        model.metadata_props.clear();
        std::fs::write(&path, model.encode_to_vec()).unwrap();
        let config = import(&settled(path.clone())).unwrap().file.card.config;
        assert_eq!(config.layers, Some(layers.parse().unwrap()));
    }
}

#[test]
fn classes_of_an_export_are_those_that_it_names() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.onnx");
    let write = |classes: Classes, data: DataSpec, count: usize| {
        let mut model = untrained_model(ModelKind::Linear, Activation::Relu);
        model.file.net = Net::new(ModelKind::Linear, Activation::Relu, count, 1).unwrap();
        (model.file.card.labels, model.file.card.data) = (classes, data);
        std::fs::write(
            &path,
            file(&model, &spec(WeightFormat::F32, false), "model"),
        )
        .unwrap();
    };
    let fashion = DataSpec::single(DataSource::Named(PublicDataset::FashionMnist));
    write(Classes::Clothing, fashion.clone(), 10);
    let card = import(&accepted(path.clone())).unwrap().file.card;
    assert_eq!((card.labels, card.data), (Classes::Clothing, fashion));
    let ten = Classes::of_names(&["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"]).unwrap();
    // A path is not looked for: only its name is kept.
    write(
        ten.clone(),
        DataSpec::single(DataSource::Path("/some/where/things".into())),
        10,
    );
    let card = import(&accepted(path.clone())).unwrap().file.card;
    assert_eq!(
        (card.labels, card.data),
        (ten, DataSpec::single(DataSource::Path("things".into())))
    );
    write(
        Classes::Letters,
        DataSpec::single(DataSource::Named(PublicDataset::EmnistLetters)),
        26,
    );
    let refused = import(&accepted(path)).unwrap_err();
    assert!(
        matches!(&refused, ImportError::Classes { data, given: 26 } if data == "EMNIST letters"),
        "{refused:?}"
    );
}

fn tensor(name: &str, dims: &[usize], values: &[f32]) -> TensorProto {
    let raw_data = values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    TensorProto {
        name: name.to_owned(),
        dims: dims.iter().map(|&length| length as i64).collect(),
        data_type: data_type::FLOAT,
        raw_data,
    }
}

fn node(op_type: &str, inputs: &[&str], output: &str, attribute: Vec<AttributeProto>) -> NodeProto {
    NodeProto {
        op_type: op_type.to_owned(),
        input: inputs.iter().map(|&input| input.to_owned()).collect(),
        output: vec![output.to_owned()],
        attribute,
        ..NodeProto::default()
    }
}

fn integers(name: &str, ints: &[i64]) -> Vec<AttributeProto> {
    vec![AttributeProto {
        name: name.to_owned(),
        ints: ints.to_vec(),
        r#type: attribute_type::INTS,
        ..AttributeProto::default()
    }]
}

/// A file with this graph, whose input is `image`, of 28x28 with its channel last, and whose output
/// is `out`.
fn onnx(node: Vec<NodeProto>, initializer: Vec<TensorProto>) -> Vec<u8> {
    let value = |name: &str, lengths: &[i64]| {
        let dim = lengths.iter().map(|&length| DimensionProto {
            dim_value: Some(length),
            dim_param: None,
        });
        let tensor_type = Some(TensorTypeProto {
            elem_type: data_type::FLOAT,
            shape: Some(TensorShapeProto { dim: dim.collect() }),
        });
        ValueInfoProto {
            name: name.to_owned(),
            r#type: Some(TypeProto { tensor_type }),
            ..ValueInfoProto::default()
        }
    };
    let graph = Some(GraphProto {
        node,
        initializer,
        name: "some".to_owned(),
        input: vec![value("image", &[1, 28, 28, 1])],
        output: vec![value("out", &[1, 10])],
        ..GraphProto::default()
    });
    ModelProto {
        ir_version: 8,
        producer_name: "some".to_owned(),
        graph,
        opset_import: vec![OperatorSetIdProto {
            domain: String::new(),
            version: 17,
        }],
        ..ModelProto::default()
    }
    .encode_to_vec()
}

/// `LeNet` as tf2onnx writes a model of Keras: other names, matrices transposed, the values of the
/// last image with the channels last, biases added after the products.
fn of_keras(net: &Net, activation: &str) -> Vec<u8> {
    onnx_of_keras(net, activation, &[])
}

/// The same with operators of its own before them, which make `x` of `image`.
fn onnx_of_keras(net: &Net, activation: &str, before: &[NodeProto]) -> Vec<u8> {
    let values = |name: &str| {
        net.parameters()
            .iter()
            .find(|parameter| parameter.name() == name)
            .unwrap()
            .values()
            .unwrap()
    };
    let transposed = |values: &[f32], rows: usize| -> Vec<f32> {
        let columns = values.len() / rows;
        (0..columns)
            .flat_map(|column| (0..rows).map(move |row| (row, column)))
            .map(|(row, column)| values[row * columns + column])
            .collect()
    };
    // fc1 takes 16 channels of 5x5 values each: its columns become places and then channels.
    let first = values("fc1.weight");
    let channels_last: Vec<f32> = first
        .chunks(400)
        .flat_map(|row| (0..400).map(move |column| row[column % 16 * 25 + column / 16]))
        .collect();
    let initializers = vec![
        tensor("net/conv/kernel:0", &[6, 1, 5, 5], &values("conv1.weight")),
        tensor("net/conv/bias:0", &[6], &values("conv1.bias")),
        tensor(
            "net/conv_1/kernel:0",
            &[16, 6, 5, 5],
            &values("conv2.weight"),
        ),
        tensor("net/conv_1/bias:0", &[1, 16, 1, 1], &values("conv2.bias")),
        tensor(
            "net/dense/kernel:0",
            &[400, 120],
            &transposed(&channels_last, 120),
        ),
        tensor("net/dense/bias:0", &[120], &values("fc1.bias")),
        tensor(
            "net/dense_1/kernel:0",
            &[120, 84],
            &transposed(&values("fc2.weight"), 84),
        ),
        tensor("net/dense_1/bias:0", &[84], &values("fc2.bias")),
        tensor(
            "net/dense_2/kernel:0",
            &[84, 10],
            &transposed(&values("fc3.weight"), 10),
        ),
        tensor("net/dense_2/bias:0", &[10], &values("fc3.bias")),
        tensor("white", &[], &[1.0 / 255.0]),
        TensorProto {
            name: "shape".to_owned(),
            dims: vec![2],
            data_type: data_type::INT64,
            raw_data: [1_i64, 400]
                .iter()
                .flat_map(|it| it.to_le_bytes())
                .collect(),
        },
    ];
    // Sizes and their values, each once for height and width, and twice for paddings.
    let attributes = |pairs: &[(&str, &[i64])]| {
        pairs
            .iter()
            .flat_map(|&(name, values)| integers(name, values))
            .collect::<Vec<_>>()
    };
    let convolution = |padding: i64| {
        attributes(&[
            ("strides", &[1; 2]),
            ("dilations", &[1; 2]),
            ("pads", &[padding; 4]),
        ])
    };
    let pooling = || {
        attributes(&[
            ("kernel_shape", &[2; 2]),
            ("strides", &[2; 2]),
            ("pads", &[0; 4]),
        ])
    };
    let image = if before.is_empty() { "image" } else { "x" };
    let mut nodes = before.to_vec();
    nodes.extend([
        node("Transpose", &[image], "t", integers("perm", &[0, 3, 1, 2])),
        node(
            "Conv",
            &["t", "net/conv/kernel:0", "net/conv/bias:0"],
            "c1",
            convolution(2),
        ),
        node(activation, &["c1"], "a1", Vec::new()),
        node("MaxPool", &["a1"], "p1", pooling()),
        node("Conv", &["p1", "net/conv_1/kernel:0"], "c2", convolution(0)),
        node("Add", &["c2", "net/conv_1/bias:0"], "b2", Vec::new()),
        node(activation, &["b2"], "a2", Vec::new()),
        node("MaxPool", &["a2"], "p2", pooling()),
        node(
            "Transpose",
            &["p2"],
            "last",
            integers("perm", &[0, 2, 3, 1]),
        ),
        node("Reshape", &["last", "shape"], "flat", Vec::new()),
        node("MatMul", &["flat", "net/dense/kernel:0"], "m3", Vec::new()),
        node("Add", &["m3", "net/dense/bias:0"], "b3", Vec::new()),
        node(activation, &["b3"], "a3", Vec::new()),
        node("MatMul", &["a3", "net/dense_1/kernel:0"], "m4", Vec::new()),
        node("Add", &["net/dense_1/bias:0", "m4"], "b4", Vec::new()),
        node(activation, &["b4"], "a4", Vec::new()),
        node(
            "Gemm",
            &["a4", "net/dense_2/kernel:0", "net/dense_2/bias:0"],
            "out",
            Vec::new(),
        ),
    ]);
    onnx(nodes, initializers)
}

#[test]
fn weights_in_the_layout_of_keras_are_brought_into_that_of_pytorch() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("keras.onnx");
    let starter = starter_file().unwrap();
    let bytes = of_keras(&starter.net, "Relu");
    OnnxGraph::open(&bytes).unwrap();
    std::fs::write(&path, bytes).unwrap();
    let spec = ImportSpec::of(path);
    let imported = import(&spec).unwrap();
    assert_eq!(
        (
            imported.file.card.model,
            imported.file.card.config.activation
        ),
        (starter.card.model, Activation::Relu)
    );
    assert_eq!(
        imported.file.net.weights().unwrap(),
        starter.net.weights().unwrap()
    );
    let ImportFinding::Recognized { accuracy, .. } = imported.finding else {
        panic!("not described")
    };
    assert!(accuracy > 0.95, "{accuracy}");

    // What the operators say is not tried.
    std::fs::write(&spec.path, of_keras(&starter.net, "Tanh")).unwrap();
    let card = import(&accepted(spec.path)).unwrap().file.card;
    assert_eq!(
        (card.model, card.config.activation),
        (starter.card.model, Activation::Tanh)
    );
}

#[test]
fn a_graph_that_divides_pixels_itself_has_a_network_that_can_be_trained() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rescaling.onnx");
    let starter = starter_file().unwrap();
    let rescaling = node("Mul", &["image", "white"], "x", Vec::new());
    std::fs::write(&path, onnx_of_keras(&starter.net, "Relu", &[rescaling])).unwrap();
    let imported = import(&ImportSpec::of(path)).unwrap();
    assert_eq!(
        (
            imported.file.card.model,
            imported.file.card.normalization,
            imported.file.net.weights().unwrap()
        ),
        (
            starter.card.model,
            Normalization::MNIST,
            starter.net.weights().unwrap()
        )
    );
}

#[test]
fn a_network_that_is_named_is_not_taken_if_the_file_has_another() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sigmoid.onnx");
    std::fs::write(&path, of_keras(&starter_file().unwrap().net, "Sigmoid")).unwrap();
    for accept in [false, true] {
        let named = ImportSpec {
            model: Some(ModelKind::LeNet),
            accept,
            ..ImportSpec::of(path.clone())
        };
        let refused = import(&named).unwrap_err();
        assert!(
            matches!(refused, ImportError::OtherNetwork { .. }),
            "{refused}"
        );
    }
    let imported = import(&accepted(path)).unwrap();
    assert_eq!(imported.file.card.model, ModelKind::Onnx);
}

/// This tensor with its numbers in another file, as ONNX says it.
fn external(tensor: &TensorProto, location: &str, offset: usize) -> Vec<u8> {
    let mut bytes = TensorProto {
        raw_data: Vec::new(),
        ..tensor.clone()
    }
    .encode_to_vec();
    let length = tensor.raw_data.len().to_string();
    for (key, value) in [
        ("location", location),
        ("offset", &offset.to_string()),
        ("length", &length),
    ] {
        let entry = StringStringEntryProto {
            key: key.to_owned(),
            value: value.to_owned(),
        };
        let entry = entry.encode_to_vec();
        put(&mut bytes, 13, &entry);
    }
    bytes.extend([14 << 3, 1]);
    bytes
}

/// This ONNX file with its weights in a file of this name, and the content of that file.
fn with_external_data(bytes: &[u8], location: &str) -> (Vec<u8>, Vec<u8>) {
    let mut model = ModelProto::decode(bytes).unwrap();
    let mut graph = model.graph.take().unwrap();
    let tensors = std::mem::take(&mut graph.initializer);
    let (mut whole, mut data) = (model.encode_to_vec(), Vec::new());
    let mut graph = graph.encode_to_vec();
    for tensor in tensors {
        put(&mut graph, 5, &external(&tensor, location, data.len()));
        data.extend(tensor.raw_data);
    }
    put(&mut whole, 7, &graph);
    (whole, data)
}

#[test]
fn weights_in_a_file_beside_it_are_read_as_pytorch_writes_them() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let starter = starter_file().unwrap();
    let whole = of_keras(&starter.net, "Relu");
    let (bytes, data) = with_external_data(&whole, "m.onnx.data");
    std::fs::write(at("m.onnx"), &bytes).unwrap();
    let refusal = |name: &str| {
        let refused = import(&ImportSpec::of(at(name))).unwrap_err();
        assert!(
            matches!(refused, ImportError::Malformed { .. }),
            "{refused}"
        );
        refused.to_string()
    };
    assert!(refusal("m.onnx").contains("\"m.onnx.data\", which is not beside it"));
    std::fs::write(at("m.onnx.data"), &data[..data.len() - 1]).unwrap();
    assert!(refusal("m.onnx").contains("too short"));
    std::fs::write(at("m.onnx.data"), &data).unwrap();
    let imported = import(&ImportSpec::of(at("m.onnx"))).unwrap();
    assert_eq!(
        imported.file.net.weights().unwrap(),
        starter.net.weights().unwrap()
    );
    // Nothing outside its folder is read, whatever a file names.
    let inner = folder.path().join("inner");
    std::fs::create_dir(&inner).unwrap();
    for location in ["../m.onnx.data", "/etc/passwd", "..", ""] {
        let (bytes, _) = with_external_data(&whole, location);
        std::fs::write(inner.join("m.onnx"), &bytes).unwrap();
        assert!(
            refusal("inner/m.onnx").contains("only files in its own folder"),
            "{location}"
        );
    }
    #[cfg(unix)]
    {
        std::fs::write(inner.join("m.onnx"), &bytes).unwrap();
        std::os::unix::fs::symlink(at("m.onnx.data"), inner.join("m.onnx.data")).unwrap();
        assert!(refusal("inner/m.onnx").contains("a link to a file outside"));
    }
}

#[test]
fn eight_bit_weights_may_be_stored_as_32_bit_integers() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("quantized.onnx");
    let exported = untrained_model(ModelKind::Mlp, Activation::Relu);
    let bytes = file(&exported, &spec(WeightFormat::F32, true), "model");
    std::fs::write(&path, &bytes).unwrap();
    let expected = import(&settled(path.clone())).unwrap().file.net;
    // Every tensor of bytes with its numbers in the field of 32-bit integers, as onnxruntime does
    // it.
    let mut model = ModelProto::decode(&*bytes).unwrap();
    let mut graph = model.graph.take().unwrap();
    let tensors = std::mem::take(&mut graph.initializer);
    let mut graph = graph.encode_to_vec();
    for tensor in tensors {
        let mut content = tensor.clone();
        let mut integers = Vec::new();
        if tensor.data_type == data_type::INT8 {
            let raw = std::mem::take(&mut content.raw_data);
            for byte in raw {
                let integer = i64::from(byte.cast_signed());
                prost::encoding::encode_varint(integer.cast_unsigned(), &mut integers);
            }
        }
        let mut content = content.encode_to_vec();
        if !integers.is_empty() {
            put(&mut content, 5, &integers);
        }
        put(&mut graph, 5, &content);
    }
    let mut whole = model.encode_to_vec();
    put(&mut whole, 7, &graph);
    std::fs::write(&path, whole).unwrap();
    let imported = import(&settled(path)).unwrap().file.net;
    assert_eq!(imported.weights().unwrap(), expected.weights().unwrap());
}

#[test]
fn what_is_wrong_with_a_file_is_said_and_nothing_that_it_claims_is_believed() {
    let opened = |bytes: &[u8]| {
        let weights = Weights::open(bytes).unwrap();
        let reason = weights.onnx.unwrap().graph.unwrap_err();
        (weights.tensors.len(), reason)
    };
    let product = || vec![node("MatMul", &["image", "w"], "out", Vec::new())];
    for dims in [vec![1 << 40, 1 << 40], vec![-1], vec![1; 9]] {
        let lie = TensorProto {
            dims,
            ..tensor("w", &[], &[1.0])
        };
        let (tensors, reason) = opened(&onnx(product(), vec![lie]));
        assert_eq!(tensors, 0, "{reason}");
    }
    let many = vec![node("Relu", &["image"], "some", Vec::new()); 10_001];
    let many = onnx(many, vec![tensor("w", &[1], &[1.0])]);
    assert!(opened(&many).1.contains("more than 10000 operators"));
    // A constant that is the weight of many layers is not copied for all of them.
    let nodes = (0..100).map(|index| {
        let output = format!("{index}");
        node("MatMul", &["flat", "w"], &output, Vec::new())
    });
    let flat = node("Flatten", &["image"], "flat", Vec::new());
    let repeated = onnx(
        std::iter::once(flat).chain(nodes).collect(),
        vec![tensor("w", &[784, 10], &[0.5; 7840])],
    );
    let weights = Weights::open(&repeated).unwrap();
    let numbers: usize = weights.tensors.values().map(|it| it.values.len()).sum();
    assert!((7840..=repeated.len()).contains(&numbers), "{numbers}");
    // In a file of its own: a weight elsewhere, which ONNX calls external data.
    let mut external = tensor("w", &[1, 1], &[1.0]).encode_to_vec();
    external.extend([14 << 3, 1]);
    let mut graph = GraphProto {
        node: product(),
        ..GraphProto::default()
    }
    .encode_to_vec();
    graph.extend([5 << 3 | 2, external.len() as u8]);
    graph.extend(external);
    let mut file = vec![8, 8, 7 << 3 | 2, graph.len() as u8];
    file.extend(graph);
    assert!(opened(&file).1.contains("another file"));
}

#[test]
fn a_damaged_file_is_refused_or_read_and_never_more() {
    let whole = of_keras(&starter_file().unwrap().net, "Relu");
    let mut random = Random::new(7);
    for case in 0..300 {
        let mut bytes = whole.clone();
        if case % 3 == 0 {
            bytes.truncate(random.below(bytes.len()));
        } else {
            // The descriptions are at the beginning, where the operators are.
            for _ in 0..=case % 7 {
                let place = random.below(1_500);
                bytes[place] = random.below(256) as u8;
            }
        }
        if let Ok(weights) = Weights::open(&bytes) {
            for (name, tensor) in &weights.tensors {
                assert_eq!(
                    tensor.values.len(),
                    tensor.shape.iter().product::<usize>(),
                    "{case}: {name}"
                );
            }
        }
    }
    // An entry of the metadata with something that is not a number, or names a file.
    let entry = |key: &str, value: &str| StringStringEntryProto {
        key: key.to_owned(),
        value: value.to_owned(),
    };
    let mut model = ModelProto::decode(&whole[..]).unwrap();
    model.metadata_props = vec![
        entry("mean", "NaN"),
        entry("std", "0"),
        entry("labels", "[\"\u{1b}\"]"),
        entry("temperature", "-1"),
    ];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("odd.onnx");
    std::fs::write(&path, model.encode_to_vec()).unwrap();
    let card = import(&settled(path)).unwrap().file.card;
    assert!(card.calibration.is_valid() && card.labels == Classes::Digits);
}
