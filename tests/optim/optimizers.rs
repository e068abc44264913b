//! Each optimizer against its published formula, worked out in f64.

use crate::support::on_threads;
use inkling::math::random::Random;
use inkling::nn::{DeviceContext, Parameter};
use inkling::optim::{Optimizer, OptimizerConfig};
use inkling::run_config::OptimizerKind;

const LR: f64 = 0.1;
const DECAY: f64 = 0.5;
const MOMENTUM: f64 = 0.8;
const START: [f64; 3] = [1.0, -2.0, 3.0];

/// Langevin dynamics with this many images has no noise to speak of.
const QUIET: u64 = u64::MAX;

fn config(kind: OptimizerKind) -> OptimizerConfig {
    OptimizerConfig {
        kind,
        weight_decay: 0.0,
        momentum: MOMENTUM as f32,
        nesterov: true,
        images: QUIET,
        seed: 1,
    }
}

fn optimizer(config: OptimizerConfig, parameter: &Parameter) -> Optimizer {
    Optimizer::new(
        config,
        std::slice::from_ref(parameter),
        &DeviceContext::CPU,
        None,
    )
    .unwrap()
}

/// Takes a step and gives the norm its gradients had.
fn norm_of_step(optimizer: &mut Optimizer, lr: f32, scale: f32) -> f64 {
    optimizer.step(lr, scale, None).unwrap().read().unwrap()
}

/// Gradients of three steps, different for each number, one of them zero throughout.
fn gradient(step: usize, index: usize) -> f64 {
    [[0.5, -2.0, 0.0], [0.25, 3.0, 0.0], [-1.0, 0.125, 0.0]][step][index]
}

/// Three steps on a weight (rank 2) or a bias (rank 1); gradients come four times too large and are
/// scaled back.
fn stepped(config: OptimizerConfig, shape: &[usize]) -> Vec<f32> {
    let parameter = Parameter::new("p", START.map(|w| w as f32).to_vec(), shape).unwrap();
    let mut optimizer = optimizer(
        OptimizerConfig {
            weight_decay: DECAY as f32,
            ..config
        },
        &parameter,
    );
    for step in 0..3 {
        let gradients: Vec<f32> = (0..3)
            .map(|index| 4.0 * gradient(step, index) as f32)
            .collect();
        parameter
            .add_to_grad(|grad| grad.copy_from_slice(&gradients))
            .unwrap();
        let norm = (0..3)
            .map(|index| (4.0 * gradient(step, index)).powi(2))
            .sum::<f64>()
            .sqrt();
        assert!((optimizer.gradient_norm().unwrap() - norm).abs() < 1e-5);
        assert!(
            (norm_of_step(&mut optimizer, LR as f32, 0.25) - 0.25 * norm).abs() < 1e-5,
            "that of the scaled gradients"
        );
        assert!(
            parameter
                .add_to_grad(|grad| grad.iter().all(|&value| value == 0.0))
                .unwrap(),
            "a step uses its gradient up"
        );
    }
    parameter.values().unwrap()
}

/// Compares with what `formula` gives for the number at an index, with a weight decay.
fn expect(config: OptimizerConfig, formula: impl Fn(usize, f64) -> f64) {
    for (shape, decay) in [(&[1, 3][..], DECAY), (&[3], 0.0)] {
        for (index, value) in stepped(config, shape).into_iter().enumerate() {
            let expected = formula(index, decay);
            assert!(
                (f64::from(value) - expected).abs() < 2e-6,
                "{:?} {shape:?}[{index}]: {value} and not {expected}",
                config.kind
            );
        }
    }
}

/// Adam's moves, with decay as part of the gradient or beside it.
fn adam(index: usize, coupled: f64, decoupled: f64) -> f64 {
    let (mut w, mut m, mut v) = (START[index], 0.0, 0.0);
    for step in 0..3 {
        let g = gradient(step, index) + coupled * w;
        m = 0.9 * m + 0.1 * g;
        v = 0.999 * v + 0.001 * g * g;
        let (m_hat, v_hat) = (
            m / (1.0 - 0.9_f64.powi(step as i32 + 1)),
            v / (1.0 - 0.999_f64.powi(step as i32 + 1)),
        );
        w = w - LR * decoupled * w - LR * m_hat / (v_hat.sqrt() + 1e-8);
    }
    w
}

#[test]
fn adamw_follows_its_formula_and_spares_biases() {
    expect(config(OptimizerKind::AdamW), |index, decay| {
        adam(index, 0.0, decay)
    });
}

#[test]
fn adam_follows_its_formula_and_spares_biases() {
    expect(config(OptimizerKind::Adam), |index, decay| {
        adam(index, decay, 0.0)
    });
}

#[test]
fn the_first_adamw_step_is_the_rate_by_hand() {
    // Bias correction makes the first step lr·sign(g): 1 - 0.1·0.5·1 - 0.1 = 0.85.
    let parameter = Parameter::new("p", vec![1.0], &[1, 1]).unwrap();
    parameter.add_to_grad(|grad| grad[0] = 123.0).unwrap();
    optimizer(
        OptimizerConfig {
            weight_decay: 0.5,
            ..config(OptimizerKind::AdamW)
        },
        &parameter,
    )
    .step(0.1, 1.0, None)
    .unwrap();
    assert!((parameter.values().unwrap()[0] - 0.85).abs() < 1e-6);
}

#[test]
fn sgd_follows_its_formula_with_either_momentum_and_spares_biases() {
    for nesterov in [true, false] {
        expect(
            OptimizerConfig {
                nesterov,
                ..config(OptimizerKind::Sgd)
            },
            |index, decay| {
                let (mut w, mut u) = (START[index], 0.0);
                for step in 0..3 {
                    let g = gradient(step, index);
                    u = MOMENTUM * u + g;
                    w = w - LR * decay * w - LR * if nesterov { g + MOMENTUM * u } else { u };
                }
                w
            },
        );
    }
}

#[test]
fn lion_follows_its_formula_and_spares_biases() {
    expect(config(OptimizerKind::Lion), |index, decay| {
        let (mut w, mut m) = (START[index], 0.0);
        for step in 0..3 {
            let g = gradient(step, index);
            let direction: f64 = 0.9 * m + 0.1 * g;
            w = w
                - LR * decay * w
                - LR * if direction == 0.0 {
                    0.0
                } else {
                    direction.signum()
                };
            m = 0.99 * m + 0.01 * g;
        }
        w
    });
}

#[test]
fn adafactor_gives_what_pytorch_gives() {
    // torch.optim.Adafactor 2.15 in f64 with lr=0.1, weight_decay=0.5 for matrices, and these
    // gradients.
    let gradients = [
        [0.5, -2.0, 0.0, 1.0, 0.25, -0.5],
        [0.25, 3.0, 0.0, -1.0, 2.0, 0.125],
        [-1.0, 0.125, 0.0, 0.5, -0.25, 1.0],
    ];
    let matrix = [
        0.908_332_57,
        -1.767_976_82,
        2.572_125,
        0.347_542_27,
        -0.393_504_24,
        1.113_858_8,
    ];
    let vector = [
        0.962_502_55,
        -2.031_870_2,
        3.0,
        0.396_822_79,
        -0.595_591_89,
        1.364_722_68,
    ];
    for (shape, expected) in [
        (&[2, 3][..], matrix),
        (&[2, 1, 3, 1], matrix),
        (&[6], vector),
    ] {
        let parameter = Parameter::new("p", vec![1.0, -2.0, 3.0, 0.5, -0.25, 1.5], shape).unwrap();
        let of = OptimizerConfig {
            weight_decay: DECAY as f32,
            ..config(OptimizerKind::Adafactor)
        };
        let mut optimizer = optimizer(of, &parameter);
        for gradient in gradients {
            parameter
                .add_to_grad(|grad| grad.copy_from_slice(&gradient.map(|g: f32| 4.0 * g)))
                .unwrap();
            norm_of_step(&mut optimizer, LR as f32, 0.25);
        }
        for (value, expected) in parameter.values().unwrap().into_iter().zip(expected) {
            assert!(
                (f64::from(value) - expected).abs() < 2e-6,
                "{shape:?}: {value} and not {expected}"
            );
        }
        assert!(
            optimizer
                .state()
                .unwrap()
                .0
                .fits(&of, std::slice::from_ref(&parameter))
        );
    }
}

#[test]
fn adafactor_keeps_a_number_for_each_row_and_column() {
    let parameter = Parameter::new("p", vec![0.5; 300 * 200], &[300, 200]).unwrap();
    let bytes = |kind| {
        serde_json::to_vec(&optimizer(config(kind), &parameter).state().unwrap().0)
            .unwrap()
            .len()
    };
    assert!(bytes(OptimizerKind::Adafactor) * 50 < bytes(OptimizerKind::Lion));
}

#[test]
fn sgld_without_noise_is_gradient_descent_with_a_prior() {
    expect(config(OptimizerKind::Sgld), |index, decay| {
        (0..3).fold(START[index], |w, step| {
            w - LR * (gradient(step, index) + decay * w)
        })
    });
}

#[test]
fn psgld_without_noise_divides_by_the_running_root() {
    // Numbers without a gradient have no scale to be divided by, so noise and prior are all there
    // is: a rate of 1e5.
    let parameter = Parameter::new("p", vec![1.0, -2.0], &[1, 2]).unwrap();
    let mut optimizer = optimizer(config(OptimizerKind::Psgld), &parameter);
    let (mut w, mut v) = ([1.0, -2.0], [0.0; 2]);
    for step in 0..3 {
        for index in 0..2 {
            let g = gradient(step, index);
            parameter
                .add_to_grad(|grad| grad[index] = g as f32)
                .unwrap();
            v[index] = 0.99 * v[index] + 0.01 * g * g;
            w[index] -= LR * g / (v[index].sqrt() + 1e-5);
        }
        optimizer.step(LR as f32, 1.0, None).unwrap();
    }
    for (value, expected) in parameter.values().unwrap().into_iter().zip(w) {
        assert!(
            (f64::from(value) - expected).abs() < 1e-5,
            "{value} and not {expected}"
        );
    }
}

/// Mean and variance of many numbers.
fn moments(values: &[f32]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().map(|&value| f64::from(value)).sum::<f64>() / count;
    (
        mean,
        values
            .iter()
            .map(|&value| (f64::from(value) - mean).powi(2))
            .sum::<f64>()
            / count,
    )
}

#[test]
fn langevin_noise_has_the_size_the_papers_ask_for() {
    // One step without a gradient: 2·lr/N for SGLD; times G = 1/(√(0.01·g²) + 1e-5) for pSGLD with
    // g = 1 beside a move of lr·G.
    let many = 70_001;
    for (kind, gradient, mean, variance) in [
        (OptimizerKind::Sgld, 0.0, 0.0, 2.0 * 0.1 / 50.0),
        (
            OptimizerKind::Psgld,
            1.0,
            -0.1 / 0.10001,
            2.0 * 0.1 / 50.0 / 0.10001,
        ),
    ] {
        let parameter = Parameter::new("p", vec![0.0; many], &[1, many]).unwrap();
        parameter.add_to_grad(|grad| grad.fill(gradient)).unwrap();
        optimizer(
            OptimizerConfig {
                images: 50,
                ..config(kind)
            },
            &parameter,
        )
        .step(0.1, 1.0, None)
        .unwrap();
        let (found_mean, found_variance) = moments(&parameter.values().unwrap());
        assert!(
            (found_mean - mean).abs() < 4.0 * (variance / many as f64).sqrt(),
            "{kind}: mean {found_mean} and not {mean}"
        );
        assert!(
            (found_variance / variance - 1.0).abs() < 0.03,
            "{kind}: variance {found_variance} and not {variance}"
        );
    }
}

#[test]
fn sgld_samples_the_posterior_of_a_gaussian() {
    // The mean loss w²/2 over N images has the posterior N(0, 1/N); steps of finite size widen it
    // by 1/(1 - lr/2).
    let (many, images, rate) = (4000, 25, 0.2);
    let parameter = Parameter::new("p", vec![3.0; many], &[many]).unwrap();
    let mut optimizer = optimizer(
        OptimizerConfig {
            images,
            ..config(OptimizerKind::Sgld)
        },
        &parameter,
    );
    for _ in 0..60 {
        let values = parameter.values().unwrap();
        parameter
            .add_to_grad(|grad| grad.copy_from_slice(&values))
            .unwrap();
        optimizer.step(rate, 1.0, None).unwrap();
    }
    let (mean, variance) = moments(&parameter.values().unwrap());
    let expected = 1.0 / images as f64 / (1.0 - f64::from(rate) / 2.0);
    assert!(mean.abs() < 0.02, "{mean}");
    assert!(
        (variance / expected - 1.0).abs() < 0.1,
        "{variance} and not {expected}"
    );
}

#[test]
fn large_parameters_are_updated_throughout_and_alike_for_any_number_of_threads() {
    // Longer than the chunks that threads share.
    let len = 70_001;
    for &kind in OptimizerKind::ALL {
        let stepped = |threads| {
            on_threads(threads, || {
                let mut random = Random::new(3);
                let parameter = Parameter::new("p", vec![1.0; len], &[1, len]).unwrap();
                let config = OptimizerConfig {
                    images: 100,
                    weight_decay: 0.01,
                    ..config(kind)
                };
                let mut optimizer = Optimizer::new(
                    config,
                    std::slice::from_ref(&parameter),
                    &DeviceContext::CPU,
                    Some(0.9),
                )
                .unwrap();
                let mut norms = Vec::new();
                for _ in 0..2 {
                    parameter
                        .add_to_grad(|grad| grad.fill_with(|| random.range(0.5, 1.5)))
                        .unwrap();
                    norms.push(optimizer.gradient_norm().unwrap());
                    norms.push(norm_of_step(&mut optimizer, 0.1, 1.0));
                }
                (
                    parameter.values().unwrap(),
                    optimizer.state().unwrap().1,
                    norms.into_iter().map(f64::to_bits).collect::<Vec<_>>(),
                )
            })
        };
        let one = stepped(1);
        assert!(one.0.iter().all(|&value| value != 1.0), "{kind}");
        assert!(one == stepped(2) && one == stepped(3), "{kind}");
        assert_eq!(
            one.2[0], one.2[1],
            "{kind}: the norm is the same whether it is asked for or found in passing"
        );
    }
}

#[test]
fn a_gradient_that_is_no_number_shows_in_the_norm() {
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        for place in [0, 31, 32, 40_000] {
            let parameter = Parameter::new("p", vec![1.0; 40_001], &[40_001]).unwrap();
            parameter.add_to_grad(|grad| grad[place] = bad).unwrap();
            let mut optimizer = optimizer(config(OptimizerKind::Sgd), &parameter);
            assert!(!optimizer.gradient_norm().unwrap().is_finite());
            assert!(!norm_of_step(&mut optimizer, 0.1, 1.0).is_finite());
        }
    }
}

#[test]
fn what_is_remembered_can_be_put_back() {
    for &kind in OptimizerKind::ALL {
        let parameter = Parameter::new("p", vec![1.0, 2.0], &[1, 2]).unwrap();
        let mut optimizer = optimizer(
            OptimizerConfig {
                images: 100,
                ..config(kind)
            },
            &parameter,
        );
        let step = |optimizer: &mut Optimizer| {
            parameter
                .add_to_grad(|grad| grad.copy_from_slice(&[0.5, -0.25]))
                .unwrap();
            optimizer.step(0.1, 1.0, None).unwrap();
            parameter.values().unwrap()
        };
        let before = step(&mut optimizer);
        let (state, ema) = optimizer.state().unwrap();
        let after = [step(&mut optimizer), step(&mut optimizer)];
        optimizer.load_state(state, ema).unwrap();
        parameter
            .update(|weights, _| weights.copy_from_slice(&before))
            .unwrap();
        assert_eq!(
            after,
            [step(&mut optimizer), step(&mut optimizer)],
            "{kind}"
        );
    }
}
