//! Brings the ink found in an image file into MNIST's frame: cropped, scaled to the box, its
//! strokes redrawn at the usual width, centered. For models that recognize other things than ink on
//! paper, the image as a whole: in gray, light on dark, scaled to the input's 28x28 pixels.

use crate::ink::image::{BOX, Coverage, GrayImage, Image, PIXELS, SIDE};
use crate::ink::rasterize::{EDGE, PEN, Placement, distances};
use crate::ink::steps::{StageImage, StageKind, StageObserver, Step, Steps};

/// Subpixels along a pixel's side: the resolution at which strokes are measured and redrawn.
const FINE: usize = 8;
/// Side of the subdivided image, in subpixels.
const FINE_SIDE: usize = SIDE * FINE;
/// Subpixels along a pixel's side where the pen is measured.
const COARSE: usize = 4;

/// Ink that is at least this many times as long as its stroke is wide has been written; anything
/// shorter is a dot.
const SHORTEST: f32 = 1.3;
/// The path of the pen is at least this fraction of the ink's length: in a blob of thick strokes
/// the pen is hard to tell.
const SHORTEST_PATH: f32 = 0.45;
/// The fraction of the ink that a pen may miss: more would be missing with a pen that is too large
/// for the strokes.
const MISSED: f32 = 0.03;

/// The image of this ink, whose values go from 0 to 1, with these steps, and where the ink's pixels
/// are in it; `None` if there is no ink. `observer` gets the result of each.
pub(in crate::ink) fn reframe(
    ink: &GrayImage,
    steps: &Steps,
    observer: &mut impl StageObserver,
) -> Option<(Image, Placement)> {
    let mut crop = Crop::around(ink)?;
    let per_pixel = BOX as f32 / crop.longest;
    let pen = 2.0 * pen_radius(&crop.scaled(ink, per_pixel, COARSE)) / COARSE as f32 / per_pixel;
    // As `rasterize` does it: the path of the pen's center fits the box with the usual pen.
    let room = BOX as f32 - EDGE - PEN;
    // A dot is as large as the usual pen.
    let scale = if !steps.has(Step::Scaling) {
        let (middle, side) = steps.square();
        crop.middle = middle.map(|middle| middle as f32);
        SIDE as f32 / side as f32
    } else if crop.longest < SHORTEST * pen {
        PEN / pen
    } else if steps.has(Step::Pen) {
        room / (crop.longest - pen).max(SHORTEST_PATH * crop.longest)
    } else {
        (BOX as f32 - EDGE) / crop.longest
    };
    let mut fine = crop.scaled(ink, scale, FINE);
    let image = |fine: &[f32]| {
        StageImage::Ink(GrayImage {
            width: FINE_SIDE,
            height: FINE_SIDE,
            values: fine.to_vec(),
            scale: 1.0,
        })
    };
    observer.stage(StageKind::Step(Step::Scaling), || image(&fine));
    if steps.has(Step::Pen) {
        redraw(&mut fine, scale * pen / 2.0 * FINE as f32);
    }
    observer.stage(StageKind::Step(Step::Pen), || image(&fine));
    let mut coverage = Coverage::default();
    for (index, value) in fine.iter().enumerate() {
        let (x, y) = (index % FINE_SIDE / FINE, index / FINE_SIDE / FINE);
        coverage.0[y * SIDE + x] += value / (FINE * FINE) as f32;
    }
    let shift = coverage.shift(steps);
    let image = coverage.moved(shift);
    observer.stage(StageKind::Step(Step::Centering), || {
        StageImage::Model(Box::new(image.clone()))
    });
    let center = SIDE as f32 / 2.0;
    let offset = |axis: usize| center + shift[axis] as f32 - crop.middle[axis] * scale;
    let offset = [0, 1].map(offset);
    Some((image, Placement { scale, offset }))
}

/// The square around the ink, in pixels of the file's image.
struct Crop {
    middle: [f32; 2],
    longest: f32,
}

impl Crop {
    fn around(ink: &GrayImage) -> Option<Self> {
        let bounds = ink.bounds((0..ink.values.len()).filter(|&index| ink.values[index] > 0.25));
        let longest = bounds.size(0).max(bounds.size(1));
        (longest > 0.0).then(|| Self {
            middle: [bounds.middle(0), bounds.middle(1)],
            longest,
        })
    }

    /// The ink on an image subdivided into `fine` by `fine` subpixels a pixel, `scale` image pixels
    /// for each pixel of the file, averaged if it shrinks.
    fn scaled(&self, ink: &GrayImage, scale: f32, fine: usize) -> Vec<f32> {
        let side = SIDE * fine;
        let step = 1.0 / (scale * fine as f32);
        let samples = step.ceil().clamp(1.0, 8.0) as usize;
        let along = |subpixel: usize, sample: usize, middle: f32| {
            let place = subpixel as f32 + (sample as f32 + 0.5) / samples as f32;
            (place - side as f32 / 2.0) * step + middle
        };
        let average = |x: usize, y: usize| {
            let sum: f32 = (0..samples * samples)
                .map(|k| {
                    interpolated(
                        ink,
                        along(x, k % samples, self.middle[0]),
                        along(y, k / samples, self.middle[1]),
                    )
                })
                .sum();
            sum / (samples * samples) as f32
        };
        (0..side * side)
            .map(|index| average(index % side, index / side))
            .collect()
    }
}

/// Bilinear interpolation between pixel centers; 0 outside.
fn interpolated(ink: &GrayImage, x: f32, y: f32) -> f32 {
    let (x, y) = (x - 0.5, y - 0.5);
    let (left, top) = (x.floor(), y.floor());
    let value = |column: f32, row: f32| {
        let inside =
            column >= 0.0 && row >= 0.0 && column < ink.width as f32 && row < ink.height as f32;
        if inside {
            ink.at(column as usize, row as usize)
        } else {
            0.0
        }
    };
    let (right, down) = (x - left, y - top);
    let upper = value(left, top) * (1.0 - right) + value(left + 1.0, top) * right;
    let lower = value(left, top + 1.0) * (1.0 - right) + value(left + 1.0, top + 1.0) * right;
    upper * (1.0 - down) + lower * down
}

/// The radius of the pen, in subpixels: the largest with which nearly all of the ink can be drawn,
/// by the size distribution of morphological openings (granulometry: Matheron 1975). Strokes vanish
/// with any larger pen, even if loops are filled in and strokes run together.
fn pen_radius(ink: &[f32]) -> f32 {
    let side = SIDE * COARSE;
    let depth = distances(ink, side, |value| value < 0.5);
    let all = depth.iter().filter(|&&depth| depth > 0.0).count() as f32;
    let missed = |radius: f32| {
        let to_path = distances(&depth, side, |depth| depth - 0.5 >= radius);
        depth
            .iter()
            .zip(&to_path)
            .filter(|&(&depth, &distance)| depth > 0.0 && distance > radius + 0.5)
            .count() as f32
    };
    let (mut fits, mut too_large) = (0.5, depth.iter().copied().fold(1.0, f32::max));
    while too_large - fits > 0.05 * fits.max(1.0) {
        let middle = f32::midpoint(fits, too_large);
        if missed(middle) <= MISSED * all {
            fits = middle;
        } else {
            too_large = middle;
        }
    }
    fits
}

/// Away from the medial axis the distance to the edge grows by 1 with each step towards it.
fn is_on_medial_axis(depth: &[f32], index: usize) -> bool {
    /// The steepest slope at a point that counts as on the axis.
    const SLOPE: f32 = 0.6;
    let here = depth[index];
    let (x, y) = (index % FINE_SIDE, index / FINE_SIDE);
    here > 0.0
        && (1..FINE_SIDE - 1).contains(&x)
        && (1..FINE_SIDE - 1).contains(&y)
        && [
            (1_usize, 1.0_f32),
            (FINE_SIDE, 1.0),
            (FINE_SIDE + 1, std::f32::consts::SQRT_2),
            (FINE_SIDE - 1, std::f32::consts::SQRT_2),
        ]
        .iter()
        .all(|&(step, length)| {
            (depth[index + step].max(depth[index - step]) - here) < SLOPE * length
        })
}

/// Redraws strokes of a pen of `radius` subpixels with the usual one. Its path is where a pen of
/// that size fits into the ink; thinner parts keep their medial axis, so that they do not break.
fn redraw(fine: &mut [f32], radius: f32) {
    /// Parts thinner than this fraction of the pen are the edge's roughness.
    const THINNEST: f32 = 0.45;
    let usual = PEN / 2.0 * FINE as f32;
    let growth = usual - radius;
    let outside = distances(fine, FINE_SIDE, |value| value >= 0.5);
    let inside = distances(fine, FINE_SIDE, |value| value < 0.5);
    let is_thin = |depth: f32| depth < 0.75 * radius && depth >= THINNEST * radius;
    let mut axis = vec![0.0; fine.len()];
    if growth < 0.0 {
        for (index, value) in axis.iter_mut().enumerate() {
            if is_thin(inside[index] - 0.5) && is_on_medial_axis(&inside, index) {
                *value = 1.0;
            }
        }
    }
    for ((value, outside), inside) in fine.iter_mut().zip(&outside).zip(&inside) {
        *value = (growth - (outside - inside) + 0.5).clamp(0.0, 1.0);
    }
    if axis.contains(&1.0) {
        for (value, to_axis) in fine
            .iter_mut()
            .zip(distances(&axis, FINE_SIDE, |value| value > 0.5))
        {
            *value = value.max((0.8 * usual - to_axis + 0.5).clamp(0.0, 1.0));
        }
    }
}

/// The whole image with its sides in proportion, in the middle; its negative if most of its edge
/// is light.
pub(super) fn whole(gray: &GrayImage) -> Image {
    let side = gray.width.max(gray.height) as f32;
    let negative = has_light_edge(gray);
    let start = [gray.width, gray.height].map(|length| (side - length as f32) / 2.0);
    let mut pixels = [0; PIXELS];
    for (index, pixel) in pixels.iter_mut().enumerate() {
        let at = [index % SIDE, index / SIDE];
        let [columns, rows] = [0, 1].map(|axis| {
            let edge = |pixel: usize| pixel as f32 * side / SIDE as f32 - start[axis];
            (edge(at[axis]), edge(at[axis] + 1))
        });
        let value = mean(gray, negative, columns, rows);
        *pixel = (value * 255.0).round().clamp(0.0, 255.0) as u8;
    }
    Image::new(pixels)
}

/// The mean brightness of this part of the image; what lies outside is black.
fn mean(
    gray: &GrayImage,
    negative: bool,
    (left, right): (f32, f32),
    (top, bottom): (f32, f32),
) -> f32 {
    let covered = |low: f32, high: f32, length: usize| {
        let first = low.floor().max(0.0) as usize;
        let end = (high.ceil().max(0.0) as usize).min(length);
        (first..end).map(move |at| {
            (
                at,
                (high.min(at as f32 + 1.0) - low.max(at as f32)).max(0.0),
            )
        })
    };
    let mut sum = 0.0;
    for (y, height) in covered(top, bottom, gray.height) {
        for (x, width) in covered(left, right, gray.width) {
            let value = gray.at(x, y);
            sum += width * height * if negative { 1.0 - value } else { value };
        }
    }
    sum / ((right - left) * (bottom - top))
}

/// Whether more than half of the outermost pixels are light.
fn has_light_edge(gray: &GrayImage) -> bool {
    let edge = (0..gray.values.len()).filter(|&index| gray.distance_to_edge(index) == 0);
    let (light, all) = edge.fold((0, 0), |(light, all), index| {
        (light + usize::from(gray.values[index] > 0.5), all + 1)
    });
    light * 2 > all
}
