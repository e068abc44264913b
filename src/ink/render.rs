//! Owns the way from ink to picture: scale to MNIST's 20x20 box, draw with a round pen, centre.
//! Must not know files, nor which digit it draws.

use super::normalise::{BOX, Field};
use super::picture::{Picture, SIDE};
use super::strokes::Ink;

/// Pen diameter in picture pixels when the ink does not say its own: MNIST's median (measured on its training images).
pub(super) const PEN: f32 = 2.4;
/// Thinner pens are drawn as if they were this wide, so that a hairline stays readable.
pub(super) const THINNEST: f32 = 1.3;
/// Thicker pens are drawn as if they were this wide, so that loops stay open.
pub(super) const THICKEST: f32 = 5.4;
/// Pixels over which an edge fades from ink to paper, as MNIST's resampling left it.
const EDGE: f32 = 1.1;
/// Points nearer than this to the last one drawn, in picture pixels, add nothing to see.
const NEGLIGIBLE: f32 = 0.2;

/// The picture every model reads: MNIST's conventions (`LeCun` et al. 1998), whatever the ink's unit, place and size.
///
/// The ink's bounding box, pen included, fits 20x20 pixels with its proportions kept; its centre of mass comes to the
/// centre of the field, to the nearest pixel. Points that are not finite are skipped; ink without points gives
/// [`Picture::BLANK`].
pub fn picture(ink: &Ink) -> Picture {
    picture_as_scanned(ink, EDGE, |_, _| 0.0)
}

/// [`picture`], as another scanner or pen might give it: edges fade over `edge` pixels, and the outline lies `bulge(x, y)`
/// pixels further out there.
pub(crate) fn picture_as_scanned(ink: &Ink, edge: f32, bulge: impl FnMut(f32, f32) -> f32) -> Picture {
    let Some(frame) = Frame::around(ink, edge) else { return Picture::BLANK };
    let mut canvas = Canvas::new(frame.pen / 2.0, edge);
    for stroke in &ink.strokes {
        let mut points = stroke.iter().copied().filter(|point| finite(*point)).map(|point| frame.place(point)).peekable();
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
    canvas.field(bulge).centred()
}

fn finite([x, y]: [f32; 2]) -> bool {
    x.is_finite() && y.is_finite()
}

/// How ink coordinates become picture coordinates.
struct Frame {
    middle: [f64; 2],
    scale: f64,
    /// Pen diameter, in picture pixels.
    pen: f32,
}

impl Frame {
    /// `None` when the ink holds no finite point. In f64, where no difference of two f32 overflows.
    fn around(ink: &Ink, edge: f32) -> Option<Self> {
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
        let own = ink.pen.map(f64::from).filter(|pen| pen.is_finite() && *pen > 0.0);
        let room = BOX as f64 - f64::from(edge);
        let pen = own.map_or(PEN, |own| (own * room / (extent + own)) as f32).clamp(THINNEST, THICKEST);
        let fitting = (room - f64::from(pen)) / extent;
        let scale = match own {
            // No larger than its pen: a dot, whose tremor must not fill the picture.
            Some(own) if extent < own => f64::from(pen) / own,
            _ if extent <= 0.0 => 0.0,
            _ => fitting,
        };
        Some(Self { middle: [f64::midpoint(low[0], high[0]), f64::midpoint(low[1], high[1])], scale, pen })
    }

    fn place(&self, [x, y]: [f32; 2]) -> [f32; 2] {
        let centre = SIDE as f64 / 2.0;
        let [mx, my] = self.middle;
        [((f64::from(x) - mx) * self.scale + centre) as f32, ((f64::from(y) - my) * self.scale + centre) as f32]
    }
}

/// Keeps for each pixel the squared distance from its centre to the nearest pen path, as far as the pen reaches.
struct Canvas {
    nearest: [f32; SIDE * SIDE],
    radius: f32,
    edge: f32,
}

impl Canvas {
    fn new(radius: f32, edge: f32) -> Self {
        Self { nearest: [f32::INFINITY; SIDE * SIDE], radius, edge }
    }

    /// Draws a straight piece of pen path; equal ends make a dot.
    fn line(&mut self, from: [f32; 2], to: [f32; 2]) {
        let reach = self.radius + self.edge / 2.0;
        let span = |a: f32, b: f32| {
            // Pixel i has its centre at i + 0.5. The casts saturate, and the ink lies inside the 20x20 box anyway.
            let first = (a.min(b) - reach - 0.5).ceil().max(0.0) as usize;
            let last = (a.max(b) + reach - 0.5).floor().max(0.0) as usize;
            first..(last + 1).min(SIDE)
        };
        let [dx, dy] = [to[0] - from[0], to[1] - from[1]];
        let length_squared = dx * dx + dy * dy;
        let inverse = if length_squared > 0.0 { 1.0 / length_squared } else { 0.0 };
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

    /// The share of ink in each pixel.
    fn field(&self, mut bulge: impl FnMut(f32, f32) -> f32) -> Field {
        let mut field = Field::default();
        for (index, (value, &squared)) in field.0.iter_mut().zip(&self.nearest).enumerate() {
            if squared.is_finite() {
                let outside = squared.sqrt() - self.radius - bulge((index % SIDE) as f32, (index / SIDE) as f32);
                *value = (0.5 - outside / self.edge).clamp(0.0, 1.0);
            }
        }
        field
    }
}
