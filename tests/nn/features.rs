//! The ops on features: linear, dropout, flatten.

use candle_core::Tensor;
use inkling::math::random::Random;
use inkling::nn::ops::{Context, dropout, flatten, linear};
use inkling::nn::{Parameter, autograd};

use super::gradients::{Array, COMPOSED_TRAIN, TRAIN, check, compute, compute_sum};

#[test]
fn linear_agrees_with_plain_loops_and_finite_differences() {
    // The last sizes cross the blocks that threads share, in either direction.
    for (batch, inputs, outputs, relu) in [
        (1, 1, 1, false),
        (1, 5, 3, true),
        (7, 3, 10, true),
        (3, 9, 131, false),
        (2, 130, 3, true),
    ] {
        let random = &mut Random::new(inputs as u64);
        let arrays = [
            Array::random(&[batch, inputs], random),
            Array::random(&[outputs, inputs], random),
            Array::random(&[outputs], random),
        ];
        check(
            &arrays,
            |x, weight, bias, context| linear(x, weight, bias, relu, context).unwrap(),
            |x, weight, bias| {
                let mut result = Vec::new();
                for x in x.chunks(inputs) {
                    for (output, bias) in bias.iter().enumerate() {
                        let weight = &weight[output * inputs..(output + 1) * inputs];
                        let sum = bias + x.iter().zip(weight).map(|(x, w)| x * w).sum::<f64>();
                        result.push(if relu { sum.max(0.0) } else { sum });
                    }
                }
                result
            },
        );
    }
}

#[test]
fn dropout_drops_its_share_and_keeps_the_mean() {
    let x = Array {
        values: vec![1.0; 10_000],
        shape: vec![100, 100],
    };
    let op = |x: &[Tensor], _: &[Parameter], context: Context| {
        dropout(&x[0], 0.25, &mut Random::new(4), context).unwrap()
    };
    let (values, gradients) = compute_sum(std::slice::from_ref(&x), &[], op);
    assert!(
        values
            .iter()
            .all(|&value| value == 0.0 || (value - 4.0 / 3.0).abs() < 1e-6)
    );
    let dropped = values.iter().filter(|&&value| value == 0.0).count();
    // 2,500 expected; the standard deviation is 43.
    assert!((2_300..2_700).contains(&dropped), "{dropped} dropped");
    // What passed, passes its gradient equally scaled.
    assert_eq!(gradients[0], values);
    // The same seed drops the same, on every backend.
    for context in [TRAIN, COMPOSED_TRAIN] {
        assert_eq!(
            compute(context, std::slice::from_ref(&x), &[], op, <[f32]>::to_vec).0,
            values
        );
    }
    // Four numbers share a draw; each of them is dropped as often: 625 expected, the standard
    // deviation is 22.
    for one in 0..4 {
        let dropped = values
            .iter()
            .skip(one)
            .step_by(4)
            .filter(|&&value| value == 0.0)
            .count();
        assert!((525..725).contains(&dropped), "{dropped} dropped");
    }
}

#[test]
fn dropout_draws_from_splitmix64() {
    // The first numbers of seed 1234567, as they are published with the generator (Vigna,
    // splitmix64.c).
    let published = [
        6_457_827_717_110_365_317,
        3_203_168_211_198_807_973,
        9_817_491_932_198_370_423,
        4_593_380_528_125_082_431,
    ];
    assert_eq!(
        [0, 1, 2, 3].map(|index| Random::at(1_234_567, index)),
        published
    );
}

#[test]
fn flatten_orders_features_by_channel_row_column_and_back() {
    // Each number says where it is: image, row, column, channel.
    let values: Vec<f32> = (0..2)
        .flat_map(|i| {
            (0..2).flat_map(move |y| {
                (0..3).flat_map(move |x| {
                    (0..4).map(move |c| (1000 * i + 100 * y + 10 * x + c) as f32)
                })
            })
        })
        .collect();
    let x = Array {
        values: values.clone(),
        shape: vec![2, 2, 3, 4],
    };
    let expected: Vec<f32> = (0..2)
        .flat_map(|i| {
            (0..4).flat_map(move |c| {
                (0..2).flat_map(move |y| {
                    (0..3).map(move |x| (1000 * i + 100 * y + 10 * x + c) as f32)
                })
            })
        })
        .collect();
    for context in [TRAIN, COMPOSED_TRAIN] {
        let op = |x: &[Tensor], _: &[Parameter], context: Context| {
            let y = flatten(&x[0], context).unwrap();
            assert_eq!(y.dims(), [2, 24]);
            y
        };
        // With the output itself as the gradient of the output, the gradient of the input is the
        // input.
        let (output, gradients) =
            compute(context, std::slice::from_ref(&x), &[], op, <[f32]>::to_vec);
        assert_eq!(output, expected);
        assert_eq!(gradients[0], values);
    }
}

#[test]
fn inference_records_nothing() {
    autograd::clear();
    let x = autograd::variable(&Parameter::new("x", vec![0.0; 72], &[2, 3, 3, 4]).unwrap());
    assert!(autograd::requires_grad(&flatten(&x, TRAIN).unwrap()));
    assert!(!autograd::requires_grad(
        &flatten(&x, Context::EVAL).unwrap()
    ));
}
