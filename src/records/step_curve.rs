//! A run's steps, thinned so that they stay few however long it trains.

use serde::{Deserialize, Serialize};

use super::StepPoint;

/// Points at most. A run of no more steps keeps every one.
const MAX_POINTS: usize = 2_000;

/// A run's steps, oldest first. Once there are too many points, every two of them become one: the
/// mean of their losses and accuracies, at the later one's step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "Rows", into = "Rows")]
pub struct StepCurve {
    points: Vec<StepPoint>,
    /// Steps in each point but the last.
    stride: u64,
    /// Steps in the last point.
    last_len: u64,
}

/// How it is saved: without the fields' names in every point.
#[derive(Serialize, Deserialize)]
struct Rows {
    points: Vec<(u64, f32, f32, f32)>,
    stride: u64,
    last_len: u64,
}

impl Default for StepCurve {
    fn default() -> Self {
        Self {
            points: Vec::new(),
            stride: 1,
            last_len: 0,
        }
    }
}

impl StepCurve {
    /// Takes the next step.
    pub fn add(&mut self, point: StepPoint) {
        match self.points.last_mut() {
            Some(last) if self.last_len < self.stride => {
                self.last_len += 1;
                *last = mean(last, &point, 1.0 / self.last_len as f32);
            }
            _ => {
                if self.points.len() >= MAX_POINTS {
                    let pairs = self
                        .points
                        .chunks(2)
                        .filter_map(|two| two.iter().copied().reduce(|a, b| mean(&a, &b, 0.5)));
                    self.points = pairs.collect();
                    self.stride = self.stride.saturating_mul(2);
                }
                self.points.push(point);
                self.last_len = 1;
            }
        }
    }

    /// The points, oldest first.
    pub fn points(&self) -> &[StepPoint] {
        &self.points
    }
}

/// Both points as one, in which the later one has this weight.
fn mean(earlier: &StepPoint, later: &StepPoint, weight: f32) -> StepPoint {
    let mix = |from: f32, to: f32| from + (to - from) * weight;
    StepPoint {
        loss: mix(earlier.loss, later.loss),
        accuracy: mix(earlier.accuracy, later.accuracy),
        ..*later
    }
}

impl From<Rows> for StepCurve {
    fn from(
        Rows {
            points,
            stride,
            last_len,
        }: Rows,
    ) -> Self {
        let point = |(step, loss, accuracy, learning_rate)| StepPoint {
            step,
            loss,
            accuracy,
            learning_rate,
        };
        Self {
            points: points.into_iter().map(point).collect(),
            stride: stride.max(1),
            last_len,
        }
    }
}

impl From<StepCurve> for Rows {
    fn from(
        StepCurve {
            points,
            stride,
            last_len,
        }: StepCurve,
    ) -> Self {
        let row = |point: StepPoint| (point.step, point.loss, point.accuracy, point.learning_rate);
        Self {
            points: points.into_iter().map(row).collect(),
            stride,
            last_len,
        }
    }
}
