//! Turns ink into an image: scales it to MNIST's 20x20 box, draws it with a round pen and centers
//! it by mass; and what is left of a drawing with a very thick pen once its strokes are thinned, as
//! image files are read.

use serde::{Deserialize, Serialize};

use super::image::{BOX, Coverage, Image, SIDE};
use super::steps::{StageImage, StageKind, StageObserver, Step, Steps};
use super::{Bounds, Ink, Stroke};

/// The diameter, in image pixels, of the pen that every drawing is redrawn with, whatever pen it
/// was drawn with: MNIST's median (measured on its training images).
pub(super) const PEN: f32 = 2.4;
/// Pixels over which an edge fades from ink to paper, as MNIST's resampling left it.
pub(super) const EDGE: f32 = 1.1;
/// Points nearer than this to the last one drawn, in image pixels, are skipped.
const NEGLIGIBLE: f32 = 0.2;

/// The image that models take as input: MNIST's conventions (`LeCun` et al. 1998), whatever the
/// ink's unit, position and size.
///
/// The ink's bounding box, pen included, fits 20x20 pixels with its proportions kept; its center of
/// mass comes to the center of the image, to the nearest pixel. The pen has always the same width
/// in the image: the ink's own only distinguishes a dot from a small drawing. Points that are not
/// finite are skipped; ink without points gives [`Image::BLANK`].
pub fn rasterize(ink: &Ink) -> Image {
    rasterize_with(ink, &Steps::ALL, &mut ())
}

/// [`rasterize`] with these steps alone.
pub fn rasterize_steps(ink: &Ink, steps: &Steps) -> Image {
    rasterize_with(ink, steps, &mut ())
}

/// The same; `observer` gets the result of each.
pub(super) fn rasterize_with(ink: &Ink, steps: &Steps, observer: &mut impl StageObserver) -> Image {
    draw(ink, [PEN, EDGE], |_, _| 0.0, steps, observer)
}

/// [`rasterize`], as another pen and scanner might render it: the pen is `pen` pixels wide, edges
/// fade over `edge` pixels, and the outline lies `bulge(x, y)` pixels further out there.
pub(crate) fn rasterize_as_scanned(
    ink: &Ink,
    pen: f32,
    edge: f32,
    bulge: impl FnMut(f32, f32) -> f32,
) -> Image {
    draw(ink, [pen, edge], bulge, &Steps::ALL, &mut ())
}

fn draw(
    ink: &Ink,
    [pen, edge]: [f32; 2],
    bulge: impl FnMut(f32, f32) -> f32,
    steps: &Steps,
    observer: &mut impl StageObserver,
) -> Image {
    let Some(frame) = Frame::around(ink, pen, edge, steps) else {
        return Image::BLANK;
    };
    observer.stage(StageKind::Drawn, || steps.page_of(ink));
    observer.stage(StageKind::Step(Step::Scaling), || {
        let strokes = ink
            .strokes
            .iter()
            .map(|stroke| frame.pixels_of(stroke).collect())
            .collect();
        StageImage::Strokes {
            strokes,
            pen: frame.own_pen.unwrap_or(pen),
            size: [SIDE as f32; 2],
        }
    });
    let canvas = frame.draw(ink, [pen, edge], steps);
    let coverage = canvas.coverage(bulge);
    observer.stage(StageKind::Step(Step::Pen), || {
        StageImage::Model(Box::new(coverage.image()))
    });
    let image = coverage.centered(steps);
    observer.stage(StageKind::Step(Step::Centering), || {
        StageImage::Model(Box::new(image.clone()))
    });
    image
}

/// Where the points of a drawing are in the image that is made of it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Placement {
    /// Image pixels to a unit of the drawing.
    pub scale: f32,
    /// Where the drawing's origin is, in image pixels.
    pub offset: [f32; 2],
}

impl Placement {
    /// The place of a point of the drawing, in image pixels from the upper left corner.
    pub fn in_image(&self, point: [f32; 2]) -> [f32; 2] {
        [0, 1].map(|axis| point[axis] * self.scale + self.offset[axis])
    }

    /// That of an image file of this size, which is scaled to the whole image and centered.
    pub(super) fn of_whole(bounds: Bounds) -> Self {
        let longest = bounds.size(0).max(bounds.size(1));
        let scale = SIDE as f32 / longest;
        let offset = [0, 1].map(|axis| (longest - bounds.size(axis)) / 2.0 * scale);
        Self { scale, offset }
    }

    /// The same for a drawing in another unit, this many of which are one of this.
    #[must_use]
    pub(super) fn in_unit(self, unit: f32) -> Self {
        let scale = self.scale / unit;
        Self { scale, ..self }
    }

    /// The point of the drawing at a place in the image.
    pub fn in_drawing(&self, place: [f32; 2]) -> [f32; 2] {
        [0, 1].map(|axis| (place[axis] - self.offset[axis]) / self.scale)
    }
}

/// A drawing in its image, to which strokes can be added without it being scaled and centered
/// anew.
pub struct PlacedInk {
    /// Where it is.
    pub placement: Placement,
    canvas: Canvas,
    shift: [isize; 2],
}

impl PlacedInk {
    /// `None` if nothing is drawn, or all of it in one point.
    pub fn new(ink: &Ink, steps: &Steps) -> Option<Self> {
        let frame = Frame::around(ink, PEN, EDGE, steps)?;
        let canvas = frame.draw(ink, [PEN, EDGE], steps);
        let shift = canvas.coverage(|_, _| 0.0).shift(steps);
        let origin = frame.to_pixels([0.0; 2]);
        let placement = Placement {
            scale: frame.scale as f32,
            offset: [0, 1].map(|axis| origin[axis] + shift[axis] as f32),
        };
        (frame.scale > 0.0).then_some(Self {
            placement,
            canvas,
            shift,
        })
    }

    /// The image with one more stroke, whose points are in image pixels.
    pub fn with_stroke(&self, points: &[[f32; 2]]) -> Image {
        let mut canvas = self.canvas.clone();
        let unshifted = |place: [f32; 2]| [0, 1].map(|axis| place[axis] - self.shift[axis] as f32);
        for (from, to) in points.iter().zip(points.iter().skip(1)) {
            canvas.line(unshifted(*from), unshifted(*to));
        }
        canvas.coverage(|_, _| 0.0).moved(self.shift)
    }
}

fn finite([x, y]: [f32; 2]) -> bool {
    x.is_finite() && y.is_finite()
}

/// The transformation from ink coordinates to pixel coordinates.
pub(super) struct Frame {
    /// The point that comes to the middle of the image.
    middle: [f64; 2],
    scale: f64,
    /// The diameter in image pixels of the pen that it was drawn with, if that is known.
    own_pen: Option<f32>,
}

impl Frame {
    /// `None` when the ink holds no finite point. In f64, where no difference of two f32 overflows.
    pub fn around(ink: &Ink, pen: f32, edge: f32, steps: &Steps) -> Option<Self> {
        let mut low = [f64::INFINITY; 2];
        let mut high = [f64::NEG_INFINITY; 2];
        for point in ink.strokes.iter().flatten().filter(|point| finite(**point)) {
            for axis in 0..2 {
                low[axis] = low[axis].min(f64::from(point[axis]));
                high[axis] = high[axis].max(f64::from(point[axis]));
            }
        }
        let extent = (high[0] - low[0]).max(high[1] - low[1]);
        if !extent.is_finite() {
            return None;
        }
        let own = ink
            .pen
            .map(f64::from)
            .filter(|pen| pen.is_finite() && *pen > 0.0);
        let inside = BOX as f64 - f64::from(edge);
        let fitting = match own {
            // Its own pen is scaled with it.
            Some(own) if !steps.has(Step::Pen) => inside / (extent + own),
            _ => (inside - f64::from(pen)) / extent,
        };
        let (middle, scale) = if steps.has(Step::Scaling) {
            let scale = match own {
                // No larger than its pen: a dot, whose tremor must not fill the image.
                Some(own) if extent < own => f64::from(pen) / own,
                _ if extent <= 0.0 => 0.0,
                _ => fitting,
            };
            (
                [
                    f64::midpoint(low[0], high[0]),
                    f64::midpoint(low[1], high[1]),
                ],
                scale,
            )
        } else {
            let (middle, side) = steps.square();
            (middle, SIDE as f64 / side)
        };
        Some(Self {
            middle,
            scale,
            own_pen: own.map(|own| (own * scale) as f32),
        })
    }

    /// The finite points of a stroke, in image pixels.
    pub fn pixels_of<'a>(&'a self, stroke: &'a Stroke) -> impl Iterator<Item = [f32; 2]> + 'a {
        stroke
            .iter()
            .copied()
            .filter(|point| finite(*point))
            .map(|point| self.to_pixels(point))
    }

    /// The paths of a pen of this width over the ink, with edges that fade over so many pixels.
    fn draw(&self, ink: &Ink, [pen, edge]: [f32; 2], steps: &Steps) -> Canvas {
        let pen = if steps.has(Step::Pen) {
            pen
        } else {
            self.own_pen.unwrap_or(pen)
        };
        let mut canvas = Canvas::new(pen / 2.0, edge);
        for stroke in &ink.strokes {
            let mut points = self.pixels_of(stroke).peekable();
            let Some(first) = points.next() else { continue };
            let mut last = first;
            canvas.line(first, first);
            while let Some(point) = points.next() {
                let step = (point[0] - last[0]).hypot(point[1] - last[1]);
                if step >= NEGLIGIBLE || points.peek().is_none() {
                    canvas.line(last, point);
                    last = point;
                }
            }
        }
        canvas
    }

    fn to_pixels(&self, [x, y]: [f32; 2]) -> [f32; 2] {
        let center = SIDE as f64 / 2.0;
        let [mx, my] = self.middle;
        [
            ((f64::from(x) - mx) * self.scale + center) as f32,
            ((f64::from(y) - my) * self.scale + center) as f32,
        ]
    }
}

/// For each pixel, the squared distance from its center to the nearest pen path within the pen's
/// reach.
#[derive(Clone)]
struct Canvas {
    nearest: [f32; SIDE * SIDE],
    radius: f32,
    edge: f32,
}

impl Canvas {
    fn new(radius: f32, edge: f32) -> Self {
        Self {
            nearest: [f32::INFINITY; SIDE * SIDE],
            radius,
            edge,
        }
    }

    /// Draws a straight segment of the pen's path; a segment of length zero makes a dot.
    fn line(&mut self, from: [f32; 2], to: [f32; 2]) {
        let reach = self.radius + self.edge / 2.0;
        let span = |a: f32, b: f32| {
            // Pixel i has its center at i + 0.5. The casts saturate, and the ink lies inside the
            // 20x20 box anyway.
            let first = (a.min(b) - reach - 0.5).ceil().max(0.0) as usize;
            let last = (a.max(b) + reach - 0.5).floor().max(0.0) as usize;
            first..(last + 1).min(SIDE)
        };
        let [dx, dy] = [to[0] - from[0], to[1] - from[1]];
        let length_squared = dx * dx + dy * dy;
        let inverse = if length_squared > 0.0 {
            1.0 / length_squared
        } else {
            0.0
        };
        let columns = span(from[0], to[0]);
        for row in span(from[1], to[1]) {
            let py = row as f32 + 0.5 - from[1];
            let cells = &mut self.nearest[row * SIDE + columns.start..row * SIDE + columns.end];
            for (cell, column) in cells.iter_mut().zip(columns.clone()) {
                let px = column as f32 + 0.5 - from[0];
                let along = ((px * dx + py * dy) * inverse).clamp(0.0, 1.0);
                let [ox, oy] = [px - along * dx, py - along * dy];
                *cell = cell.min(ox * ox + oy * oy);
            }
        }
    }

    fn coverage(&self, mut bulge: impl FnMut(f32, f32) -> f32) -> Coverage {
        let mut coverage = Coverage::default();
        for (index, (value, &squared)) in coverage.0.iter_mut().zip(&self.nearest).enumerate() {
            if squared.is_finite() {
                let outside = squared.sqrt()
                    - self.radius
                    - bulge((index % SIDE) as f32, (index / SIDE) as f32);
                *value = (0.5 - outside / self.edge).clamp(0.0, 1.0);
            }
        }
        coverage
    }
}

/// Subpixels along a pixel's side.
const FINE: usize = 2;

/// The image of ink that was drawn with a pen of `radius` image pixels and thinned to the usual
/// one: the closing of the pen's path with that pen (Serra 1982), in which small loops are filled
/// in. Edges fade over `edge` pixels.
pub(crate) fn rasterize_as_thinned(ink: &Ink, radius: f32, edge: f32) -> Image {
    let Some(frame) = Frame::around(ink, PEN, edge, &Steps::ALL) else {
        return Image::BLANK;
    };
    // The thick strokes reach this far beyond the image.
    let margin = radius.ceil() as usize + 1;
    let side = (SIDE + 2 * margin) * FINE;
    let mut path = vec![0.0; side * side];
    for stroke in &ink.strokes {
        let mut last = None;
        for point in frame.pixels_of(stroke) {
            let to = point.map(|place| (place + margin as f32) * FINE as f32);
            let from = last.replace(to).unwrap_or(to);
            let steps = (to[0] - from[0])
                .abs()
                .max((to[1] - from[1]).abs())
                .ceil()
                .max(1.0);
            for step in 0..=steps as usize {
                let [x, y] = [0, 1].map(|axis| {
                    (from[axis] + (to[axis] - from[axis]) * step as f32 / steps).max(0.0) as usize
                });
                path[y.min(side - 1) * side + x.min(side - 1)] = 1.0;
            }
        }
    }
    let reach = radius * FINE as f32;
    let to_path = distances(&path, side, |value| value > 0.5);
    let depth = distances(&to_path, side, |distance| distance > reach);
    let mut coverage = Coverage::default();
    for (index, value) in coverage.0.iter_mut().enumerate() {
        let (x, y) = (
            (index % SIDE + margin) * FINE,
            (index / SIDE + margin) * FINE,
        );
        for fine in 0..FINE * FINE {
            let depth = depth[(y + fine / FINE) * side + x + fine % FINE] / FINE as f32;
            *value +=
                (0.5 + (depth - radius + PEN / 2.0) / edge).clamp(0.0, 1.0) / (FINE * FINE) as f32;
        }
    }
    coverage.centered(&Steps::ALL)
}

/// The Euclidean distance from each pixel to the nearest one that `is_goal`, exact: along rows to
/// the nearest goal on either side, and along columns as lower envelopes of parabolas (Felzenszwalb
/// & Huttenlocher 2012).
pub(super) fn distances(values: &[f32], side: usize, is_goal: impl Fn(f32) -> bool) -> Vec<f32> {
    // Farther than any distance in the field, yet small enough for its square to be added to
    // exactly.
    let far = (4 * side * side) as f32;
    let mut squared = vec![far; values.len()];
    for (row, squared) in values.chunks(side).zip(squared.chunks_mut(side)) {
        to_nearest(row, &is_goal, squared);
    }
    let (mut column, mut lowest) = (Vec::with_capacity(side), Vec::with_capacity(side));
    for x in 0..side {
        column.clear();
        column.extend(squared.iter().skip(x).step_by(side).copied());
        lower_envelope(&column, &mut lowest, |y, value| {
            squared[y * side + x] = value;
        });
    }
    squared.into_iter().map(f32::sqrt).collect()
}

/// Puts the squared distance to the nearest goal in the row into each place; a row without any
/// stays as it is.
fn to_nearest(row: &[f32], is_goal: impl Fn(f32) -> bool, squared: &mut [f32]) {
    let mut goal = None;
    for (place, (&value, squared)) in row.iter().zip(squared.iter_mut()).enumerate() {
        goal = if is_goal(value) { Some(place) } else { goal };
        if let Some(goal) = goal {
            *squared = ((place - goal) as f32).powi(2);
        }
    }
    let mut goal = None;
    for (place, squared) in squared.iter_mut().enumerate().rev() {
        goal = if *squared == 0.0 { Some(place) } else { goal };
        if let Some(goal) = goal {
            *squared = squared.min(((goal - place) as f32).powi(2));
        }
    }
}

/// Returns at each place `q` the least `(q - p)^2 + heights[p]` over all `p`. `lowest` is what it
/// works with.
fn lower_envelope(
    heights: &[f32],
    lowest: &mut Vec<(usize, f32)>,
    mut give: impl FnMut(usize, f32),
) {
    let meet = |p: usize, q: usize| {
        let (pf, qf) = (p as f32, q as f32);
        ((heights[q] + qf * qf) - (heights[p] + pf * pf)) / (2.0 * (qf - pf))
    };
    // The parabolas of the envelope from left to right, each with where it begins to be the lowest.
    lowest.clear();
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
    for q in 0..heights.len() {
        while lowest
            .get(current + 1)
            .is_some_and(|(_, begin)| *begin < q as f32)
        {
            current += 1;
        }
        let p = lowest[current].0;
        give(q, (q as f32 - p as f32).powi(2) + heights[p]);
    }
}
