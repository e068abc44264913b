//! What models cost, against figures worked out by hand.

use inkling::nn::flops;
use inkling::run_config::ModelKind;

/// Images in an epoch of MNIST.
const EPOCH: u64 = 60_000;

#[test]
fn an_epoch_costs_what_is_published_for_it() {
    // In GFLOP, rounded down: 1.67 TFLOP and 0.41 TFLOP.
    assert_eq!(flops(ModelKind::ConvNet).training * EPOCH / 1_000_000_000, 1671);
    assert_eq!(flops(ModelKind::Speedrun).training * EPOCH / 1_000_000_000, 406);
}

#[test]
fn layers_are_counted_one_by_one() {
    let conv1 = 2 * 24 * 24 * 32 * 25;
    let conv2 = 2 * 8 * 8 * 64 * 32 * 25;
    let (fc1, fc2) = (2 * 1024 * 1024, 2 * 1024 * 10);
    let cost = flops(ModelKind::ConvNet);
    assert_eq!(cost.forward, conv1 + conv2 + fc1 + fc2);
    assert_eq!(cost.training, 2 * conv1 + 3 * (conv2 + fc1 + fc2), "the picture needs no gradient");
    let (fc1, fc2, fc3) = (2 * 784 * 256, 2 * 256 * 256, 2 * 256 * 10);
    let cost = flops(ModelKind::Mlp);
    assert_eq!((cost.forward, cost.training), (fc1 + fc2 + fc3, 2 * fc1 + 3 * (fc2 + fc3)));
    for &model in ModelKind::ALL {
        let cost = flops(model);
        assert!(cost.forward > 0 && cost.training > 2 * cost.forward && cost.training < 3 * cost.forward, "{model}: {cost:?}");
    }
}
