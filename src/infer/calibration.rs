//! Temperature scaling (Guo, Pleiss, Sun, Weinberger 2017, "On Calibration of Modern Neural Networks"): one number that logits are divided by,
//! so that the probabilities of a network are as often right as they say. The order of the digits, and so the accuracy, stays the same.

use crate::records::{CLASSES, Calibration};

/// Steps of the search: each at least halves the interval where the minimum is.
const STEPS: usize = 60;

/// The temperature at which these `[n, 10]` logits have the smallest negative log-likelihood of their labels; 1 without images, or where a
/// logit is not finite.
///
/// The likelihood is convex in `b = 1 / temperature`: its derivative is the mean of `E[z] - t`, where `E[z]` is the mean logit under
/// `softmax(b z)` and `t` that of the label, and its second derivative the mean variance. Newton's method finds the zero; where a step
/// would leave the interval that has the zero, the interval is halved. So that no network without mistakes on its few images is called
/// infallible, a label counts as `(n + 1) / (n + 2)` sure (Platt 1999, "Probabilistic Outputs for Support Vector Machines").
pub fn fit_temperature(logits: &[f32], labels: &[u8]) -> f32 {
    let rows = logits.as_chunks::<CLASSES>().0;
    if rows.is_empty() || rows.len() != labels.len() || !logits.iter().all(|logit| logit.is_finite()) {
        return Calibration::NONE.temperature;
    }
    let sure = (rows.len() + 1) as f64 / (rows.len() + 2) as f64;
    let target = |row: &[f32; CLASSES], label: u8| {
        let sum: f64 = row.iter().map(|&logit| f64::from(logit)).sum();
        let of_label = row.get(usize::from(label)).copied().map_or(0.0, f64::from);
        sure * of_label + (1.0 - sure) * (sum - of_label) / (CLASSES - 1) as f64
    };
    let mean_target = rows.iter().zip(labels).map(|(row, &label)| target(row, label)).sum::<f64>() / rows.len() as f64;
    let [mut low, mut high] = [Calibration::TEMPERATURES.end(), Calibration::TEMPERATURES.start()].map(|end| 1.0 / f64::from(*end));
    let mut inverse = 1.0_f64;
    for _ in 0..STEPS {
        let (mean, variance) = moments(rows, inverse);
        let slope = mean - mean_target;
        if slope > 0.0 {
            high = inverse;
        } else {
            low = inverse;
        }
        let newton = inverse - slope / variance;
        let next = if newton > low && newton < high { newton } else { f64::midpoint(low, high) };
        let change = (next - inverse).abs();
        inverse = next;
        if change < 1e-9 * inverse {
            break;
        }
    }
    ((1.0 / inverse) as f32).clamp(*Calibration::TEMPERATURES.start(), *Calibration::TEMPERATURES.end())
}

/// Mean and variance of a row's logits under `softmax(inverse * row)`, averaged over the rows.
fn moments(rows: &[[f32; CLASSES]], inverse: f64) -> (f64, f64) {
    let (mut means, mut variances) = (0.0, 0.0);
    for row in rows {
        let largest = f64::from(row.iter().copied().fold(f32::NEG_INFINITY, f32::max));
        let (mut total, mut first, mut second) = (0.0, 0.0, 0.0);
        for &logit in row {
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
