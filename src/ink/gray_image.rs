//! A grey image of any size, and the connected components of what stands out in it.

use super::segment::Bounds;

/// A grey image of any size, in rows from the top left: brightness from 0 (black) to 1 (white), or
/// ink from 0 to 1.
#[derive(Clone, Debug, PartialEq)]
pub struct GrayImage {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) values: Vec<f32>,
    /// Pixels of the file along the side of one here.
    pub(super) scale: f32,
}

impl GrayImage {
    /// Width and height in pixels.
    pub const fn size(&self) -> [usize; 2] {
        [self.width, self.height]
    }

    /// The pixels, in rows from the top left.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// The image reduced by a whole factor to at most this many pixels a side, each the mean of
    /// those that it stands for.
    pub(super) fn reduced(&self, side: usize) -> Self {
        let step = self.width.max(self.height).div_ceil(side).max(1);
        let (width, height) = (self.width.div_ceil(step), self.height.div_ceil(step));
        let mut sums = vec![[0.0_f32; 2]; width * height];
        for (index, value) in self.values.iter().enumerate() {
            let (x, y) = self.position(index);
            let [sum, count] = &mut sums[y / step * width + x / step];
            (*sum, *count) = (*sum + value, *count + 1.0);
        }
        let values = sums.into_iter().map(|[sum, count]| sum / count).collect();
        Self {
            width,
            height,
            values,
            scale: self.scale * step as f32,
        }
    }

    pub(super) fn at(&self, x: usize, y: usize) -> f32 {
        self.values[y * self.width + x]
    }

    /// Column and row of pixel `index`.
    pub(super) const fn position(&self, index: usize) -> (usize, usize) {
        (index % self.width, index / self.width)
    }

    /// The distance of pixel `index` from the nearest edge of the image; 0 is on it.
    pub(super) fn distance_to_edge(&self, index: usize) -> usize {
        let (x, y) = self.position(index);
        x.min(y).min(self.width - 1 - x).min(self.height - 1 - y)
    }

    /// The pixel itself and up to eight around it.
    pub(super) fn neighborhood(&self, index: usize) -> impl Iterator<Item = usize> + use<> {
        let ((x, y), width) = (self.position(index), self.width);
        let columns = x.saturating_sub(1)..(x + 2).min(width);
        (y.saturating_sub(1)..(y + 2).min(self.height))
            .flat_map(move |row| columns.clone().map(move |column| row * width + column))
    }

    /// The pixels of each connected component (8-connectivity) of those that the mask contains.
    pub(super) fn components(&self, mut mask: Vec<bool>) -> Vec<Vec<usize>> {
        let mut components = Vec::new();
        for start in 0..mask.len() {
            if !std::mem::take(&mut mask[start]) {
                continue;
            }
            let (mut members, mut next) = (vec![start], 0);
            while let Some(&pixel) = members.get(next) {
                next += 1;
                members.extend(
                    self.neighborhood(pixel)
                        .filter(|&neighbor| std::mem::take(&mut mask[neighbor])),
                );
            }
            components.push(members);
        }
        components
    }

    /// What is around these pixels.
    pub(super) fn bounds(&self, pixels: impl IntoIterator<Item = usize>) -> Bounds {
        let corners = |index: usize| {
            let (x, y) = self.position(index);
            [[x as f32, y as f32], [x as f32 + 1.0, y as f32 + 1.0]]
        };
        Bounds::of(pixels.into_iter().flat_map(corners))
    }
}
