//! Owns the window's icon, drawn in code: a drop of ink with a paper-white 1 in it.
//! Must not know the window.

use eframe::egui::IconData;

/// Pixels along one side.
const SIDE: usize = 128;
/// Samples along one side of a pixel, for smooth edges.
const SAMPLES: usize = 4;

/// The icon's pixels.
pub fn icon() -> IconData {
    let mut rgba = Vec::with_capacity(SIDE * SIDE * 4);
    for y in 0..SIDE {
        for x in 0..SIDE {
            let (mut drop, mut digit) = (0, 0);
            for sample in 0..SAMPLES * SAMPLES {
                let at = |pixel: usize, part: usize| (pixel as f32 + (part as f32 + 0.5) / SAMPLES as f32) / SIDE as f32 * 2.0 - 1.0;
                let point = [at(x, sample % SAMPLES), at(y, sample / SAMPLES)];
                drop += usize::from(in_drop(point));
                digit += usize::from(in_digit(point));
            }
            let share = |count: usize| count as f32 / (SAMPLES * SAMPLES) as f32;
            let (ink, paper) = ([0x2B as f32, 0x46 as f32, 0xB8 as f32], [0xFF as f32, 0xFE as f32, 0xFA as f32]);
            rgba.extend((0..3).map(|channel| (ink[channel] + (paper[channel] - ink[channel]) * share(digit)) as u8));
            rgba.push((share(drop) * 255.0) as u8);
        }
    }
    IconData { rgba, width: SIDE as u32, height: SIDE as u32 }
}

/// A circle with a point on top; coordinates from -1 to 1, y down.
fn in_drop([x, y]: [f32; 2]) -> bool {
    const CENTRE: f32 = 0.28;
    const RADIUS: f32 = 0.66;
    const TIP: f32 = -0.95;
    if x.hypot(y - CENTRE) <= RADIUS {
        return true;
    }
    // The sides run from the tip along the tangents of the circle.
    let height = CENTRE - TIP;
    let touch = CENTRE - RADIUS * RADIUS / height;
    let half_width = RADIUS * (1.0 - (RADIUS / height).powi(2)).sqrt();
    y >= TIP && y <= touch && x.abs() <= half_width * (y - TIP) / (touch - TIP)
}

/// A 1 with a flag.
fn in_digit(point: [f32; 2]) -> bool {
    near(point, [0.07, -0.10], [0.07, 0.66], 0.095) || near(point, [0.07, -0.10], [-0.18, 0.12], 0.095)
}

/// True within `width` of the segment from `a` to `b`.
fn near([x, y]: [f32; 2], a: [f32; 2], b: [f32; 2], width: f32) -> bool {
    let (dx, dy) = (b[0] - a[0], b[1] - a[1]);
    let along = (((x - a[0]) * dx + (y - a[1]) * dy) / (dx * dx + dy * dy)).clamp(0.0, 1.0);
    (x - a[0] - along * dx).hypot(y - a[1] - along * dy) <= width
}
