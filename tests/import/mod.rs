//! Imports: which network weights belong to, what does not match, and malicious files.

mod choice;
mod doubt;
mod hostile;
mod onnx;
mod onnx_graph;

use std::path::{Path, PathBuf};

use inkling::export::ExportedModel;
use inkling::import::{Identified, ImportError, Imported, Weights};
use inkling::infer::starter_file;
use inkling::nn::{Net, Parameter};
use inkling::problem::{Explain, Problem};
use inkling::progress::{Cancelled, Unwatched};
use inkling::records::{ExportSpec, ImportFinding, ImportSpec, Normalization};
use inkling::run_config::{
    Activation, DataSpec, ExportFormat, HiddenLayers, ModelKind, Network, Widths,
};
use safetensors::Dtype;
use safetensors::tensor::TensorView;

use crate::export::{file, untrained_model};
use crate::support::logits;
pub use onnx_graph::onnx_graph_bytes;

/// A weight in a file, without its numbers.
#[derive(Clone, Debug)]
struct NamedTensor {
    name: String,
    shape: Vec<usize>,
}

/// A network's weights by these names, without the numbers.
fn tensors(network: impl Into<Network>, rename: impl Fn(&str) -> String) -> Vec<NamedTensor> {
    let net = Net::new(network, Activation::Relu, 10, 5).unwrap();
    let tensor = |parameter: &Parameter| NamedTensor {
        name: rename(parameter.name()),
        shape: parameter.tensor().dims().to_vec(),
    };
    net.parameters().iter().map(tensor).collect()
}

/// Our names of a network's weights.
fn names(kind: ModelKind) -> Vec<String> {
    tensors(kind, str::to_owned)
        .into_iter()
        .map(|tensor| tensor.name)
        .collect()
}

/// Writes a network's weights as a safetensors file without any description.
fn write(path: &Path, net: &Net) {
    let values = |parameter: &Parameter| -> Vec<u8> {
        let values = parameter.values().unwrap();
        values.iter().flat_map(|it| it.to_le_bytes()).collect()
    };
    let bytes: Vec<Vec<u8>> = net.parameters().iter().map(values).collect();
    let views = net.parameters().iter().zip(&bytes).map(|(it, bytes)| {
        let shape = it.tensor().dims().to_vec();
        (
            it.name(),
            TensorView::new(Dtype::F32, shape, bytes).unwrap(),
        )
    });
    std::fs::write(path, safetensors::serialize(views, None).unwrap()).unwrap();
}

/// Writes an export of this model.
fn save(exported: &ExportedModel, format: ExportFormat, path: &Path) {
    let bytes = file(exported, &ExportSpec::new(format), "model");
    std::fs::write(path, bytes).unwrap();
}

/// A plain CNN with these layers.
fn cnn(layers: &str) -> Network {
    Network::from(ModelKind::Cnn).with_layers(Some(layers.parse().unwrap()))
}

/// Imports a file, with nobody waiting.
fn import(spec: &ImportSpec) -> Result<Imported, ImportError> {
    inkling::import::import(spec, &mut |_| Ok(None), &mut Unwatched)
}

/// The file, taken as Inkling can build it whatever trials say.
fn accepted(path: PathBuf) -> ImportSpec {
    ImportSpec {
        accept: true,
        ..ImportSpec::of(path)
    }
}

/// The same with the usual settings, so that these are not tried: for what does not depend on them.
fn settled(path: PathBuf) -> ImportSpec {
    ImportSpec {
        activation: Some(Activation::Relu),
        normalization: Some(Normalization::MNIST),
        ..accepted(path)
    }
}

/// The networks that these weights may belong to, the most usual first.
fn identify(
    tensors: &[NamedTensor],
    model: Option<ModelKind>,
    layers: Option<HiddenLayers>,
) -> Vec<Identified> {
    let shapes = tensors.iter().map(|it| (&*it.name, &*it.shape)).collect();
    inkling::import::identify(shapes, model, layers)
}

fn all_identified(tensors: &[NamedTensor]) -> Vec<Identified> {
    identify(tensors, None, None)
}

/// The most usual of them.
fn identified(tensors: &[NamedTensor]) -> Identified {
    all_identified(tensors).swap_remove(0)
}

#[test]
fn every_network_is_known_by_its_names_and_behind_any_prefix() {
    for &kind in ModelKind::ALL {
        for prefix in ["", "module.", "_orig_mod.model."] {
            let mut given = tensors(kind, |name| format!("{prefix}{name}"));
            given.reverse();
            given.push(NamedTensor {
                name: format!("{prefix}bn1.num_batches_tracked"),
                shape: Vec::new(),
            });
            let identified = identified(&given);
            assert_eq!(identified.network, kind.into(), "{prefix}");
            assert_eq!(
                identified.names,
                names(kind)
                    .iter()
                    .map(|name| format!("{prefix}{name}"))
                    .collect::<Vec<_>>()
            );
        }
    }
}

#[test]
fn names_of_others_are_understood_by_shapes_and_in_order() {
    // candle's MNIST examples, PyTorch's quickstart, a PyTorch script's short names, and the places
    // of nn.Sequential.
    let swapped = |kind: ModelKind, pairs: &[(&str, &str)]| {
        tensors(kind, |name| {
            pairs.iter().fold(name.to_owned(), |name, (ours, theirs)| {
                name.replace(ours, theirs)
            })
        })
    };
    let stack = [
        ("fc1", "linear_relu_stack.0"),
        ("fc2", "linear_relu_stack.2"),
        ("fc3", "linear_relu_stack.4"),
    ];
    let cases: [(ModelKind, &[(&str, &str)]); 7] = [
        (ModelKind::ConvNet, &[("conv", "c")]),
        (ModelKind::Linear, &[("fc1", "linear")]),
        (ModelKind::MlpSmall, &[("fc", "ln")]),
        (ModelKind::MlpLarge, &stack),
        (ModelKind::Speedrun, &[("conv", "c"), ("fc", "f")]),
        (ModelKind::Mlp, &[("fc1", "1"), ("fc2", "3"), ("fc3", "5")]),
        (
            ModelKind::ConvNetBn,
            &[("conv", "net.c"), ("bn", "net.b"), ("fc", "net.f")],
        ),
    ];
    for (kind, pairs) in cases {
        let given = swapped(kind, pairs);
        let theirs: Vec<String> = given.iter().map(|tensor| tensor.name.clone()).collect();
        let identified = identified(&given);
        assert_eq!(identified.network, kind.into());
        assert_eq!(identified.names, theirs);
    }
    // The blocks of a stage of a residual net are alike, but in order; the stages are not alike.
    let reversed = [("layer1", "c"), ("layer2", "b"), ("layer3", "a")];
    let given = swapped(ModelKind::ResNet14, &reversed);
    let theirs: Vec<String> = given.iter().map(|tensor| tensor.name.clone()).collect();
    let identified = identified(&given);
    assert_eq!(identified.network, ModelKind::ResNet14.into());
    assert_eq!(identified.names, theirs);
}

#[test]
fn hidden_layers_may_have_any_width() {
    let of = |model: ModelKind, widths: &str| Network::new(model, Some(widths.parse().unwrap()));
    for network in crate::nn::networks_of_other_widths() {
        let all = all_identified(&tensors(network, str::to_owned));
        // An MLP with one hidden layer, or two, is an MLP.
        let is_mlp = matches!(network.model(), ModelKind::MlpSmall | ModelKind::MlpLarge);
        let expected = if is_mlp {
            Network::new(ModelKind::Mlp, network.chosen_widths())
        } else {
            network
        };
        assert!(
            all.iter().any(|one| one.network == expected),
            "{} was taken for {all:?}",
            network.label()
        );
    }
    // Named otherwise, in any order: Keras' first example, LeNet-300-100, and a deeper one.
    let places = |name: &str| {
        name.replace("fc1", "net.1")
            .replace("fc2", "net.4")
            .replace("fc3", "net.6")
            .replace("fc4", "net.9")
    };
    for widths in ["128", "300-100", "64-64-32", "32-10"] {
        let network = of(ModelKind::Mlp, widths);
        let mut given = tensors(network, places);
        given.reverse();
        assert_eq!(identified(&given).network, network, "{widths}");
    }
    let network = of(ModelKind::ConvNet, "16-32-128");
    assert_eq!(
        identified(&tensors(network, |name| name
            .replace("conv", "c")
            .replace("fc", "dense")))
        .network,
        network
    );
    // Layers of the same shape are told apart by the order of their names: those of nn.Sequential,
    // of Keras, and none.
    let same = of(ModelKind::Mlp, "64-64-64-64-64-64");
    let place = |name: &str| name[2..3].parse::<usize>().unwrap();
    let sequential =
        |name: &str| format!("{}.{}", 2 * place(name), name.split_once('.').unwrap().1);
    let keras = |name: &str| match place(name) {
        1 => name.replace("fc1", "dense"),
        place => name.replace(&format!("fc{place}"), &format!("dense_{}", place - 1)),
    };
    for rename in [&sequential as &dyn Fn(&str) -> String, &keras] {
        let mut given = tensors(same, rename);
        let names: Vec<String> = given.iter().map(|tensor| tensor.name.clone()).collect();
        given.reverse();
        let identified = identified(&given);
        assert_eq!((identified.network, identified.names), (same, names));
    }
    // Wider than any that can be trained.
    let mut wide = tensors(of(ModelKind::Mlp, "2048"), str::to_owned);
    wide.iter_mut()
        .flat_map(|tensor| &mut tensor.shape)
        .filter(|length| **length == 2048)
        .for_each(|length| *length = 2049);
    assert!(all_identified(&wide).is_empty());
}

#[test]
fn a_network_of_other_widths_comes_back_from_its_exports() {
    let folder = tempfile::tempdir().unwrap();
    for (model, widths) in [
        (ModelKind::Mlp, "40-30-20"),
        (ModelKind::MlpSmall, "33"),
        (ModelKind::LeNet, "5-9-33-17"),
        (ModelKind::Tiny, "3-5-7-9-11"),
    ] {
        let widths: Widths = widths.parse().unwrap();
        let exported = untrained_model(Network::new(model, Some(widths)), Activation::Relu);
        for format in [
            ExportFormat::Safetensors,
            ExportFormat::PyTorch,
            ExportFormat::Onnx,
        ] {
            let path = folder.path().join(format!("{model}.{format}"));
            save(&exported, format, &path);
            let (net, bytes) = (&exported.file.net, std::fs::read(&path).unwrap());
            let written = Weights::open(&bytes).unwrap();
            let all = inkling::import::identify(written.shapes(), None, None);
            let named = all
                .iter()
                .find(|one| one.network.chosen_widths() == Some(widths))
                .unwrap_or_else(|| panic!("{model} as {format}: {all:?}"));
            let values = named.names.iter().map(|name| &written.tensors[name].values);
            assert_eq!(
                values.cloned().collect::<Vec<_>>(),
                net.weights().unwrap(),
                "{model} as {format}"
            );
        }
        let path = folder.path().join(format!("{model}.safetensors"));
        let Imported { file, summary, .. } = import(&settled(path)).unwrap();
        assert_eq!(
            (
                file.card.config.widths,
                summary.config.network().chosen_widths()
            ),
            (Some(widths), Some(widths)),
            "{model}"
        );
    }
}

#[test]
fn a_plain_cnn_may_have_any_layers() {
    // The names of nn.Sequential and of Keras; where shapes leave one way to pad and to pool, that
    // is it.
    let sequential = |name: &str| {
        let places = [
            ("conv1", "net.0"),
            ("conv2", "net.3"),
            ("conv3", "net.10"),
            ("fc1", "net.12"),
            ("fc2", "net.14"),
        ];
        places.iter().fold(name.to_owned(), |name, (ours, theirs)| {
            name.replace(ours, theirs)
        })
    };
    for layers in ["32C3-MP2-100", "32C3-MP2-64C3-MP2", "16C5P2-MP2-32C5P2-MP2"] {
        let all = all_identified(&tensors(cnn(layers), sequential));
        let cnns = all
            .iter()
            .filter(|one| one.network.model() == ModelKind::Cnn);
        assert_eq!(
            cnns.map(|one| one.network).collect::<Vec<_>>(),
            [cnn(layers)],
            "{layers}"
        );
        let wanted = layers.parse().ok();
        let given = identify(&tensors(cnn(layers), sequential), None, wanted);
        assert_eq!(given[0].network, cnn(layers), "{layers}");
    }
    // If they leave several, all are named, those with equal convolutions first.
    let wanted = cnn("4C3P1-5C3P1-MP2-6C3P1-MP2-20");
    let all = all_identified(&tensors(wanted, sequential));
    assert!(all.iter().any(|one| one.network == wanted), "{all:?}");
    assert!(all.len() < 10, "{all:?}");
    // No image goes through these.
    let mut odd = tensors(cnn("4C3-MP2-20"), sequential);
    odd.iter_mut()
        .filter(|tensor| tensor.shape == [20, 676])
        .for_each(|tensor| tensor.shape[1] = 677);
    assert!(all_identified(&odd).is_empty());
    for (model, layers) in [
        (Some(ModelKind::Mlp), None),
        (None, "4C3-MP2-30".parse().ok()),
    ] {
        assert!(identify(&tensors(cnn("4C3-MP2-20"), sequential), model, layers).is_empty());
    }
}

#[test]
fn an_export_of_a_cnn_says_what_its_layers_are() {
    let folder = tempfile::tempdir().unwrap();
    let layers: HiddenLayers = "4C3P1-5C3P1-MP2-6C3P1-MP2-20".parse().unwrap();
    let exported = untrained_model(cnn(&layers.to_string()), Activation::Relu);
    for format in [ExportFormat::Safetensors, ExportFormat::Onnx] {
        let path = folder.path().join(format!("cnn.{format}"));
        save(&exported, format, &path);
        let Imported { file, .. } = import(&settled(path)).unwrap();
        assert_eq!(
            file.net.weights().unwrap(),
            exported.file.net.weights().unwrap(),
            "{format}"
        );
        assert_eq!(
            (file.card.config.layers, file.card.network().hidden_layers()),
            (Some(layers), layers),
            "{format}"
        );
    }
}

#[test]
fn where_a_cnn_may_have_several_layers_it_is_asked_which() {
    let folder = tempfile::tempdir().unwrap();
    let layers: HiddenLayers = "4C3P1-5C3P1-MP2-6C3P1-MP2-20".parse().unwrap();
    let exported = untrained_model(cnn(&layers.to_string()), Activation::Relu);
    let path = folder.path().join("cnn.pt");
    save(&exported, ExportFormat::PyTorch, &path);
    let undecided = import(&ImportSpec::of(path.clone())).unwrap_err();
    let ImportError::Undecided { trials, .. } = &undecided else {
        panic!("{undecided:?}")
    };
    let offered = trials.readings[0].reading;
    assert_eq!(offered.network.model(), ModelKind::Cnn, "{trials:?}");
    assert!(
        trials.describe(&offered).starts_with("CNN (4C3"),
        "{trials:?}"
    );
    let Imported { file, .. } = import(&ImportSpec {
        layers: Some(layers),
        ..settled(path)
    })
    .unwrap();
    assert_eq!(
        (file.net.weights().unwrap(), file.card.config.layers),
        (exported.file.net.weights().unwrap(), Some(layers))
    );
}

#[test]
fn what_does_not_fit_is_listed() {
    let mut given = tensors(ModelKind::LeNet, str::to_owned);
    given.retain(|tensor| tensor.name != "fc2.bias");
    assert!(all_identified(&given).is_empty());
    // Another network than the one that is named.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lenet.safetensors");
    write(
        &path,
        &Net::new(ModelKind::LeNet, Activation::Relu, 10, 5).unwrap(),
    );
    let spec = ImportSpec {
        model: Some(ModelKind::Mlp),
        ..ImportSpec::of(path)
    };
    let refused = import(&spec).unwrap_err().message();
    for words in [
        ModelKind::Mlp.label(),
        "conv1.bias (6), conv1.weight (6x1x5x5), ",
        ", …",
    ] {
        assert!(refused.what.contains(words), "{}", refused.what);
    }
    assert!(refused.remedy.contains("torch.onnx.export"));
}

#[test]
fn what_inkling_exported_comes_back_with_its_history() {
    let folder = tempfile::tempdir().unwrap();
    let mut exported = untrained_model(ModelKind::Attention, Activation::Gelu);
    exported.run = Some(crate::fake_engine::summary(
        &exported.file.card.config,
        Vec::new(),
        false,
    ));
    let path = folder.path().join("mine.safetensors");
    save(&exported, ExportFormat::Safetensors, &path);
    let Imported {
        file,
        summary,
        finding,
    } = import(&ImportSpec::of(path)).unwrap();
    assert_eq!(
        (file.card, finding),
        (exported.file.card.clone(), ImportFinding::Described)
    );
    assert_eq!(summary.imported.as_deref(), Some("mine.safetensors"));
    let [test, before] = [summary, exported.run.unwrap()].map(|run| run.test.unwrap().evaluation);
    assert_eq!(
        (test.accuracy, test.confusion, test.samples.len()),
        (before.accuracy, before.confusion, 0)
    );
    assert_eq!(
        file.net.weights().unwrap(),
        exported.file.net.weights().unwrap()
    );
}

#[test]
fn activation_and_normalization_are_found_out_by_trying() {
    // The starter model reads: its weights without its description have to be understood as what
    // they are.
    let starter = starter_file().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("weights.safetensors");
    write(&path, &starter.net);
    let Imported {
        file,
        summary,
        finding,
    } = import(&ImportSpec::of(path.clone())).unwrap();
    let ImportFinding::Recognized {
        accuracy,
        images,
        sure,
        ..
    } = finding
    else {
        panic!("not described")
    };
    assert!(accuracy > 0.9 && images == 1000 && sure, "{accuracy}");
    assert_eq!(
        (file.card.config.activation, file.card.normalization),
        (Activation::Relu, Normalization::MNIST)
    );
    assert_eq!(
        (file.card.data, summary.epochs.len()),
        (DataSpec::unknown(), 0)
    );
    let image: Vec<u8> = (0..784).map(|place| (place % 251) as u8).collect();
    let logits = |net: &Net| logits(net, &image);
    assert_eq!(logits(&file.net), logits(&starter.net));

    // What is named is taken as it is named, here for a smaller network.
    let small = Net::new(ModelKind::Linear, Activation::Relu, 10, 5).unwrap();
    write(&path, &small);
    let named = ImportSpec {
        activation: Some(Activation::Tanh),
        normalization: Some(Normalization {
            mean: 0.0,
            std: 1.0,
        }),
        data: Some(DataSpec::builtin()),
        ..ImportSpec::of(path)
    };
    let card = import(&named).unwrap().file.card;
    assert_eq!(
        (card.config.activation, card.normalization.std, card.data),
        (Activation::Tanh, 1.0, DataSpec::builtin())
    );
}

#[test]
fn what_reads_nothing_is_taken_as_usual_and_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fresh.safetensors");
    write(
        &path,
        &Net::new(ModelKind::Mlp, Activation::Relu, 10, 5).unwrap(),
    );
    let imported = import(&accepted(path)).unwrap();
    assert!(matches!(
        imported.finding,
        ImportFinding::Recognized { sure: false, .. }
    ));
    assert_eq!(imported.file.card.config.activation, Activation::Relu);
}

#[test]
fn a_file_that_is_missing_is_called_unreadable() {
    let refused = import(&ImportSpec::of(PathBuf::from("/nowhere/at/all.pt")));
    assert!(matches!(refused, Err(ImportError::Unreadable { .. })));
}

#[test]
fn weights_that_are_not_finite_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("nan.safetensors");
    let net = Net::new(ModelKind::Tiny, Activation::Relu, 10, 5).unwrap();
    let mut weights = net.weights().unwrap();
    weights[0][3] = f32::NAN;
    net.set_weights(&weights).unwrap();
    write(&path, &net);
    assert!(matches!(
        import(&ImportSpec::of(path)),
        Err(ImportError::NotFinite { name, .. }) if name == "conv1.weight"
    ));
}

#[test]
fn an_import_can_be_cancelled_wherever_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("weights.safetensors");
    write(
        &path,
        &Net::new(ModelKind::Mlp, Activation::Relu, 10, 5).unwrap(),
    );
    let mut last = 0.0;
    for reports in [1, 2, 5, 12, 30] {
        let mut seen = 0;
        let imported = inkling::import::import(
            &ImportSpec::of(path.clone()),
            &mut |_| Ok(None),
            &mut |fraction: f32| {
                seen += 1;
                last = fraction;
                if seen == reports {
                    Err(Cancelled)
                } else {
                    Ok(())
                }
            },
        );
        let cancelled = Problem::from(imported.unwrap_err());
        assert_eq!(
            (seen, cancelled),
            (reports, Cancelled.into()),
            "cancelled at {last}"
        );
    }
    assert!(last > 0.1, "the trials do not listen");
}

#[test]
fn the_temperature_of_an_export_comes_back_and_that_of_other_weights_is_fitted() {
    let exported = untrained_model(ModelKind::Mlp, Activation::Relu);
    let folder = tempfile::tempdir().unwrap();
    for format in [ExportFormat::Safetensors, ExportFormat::PyTorch] {
        let path = folder.path().join(format.file_name());
        save(&exported, format, &path);
        assert_eq!(
            import(&settled(path))
                .unwrap()
                .file
                .card
                .calibration
                .temperature,
            exported.file.card.calibration.temperature,
            "{format}"
        );
    }
    let path = folder.path().join("plain.safetensors");
    let plain = |net: &Net| {
        write(&path, net);
        let imported = import(&settled(path.clone())).unwrap();
        let ImportFinding::Recognized { calibrated, .. } = imported.finding else {
            panic!("described")
        };
        (imported.file.card.calibration, calibrated)
    };
    let (fitted, calibrated) = plain(&starter_file().unwrap().net);
    assert!(
        calibrated && fitted.is_valid() && fitted.has_temperature(),
        "{fitted:?}"
    );
    // What recognizes no digits cannot be calibrated on them.
    let (none, calibrated) = plain(&exported.file.net);
    assert!(
        !calibrated && none.is_valid() && !none.has_temperature(),
        "{none:?}"
    );
}
