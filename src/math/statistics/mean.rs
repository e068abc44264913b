//! The mean of repeated measurements.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// The mean of a sample, and the interval that its expected value lies in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanInterval {
    pub count: usize,
    /// Their mean.
    pub mean: f64,
    /// Their standard deviation, with `count - 1` in the denominator.
    pub deviation: f64,
    /// The lower end of the 95 % interval of the expected value.
    pub low: f64,
    pub high: f64,
}

/// The mean of independent measurements with its 95 % interval: `mean ± t · s / √n`, where `s` is
/// the standard deviation of the sample and `t` the 0.975 quantile of Student's t distribution with
/// `n - 1` degrees of freedom (Student 1908, "The probable error of a mean", Biometrika 6). It is
/// exact for measurements that are normally distributed. `None` with fewer than two of them, or
/// where one is not finite.
pub fn mean_interval(values: &[f64]) -> Option<MeanInterval> {
    let count = values.len();
    if count < 2 || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let n = count as f64;
    let mean = values.iter().sum::<f64>() / n;
    let deviation = (values
        .iter()
        .map(|value| (value - mean).powi(2))
        .sum::<f64>()
        / (n - 1.0))
        .sqrt();
    let quantile = StudentsT::new(0.0, 1.0, n - 1.0).ok()?.inverse_cdf(0.975);
    let half = quantile * deviation / n.sqrt();
    Some(MeanInterval {
        count,
        mean,
        deviation,
        low: mean - half,
        high: mean + half,
    })
}
