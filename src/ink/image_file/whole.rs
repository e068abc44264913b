//! An image as a whole, for models that recognise other things than ink on paper: in grey, light on
//! dark, scaled to the input's 28x28 pixels.

use crate::ink::gray_image::GrayImage;
use crate::ink::image::{Image, PIXELS, SIDE};

/// The whole image with its sides in proportion, in the middle; its negative where most of its edge
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
