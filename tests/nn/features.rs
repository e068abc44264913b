//! The ops on features: linear, dropout, flatten.

use candle_core::{Device, Tensor, Var};
use inkling::math::random::Random;
use inkling::nn::ops::{Context, dropout, flatten, linear};

use super::gradients::{Array, TRAIN, check};

#[test]
fn linear_agrees_with_plain_loops_and_finite_differences() {
    // The last sizes cross the blocks that threads share, in either direction.
    for (batch, inputs, outputs, relu) in [(1, 1, 1, false), (1, 5, 3, true), (7, 3, 10, true), (3, 9, 131, false), (2, 130, 3, true)] {
        let random = &mut Random::new(inputs as u64);
        let arrays =
            [Array::random(&[batch, inputs], random), Array::random(&[outputs, inputs], random), Array::random(&[outputs], random)];
        check(
            &arrays,
            |x, weight, bias| linear(x, weight, bias, relu, TRAIN).unwrap(),
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
    let x = Var::ones((100, 100), candle_core::DType::F32, &Device::Cpu).unwrap();
    let y = dropout(&x, 0.25, &mut Random::new(4), TRAIN).unwrap();
    let values: Vec<f32> = y.flatten_all().unwrap().to_vec1().unwrap();
    assert!(values.iter().all(|&value| value == 0.0 || (value - 4.0 / 3.0).abs() < 1e-6));
    let dropped = values.iter().filter(|&&value| value == 0.0).count();
    // 2,500 expected; the standard deviation is 43.
    assert!((2_300..2_700).contains(&dropped), "{dropped} dropped");
    // What passed, passes its gradient equally scaled.
    let gradients = y.sum_all().unwrap().backward().unwrap();
    assert_eq!(gradients.get(&x).unwrap().flatten_all().unwrap().to_vec1::<f32>().unwrap(), values);
    // The same seed drops the same.
    let again = dropout(&x, 0.25, &mut Random::new(4), TRAIN).unwrap().flatten_all().unwrap().to_vec1::<f32>().unwrap();
    assert_eq!(again, values);
    // Four numbers share a draw; each of them is dropped as often: 625 expected, the standard deviation is 22.
    for one in 0..4 {
        let dropped = values.iter().skip(one).step_by(4).filter(|&&value| value == 0.0).count();
        assert!((525..725).contains(&dropped), "{dropped} dropped");
    }
}

#[test]
fn dropout_draws_from_splitmix64() {
    // The first numbers of seed 1234567, as they are published with the generator (Vigna, splitmix64.c).
    let published = [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423, 4_593_380_528_125_082_431];
    assert_eq!([0, 1, 2, 3].map(|index| Random::at(1_234_567, index)), published);
}

#[test]
fn flatten_orders_features_by_channel_row_column_and_back() {
    // Each number says where it is: image, row, column, channel.
    let values: Vec<f32> = (0..2)
        .flat_map(|i| (0..2).flat_map(move |y| (0..3).flat_map(move |x| (0..4).map(move |c| (1000 * i + 100 * y + 10 * x + c) as f32))))
        .collect();
    let x = Var::from_vec(values.clone(), (2, 2, 3, 4), &Device::Cpu).unwrap();
    let y = flatten(&x, TRAIN).unwrap();
    let expected: Vec<f32> = (0..2)
        .flat_map(|i| (0..4).flat_map(move |c| (0..2).flat_map(move |y| (0..3).map(move |x| (1000 * i + 100 * y + 10 * x + c) as f32))))
        .collect();
    assert_eq!(y.dims(), [2, 24]);
    assert_eq!(y.flatten_all().unwrap().to_vec1::<f32>().unwrap(), expected);
    // With the output itself as the gradient of the output, the gradient of the input is the input.
    let fixed = Tensor::from_vec(expected, (2, 24), &Device::Cpu).unwrap();
    let gradients = (&y * fixed).unwrap().sum_all().unwrap().backward().unwrap();
    assert_eq!(gradients.get(&x).unwrap().flatten_all().unwrap().to_vec1::<f32>().unwrap(), values);
}

#[test]
fn reading_keeps_nothing_for_gradients() {
    let x = Var::zeros((2, 3, 3, 4), candle_core::DType::F32, &Device::Cpu).unwrap();
    assert!(flatten(&x, TRAIN).unwrap().track_op());
    assert!(!flatten(&x, Context::READ).unwrap().track_op());
}
