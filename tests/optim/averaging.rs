//! The running average of the weights, and the scale of the loss.

use inkling::nn::{DeviceContext, Parameter};
use inkling::optim::{LossScale, Optimizer, OptimizerConfig};
use inkling::run_config::{OptimizerKind, RunConfig};

#[test]
fn the_average_follows_its_formula() {
    let parameter = Parameter::new("p", vec![5.0, 1.0], &[1, 2]).unwrap();
    let of = RunConfig {
        optimizer: OptimizerKind::Sgd,
        momentum: 0.0,
        weight_decay: 0.0,
        ..RunConfig::default()
    };
    let config = OptimizerConfig::new(&of, 10);
    let mut optimizer = Optimizer::new(
        config,
        std::slice::from_ref(&parameter),
        &DeviceContext::CPU,
        Some(0.5),
    )
    .unwrap();
    let (mut w, mut a) = ([5.0, 1.0], [5.0, 1.0]);
    for step in 1..=20 {
        parameter
            .add_to_grad(|grad| grad.copy_from_slice(&[step as f32, 1.0]))
            .unwrap();
        optimizer.step(0.1, 1.0, None).unwrap();
        let ema = optimizer.state().unwrap().1.unwrap();
        let decay = (f64::from(step) / (f64::from(step) + 9.0)).min(0.5);
        for (index, gradient) in [f64::from(step), 1.0].into_iter().enumerate() {
            w[index] -= 0.1 * gradient;
            a[index] = decay * a[index] + (1.0 - decay) * w[index];
            assert!(
                (f64::from(ema.values()[0][index]) - a[index]).abs() < 1e-5,
                "step {step}"
            );
        }
    }
}

#[test]
fn the_first_weights_do_not_linger() {
    // A start a million away is forgotten after a few steps, though the decay is that of a
    // thousand.
    let parameter = Parameter::new("p", vec![1e6], &[1, 1]).unwrap();
    let config = OptimizerConfig::new(&RunConfig::default(), 10);
    let mut optimizer = Optimizer::new(
        config,
        std::slice::from_ref(&parameter),
        &DeviceContext::CPU,
        Some(0.999),
    )
    .unwrap();
    parameter.update(|weights, _| weights.fill(0.0)).unwrap();
    for _ in 0..100 {
        optimizer.step(0.0, 1.0, None).unwrap();
    }
    let ema = optimizer.state().unwrap().1.unwrap().values()[0][0];
    assert!(ema < 1e-3, "{ema}");
}

#[test]
fn the_loss_scale_halves_on_overflow_and_doubles_after_good_steps() {
    let mut scale = LossScale::default();
    assert_eq!(scale.scale(), 65_536.0);
    assert!(scale.overflowed());
    assert_eq!(scale.scale(), 32_768.0);
    for _ in 0..499 {
        scale.stepped();
    }
    assert!(scale.overflowed(), "an overflow starts the count again");
    assert_eq!(scale.scale(), 16_384.0);
    for _ in 0..500 {
        assert_eq!(scale.scale(), 16_384.0);
        scale.stepped();
    }
    assert_eq!(scale.scale(), 32_768.0);
}

#[test]
fn the_loss_scale_has_ends() {
    let mut scale = LossScale::default();
    for _ in 0..16 {
        assert!(scale.overflowed());
    }
    assert_eq!(scale.scale(), 1.0);
    assert!(
        !scale.overflowed(),
        "then it is not the scale that is to blame"
    );
    for _ in 0..500 * 40 {
        scale.stepped();
    }
    assert_eq!(scale.scale(), 16_777_216.0);
}
