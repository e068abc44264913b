//! Brings the ink found in an image file into MNIST's frame: cropped, scaled to the box, strokes of a usual width, centred.

use super::GrayImage;
use crate::ink::image::{Image, SIDE};
use crate::ink::mnist_frame::{BOX, Coverage};
use crate::ink::rasterize::{PEN, THICKEST, THINNEST};

/// Subpixels along a pixel's side: the resolution at which strokes are measured and widened.
const FINE: usize = 8;
/// Side of the subdivided image, in subpixels.
const FINE_SIDE: usize = SIDE * FINE;

/// The image of this ink, whose values go from 0 to 1.
pub(super) fn reframe(ink: &GrayImage) -> Image {
    let Some(crop) = Crop::around(ink) else { return Image::BLANK };
    let mut fine = crop.scaled(ink, BOX as f32);
    let width = stroke_width(&fine);
    if !(THINNEST..=THICKEST).contains(&width) {
        // Thin strokes vanish when the image is reduced and thick ones close loops: go to the nearest usual
        // width, but never so far that parts thinner than the rest get lost.
        let wanted = if width < THINNEST { PEN } else { THICKEST };
        let growth = ((wanted - width) / 2.0).max(-0.25 * width);
        fine = crop.scaled(ink, BOX as f32 - 2.0 * growth);
        widen(&mut fine, growth * FINE as f32);
    }
    let mut coverage = Coverage::default();
    for (index, value) in fine.iter().enumerate() {
        let (x, y) = (index % FINE_SIDE / FINE, index / FINE_SIDE / FINE);
        coverage.0[y * SIDE + x] += value / (FINE * FINE) as f32;
    }
    coverage.centered()
}

/// The square around the ink, in pixels of the file's image.
struct Crop {
    middle: [f32; 2],
    longest: f32,
}

impl Crop {
    fn around(ink: &GrayImage) -> Option<Self> {
        let mut low = [f32::INFINITY; 2];
        let mut high = [f32::NEG_INFINITY; 2];
        for (index, _) in ink.values.iter().enumerate().filter(|(_, value)| **value > 0.25) {
            let (x, y) = ink.position(index);
            for (axis, place) in [x as f32, y as f32].into_iter().enumerate() {
                low[axis] = low[axis].min(place);
                high[axis] = high[axis].max(place + 1.0);
            }
        }
        let longest = (high[0] - low[0]).max(high[1] - low[1]);
        longest.is_finite().then(|| Self { middle: [f32::midpoint(low[0], high[0]), f32::midpoint(low[1], high[1])], longest })
    }

    /// The ink on the subdivided image, its longer side `side` image pixels long, averaged where it shrinks.
    fn scaled(&self, ink: &GrayImage, side: f32) -> Vec<f32> {
        let step = self.longest / (side * FINE as f32);
        let samples = step.ceil().clamp(1.0, 8.0) as usize;
        let along = |fine: usize, sample: usize, middle: f32| {
            let place = fine as f32 + (sample as f32 + 0.5) / samples as f32;
            (place - FINE_SIDE as f32 / 2.0) * step + middle
        };
        let average = |x: usize, y: usize| {
            let sum: f32 = (0..samples * samples)
                .map(|k| interpolated(ink, along(x, k % samples, self.middle[0]), along(y, k / samples, self.middle[1])))
                .sum();
            sum / (samples * samples) as f32
        };
        (0..FINE_SIDE * FINE_SIDE).map(|index| average(index % FINE_SIDE, index / FINE_SIDE)).collect()
    }
}

/// Bilinear interpolation between pixel centres; 0 outside.
fn interpolated(ink: &GrayImage, x: f32, y: f32) -> f32 {
    let (x, y) = (x - 0.5, y - 0.5);
    let (left, top) = (x.floor(), y.floor());
    let value = |column: f32, row: f32| {
        let inside = column >= 0.0 && row >= 0.0 && column < ink.width as f32 && row < ink.height as f32;
        if inside { ink.at(column as usize, row as usize) } else { 0.0 }
    };
    let (right, down) = (x - left, y - top);
    let upper = value(left, top) * (1.0 - right) + value(left + 1.0, top) * right;
    let lower = value(left, top + 1.0) * (1.0 - right) + value(left + 1.0, top + 1.0) * right;
    upper * (1.0 - down) + lower * down
}

/// Mean width of the strokes, in image pixels: the mean distance to the edge inside a long stroke is a quarter of its width.
fn stroke_width(fine: &[f32]) -> f32 {
    let depth = distances(fine, |value| value < 0.5);
    let inside = || depth.iter().filter(|&&depth| depth > 0.0);
    4.0 * inside().map(|depth| depth - 0.5).sum::<f32>() / inside().count().max(1) as f32 / FINE as f32
}

/// Moves the edge of the ink outwards by `growth` subpixels (inwards if negative).
fn widen(fine: &mut [f32], growth: f32) {
    let outside = distances(fine, |value| value >= 0.5);
    let inside = distances(fine, |value| value < 0.5);
    for ((value, outside), inside) in fine.iter_mut().zip(outside).zip(inside) {
        *value = (growth - (outside - inside) + 0.5).clamp(0.0, 1.0);
    }
}

/// The Euclidean distance from each pixel to the nearest one that `is_goal`, exact, as lower envelopes of parabolas along
/// rows and then columns (Felzenszwalb & Huttenlocher 2012).
fn distances(fine: &[f32], is_goal: impl Fn(f32) -> bool) -> Vec<f32> {
    // Farther than any distance in the field, yet small enough for its square to be added to exactly.
    const FAR: f32 = (4 * FINE_SIDE * FINE_SIDE) as f32;
    let mut squared: Vec<f32> = fine.iter().map(|&value| if is_goal(value) { 0.0 } else { FAR }).collect();
    for row in squared.chunks_mut(FINE_SIDE) {
        let envelope = lower_envelope(row);
        row.copy_from_slice(&envelope);
    }
    for x in 0..FINE_SIDE {
        let column: Vec<f32> = squared.iter().skip(x).step_by(FINE_SIDE).copied().collect();
        for (y, value) in lower_envelope(&column).into_iter().enumerate() {
            squared[y * FINE_SIDE + x] = value;
        }
    }
    squared.into_iter().map(f32::sqrt).collect()
}

/// At each place `q` the least `(q - p)^2 + heights[p]` over all `p`.
fn lower_envelope(heights: &[f32]) -> Vec<f32> {
    let meet = |p: usize, q: usize| {
        let (pf, qf) = (p as f32, q as f32);
        ((heights[q] + qf * qf) - (heights[p] + pf * pf)) / (2.0 * (qf - pf))
    };
    // The parabolas of the envelope from left to right, each with where it begins to be the lowest.
    let mut lowest: Vec<(usize, f32)> = Vec::with_capacity(heights.len());
    for q in 0..heights.len() {
        let mut from = f32::NEG_INFINITY;
        while let Some(&(p, begin)) = lowest.last() {
            from = meet(p, q);
            if from > begin {
                break;
            }
            lowest.pop();
            from = f32::NEG_INFINITY;
        }
        lowest.push((q, from));
    }
    let mut current = 0;
    (0..heights.len())
        .map(|q| {
            while lowest.get(current + 1).is_some_and(|(_, begin)| *begin < q as f32) {
                current += 1;
            }
            let p = lowest[current].0;
            (q as f32 - p as f32).powi(2) + heights[p]
        })
        .collect()
}
