//! Cross-entropy: values, gradients, parts of a batch, extreme logits.

use candle_core::{DType, Device, Tensor};
use inkling::math::random::Random;
use inkling::nn::Parameter;
use inkling::nn::ops::{Context, cross_entropy};

use super::gradients::{Array, COMPOSED_TRAIN, TRAIN, close, compute as compute_op, numbers};

fn reference(logits: &[f64], labels: &[u8], smoothing: f64) -> f64 {
    let classes = logits.len() / labels.len();
    let losses = logits.chunks(classes).zip(labels).map(|(row, &label)| {
        let sum: f64 = row.iter().map(|logit| logit.exp()).sum();
        let of = |class: usize| sum.ln() - row[class];
        (1.0 - smoothing) * of(usize::from(label))
            + smoothing * (0..classes).map(of).sum::<f64>() / classes as f64
    });
    losses.sum::<f64>() / labels.len() as f64
}

/// Loss, correct predictions and the gradient of the logits, the same on every backend.
fn smoothed(logits: &[f32], labels: &[u8], batch: usize, smoothing: f32) -> (f32, f32, Vec<f32>) {
    let x = [Array {
        values: logits.to_vec(),
        shape: vec![labels.len(), logits.len() / labels.len()],
    }];
    let labels = Tensor::new(labels, &Device::Cpu).unwrap();
    let op = |x: &[Tensor], _: &[Parameter], context: Context| {
        cross_entropy(&x[0], &labels, batch, smoothing, context).unwrap()
    };
    let ones = |_: &[f32]| vec![1.0, 1.0];
    let (values, gradients) = compute_op(TRAIN, &x, &[], op, ones);
    if logits
        .iter()
        .all(|logit| logit.is_finite() && logit.abs() < 1e6)
    {
        let (other, gradients_there) = compute_op(COMPOSED_TRAIN, &x, &[], op, ones);
        let wide = |values: &[f32]| {
            values
                .iter()
                .map(|&value| f64::from(value))
                .collect::<Vec<_>>()
        };
        close("loss and correct predictions", &other, &wide(&values));
        close("gradient", &gradients_there[0], &wide(&gradients[0]));
    }
    (values[0], values[1], gradients[0].clone())
}

fn compute(logits: &[f32], labels: &[u8], batch: usize) -> (f32, f32, Vec<f32>) {
    smoothed(logits, labels, batch, 0.0)
}

#[test]
fn agrees_with_plain_loops_and_finite_differences() {
    for (rows, classes, smoothing) in [
        (1, 10, 0.0),
        (3, 10, 0.0),
        (7, 3, 0.0),
        (2, 1, 0.0),
        (1, 10, 0.1),
        (7, 3, 0.5),
        (2, 1, 0.1),
    ] {
        let logits = numbers(rows * classes, &mut Random::new(rows as u64));
        let labels: Vec<u8> = (0..rows).map(|row| (7 * row % classes) as u8).collect();
        let (loss, correct, gradient) = smoothed(&logits, &labels, rows, smoothing);
        let mut wide: Vec<f64> = logits.iter().map(|&logit| f64::from(logit)).collect();
        close(
            "loss",
            &[loss],
            &[reference(&wide, &labels, f64::from(smoothing))],
        );
        let right = |(row, &label): (&[f32], &u8)| {
            row.iter().all(|logit| *logit <= row[usize::from(label)])
        };
        assert_eq!(
            correct as usize,
            logits
                .chunks(classes)
                .zip(&labels)
                .filter(|pair| right(*pair))
                .count()
        );
        let numeric: Vec<f64> = (0..wide.len())
            .map(|index| {
                let mut loss_at = |shift: f64| {
                    wide[index] += shift;
                    let loss = reference(&wide, &labels, f64::from(smoothing));
                    wide[index] -= shift;
                    loss
                };
                (loss_at(1e-6) - loss_at(-1e-6)) / 2e-6
            })
            .collect();
        close("gradient", &gradient, &numeric);
    }
}

#[test]
fn smoothing_by_hand() {
    // Two equal logits: either way the answer costs ln 2, and the gradient is p - target.
    let (loss, _, gradient) = smoothed(&[0.0, 0.0], &[0], 1, 0.5);
    assert!((loss - std::f32::consts::LN_2).abs() < 1e-6);
    assert!((gradient[0] - (0.5 - 0.75)).abs() < 1e-6 && (gradient[1] - (0.5 - 0.25)).abs() < 1e-6);
}

#[test]
fn parts_of_a_batch_add_up_to_it() {
    let logits = numbers(50, &mut Random::new(9));
    let labels = [1, 2, 3, 4, 5];
    let (loss, correct, gradient) = compute(&logits, &labels, 5);
    let (first, second) = (
        compute(&logits[..20], &labels[..2], 5),
        compute(&logits[20..], &labels[2..], 5),
    );
    assert!((first.0 + second.0 - loss).abs() < 1e-6);
    assert_eq!(first.1 + second.1, correct);
    assert_eq!([first.2, second.2].concat(), gradient);
}

#[test]
fn extreme_logits_stay_finite_and_nan_is_not_hidden() {
    let (loss, correct, gradient) = compute(&[1e30, -1e30, 0.0], &[0], 1);
    assert_eq!((loss, correct), (0.0, 1.0));
    assert!(gradient.iter().all(|value| value.abs() < 1e-6));
    let (loss, correct, _) = compute(&[f32::NAN, 1.0, 0.0], &[1], 1);
    assert!(loss.is_nan() && correct == 0.0);
}

#[test]
fn of_equal_logits_the_first_is_the_answer() {
    assert_eq!(compute(&[2.0, 2.0], &[0], 1).1, 1.0);
    assert_eq!(compute(&[2.0, 2.0], &[1], 1).1, 0.0);
}

#[test]
fn labels_that_do_not_fit_are_refused() {
    let x = Tensor::zeros((2, 10), DType::F32, &Device::Cpu).unwrap();
    let loss = |labels: &[u8]| {
        cross_entropy(
            &x,
            &Tensor::new(labels, &Device::Cpu).unwrap(),
            labels.len(),
            0.0,
            TRAIN,
        )
    };
    assert!(loss(&[1]).is_err());
    assert!(loss(&[1, 10]).is_err());
}
