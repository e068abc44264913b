//! Networks whose hidden layers are of other widths than their models': the same computations, also
//! where a width is not a multiple of anything.

use candle_core::Device;
use inkling::nn::backend::COMPOSED;
use inkling::nn::{DeviceContext, Layer, Mode, Net, activations, flops, layers, parameter_count};
use inkling::run_config::{Activation, ModelKind, Network, Widths};

use super::models::{check_gradients, pixels};
use crate::support::flat;

/// Every model that takes widths, with some of the most awkward ones.
pub fn networks() -> Vec<Network> {
    let given = [
        "7",
        "1-37",
        "33-5-17-2-9",
        "1-3-5-2",
        "9-35-70",
        "5-1-3",
        "33-7-19",
        "40-24-130-31",
        "3-5-7-17",
        "1-2-3",
        "17-5-9",
        "3-7-2-9",
    ];
    let widths: Vec<Widths> = given.iter().map(|text| text.parse().unwrap()).collect();
    let fits = |model: ModelKind| {
        widths
            .iter()
            .filter(move |widths| model.width_counts().contains(&widths.values().len()))
    };
    // Large residual networks take their time, and differ in nothing but the number of blocks.
    let models = ModelKind::ALL.iter().filter(|model| {
        !matches!(
            model,
            ModelKind::ResNet14 | ModelKind::ResNet20 | ModelKind::ResNet34
        )
    });
    let of_widths =
        models.flat_map(|&model| fits(model).map(move |widths| Network::new(model, Some(*widths))));
    of_widths.chain(cnns()).collect()
}

/// CNNs of several depths, with kernels of even and odd sizes, with and without padding, pooling
/// and dense layers.
fn cnns() -> impl Iterator<Item = Network> {
    let layers = [
        "5C3",
        "3C5P2-MP2-7C3P1-MP2-6C3-MP2-11-9",
        "4C4-3C2-MP2-5C1",
        "2C3P1-2C3P1-MP2-3C3P1-3C3P1-MP2-8",
        "6C11P5-MP2-4C2",
    ];
    layers.into_iter().map(network_of)
}

/// Networks of all kinds of layers.
pub fn of_other_layers() -> impl Iterator<Item = Network> {
    let layers = [
        "none",
        "D0.3-9-LN-7L-5",
        "3C5P1S3-BN-D0.2-5C2L-MP2-BN-11-LN",
        "3C3S2L-BN-5RS3-5R-D0.1-7RS4",
        "5R-3RS2-GAP-6",
        "6C7S4-T3-T2-LN-GAP-LN-5",
        "2C3S4L-BN-6R-T1-D0.2-GAP",
    ];
    layers.into_iter().map(network_of)
}

fn network_of(layers: &str) -> Network {
    Network::from(ModelKind::Cnn).with_layers(Some(layers.parse().unwrap()))
}

#[test]
fn they_compute_what_the_reference_computes() {
    let networks = networks();
    assert!(networks.len() > 20, "{}", networks.len());
    for network in networks.into_iter().chain(of_other_layers()) {
        let net = Net::new(network, Activation::Gelu, 10, 3).unwrap();
        let images = pixels(5, 3);
        let found = flat(&net.forward(&images, Mode::Eval).unwrap());
        let reference = net
            .to_device(&DeviceContext::new(Device::Cpu, COMPOSED))
            .unwrap();
        let expected = flat(&reference.forward(&images, Mode::Eval).unwrap());
        assert_eq!(found.len(), 50);
        for (found, expected) in found.iter().zip(&expected) {
            assert!(
                (found - expected).abs() < 1e-4 * expected.abs().max(1.0),
                "{}: {found} and not {expected}",
                network.label()
            );
        }
    }
}

#[test]
fn their_gradients_hold_from_end_to_end() {
    let networks = networks().into_iter().chain(of_other_layers());
    networks.for_each(check_gradients);
}

#[test]
fn the_widths_are_those_of_the_layers() {
    let of = |model: ModelKind, widths: &str| Network::new(model, Some(widths.parse().unwrap()));
    let outputs = |network: Network| -> Vec<usize> {
        let width = |layer: &Layer| match layer {
            Layer::Conv { outputs, .. } | Layer::Linear { outputs, .. } => Some(*outputs),
            _ => None,
        };
        layers(network, Activation::Relu, 10)
            .iter()
            .filter_map(width)
            .collect()
    };
    assert_eq!(
        outputs(of(ModelKind::Mlp, "300-100-30")),
        [300, 100, 30, 10]
    );
    assert_eq!(
        outputs(of(ModelKind::LeNet, "8-24-60-40")),
        [8, 24, 60, 40, 10]
    );
    assert_eq!(
        outputs(of(ModelKind::Tiny, "4-8-16-32-20")),
        [4, 8, 16, 32, 20, 10]
    );
    assert_eq!(
        outputs(network_of("3C3-4C3P1-MP2-20-30")),
        [3, 4, 20, 30, 10]
    );
    assert_eq!(
        parameter_count(network_of("3C3-4C3P1-MP2-20"), 10),
        (9 + 1) * 3 + (3 * 9 + 1) * 4 + (4 * 13 * 13 + 1) * 20 + (20 + 1) * 10
    );
    // Keras' MNIST example: 34,826 parameters, as its documentation says.
    assert_eq!(parameter_count(ModelKind::Cnn, 10), 34_826);
    assert_eq!(
        parameter_count(of(ModelKind::Mlp, "300-100"), 10),
        784 * 300 + 300 + 300 * 100 + 100 + 1_010
    );
    assert_eq!(
        flops(of(ModelKind::Mlp, "10")).forward,
        2 * (784 * 10 + 100)
    );
    assert_eq!(activations(of(ModelKind::Mlp, "10")), 784 + 10 + 10);
    // Every model is the same as with its own widths written out.
    for &model in ModelKind::ALL {
        let written_out = Network::new(model, Widths::new(model.widths()));
        assert_eq!(
            (written_out, written_out.label()),
            (model.into(), model.label().to_owned())
        );
        assert_eq!(
            layers(written_out, Activation::Relu, 10),
            layers(model, Activation::Relu, 10)
        );
    }
}
