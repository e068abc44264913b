//! The density of trials along one axis.

use std::f64::consts::{SQRT_2, TAU};

use super::uniform;
use crate::math::random::Random;

/// Normal distributions around the points, cut off at the ends of the axis, and a wide one in the
/// middle of it as prior, all with the same weight. Each is as wide as the distance to the farther
/// of its neighbours (Bergstra et al. 2011, section 4.2), within limits: with few points none is so
/// narrow that nothing else would be tried. The lower limit is a third of hyperopt's and Optuna's:
/// sweeps here have dozens of trials, not hundreds, and of those the best are a handful.
#[derive(Clone, Debug)]
pub struct Parzen {
    low: f64,
    high: f64,
    /// Mean and standard deviation of each.
    parts: Vec<(f64, f64)>,
}

impl Parzen {
    /// The density of these points between the two ends.
    pub fn new(mut points: Vec<f64>, (low, high): (f64, f64)) -> Self {
        points.sort_unstable_by(f64::total_cmp);
        let range = high - low;
        let narrowest = range / (3 * (points.len() + 1)).min(100) as f64;
        let part = |index: usize| {
            let left = if index == 0 { low } else { points[index - 1] };
            let right = points.get(index + 1).copied().unwrap_or(high);
            let width = (points[index] - left).max(right - points[index]);
            (points[index], width.clamp(narrowest, range))
        };
        let parts = (0..points.len())
            .map(part)
            .chain([(f64::midpoint(low, high), range)])
            .collect();
        Self { low, high, parts }
    }

    /// The density at a point between the ends; its integral from end to end is 1.
    pub fn density(&self, x: f64) -> f64 {
        let part = |&(mean, deviation): &(f64, f64)| {
            let within = cumulative((self.high - mean) / deviation)
                - cumulative((self.low - mean) / deviation);
            let z = (x - mean) / deviation;
            (-0.5 * z * z).exp() / (TAU.sqrt() * deviation * within)
        };
        self.parts.iter().map(part).sum::<f64>() / self.parts.len() as f64
    }

    /// A random point between the ends.
    pub fn sample(&self, random: &mut Random) -> f64 {
        let (mean, deviation) = self.parts[random.below(self.parts.len())];
        // At least a third of each part lies within: its mean does.
        for _ in 0..64 {
            let x = mean + deviation * f64::from(random.normal());
            if (self.low..=self.high).contains(&x) {
                return x;
            }
        }
        self.low + (self.high - self.low) * uniform(random)
    }
}

/// The standard normal distribution function, to 1.5e-7: the error function as in Abramowitz &
/// Stegun 1964, formula 7.1.26.
fn cumulative(z: f64) -> f64 {
    let x = z.abs() / SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * x);
    let series = t
        * (0.254_829_592
            + t * (-0.284_496_736
                + t * (1.421_413_741 + t * (-1.453_152_027 + t * 1.061_405_429))));
    let erf = 1.0 - series * (-x * x).exp();
    0.5 * (1.0 + erf.copysign(z))
}
