//! The images nearest to the drawing, in a row or several, with their labels.

use eframe::egui::{Align2, Rect, Role, Sense, TextStyle, Ui, Vec2, pos2, vec2};

use crate::ink::{Image, SIDE};
use crate::records::NearImage;
use crate::window::digit_map::words;
use crate::window::style::image_sheet::{Cached, framed};
use crate::window::{App, style};

/// The space between two images, in points.
const SPACE: f32 = 6.0;
/// The largest side of an image, in points.
const LARGEST: f32 = 84.0;
/// So many are shown rather than fewer large ones.
const FEW: usize = 5;

/// Draws what is nearest to the drawing in the room there is, at most `height` points high.
pub fn show(ui: &mut Ui, app: &App, sheet: &mut Cached<Vec<Image>>, height: f32) {
    let classes = app.ctx.classes();
    let drawing = app.draw.recognition();
    let Some(neighborhood) = drawing.and_then(|(_, it)| it.neighborhood.as_ref()) else {
        let why = match (drawing, app.map.shown()) {
            (None, _) => format!(
                "Draw {} to see which images are nearest to it.",
                classes.one()
            ),
            (Some(_), None) if app.map.has_failed() => {
                "The images could not be classified; the notice says why.".to_owned()
            }
            (Some(_), _) => "Classifying images to find the nearest…".to_owned(),
        };
        return drop(style::weak(ui, why));
    };
    let font = TextStyle::Small.resolve(ui.style());
    let line = font.size * 1.4;
    let room = vec2(
        ui.available_width(),
        height - ui.text_style_height(&TextStyle::Small) - ui.spacing().item_spacing.y,
    );
    let images = neighborhood.nearest.iter().map(|near| &near.labeled.image);
    let sheet = sheet.of_images(ui, "nearest images", images);
    let (shown, columns, side) = grid(
        neighborhood.nearest.len(),
        room,
        line,
        ui.pixels_per_point(),
    );
    ui.label(style::hint(format!(
        "{}: {}",
        words::among(neighborhood),
        words::labels(neighborhood, shown, &classes)
    )));
    let size = vec2(
        columns as f32 * (side + SPACE) - SPACE,
        shown.div_ceil(columns) as f32 * (side + line + SPACE) - SPACE,
    );
    let (area, _) = ui.allocate_exact_size(size, Sense::hover());
    for (index, near) in neighborhood.nearest.iter().take(shown).enumerate() {
        let NearImage { labeled, distance } = near;
        let corner = area.min
            + vec2(
                (index % columns) as f32 * (side + SPACE),
                (index / columns) as f32 * (side + line + SPACE),
            );
        let rect = Rect::from_min_size(corner, vec2(side, side));
        framed(ui, sheet, index, rect);
        let name = classes.name(labeled.label);
        let id = ui.scope_id().with(("nearest", index));
        let response = ui.interact(rect, id, Sense::hover());
        let said = format!("at a distance of {distance:.2}");
        style::describe(
            &response,
            Role::Image,
            &format!("Nearest image {}: {name}", index + 1),
            &said,
        );
        response.on_hover_text(format!("{name}, {said} in the layer"));
        ui.painter().text(
            pos2(rect.center().x, rect.bottom() + 1.0),
            Align2::CENTER_TOP,
            name,
            font.clone(),
            ui.visuals().text_color(),
        );
    }
}

/// How many images are shown, in how many columns, and their side: as large as lets a few of them
/// fit, and as many as fit then.
fn grid(count: usize, room: Vec2, line: f32, pixels: f32) -> (usize, usize, f32) {
    let unit = SIDE as f32 / pixels;
    // Whole screen pixels for each of the image's.
    let sides = (1..).map(|times| times as f32 * unit);
    let fitting = |side: f32| {
        let columns = ((room.x + SPACE) / (side + SPACE)) as usize;
        let rows = ((room.y + SPACE) / (side + line + SPACE)) as usize;
        (columns, rows)
    };
    let is_enough = |side: &f32| {
        let (columns, rows) = fitting(*side);
        columns * rows >= count.min(FEW)
    };
    let side = sides
        .take_while(|side| *side <= LARGEST)
        .filter(is_enough)
        .last()
        .unwrap_or(unit);
    let (columns, rows) = fitting(side);
    let shown = count.min(columns.max(1) * rows.max(1));
    (shown, columns.clamp(1, count.max(1)), side)
}
