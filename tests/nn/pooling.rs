//! General pooling: values, gradients, strides, padding, ties and NaN.

use candle_core::{Device, Tensor};
use inkling::math::random::Random;
use inkling::nn::ops::{Context, ConvGeometry, average_pool, global_average_pool, max_pool};

use super::gradients::{Array, COMPOSED_TRAIN, TRAIN, check_all, compute};
use crate::support::flat;

const fn window(size: usize, stride: usize, padding: usize) -> ConvGeometry {
    ConvGeometry {
        size,
        stride,
        padding,
    }
}

/// Batch, sides, channels, kernel.
pub const CASES: [([usize; 4], ConvGeometry); 7] = [
    ([1, 4, 4, 1], window(2, 2, 0)),
    ([2, 5, 7, 3], window(2, 2, 0)),
    ([3, 7, 6, 2], window(3, 2, 1)),
    ([1, 6, 5, 17], window(3, 1, 1)),
    ([1, 5, 8, 2], window(2, 3, 1)),
    ([2, 3, 3, 2], window(3, 3, 0)),
    ([1, 1, 1, 1], window(1, 1, 0)),
];

/// The numbers of each window, `None` for padding, in the order of the result.
fn windows(
    [batch, height, width, channels]: [usize; 4],
    window: ConvGeometry,
    x: &[f64],
) -> Vec<Vec<Option<f64>>> {
    let ConvGeometry {
        size,
        stride,
        padding,
    } = window;
    let places = |side: usize| (side + 2 * padding - size) / stride + 1;
    let mut found = Vec::new();
    for image in 0..batch {
        for row in 0..places(height) {
            for col in 0..places(width) {
                for channel in 0..channels {
                    let offsets = (0..size * size)
                        .map(|place| (row * stride + place / size, col * stride + place % size));
                    let pixels =
                        offsets.map(|(y, x)| (y.wrapping_sub(padding), x.wrapping_sub(padding)));
                    let inside = |(row, col)| row < height && col < width;
                    let value =
                        |(row, col)| x[((image * height + row) * width + col) * channels + channel];
                    found.push(
                        pixels
                            .map(|pixel| inside(pixel).then(|| value(pixel)))
                            .collect(),
                    );
                }
            }
        }
    }
    found
}

#[test]
fn agrees_with_plain_loops_and_finite_differences() {
    for (seed, (shape, window)) in (1..).zip(CASES) {
        let x = Array::random(&shape, &mut Random::new(seed));
        check_all(
            std::slice::from_ref(&x),
            &[],
            |x, _, context| max_pool(&x[0], window, context).unwrap(),
            |x| {
                windows(shape, window, &x[0])
                    .iter()
                    .map(|window| window.iter().flatten().copied().fold(f64::MIN, f64::max))
                    .collect()
            },
        );
        check_all(
            &[x],
            &[],
            |x, _, context| average_pool(&x[0], window, context).unwrap(),
            |x| {
                windows(shape, window, &x[0])
                    .iter()
                    .map(|window| window.iter().flatten().sum::<f64>() / window.len() as f64)
                    .collect()
            },
        );
    }
}

#[test]
fn global_average_agrees_with_plain_loops_and_finite_differences() {
    for shape in [vec![3, 4, 5, 2], vec![1, 1, 1, 3], vec![2, 7, 5]] {
        let (places, channels) = (
            shape[1..shape.len() - 1].iter().product::<usize>(),
            shape[shape.len() - 1],
        );
        check_all(
            &[Array::random(&shape, &mut Random::new(2))],
            &[],
            |x, _, context| global_average_pool(&x[0], context).unwrap(),
            |x| {
                let of_image = |image: &[f64], channel: usize| {
                    image[channel..].iter().step_by(channels).sum::<f64>() / places as f64
                };
                x[0].chunks(places * channels)
                    .flat_map(|image| (0..channels).map(move |channel| of_image(image, channel)))
                    .collect()
            },
        );
    }
}

#[test]
fn of_equal_values_the_first_is_the_maximum() {
    for context in [TRAIN, COMPOSED_TRAIN] {
        let x = Array {
            values: vec![3.0; 9],
            shape: vec![1, 3, 3, 1],
        };
        let window = ConvGeometry {
            size: 3,
            stride: 1,
            padding: 1,
        };
        let (_, gradients) = compute(
            context,
            &[x],
            &[],
            |x, _, context| max_pool(&x[0], window, context).unwrap(),
            |y| vec![1.0; y.len()],
        );
        // The upper left pixel under each of the nine windows.
        assert_eq!(gradients[0], [4.0, 2.0, 0.0, 2.0, 1.0, 0.0, 0.0, 0.0, 0.0]);
    }
}

#[test]
fn what_is_no_number_is_not_hidden() {
    for place in 0..4 {
        let mut values = vec![1.0_f32; 4];
        values[place] = f32::NAN;
        let x = Tensor::from_vec(values, (1, 2, 2, 1), &Device::Cpu).unwrap();
        for pool in [max_pool, average_pool] {
            let y = pool(
                &x,
                ConvGeometry {
                    size: 2,
                    stride: 2,
                    padding: 0,
                },
                Context::EVAL,
            )
            .unwrap();
            assert!(flat(&y)[0].is_nan());
        }
    }
}

#[test]
fn kernels_that_do_not_fit_are_refused() {
    let x = Tensor::zeros((1, 4, 4, 2), candle_core::DType::F32, &Device::Cpu).unwrap();
    for (size, stride, padding) in [(5, 1, 0), (0, 1, 0), (2, 0, 0), (3, 1, 2)] {
        assert!(
            max_pool(
                &x,
                ConvGeometry {
                    size,
                    stride,
                    padding
                },
                Context::EVAL
            )
            .is_err()
        );
    }
    assert!(
        global_average_pool(
            &Tensor::zeros(3, candle_core::DType::F32, &Device::Cpu).unwrap(),
            Context::EVAL
        )
        .is_err()
    );
}
