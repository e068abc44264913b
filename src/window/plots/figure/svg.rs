//! The figure as SVG 1.1.

use eframe::egui::Color32;

use super::{Anchor, Drawing, Element, SIZE};

/// Type faces of the usual systems, all with figures of one width.
const FONTS: &str = "Ubuntu, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif";

pub fn svg(drawing: &Drawing) -> String {
    let [width, height] = SIZE;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"{FONTS}\">\n<rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n"
    );
    for element in &drawing.0 {
        text.push_str(&tag(element));
        text.push('\n');
    }
    text.push_str("</svg>\n");
    text
}

fn tag(element: &Element) -> String {
    match element {
        Element::Line {
            points,
            width,
            color,
            dashed,
        } => {
            let points: Vec<String> = points
                .iter()
                .map(|[x, y]| format!("{x:.1},{y:.1}"))
                .collect();
            let dashes = if *dashed {
                " stroke-dasharray=\"9 6\""
            } else {
                ""
            };
            let (points, color) = (points.join(" "), hex(*color));
            format!(
                "<polyline points=\"{points}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"{width}\" stroke-linejoin=\"round\"{dashes}/>"
            )
        }
        Element::Diamond {
            at: [x, y],
            radius,
            color,
        } => {
            let (left, right, top, bottom) = (x - radius, x + radius, y - radius, y + radius);
            let color = hex(*color);
            format!(
                "<polygon points=\"{left:.1},{y:.1} {x:.1},{top:.1} {right:.1},{y:.1} {x:.1},{bottom:.1}\" fill=\"{color}\"/>"
            )
        }
        Element::Text {
            at: [x, y],
            text,
            size,
            color,
            anchor,
            upright,
        } => {
            let anchor = match anchor {
                Anchor::Start => "start",
                Anchor::Middle => "middle",
                Anchor::End => "end",
            };
            let turned = if *upright {
                format!(" transform=\"rotate(-90 {x:.1} {y:.1})\"")
            } else {
                String::new()
            };
            // Not every program knows `dominant-baseline`: the base line is about a third of the
            // size below the middle.
            let base = y + 0.35 * size;
            let (color, text) = (hex(*color), escaped(text));
            format!(
                "<text x=\"{x:.1}\" y=\"{base:.1}\" font-size=\"{size:.1}\" fill=\"{color}\" text-anchor=\"{anchor}\"{turned}>{text}</text>"
            )
        }
    }
}

fn hex(color: Color32) -> String {
    let [red, green, blue, _] = color.to_array();
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// The text as XML, without the control characters that XML cannot have.
fn escaped(text: &str) -> String {
    let visible = text.chars().filter(|letter| !letter.is_control());
    visible
        .collect::<String>()
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
