//! Drawings as images of 280x280 pixels, as if somebody had drawn them in a paint program.

use std::io::Cursor;
use std::path::Path;

use image::codecs::png::PngEncoder;
use image::{ExtendedColorType, ImageEncoder};
use inkling::ink::{Bounds, Image, Ink, InkError, read_image};

/// Side of the image, in pixels.
const SIDE: usize = 280;
/// The longer side of a digit, pen included, in pixels.
pub const SIZES: [f32; 4] = [56.0, 112.0, 196.0, 276.0];

/// The drawing with a round pen of `pen` pixels, black on white, `size` pixels large; read as an
/// image file.
pub fn drawn(ink: &Ink, pen: f32, size: f32) -> Result<Image, InkError> {
    let gray = draw(ink, pen, size);
    let mut file = Cursor::new(Vec::new());
    let path = Path::new("drawn.png");
    let encoded = PngEncoder::new(&mut file).write_image(
        &gray,
        SIDE as u32,
        SIDE as u32,
        ExtendedColorType::L8,
    );
    encoded.map_err(|error| InkError::Malformed {
        path: path.to_owned(),
        reason: error.to_string(),
    })?;
    let size = file.get_ref().len() as u64;
    read_image(Cursor::new(file.into_inner()), size, path)
}

fn draw(ink: &Ink, pen: f32, size: f32) -> Vec<u8> {
    let bounds = Bounds::of(ink.strokes.iter().flatten().copied());
    let extent = bounds.size(0).max(bounds.size(1)).max(1e-6);
    let scale = (size - pen).max(1.0) / extent;
    let place = |point: [f32; 2]| {
        [0, 1].map(|axis| (point[axis] - bounds.middle(axis)) * scale + SIDE as f32 / 2.0)
    };
    let mut nearest = vec![f32::INFINITY; SIDE * SIDE];
    let reach = pen / 2.0 + 1.0;
    for stroke in &ink.strokes {
        let points: Vec<[f32; 2]> = stroke.iter().map(|point| place(*point)).collect();
        for (index, &to) in points.iter().enumerate() {
            let from = points[index.saturating_sub(1)];
            let [dx, dy] = [to[0] - from[0], to[1] - from[1]];
            let length = (dx * dx + dy * dy).max(1e-9);
            let span = |axis: usize| {
                let first = (from[axis].min(to[axis]) - reach).max(0.0) as usize;
                first..((from[axis].max(to[axis]) + reach) as usize + 1).min(SIDE)
            };
            for y in span(1) {
                for x in span(0) {
                    let (px, py) = (x as f32 + 0.5 - from[0], y as f32 + 0.5 - from[1]);
                    let along = ((px * dx + py * dy) / length).clamp(0.0, 1.0);
                    let cell = &mut nearest[y * SIDE + x];
                    *cell = cell.min((px - along * dx).hypot(py - along * dy));
                }
            }
        }
    }
    nearest
        .iter()
        .map(|distance| (255.0 * (distance - pen / 2.0 + 0.5).clamp(0.0, 1.0)) as u8)
        .collect()
}
