//! What models cost, against figures worked out by hand.

use inkling::nn::{
    activations, block_costs, flops, gpu_values_in_training, layers, parameter_count,
};
use inkling::run_config::{Activation, ModelKind, Network, OptimizerKind, Preset, RunConfig};
use inkling::train::memory_needed;

/// Images in an epoch of MNIST.
const EPOCH: u64 = 60_000;

#[test]
fn an_epoch_costs_what_is_published_for_it() {
    // In GFLOP, rounded down: 1.67 TFLOP and 0.41 TFLOP.
    assert_eq!(
        flops(ModelKind::ConvNet).training * EPOCH / 1_000_000_000,
        1671
    );
    assert_eq!(
        flops(ModelKind::Speedrun).training * EPOCH / 1_000_000_000,
        406
    );
}

#[test]
fn layers_are_counted_one_by_one() {
    let conv1 = 2 * 24 * 24 * 32 * 25;
    let conv2 = 2 * 8 * 8 * 64 * 32 * 25;
    let (fc1, fc2) = (2 * 1024 * 1024, 2 * 1024 * 10);
    let cost = flops(ModelKind::ConvNet);
    assert_eq!(cost.forward, conv1 + conv2 + fc1 + fc2);
    assert_eq!(
        cost.training,
        2 * conv1 + 3 * (conv2 + fc1 + fc2),
        "the picture needs no gradient"
    );
    let (fc1, fc2, fc3) = (2 * 784 * 256, 2 * 256 * 256, 2 * 256 * 10);
    let cost = flops(ModelKind::Mlp);
    assert_eq!(
        (cost.forward, cost.training),
        (fc1 + fc2 + fc3, 2 * fc1 + 3 * (fc2 + fc3))
    );
    let cost = flops(ModelKind::Linear);
    assert_eq!(
        (cost.forward, cost.training),
        (2 * 784 * 10, 2 * 2 * 784 * 10)
    );
    for &model in ModelKind::ALL
        .iter()
        .filter(|&&model| model != ModelKind::Linear)
    {
        let cost = flops(model);
        assert!(
            cost.forward > 0
                && cost.training > 2 * cost.forward
                && cost.training < 3 * cost.forward,
            "{model}: {cost:?}"
        );
    }
}

#[test]
fn activations_are_counted_layer_by_layer() {
    // Flattened pixels, two hidden layers, logits.
    assert_eq!(activations(ModelKind::Mlp), 784 + 256 + 256 + 10);
    // Two convolutions with pooling, flattened, two hidden layers, logits.
    assert_eq!(
        activations(ModelKind::LeNet),
        14 * 14 * 6 + 5 * 5 * 16 + 400 + 120 + 84 + 10
    );
    // Two convolutions with pooling, flattened, a hidden layer, dropout, logits.
    assert_eq!(
        activations(ModelKind::ConvNet),
        12 * 12 * 32 + 4 * 4 * 64 + 1024 + 1024 + 1024 + 10
    );
    assert_eq!(
        activations(ModelKind::Speedrun),
        12 * 12 * 24 + 2 * 5 * 5 * 32 + 800 + 256 + 10
    );
    // Three convolutions with pooling, each with a batch normalization behind it.
    let blocks = 2 * (14 * 14 * 32 + 7 * 7 * 64 + 3 * 3 * 128);
    assert_eq!(activations(ModelKind::ConvNetBn), blocks + 1152 + 256 + 10);
}

#[test]
fn the_memory_a_run_needs_grows_with_what_it_holds() {
    let of = |config: &RunConfig| memory_needed(config, 60_000, 10_000) >> 20;
    let base = RunConfig::preset(Preset::OneEpoch);
    // In MB, as they were measured on MNIST with two threads.
    let measured = [
        (ModelKind::Mlp, 149),
        (ModelKind::LeNet, 146),
        (ModelKind::Speedrun, 149),
        (ModelKind::ConvNet, 187),
        (ModelKind::ConvNetBn, 180),
        (ModelKind::Tiny, 168),
        (ModelKind::ResNet8, 188),
        (ModelKind::ResNet20, 185),
        (ModelKind::Attention, 221),
    ];
    for (model, measured) in measured {
        let needed = of(&RunConfig {
            model,
            batch_size: 128,
            ..base.clone()
        });
        assert!(
            needed.abs_diff(measured) * 5 <= measured,
            "{model}: {needed} MB, measured {measured} MB"
        );
    }
    let averaged = of(&RunConfig {
        model: ModelKind::ConvNet,
        weight_averaging: Some(0.99),
        ..base.clone()
    });
    let plain = RunConfig {
        model: ModelKind::ConvNet,
        ..base.clone()
    };
    assert!(averaged > of(&plain));
    assert!(
        memory_needed(&plain, 600_000, 10_000)
            > memory_needed(&plain, 60_000, 10_000) + 540_000 * 784
    );
    // One sample from the posterior is kept of two epochs, ten are of a hundred.
    let [one, ten] = [2, 100].map(|epochs| {
        let config = RunConfig {
            model: ModelKind::ConvNet,
            optimizer: OptimizerKind::Sgld,
            weight_averaging: None,
            epochs,
            ..base.clone()
        };
        memory_needed(&config, 60_000, 10_000)
    });
    assert_eq!(ten - one, 9 * 4 * parameter_count(plain.network(), 10));
}

#[test]
fn a_gpu_holds_what_was_counted_on_one() {
    // Numbers for one more picture of a batch, as tests/cuda/gpu counted them.
    let counted = [
        (ModelKind::Mlp, 2_346),
        (ModelKind::LeNet, 34_016),
        (ModelKind::ConvNet, 70_058),
        (ModelKind::Speedrun, 41_610),
        (ModelKind::ConvNetBn, 98_010),
        (ModelKind::ResNet8, 214_826),
        (ModelKind::ResNet20, 406_122),
        (ModelKind::Attention, 166_512),
    ];
    let small = "8C5P2-MP2-BN-16C3P1-BN-20C3P1-MP2-BN-24C3P1-BN-GAP";
    let small = Network::from(ModelKind::Cnn).with_layers(Some(small.parse().unwrap()));
    let counted = counted.map(|(model, counted)| (Network::from(model), counted));
    for (network, counted) in counted.into_iter().chain([(small, 48_863)]) {
        let needed = gpu_values_in_training(network);
        assert!(
            needed.abs_diff(counted) * 3 <= counted,
            "{network:?}: {needed}, counted {counted}"
        );
    }
}

#[test]
fn the_hidden_layers_of_every_network_cost_what_it_costs() {
    for &model in ModelKind::ALL {
        let hidden = Network::from(model).hidden_layers();
        let costs = block_costs(model, 10);
        assert_eq!(costs.len(), hidden.as_slice().len() + 1, "{model}");
        let parameters: u64 = costs.iter().map(|cost| cost.parameters).sum();
        let multiply_adds: u64 = costs.iter().map(|cost| cost.multiply_adds).sum();
        assert_eq!(
            (parameters, 2 * multiply_adds),
            (parameter_count(model, 10), flops(model).forward),
            "{model}"
        );
        let is_documented = include_str!("../../docs/networks.md").contains(&format!("`{hidden}`"));
        let is_one_of_several = [
            ModelKind::MlpSmall,
            ModelKind::MlpLarge,
            ModelKind::ResNet14,
            ModelKind::ResNet20,
            ModelKind::ResNet34,
        ];
        assert!(
            is_documented || is_one_of_several.contains(&model),
            "{hidden}"
        );
        // Written out, it is the same network.
        let written = Network::from(ModelKind::Cnn).with_layers(hidden.to_string().parse().ok());
        let of = |network: Network| layers(network, Activation::Relu, 10);
        assert_eq!(of(written), of(model.into()), "{model}");
    }
}
