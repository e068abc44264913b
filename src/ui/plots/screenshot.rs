//! Saves the plots as an image: a screenshot of the window, cropped to the plots and encoded as PNG.

use std::io::Cursor;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};

use eframe::egui::{self, ColorImage, Rect};
use image::codecs::png::PngEncoder;
use image::{ExtendedColorType, ImageEncoder};

/// A requested screenshot.
#[derive(Debug)]
pub struct Pending {
    area: Rect,
    pixels_per_point: f32,
    arrived: Receiver<Arc<ColorImage>>,
}

impl Pending {
    /// Requests a screenshot of `area` of the window; it arrives a frame later.
    pub fn request(ctx: &egui::Context, area: Rect) -> Self {
        let (sender, arrived) = channel();
        let waker = ctx.clone();
        ctx.request_screenshot(move |image| {
            if sender.send(image).is_ok() {
                waker.request_repaint();
            }
        });
        Self { area, pixels_per_point: ctx.pixels_per_point(), arrived }
    }

    /// The screenshot of the whole window, once it has arrived.
    pub fn arrived(&self) -> Option<Arc<ColorImage>> {
        self.arrived.try_recv().ok()
    }

    /// The requested area as PNG.
    pub fn png(&self, screenshot: &ColorImage) -> Option<Vec<u8>> {
        png(screenshot, self.area, self.pixels_per_point)
    }
}

/// The part of a screenshot that shows `area` (in points), as PNG; `None` if the area is outside it.
pub fn png(screenshot: &ColorImage, area: Rect, pixels_per_point: f32) -> Option<Vec<u8>> {
    let [width, height] = screenshot.size;
    let clip = |points: f32, limit: usize| ((points * pixels_per_point).round().max(0.0) as usize).min(limit);
    let (left, right) = (clip(area.left(), width), clip(area.right(), width));
    let (top, bottom) = (clip(area.top(), height), clip(area.bottom(), height));
    if left >= right || top >= bottom {
        return None;
    }
    let rows = screenshot.pixels.chunks_exact(width).skip(top).take(bottom - top);
    let bytes: Vec<u8> = rows
        .flat_map(|row| row.get(left..right).unwrap_or_default())
        .flat_map(|pixel| {
            let [red, green, blue, _] = pixel.to_array();
            [red, green, blue]
        })
        .collect();
    let mut file = Cursor::new(Vec::new());
    let encoder = PngEncoder::new(&mut file);
    encoder.write_image(&bytes, (right - left) as u32, (bottom - top) as u32, ExtendedColorType::Rgb8).ok()?;
    Some(file.into_inner())
}
