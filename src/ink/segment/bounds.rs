/// A rectangle with sides along the axes.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Bounds {
    pub low: [f32; 2],
    pub high: [f32; 2],
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            low: [f32::INFINITY; 2],
            high: [f32::NEG_INFINITY; 2],
        }
    }
}

impl Bounds {
    /// The bounds of these points.
    pub fn of(points: impl IntoIterator<Item = [f32; 2]>) -> Self {
        points.into_iter().fold(Self::default(), |bounds, point| {
            bounds.union(Self {
                low: point,
                high: point,
            })
        })
    }

    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self {
            low: [0, 1].map(|axis| self.low[axis].min(other.low[axis])),
            high: [0, 1].map(|axis| self.high[axis].max(other.high[axis])),
        }
    }

    /// The same in another unit, this many of which are one of this.
    #[must_use]
    pub fn scaled(self, factor: f32) -> Self {
        Self {
            low: self.low.map(|value| value * factor),
            high: self.high.map(|value| value * factor),
        }
    }

    /// Its size on an axis: 0 is the width, 1 the height.
    pub fn size(&self, axis: usize) -> f32 {
        (self.high[axis] - self.low[axis]).max(0.0)
    }

    /// How far both overlap on an axis.
    pub fn overlap(&self, other: &Self, axis: usize) -> f32 {
        (self.high[axis].min(other.high[axis]) - self.low[axis].max(other.low[axis])).max(0.0)
    }

    pub fn middle(&self, axis: usize) -> f32 {
        f32::midpoint(self.low[axis], self.high[axis])
    }

    /// Its left and upper edge, its width and its height.
    pub fn rectangle(&self) -> [f32; 4] {
        [self.low[0], self.low[1], self.size(0), self.size(1)]
    }
}
