//! What is left of a drawing with a very thick pen once its strokes are thinned, as image files are
//! read.

use super::distance::distances;
use super::image::{Image, SIDE};
use super::mnist_frame::Coverage;
use super::rasterize::{Frame, PEN};
use super::steps::Steps;
use super::strokes::Ink;

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
