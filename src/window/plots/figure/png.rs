//! The figure as PNG: set and tessellated by egui, with its fonts, and painted here.

use std::io::Cursor;

use eframe::egui::epaint::{ImageData, Primitive, TextShape};
use eframe::egui::{
    Align2, Color32, ColorImage, Context, FontId, FullOutput, Painter, Pos2, RawInput, Rect, Shape,
    Stroke, TextureId, Vec2, vec2,
};
use image::codecs::png::PngEncoder;
use image::{ExtendedColorType, ImageEncoder};

use super::{Anchor, Drawing, Element, SIZE, raster};

/// The figure as a file; takes about a tenth of a second. `None` only if it could not be encoded.
pub fn png(drawing: &Drawing) -> Option<Vec<u8>> {
    let context = Context::default();
    let screen_rect = Some(Rect::from_min_size(Pos2::ZERO, Vec2::from(SIZE)));
    let output = context.run_ui(
        RawInput {
            screen_rect,
            ..RawInput::default()
        },
        |ui| {
            for element in &drawing.0 {
                add(ui.painter(), element);
            }
        },
    );
    let image = painted(&context, output);
    let bytes: Vec<u8> = image
        .pixels
        .iter()
        .flat_map(|pixel| [pixel.r(), pixel.g(), pixel.b()])
        .collect();
    let mut file = Cursor::new(Vec::new());
    let [width, height] = image.size.map(|side| side as u32);
    PngEncoder::new(&mut file)
        .write_image(&bytes, width, height, ExtendedColorType::Rgb8)
        .ok()?;
    Some(file.into_inner())
}

fn add(painter: &Painter, element: &Element) {
    match element {
        Element::Line {
            points,
            width,
            color,
            dashed,
        } => {
            let (points, stroke): (Vec<Pos2>, _) = (
                points.iter().map(|&at| Pos2::from(at)).collect(),
                Stroke::new(*width, *color),
            );
            if *dashed {
                painter.extend(Shape::dashed_line(&points, stroke, 9.0, 6.0));
            } else {
                painter.add(Shape::line(points, stroke));
            }
        }
        Element::Diamond { at, radius, color } => {
            let corners = [
                vec2(-radius, 0.0),
                vec2(0.0, -radius),
                vec2(*radius, 0.0),
                vec2(0.0, *radius),
            ];
            painter.add(Shape::convex_polygon(
                corners.map(|corner| Pos2::from(*at) + corner).to_vec(),
                *color,
                Stroke::NONE,
            ));
        }
        Element::Text {
            at,
            text,
            size,
            color,
            anchor,
            upright,
        } => {
            let galley = painter.layout_no_wrap(text.clone(), FontId::proportional(*size), *color);
            let anchor = match anchor {
                Anchor::Start => Align2::LEFT_CENTER,
                Anchor::Middle => Align2::CENTER_CENTER,
                Anchor::End => Align2::RIGHT_CENTER,
            };
            let place = anchor.anchor_size(Pos2::from(*at), galley.size()).min;
            let shape = TextShape::new(place, galley, *color);
            let angle = if *upright {
                -std::f32::consts::FRAC_PI_2
            } else {
                0.0
            };
            painter.add(if *upright {
                shape.with_angle_and_anchor(angle, anchor)
            } else {
                shape
            });
        }
    }
}

/// Everything that egui put out, on white.
fn painted(context: &Context, output: FullOutput) -> ColorImage {
    let mut image = ColorImage::filled(SIZE.map(|side| side as usize), Color32::WHITE);
    let mut glyphs = ColorImage::filled([1, 1], Color32::WHITE);
    for change in output
        .textures_delta
        .set
        .get(&TextureId::default())
        .into_iter()
        .flatten()
    {
        let ImageData::Color(part) = &change.image;
        match change.pos {
            None => glyphs = ColorImage::clone(part),
            Some([left, top]) => copy(part, &mut glyphs, left, top),
        }
    }
    for clipped in context.tessellate(output.shapes, output.pixels_per_point) {
        if let Primitive::Mesh(mesh) = clipped.primitive {
            raster::mesh(&mut image, &mesh, &glyphs);
        }
    }
    image
}

fn copy(part: &ColorImage, into: &mut ColorImage, left: usize, top: usize) {
    for y in 0..part.height().min(into.height().saturating_sub(top)) {
        for x in 0..part.width().min(into.width().saturating_sub(left)) {
            into[(left + x, top + y)] = part[(x, y)];
        }
    }
}
