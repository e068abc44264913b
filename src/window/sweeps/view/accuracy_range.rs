//! The accuracies that the plots of a sweep show: those of good trials, apart from each other,
//! whatever poor ones have.

use crate::sweep::Trial;

/// How far below the median the axis reaches, in distances from the median to the best.
const REACH: f64 = 4.0;
/// The least that the axis spans: a tenth of a percentage point.
const MIN_SPAN: f64 = 0.001;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AccuracyRange {
    pub low: f64,
    pub high: f64,
    pub clips: bool,
}

impl AccuracyRange {
    pub fn of(trials: &[Trial]) -> Self {
        let mut all: Vec<f64> = trials
            .iter()
            .filter_map(Trial::accuracy)
            .filter(|accuracy| accuracy.is_finite())
            .collect();
        all.sort_unstable_by(f64::total_cmp);
        let (Some(&least), Some(&high)) = (all.first(), all.last()) else {
            return Self {
                low: 0.0,
                high: 1.0,
                clips: false,
            };
        };
        let median = all[all.len() / 2];
        let low = least
            .max(median - REACH * (high - median).max(MIN_SPAN))
            .min(high - MIN_SPAN)
            .max(0.0);
        Self {
            low,
            high,
            clips: least < low,
        }
    }

    /// Its ends with some space, for a plot.
    pub fn with_margin(self) -> (f64, f64) {
        let margin = 0.08 * (self.high - self.low);
        (self.low - margin, self.high + margin)
    }

    /// Where an accuracy stands, from 0 at the lower end to 1 at the upper one.
    pub fn share(self, accuracy: f64) -> f32 {
        ((accuracy - self.low) / (self.high - self.low)).clamp(0.0, 1.0) as f32
    }
}
