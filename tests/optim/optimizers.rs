//! Each optimiser against its published formula, worked out in f64.

use inkling::nn::Parameter;
use inkling::optim::{Optimizer, build};
use inkling::run_config::OptimizerKind;

const RATE: f64 = 0.1;
const DECAY: f64 = 0.5;

/// Gradients of three steps, different for each number, one of them zero throughout.
fn gradient(step: usize, index: usize) -> f64 {
    [[0.5, -2.0, 0.0], [0.25, 3.0, 0.0], [-1.0, 0.125, 0.0]][step][index]
}

/// Three steps of `kind` on a weight (rank 2) or a bias (rank 1).
fn stepped(kind: OptimizerKind, shape: &[usize]) -> Vec<f32> {
    let parameter = Parameter::new("p", vec![1.0, -2.0, 3.0], shape).unwrap();
    let mut optimizer: Box<dyn Optimizer> = build(kind, std::slice::from_ref(&parameter), DECAY as f32);
    for step in 0..3 {
        for (index, value) in parameter.gradient().iter_mut().enumerate() {
            *value = gradient(step, index) as f32;
        }
        optimizer.step(RATE as f32).unwrap();
        assert!(parameter.gradient().iter().all(|&value| value == 0.0), "a step uses its gradient up");
    }
    parameter.values().unwrap()
}

fn expect(kind: OptimizerKind, formula: impl Fn(usize, f64) -> f64) {
    for (shape, decay) in [(&[1, 3][..], DECAY), (&[3], 0.0)] {
        for (index, value) in stepped(kind, shape).into_iter().enumerate() {
            let expected = formula(index, decay);
            assert!((f64::from(value) - expected).abs() < 1e-6, "{kind} {shape:?}[{index}]: {value} and not {expected}");
        }
    }
}

#[test]
fn adamw_follows_its_formula_and_spares_biases() {
    expect(OptimizerKind::AdamW, |index, decay| {
        let (mut w, mut m, mut v) = ([1.0, -2.0, 3.0][index], 0.0, 0.0);
        for step in 0..3 {
            let g = gradient(step, index);
            m = 0.9 * m + 0.1 * g;
            v = 0.999 * v + 0.001 * g * g;
            let (m_hat, v_hat) = (m / (1.0 - 0.9_f64.powi(step as i32 + 1)), v / (1.0 - 0.999_f64.powi(step as i32 + 1)));
            w = w - RATE * decay * w - RATE * m_hat / (v_hat.sqrt() + 1e-8);
        }
        w
    });
}

#[test]
fn the_first_adamw_step_is_the_rate_by_hand() {
    // Bias correction makes the first step lr·sign(g): 1 - 0.1·0.5·1 - 0.1 = 0.85.
    let parameter = Parameter::new("p", vec![1.0], &[1, 1]).unwrap();
    parameter.gradient()[0] = 123.0;
    build(OptimizerKind::AdamW, std::slice::from_ref(&parameter), 0.5).step(0.1).unwrap();
    assert!((parameter.values().unwrap()[0] - 0.85).abs() < 1e-6);
}

#[test]
fn sgd_follows_nesterovs_formula_and_spares_biases() {
    expect(OptimizerKind::Sgd, |index, decay| {
        let (mut w, mut u) = ([1.0, -2.0, 3.0][index], 0.0);
        for step in 0..3 {
            let g = gradient(step, index);
            u = 0.9 * u + g;
            w = w - RATE * decay * w - RATE * (g + 0.9 * u);
        }
        w
    });
}

#[test]
fn large_parameters_are_updated_throughout() {
    // Longer than the pieces that tasks share.
    let parameter = Parameter::new("p", vec![1.0; 70_001], &[1, 70_001]).unwrap();
    parameter.gradient().fill(1.0);
    build(OptimizerKind::Sgd, std::slice::from_ref(&parameter), 0.0).step(0.1).unwrap();
    // 1 - 0.1·(1 + 0.9·1)
    assert!(parameter.values().unwrap().iter().all(|value| (value - 0.81).abs() < 1e-6));
}
