//! Networks whose hidden layers are of other widths than their models': the same computations, also where a width is no multiple of anything.

use candle_core::Device;
use inkling::nn::backend::REFERENCE;
use inkling::nn::{DeviceContext, Layer, Mode, Net, activations, flops, layers, parameter_count};
use inkling::run_config::{Activation, ModelKind, Network, Widths};

use super::models::{check_gradients, flat, pixels};

/// Every model that takes widths, with some of the most awkward ones.
pub fn networks() -> Vec<Network> {
    let given =
        ["7", "1-37", "33-5-17-2-9", "1-3-5-2", "9-35-70", "5-1-3", "33-7-19", "40-24-130-31", "3-5-7-17", "1-2-3", "17-5-9", "3-7-2-9"];
    let widths: Vec<Widths> = given.iter().map(|text| text.parse().unwrap()).collect();
    let fits = |model: ModelKind| widths.iter().filter(move |widths| model.width_counts().contains(&widths.values().len()));
    // Large residual networks take their time, and differ in nothing but the number of blocks.
    let models = ModelKind::ALL.iter().filter(|model| !matches!(model, ModelKind::ResNet14 | ModelKind::ResNet20 | ModelKind::ResNet34));
    models.flat_map(|&model| fits(model).map(move |widths| Network::new(model, Some(*widths)))).collect()
}

#[test]
fn they_compute_what_the_reference_computes() {
    let networks = networks();
    assert!(networks.len() > 20, "{}", networks.len());
    for network in networks {
        let net = Net::new(network, Activation::Gelu, 10, 3).unwrap();
        let images = pixels(5, 3);
        let found = flat(&net.forward(&images, Mode::Eval).unwrap());
        let reference = net.to_device(&DeviceContext::new(Device::Cpu, REFERENCE)).unwrap();
        let expected = flat(&reference.forward(&images, Mode::Eval).unwrap());
        assert_eq!(found.len(), 50);
        for (found, expected) in found.iter().zip(&expected) {
            assert!((found - expected).abs() < 1e-4 * expected.abs().max(1.0), "{}: {found} and not {expected}", network.label());
        }
    }
}

#[test]
fn their_gradients_hold_from_end_to_end() {
    networks().into_iter().for_each(check_gradients);
}

#[test]
fn the_widths_are_those_of_the_layers() {
    let of = |model: ModelKind, widths: &str| Network::new(model, Some(widths.parse().unwrap()));
    let outputs = |network: Network| -> Vec<usize> {
        let width = |layer: &Layer| match layer {
            Layer::ConvPool { outputs, .. } | Layer::Conv { outputs, .. } | Layer::Linear { outputs, .. } => Some(*outputs),
            _ => None,
        };
        layers(network, Activation::Relu, 10).iter().filter_map(width).collect()
    };
    assert_eq!(outputs(of(ModelKind::Mlp, "300-100-30")), [300, 100, 30, 10]);
    assert_eq!(outputs(of(ModelKind::LeNet, "8-24-60-40")), [8, 24, 60, 40, 10]);
    assert_eq!(outputs(of(ModelKind::Tiny, "4-8-16-32")), [4, 8, 16, 32, 10]);
    assert_eq!(parameter_count(of(ModelKind::Mlp, "300-100"), 10), 784 * 300 + 300 + 300 * 100 + 100 + 1_010);
    assert_eq!(flops(of(ModelKind::Mlp, "10")).forward, 2 * (784 * 10 + 100));
    assert_eq!(activations(of(ModelKind::Mlp, "10")), 784 + 10 + 10);
    // Every model is the same as with its own widths written out.
    for &model in ModelKind::ALL {
        let written_out = Network::new(model, Widths::new(model.widths()));
        assert_eq!((written_out, written_out.label()), (model.into(), model.label().to_owned()));
        assert_eq!(layers(written_out, Activation::Relu, 10), layers(model, Activation::Relu, 10));
    }
}
