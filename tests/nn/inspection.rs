//! Looking into a network: the maps are the forward pass's, and the numbers shown add up to the
//! number shown.

use std::panic::Location;

use candle_core::Tensor;
use inkling::math::random::Random;
use inkling::nn::ops::{Context, activate};
use inkling::nn::{Mode, Net, Role};
use inkling::records::{
    InspectedUnit, Inspection, LayerKind, StepKind, Term, UnitSelection, pooled_places, row_length,
};
use inkling::run_config::{Activation, ModelKind, Network};

use super::widths::of_other_layers;

/// A network whose normalizations do something, and an image.
fn net_and_image(network: impl Into<Network>, activation: Activation) -> (Net, Vec<u8>) {
    let net = Net::new(network, activation, 10, 3).unwrap();
    let random = &mut Random::new(5);
    for parameter in net.parameters() {
        if matches!(parameter.role(), Role::Norm | Role::Buffer | Role::Bias) {
            parameter
                .update_values(|values| {
                    for value in values {
                        *value += random.range(0.1, 0.6);
                    }
                })
                .unwrap();
        }
    }
    let image = (0..784).map(|pixel| {
        let (row, column) = (pixel / 28, pixel % 28);
        if (6..22).contains(&row) && (10..17).contains(&column) {
            (random.uniform() * 255.0) as u8
        } else {
            0
        }
    });
    (net, image.collect())
}

#[track_caller]
fn close(computed: f32, shown: f32, about: &str) {
    let tolerance = 1e-4 * shown.abs().max(1.0);
    assert!(
        (computed - shown).abs() <= tolerance,
        "{about}: {computed} is not {shown} ({})",
        Location::caller()
    );
}

/// Computes the number that is shown from the numbers that are shown beside it.
fn check(unit: &InspectedUnit, map: &[f32], about: &str) {
    let first = &unit.steps[0];
    if first.kind != StepKind::Input {
        let sum: f32 = unit.terms.iter().map(Term::sum).sum();
        close(sum + unit.bias.unwrap_or_default(), first.value(), about);
    }
    for steps in unit.steps.windows(2) {
        let (before, after) = (&steps[0], &steps[1]);
        let computed = match after.kind {
            StepKind::MaxPooling => pooled_places(before.side, after.side, after.place)
                .map(|place| before.values[place])
                .into_iter()
                .fold(f32::NEG_INFINITY, f32::max),
            kind @ StepKind::Normalization { .. } => kind.normalized(before.value()),
            StepKind::Activation(activation) => {
                let x = Tensor::new(&[before.value()], &candle_core::Device::Cpu).unwrap();
                let y = activate(&x, activation, Context::EVAL).unwrap();
                y.to_vec1::<f32>().unwrap()[0]
            }
            kind => panic!("{kind:?} follows nothing"),
        };
        close(computed, after.value(), about);
        if after.kind == StepKind::MaxPooling {
            close(before.value(), after.value(), about);
        }
    }
    let last = unit.steps.last().unwrap();
    assert_eq!(last.values, map, "{about}");
    assert_eq!(Some(last.place), unit.look.place, "{about}");
}

fn looked(net: &Net, image: &[u8], layer: usize, unit: usize, place: Option<usize>) -> Inspection {
    let look = UnitSelection { layer, unit, place };
    net.inspect(image, Some(look)).unwrap()
}

#[test]
fn what_is_shown_adds_up_in_every_layer_of_every_network() {
    let models = [
        (ModelKind::Mlp, Activation::Relu),
        (ModelKind::LeNet, Activation::Tanh),
        (ModelKind::ConvNet, Activation::Relu),
        (ModelKind::PyTorchExample, Activation::Gelu),
        (ModelKind::Speedrun, Activation::Relu),
        (ModelKind::ConvNetBn, Activation::Silu),
        (ModelKind::Tiny, Activation::LeakyRelu),
        (ModelKind::ResNet8, Activation::Relu),
        (ModelKind::Attention, Activation::Gelu),
    ];
    let models = models.map(|(model, activation)| (Network::from(model), activation));
    let others = of_other_layers().map(|network| (network, Activation::Silu));
    for (network, activation) in models.into_iter().chain(others) {
        let (net, image) = net_and_image(network, activation);
        let whole = net.inspect(&image, None).unwrap();
        assert_eq!(whole.unit, None);
        for (index, layer) in whole.layers.iter().enumerate() {
            if layer.kind == LayerKind::Rearrangement {
                assert_eq!(looked(&net, &image, index, 0, None).unit, None);
                continue;
            }
            let places = layer.side * layer.side;
            assert_eq!(layer.values.len(), layer.units * places);
            let random = &mut Random::new(index as u64);
            let mut corners = vec![None, Some(0), Some(places - 1), Some(usize::MAX)];
            corners.push(Some(random.below(places)));
            for place in corners {
                let unit = random.below(layer.units);
                let inspection = looked(&net, &image, index, unit, place);
                assert_eq!(inspection.layers, whole.layers);
                let about = format!("{} {} {unit} {place:?}", network.label(), layer.name);
                check(&inspection.unit.unwrap(), layer.map(unit), &about);
            }
            let outside = looked(&net, &image, index, layer.units, None);
            assert_eq!(outside.unit, None, "{} has no such unit", layer.name);
        }
        assert_eq!(looked(&net, &image, whole.layers.len(), 0, None).unit, None);
    }
}

#[test]
fn the_last_maps_are_the_logits_and_the_first_the_image() {
    for &model in ModelKind::ALL {
        if model == ModelKind::Onnx {
            continue;
        }
        let (net, image) = net_and_image(model, Activation::Relu);
        let inspection = net.inspect(&image, None).unwrap();
        let logits = net.forward(&image, Mode::Eval).unwrap();
        let logits: Vec<f32> = logits.flatten_all().unwrap().to_vec1().unwrap();
        assert_eq!(inspection.layers.last().unwrap().values, logits);
        let first = &inspection.layers[0];
        assert_eq!((first.kind, first.side), (LayerKind::Image, 28));
        let parameters: usize = inspection.layers.iter().map(|layer| layer.parameters).sum();
        assert_eq!(parameters as u64, net.parameter_count(), "{model:?}");
        let values: usize = inspection.layers.iter().map(|it| it.values.len()).sum();
        assert!(values <= Inspection::MAX_VALUES);
        let has_maps = |layer: &&inkling::records::InspectedLayer| {
            layer.kind == LayerKind::Rearrangement || !layer.values.is_empty()
        };
        assert!(inspection.layers.iter().all(|layer| has_maps(&layer)));
    }
}

#[test]
fn a_convolution_is_one_with_what_follows_it_and_says_where_its_maps_come_from() {
    let (net, image) = net_and_image(ModelKind::ResNet8, Activation::Relu);
    let layers = net.inspect(&image, None).unwrap().layers;
    let names: Vec<_> = layers.iter().map(|layer| layer.name.as_str()).collect();
    assert_eq!(
        names[..8],
        [
            "image",
            "conv1",
            "layer1.0.conv1",
            "layer1.0.conv2",
            "residual sum",
            "layer2.0.conv1",
            "layer2.0.conv2",
            "layer2.0.downsample.0",
        ]
    );
    assert_eq!(layers[4].inputs, [3, 1]);
    assert_eq!(layers[8].inputs, [6, 7]);
    assert_eq!(layers[5].inputs, [4]);
    let (net, image) = net_and_image(ModelKind::ConvNet, Activation::Relu);
    let layers = net.inspect(&image, None).unwrap().layers;
    let dense = &layers[4];
    assert_eq!(
        (dense.name.as_str(), dense.inputs.as_slice()),
        ("fc1", &[2][..])
    );
}

#[test]
fn the_weights_of_a_dense_layer_lie_over_the_maps_that_were_flattened() {
    let (net, image) = net_and_image(ModelKind::Mlp, Activation::Relu);
    let unit = looked(&net, &image, 2, 5, None).unit.unwrap();
    assert_eq!((unit.terms.len(), unit.terms[0].width), (1, 28));
    let (net, image) = net_and_image(ModelKind::ConvNet, Activation::Relu);
    let unit = looked(&net, &image, 4, 5, None).unit.unwrap();
    assert_eq!((unit.terms.len(), unit.terms[0].width), (64, 4));
}

#[test]
fn attention_adds_up_to_one() {
    let (net, image) = net_and_image(ModelKind::Attention, Activation::Gelu);
    let layers = net.inspect(&image, None).unwrap().layers;
    let index = layers
        .iter()
        .position(|layer| matches!(layer.kind, LayerKind::Attention { .. }))
        .unwrap();
    let unit = looked(&net, &image, index, 20, Some(11)).unit.unwrap();
    assert_eq!(unit.terms.len(), 1);
    assert_eq!(unit.attention.len(), 4);
    for weights in &unit.attention {
        assert_eq!(weights.len(), layers[index].side.pow(2));
        close(weights.iter().sum(), 1.0, "attention");
    }
    let head = 20 / (layers[index].units / 4);
    assert_eq!(unit.terms[0].weights, unit.attention[head]);
    let before = looked(&net, &image, index - 1, 20, Some(11)).unit.unwrap();
    assert!(before.attention.is_empty());
}

#[test]
fn rows_of_cells_are_about_square() {
    let rows = [1, 10, 49, 84, 120, 128, 1024, 13].map(row_length);
    assert_eq!(rows, [1, 5, 7, 12, 12, 16, 32, 4]);
}
