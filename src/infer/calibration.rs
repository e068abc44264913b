//! Temperature scaling (Guo, Pleiss, Sun, Weinberger 2017, "On Calibration of Modern Neural
//! Networks"): one number that logits are divided by, so that the probabilities of a network are as
//! often right as they say. The order of the digits, and so the accuracy, stays the same.

use super::outputs::Scores;
use crate::records::Calibration;

/// Steps of the search: each at least halves the interval where the minimum is.
const STEPS: usize = 60;
/// The precision of the logarithm of a shared temperature.
const SHARED_TOLERANCE: f64 = 1e-3;

/// The temperature at which these `[n, classes]` logits have the smallest negative log-likelihood
/// of their labels; 1 without images, or if a logit is not finite.
///
/// The likelihood is convex in `b = 1 / temperature`: its derivative is the mean of `E[z] - t`,
/// where `E[z]` is the mean logit under `softmax(b z)` and `t` the label's logit; its second
/// derivative is the mean variance. Newton's method finds the zero; if a step would leave the
/// interval that contains it, the interval is halved. Targets are smoothed to `(n + 1) / (n + 2)`,
/// so that a network without mistakes on few images is not called infallible (Platt 1999,
/// "Probabilistic Outputs for Support Vector Machines").
pub fn fit_temperature(logits: &[f32], labels: &[u8]) -> f32 {
    let Some(classes) = classes_of(logits, labels) else {
        return Calibration::NONE.temperature;
    };
    let rows: Vec<&[f32]> = logits.chunks_exact(classes).collect();
    let sure = (rows.len() + 1) as f64 / (rows.len() + 2) as f64;
    let target = |row: &[f32], label: u8| {
        let sum: f64 = row.iter().map(|&logit| f64::from(logit)).sum();
        let of_label = row.get(usize::from(label)).copied().map_or(0.0, f64::from);
        sure * of_label + (1.0 - sure) * (sum - of_label) / (classes - 1) as f64
    };
    let mean_target = rows
        .iter()
        .zip(labels)
        .map(|(row, &label)| target(row, label))
        .sum::<f64>()
        / rows.len() as f64;
    let [mut low, mut high] = [
        Calibration::TEMPERATURES.end(),
        Calibration::TEMPERATURES.start(),
    ]
    .map(|end| 1.0 / f64::from(*end));
    let mut inverse = 1.0_f64;
    for _ in 0..STEPS {
        let (mean, variance) = moments(&rows, inverse);
        let slope = mean - mean_target;
        if slope > 0.0 {
            high = inverse;
        } else {
            low = inverse;
        }
        let newton = inverse - slope / variance;
        let next = if newton > low && newton < high {
            newton
        } else {
            f64::midpoint(low, high)
        };
        let change = (next - inverse).abs();
        inverse = next;
        if change < 1e-9 * inverse {
            break;
        }
    }
    ((1.0 / inverse) as f32).clamp(
        *Calibration::TEMPERATURES.start(),
        *Calibration::TEMPERATURES.end(),
    )
}

/// The temperature at which the mean probabilities of several networks have the smallest negative
/// log-likelihood of these labels; each has `[n, classes]` logits. 1 without images, or if a
/// logit is not finite.
///
/// If each network has a separate temperature, their mean is right more often than it says:
/// networks that disagree make it less sure. So the probabilities are pooled first and calibrated
/// then (Rahaman & Thiery 2021, "Uncertainty Quantification and Deep Ensembles").
pub fn fit_shared_temperature(networks: &[&[f32]], labels: &[u8]) -> f32 {
    let classes = networks
        .first()
        .and_then(|logits| classes_of(logits, labels));
    let fits = |logits: &&[f32]| classes_of(logits, labels) == classes;
    let (Some(classes), true) = (classes, networks.iter().all(fits)) else {
        return Calibration::NONE.temperature;
    };
    let sure = (labels.len() + 1) as f64 / (labels.len() + 2) as f64;
    let loss = |log_temperature: f64| {
        let temperature = log_temperature.exp() as f32;
        let mut pooled = vec![0.0_f64; labels.len() * classes];
        for logits in networks {
            for (sum, scores) in
                pooled
                    .chunks_exact_mut(classes)
                    .zip(Scores::of_rows(logits, classes, temperature))
            {
                sum.iter_mut()
                    .zip(scores.probabilities)
                    .for_each(|(sum, probability)| *sum += f64::from(probability));
            }
        }
        let of_image = |(sums, &label): (&[f64], &u8)| {
            let log = |sum: &f64| {
                (sum / networks.len() as f64)
                    .max(f64::from(f32::MIN_POSITIVE))
                    .ln()
            };
            let of_label = sums.get(usize::from(label)).map(log).unwrap_or_default();
            let others = (sums.iter().map(log).sum::<f64>() - of_label) / (classes - 1) as f64;
            -sure * of_label - (1.0 - sure) * others
        };
        pooled
            .chunks_exact(classes)
            .zip(labels)
            .map(of_image)
            .sum::<f64>()
    };
    let [mut low, mut high] = [
        Calibration::TEMPERATURES.start(),
        Calibration::TEMPERATURES.end(),
    ]
    .map(|end| f64::from(*end).ln());
    // Golden-section search.
    let ratio = (5.0_f64.sqrt() - 1.0) / 2.0;
    let inner = |low: f64, high: f64| [high - ratio * (high - low), low + ratio * (high - low)];
    let [mut left, mut right] = inner(low, high);
    let [mut left_loss, mut right_loss] = [left, right].map(loss);
    while high - low > SHARED_TOLERANCE {
        if left_loss < right_loss {
            (high, right, right_loss) = (right, left, left_loss);
            left = inner(low, high)[0];
            left_loss = loss(left);
        } else {
            (low, left, left_loss) = (left, right, right_loss);
            right = inner(low, high)[1];
            right_loss = loss(right);
        }
    }
    f64::midpoint(low, high).exp() as f32
}

/// How many logits there are for each label: two or more, all of them finite. Else `None`.
fn classes_of(logits: &[f32], labels: &[u8]) -> Option<usize> {
    let classes = logits.len().checked_div(labels.len())?;
    let fits = classes > 1
        && logits.len() == classes * labels.len()
        && logits.iter().all(|logit| logit.is_finite());
    fits.then_some(classes)
}

/// Mean and variance of a row's logits under `softmax(inverse * row)`, averaged over the rows.
fn moments(rows: &[&[f32]], inverse: f64) -> (f64, f64) {
    let (mut means, mut variances) = (0.0, 0.0);
    for row in rows {
        let largest = f64::from(row.iter().copied().fold(f32::NEG_INFINITY, f32::max));
        let (mut total, mut first, mut second) = (0.0, 0.0, 0.0);
        for &logit in *row {
            // Relative to the largest logit, so that nothing overflows and little is cancelled.
            let below = f64::from(logit) - largest;
            let weight = (inverse * below).exp();
            total += weight;
            first += weight * below;
            second += weight * below * below;
        }
        let mean = first / total;
        means += largest + mean;
        variances += (second / total - mean * mean).max(0.0);
    }
    let n = rows.len() as f64;
    (means / n, variances / n)
}
