//! Self-attention and positional embeddings.

use candle_core::{DType, Device, Tensor};
use inkling::math::random::Random;
use inkling::nn::Parameter;
use inkling::nn::ops::{Context, add_positions, attention};
use inkling::run_config::Precision;

use super::gradients::{Array, TRAIN, check_all};
use crate::support::flat;

/// The definition, in plain loops.
fn reference(qkv: &[f64], tokens: usize, heads: usize, depth: usize) -> Vec<f64> {
    let features = heads * depth;
    let mut result = Vec::new();
    for sequence in qkv.chunks(tokens * 3 * features) {
        let at = |token: usize, part: usize, head: usize, place: usize| {
            sequence[token * 3 * features + part * features + head * depth + place]
        };
        for token in 0..tokens {
            for head in 0..heads {
                let score = |other: usize| {
                    (0..depth)
                        .map(|d| at(token, 0, head, d) * at(other, 1, head, d))
                        .sum::<f64>()
                        / (depth as f64).sqrt()
                };
                let weights: Vec<f64> = (0..tokens).map(|other| score(other).exp()).collect();
                let sum: f64 = weights.iter().sum();
                for place in 0..depth {
                    result.push(
                        (0..tokens)
                            .map(|other| weights[other] / sum * at(other, 2, head, place))
                            .sum(),
                    );
                }
            }
        }
    }
    result
}

#[test]
fn agrees_with_plain_loops_and_finite_differences() {
    for (batch, tokens, heads, depth) in [
        (1, 1, 1, 1),
        (2, 5, 1, 3),
        (3, 4, 2, 2),
        (1, 7, 3, 4),
        (1, 35, 1, 18),
    ] {
        let mut x = Array::random(
            &[batch, tokens, 3 * heads * depth],
            &mut Random::new(tokens as u64),
        );
        x.values.iter_mut().for_each(|x| *x *= 3.0);
        check_all(
            &[x],
            &[],
            |x, _, context| attention(&x[0], heads, context).unwrap(),
            |x| reference(&x[0], tokens, heads, depth),
        );
    }
}

#[test]
fn large_scores_stay_finite() {
    let x = Tensor::from_vec(
        vec![1e15_f32, -1e15, 1.0, -1e15, 1e15, 2.0],
        (1, 2, 3),
        &Device::Cpu,
    )
    .unwrap();
    let y = flat(&attention(&x, 1, Context::EVAL).unwrap());
    assert!(y.iter().all(|value| value.is_finite()), "{y:?}");
}

#[test]
fn shorter_formats_round_the_operands_and_nothing_else() {
    let x = Array::random(&[2, 9, 24], &mut Random::new(3));
    let x = Tensor::from_vec(x.values, x.shape, &Device::Cpu).unwrap();
    let compute = |precision| flat(&attention(&x, 2, Context { precision, ..TRAIN }).unwrap());
    let exact = compute(Precision::F32);
    for (precision, bound) in [
        (Precision::Bf16, 1.0 / 128.0),
        (Precision::F16, 1.0 / 1024.0),
    ] {
        let rounded = compute(precision);
        assert_ne!(rounded, exact, "{precision}");
        for (rounded, exact) in rounded.iter().zip(&exact) {
            assert!(
                (rounded - exact).abs() < bound,
                "{precision}: {rounded} and not {exact}"
            );
        }
    }
}

#[test]
fn heads_that_do_not_divide_the_features_are_refused() {
    let x = Tensor::zeros((1, 2, 12), DType::F32, &Device::Cpu).unwrap();
    assert!(attention(&x, 2, Context::EVAL).is_ok());
    assert!(attention(&x, 3, Context::EVAL).is_err());
    assert!(attention(&x, 0, Context::EVAL).is_err());
}

#[test]
fn positions_are_added_to_every_sequence() {
    let random = &mut Random::new(5);
    check_all(
        &[Array::random(&[3, 4, 5], random)],
        &[Array::random(&[1, 4, 5], random)],
        |x, p, context| add_positions(&x[0], &p[0], context).unwrap(),
        |x| {
            x[0].iter()
                .zip(x[1].iter().cycle())
                .map(|(x, place)| x + place)
                .collect()
        },
    );
    let x = Tensor::zeros((1, 3, 5), DType::F32, &Device::Cpu).unwrap();
    assert!(
        add_positions(
            &x,
            &Parameter::new("p", vec![0.0; 20], &[1, 4, 5]).unwrap(),
            Context::EVAL
        )
        .is_err()
    );
}
