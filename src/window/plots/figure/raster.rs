//! Paints textured triangles, as a GPU does for the window: colours are blended as they are stored
//! (gamma-encoded), as egui expects.

use eframe::egui::epaint::{Mesh, Vertex};
use eframe::egui::{Color32, ColorImage, Pos2, pos2};

/// Paints a mesh whose texture is this one.
pub fn mesh(image: &mut ColorImage, mesh: &Mesh, texture: &ColorImage) {
    for corners in mesh.indices.chunks_exact(3) {
        let mut found = corners
            .iter()
            .filter_map(|&index| mesh.vertices.get(index as usize));
        if let (Some(a), Some(b), Some(c)) = (found.next(), found.next(), found.next()) {
            triangle(image, [a, b, c], texture);
        }
    }
}

fn triangle(image: &mut ColorImage, [a, b, c]: [&Vertex; 3], texture: &ColorImage) {
    let area = side(a.pos, b.pos, c.pos);
    if area == 0.0 || !area.is_finite() {
        return;
    }
    // All triangles are walked round in the same direction.
    let [a, b, c] = if area > 0.0 { [a, b, c] } else { [a, c, b] };
    let area = area.abs();
    let [width, height] = image.size;
    let span = |values: [f32; 3], limit: usize| {
        let [low, high] = [
            values.iter().copied().fold(f32::MAX, f32::min),
            values.iter().copied().fold(f32::MIN, f32::max),
        ];
        (low.floor().max(0.0) as usize)..(high.ceil().max(0.0) as usize).min(limit)
    };
    for y in span([a.pos.y, b.pos.y, c.pos.y], height) {
        for x in span([a.pos.x, b.pos.x, c.pos.x], width) {
            let at = pos2(x as f32 + 0.5, y as f32 + 0.5);
            let weights = [(b.pos, c.pos), (c.pos, a.pos), (a.pos, b.pos)]
                .map(|(from, to)| (side(from, to, at), from, to));
            // A pixel on the edge between two triangles belongs to one of them.
            if !weights.iter().all(|&(weight, from, to)| {
                weight > 0.0 || (weight == 0.0 && is_top_or_left(from, to))
            }) {
                continue;
            }
            let [of_a, of_b, of_c] = weights.map(|(weight, ..)| weight / area);
            let uv =
                (a.uv.to_vec2() * of_a + b.uv.to_vec2() * of_b + c.uv.to_vec2() * of_c).to_pos2();
            let texel = sample(texture, uv);
            let color: [f32; 4] = std::array::from_fn(|channel| {
                let of = |vertex: &Vertex| f32::from(vertex.color.to_array()[channel]);
                (of(a) * of_a + of(b) * of_b + of(c) * of_c) * texel[channel] / 255.0
            });
            image[(x, y)] = over(color, image[(x, y)]);
        }
    }
}

/// Twice the area of the triangle, positive if it is walked round clockwise on the screen.
fn side(a: Pos2, b: Pos2, c: Pos2) -> f32 {
    (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x)
}

fn is_top_or_left(from: Pos2, to: Pos2) -> bool {
    to.y < from.y || (to.y == from.y && to.x > from.x)
}

/// The texture at a place from 0 to 1, interpolated between its four nearest texels; channels from
/// 0 to 255.
fn sample(texture: &ColorImage, uv: Pos2) -> [f32; 4] {
    let [width, height] = texture.size;
    let [x, y] = [uv.x * width as f32 - 0.5, uv.y * height as f32 - 0.5];
    let texel = |x: f32, y: f32| {
        texture[(
            (x.max(0.0) as usize).min(width - 1),
            (y.max(0.0) as usize).min(height - 1),
        )]
            .to_array()
    };
    let (left, top) = (x.floor(), y.floor());
    let (right_share, lower_share) = (x - left, y - top);
    let [upper_left, upper_right, lower_left, lower_right] = [
        texel(left, top),
        texel(left + 1.0, top),
        texel(left, top + 1.0),
        texel(left + 1.0, top + 1.0),
    ];
    std::array::from_fn(|channel| {
        let mix = |a: u8, b: u8| f32::from(a) + (f32::from(b) - f32::from(a)) * right_share;
        let [upper, lower] = [
            mix(upper_left[channel], upper_right[channel]),
            mix(lower_left[channel], lower_right[channel]),
        ];
        upper + (lower - upper) * lower_share
    })
}

/// A colour with premultiplied alpha, channels from 0 to 255, over another.
pub fn over(color: [f32; 4], below: Color32) -> Color32 {
    let behind = 1.0 - color[3] / 255.0;
    let mut below = below.to_array();
    for (channel, value) in below.iter_mut().zip(color) {
        *channel = (value + f32::from(*channel) * behind)
            .round()
            .clamp(0.0, 255.0) as u8;
    }
    let [red, green, blue, alpha] = below;
    Color32::from_rgba_premultiplied(red, green, blue, alpha)
}
