//! The held-out images, a row for each digit with its accuracy. An image can be selected by pointer or keys.

use eframe::egui::{Align2, Rect, Role, Sense, Stroke, StrokeKind, TextStyle, Ui, Vec2, WidgetInfo, pos2, vec2};

use super::LearningPanel;
use crate::app::{DigitCount, Learning};
use crate::records::CLASSES;
use crate::run_config::Classes;
use crate::ui::grid_keys;
use crate::ui::image_sheet::ImageSheet;
use crate::ui::style::{self, Palette};

/// The grid's name in the accessibility tree.
const NAME: &str = "Held-out images";

/// Draws the images in a square of this `side`, and a bar beside each row.
pub fn show(ui: &mut Ui, learning: &Learning, view: &mut LearningPanel, side: f32) {
    if view.images.as_ref().is_none_or(|(run, _)| *run != learning.run) {
        let images = learning.images.iter().map(|image| &image.image);
        view.images = Some((learning.run, ImageSheet::thumbnails(ui.ctx(), "held-out images", images)));
        view.selected = None;
    }
    let Some((_, sheet)) = &view.images else { return };
    let (area, response) = ui.allocate_exact_size(vec2(ui.available_width(), side), Sense::focusable_noninteractive());
    let size = side / CLASSES as f32;
    let cells = Cells::of(learning);
    let palette = style::palette(ui);
    for (index, &(row, column)) in cells.0.iter().enumerate() {
        let rect = Rect::from_min_size(area.min + vec2(column as f32, row as f32) * size, Vec2::splat(size)).shrink(1.0);
        // Images are reached by the arrow keys once the grid has the focus: a hundred tab stops would be too many.
        let response = ui.interact(rect, ui.scope_id().with(("held-out image", index)), Sense::CLICK);
        let correct = learning.is_correct(index);
        paint(ui, sheet, index, rect, correct, palette);
        if response.clicked() {
            view.selected = if view.selected == Some(index) { None } else { Some(index) };
        }
        let selected = view.selected == Some(index);
        if selected || response.hovered() {
            let width = if selected { 2.5 } else { 1.5 };
            ui.painter().rect_stroke(rect, 2.0, Stroke::new(width, ui.visuals().strong_text_color()), StrokeKind::Outside);
        }
        response.widget_info(|| WidgetInfo::selected(Role::Cell, true, selected, learning.sentence(index)));
        response.on_hover_text(learning.sentence(index));
    }
    grid_keys::choose(ui, &response, &mut view.selected, |from, down, right| from.map_or(0, |index| cells.moved(index, down, right)));
    response.widget_info(|| WidgetInfo { current_text_value: Some(learning.total()), ..WidgetInfo::labeled(Role::Grid, true, NAME) });
    for (digit, count) in learning.by_digit().into_iter().enumerate() {
        let top = area.top() + digit as f32 * size;
        bar(ui, learning.classes, digit, count, Rect::from_min_max(pos2(area.left() + side + 8.0, top), pos2(area.right(), top + size)));
    }
}

/// The row and column of each image: a row for each digit.
struct Cells(Vec<(usize, usize)>);

impl Cells {
    fn of(learning: &Learning) -> Self {
        let mut used = [0; CLASSES];
        let cell = |label: u8| {
            let row = usize::from(label).min(CLASSES - 1);
            used[row] += 1;
            (row, used[row] - 1)
        };
        Self(learning.images.iter().map(|image| image.label).map(cell).collect())
    }

    /// The image that is so many rows and columns further, or the one there is.
    fn moved(&self, from: usize, down: isize, right: isize) -> usize {
        let Some(&(row, column)) = self.0.get(from) else { return 0 };
        let wanted = (row.saturating_add_signed(down), column.saturating_add_signed(right));
        self.0.iter().position(|&cell| cell == wanted).unwrap_or(from)
    }
}

/// An image in grey, or in green and with a frame where it is classified correctly.
fn paint(ui: &Ui, sheet: &ImageSheet, index: usize, rect: Rect, correct: bool, palette: Palette) {
    let Palette { good, groove, faded, .. } = palette;
    let shades = if correct {
        Palette { paper: palette.paper.lerp_to_gamma(good, 0.22), ink: palette.ink.lerp_to_gamma(good, 0.35), ..palette }
    } else {
        Palette { paper: groove, ink: faded, ..palette }
    };
    sheet.paint(ui.painter(), index, rect, shades);
    if correct {
        ui.painter().rect_stroke(rect, 0.0, Stroke::new(1.5, good), StrokeKind::Inside);
    }
}

/// How many of a digit's images are classified correctly.
fn bar(ui: &Ui, classes: Classes, digit: usize, count: DigitCount, rect: Rect) {
    let palette = style::palette(ui);
    let response = ui.interact(rect, ui.scope_id().with(("accuracy", digit)), Sense::hover());
    let spoken = format!("{} of {} correct", count.correct, count.images);
    let name = classes.name(digit);
    let of = if classes.are_digits() { format!("of a {name}") } else { format!("of the class {name}") };
    response.widget_info(|| WidgetInfo {
        current_text_value: Some(spoken.clone()),
        ..WidgetInfo::labeled(Role::Meter, true, format!("Held-out images {of}"))
    });
    response.on_hover_text(format!("Images {of}: {spoken}"));
    let font = TextStyle::Small.resolve(ui.style());
    let painter = ui.painter();
    painter.text(pos2(rect.right(), rect.center().y), Align2::RIGHT_CENTER, count.correct, font, ui.visuals().text_color());
    let track = Rect::from_min_max(rect.min, rect.max - vec2(18.0, 0.0)).shrink2(vec2(0.0, (rect.height() * 0.3).floor()));
    style::bar(painter, track, count.correct as f32 / count.images.max(1) as f32, palette.good, palette);
}
