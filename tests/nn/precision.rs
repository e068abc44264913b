//! Products in bf16 and f16: those of operands rounded to that format, whichever instructions
//! compute them.

use candle_core::Tensor;
use inkling::math::random::Random;
use inkling::nn::Parameter;
use inkling::nn::backend::cpu::rounded;
use inkling::nn::ops::{Context, conv2d, conv2d_max_pool, linear};
use inkling::run_config::Precision;

use super::gradients::{Array, compute_sum, numbers};

type Op = fn(&Tensor, &Parameter, &Parameter, Context) -> candle_core::Result<Tensor>;

/// An op with the shapes of input, weight and bias.
const CASES: [(Op, &[usize], &[usize]); 4] = [
    // More than a panel of outputs, and runs of an even length.
    (
        |x, w, b, context| conv2d_max_pool(x, w, Some(b), 1, true, context),
        &[3, 9, 8, 4],
        &[40, 4, 3, 3],
    ),
    // Runs of an odd length.
    (
        |x, w, b, context| conv2d_max_pool(x, w, Some(b), 0, false, context),
        &[2, 12, 12, 1],
        &[6, 1, 5, 5],
    ),
    (
        |x, w, b, context| conv2d(x, w, Some(b), 2, 1, context),
        &[2, 7, 7, 6],
        &[20, 6, 3, 3],
    ),
    // Neither whole tiles nor whole vectors.
    (
        |x, w, b, context| linear(x, w, b, true, context),
        &[9, 70],
        &[20, 70],
    ),
];

/// Result, gradient of the input and of the parameters; every result's gradient is 1, which each
/// format has.
fn compute(
    op: Op,
    x: &[f32],
    shape: &[usize],
    parameters: [(&[f32], &[usize]); 2],
    precision: Precision,
) -> Vec<Vec<f32>> {
    let array = |values: &[f32], shape: &[usize]| Array {
        values: values.to_vec(),
        shape: shape.to_vec(),
    };
    let parameters = parameters.map(|(values, shape)| array(values, shape));
    let op = |x: &[Tensor], p: &[Parameter], context: Context| {
        op(
            &x[0],
            &p[0],
            &p[1],
            Context {
                precision,
                ..context
            },
        )
        .unwrap()
    };
    let (output, gradients) = compute_sum(&[array(x, shape)], &parameters, op);
    std::iter::once(output).chain(gradients).collect()
}

#[test]
fn products_are_those_of_rounded_operands() {
    for (seed, (op, shape, weight_shape)) in (1..).zip(CASES) {
        let random = &mut Random::new(seed);
        let [x, weight, bias] = [shape, weight_shape, &weight_shape[..1]]
            .map(|shape| numbers(shape.iter().product(), random));
        for precision in [Precision::Bf16, Precision::F16] {
            let round = |values: &[f32]| rounded(values, precision).into_owned();
            let parameters = [
                (weight.as_slice(), weight_shape),
                (bias.as_slice(), &weight_shape[..1]),
            ];
            let mixed = compute(op, &x, shape, parameters, precision);
            let (x, weight) = (round(&x), round(&weight));
            let parameters = [
                (weight.as_slice(), weight_shape),
                (bias.as_slice(), &weight_shape[..1]),
            ];
            let expected = compute(op, &x, shape, parameters, Precision::F32);
            for (mixed, expected) in mixed.iter().flatten().zip(expected.iter().flatten()) {
                assert!(
                    (mixed - expected).abs() <= 1e-4 * (1.0 + expected.abs()),
                    "{precision}: {mixed} is not {expected}"
                );
            }
        }
    }
}

#[test]
fn rounding_is_to_the_nearest_number_of_the_format() {
    assert_eq!(
        *rounded(&[1.0 + 1.0 / 512.0, 1.0 + 3.0 / 512.0], Precision::Bf16),
        [1.0, 1.0 + 1.0 / 128.0]
    );
    assert_eq!(
        *rounded(&[1e5, -1e5, 1.0 + 1.0 / 2048.0], Precision::F16),
        [f32::INFINITY, f32::NEG_INFINITY, 1.0]
    );
    for as_it_is in [Precision::F32, Precision::Tf32] {
        assert_eq!(
            *rounded(&[1e5, 1.0 + 1.0 / 4096.0], as_it_is),
            [1e5, 1.0 + 1.0 / 4096.0]
        );
    }
    assert!(
        rounded(&[f32::NAN], Precision::Bf16)[0].is_nan()
            && rounded(&[f32::NAN], Precision::F16)[0].is_nan()
    );
    // As the `half` crate rounds, over many magnitudes and more numbers than a vector or a chunk
    // has.
    let many: Vec<f32> = (0..1001_u32)
        .map(|index| (index as f32 - 500.0).powi(3) * 1.37e-3)
        .collect();
    let expected = many
        .iter()
        .map(|&value| half::bf16::from_f32(value).to_f32())
        .collect::<Vec<_>>();
    assert_eq!(*rounded(&many, Precision::Bf16), expected);
    let expected = many
        .iter()
        .map(|&value| half::f16::from_f32_const(value).to_f32_const())
        .collect::<Vec<_>>();
    assert_eq!(*rounded(&many, Precision::F16), expected);
}
