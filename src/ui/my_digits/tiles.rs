//! The drawings by digit. A click on one opens what can be done with it; those that are recognised wrongly are crossed.

use eframe::egui::{Popup, Rect, Response, RichText, Stroke, Ui, Vec2, vec2};

use super::MyDigitsScreen;
use crate::app::{Action, App, MyDrawing};
use crate::text::format::count;
use crate::ui::draw::keep;
use crate::ui::image_sheet::{self, ImageSheet};
use crate::ui::style;

/// The side of an image, in points: two and a half to a pixel.
const SIDE: f32 = 70.0;
/// Drawings of a digit that are shown: the newest.
const SHOWN: usize = 60;

/// Draws them.
pub fn show(ui: &mut Ui, app: &App, view: &mut MyDigitsScreen, actions: &mut Vec<Action>) {
    let digits = &app.my_digits;
    let by_digit = digits.by_digit();
    let shown = |digit: usize| by_digit[digit].iter().rev().take(SHOWN).map(|place| &digits.drawings()[*place]);
    if view.sheet.as_ref().is_none_or(|(version, _)| *version != digits.version()) {
        let images: Vec<_> = (0..by_digit.len()).flat_map(shown).map(|drawing| &drawing.image).collect();
        view.sheet = Some((digits.version(), ImageSheet::new(ui.ctx(), "my digits", images.into_iter())));
    }
    let Some((_, sheet)) = &view.sheet else { return };
    let mut index = 0;
    for (digit, places) in by_digit.iter().enumerate().filter(|(_, places)| !places.is_empty()) {
        heading(ui, app, digit, places);
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing = Vec2::splat(style::GAP * 0.75);
            for drawing in shown(digit) {
                tile(ui, app, sheet, index, drawing, actions);
                index += 1;
            }
        });
    }
}

/// "7: 5 drawings, 4 recognised".
fn heading(ui: &mut Ui, app: &App, digit: usize, places: &[usize]) {
    let digits = &app.my_digits;
    let correct = digits.correct(places.iter().map(|place| &digits.drawings()[*place]));
    let mut text = count(places.len() as u64, "drawing");
    if let Some(correct) = correct {
        text += &format!(", {correct} recognised");
    }
    if places.len() > SHOWN {
        text += &format!("; the newest {SHOWN} are shown");
    }
    ui.horizontal(|ui| {
        style::section(ui, &digit.to_string());
        ui.label(RichText::new(text).weak());
    });
}

fn tile(ui: &mut Ui, app: &App, sheet: &ImageSheet, index: usize, drawing: &MyDrawing, actions: &mut Vec<Action>) {
    let digit = drawing.kept.digit;
    let wrong = app.my_digits.is_wrong(drawing);
    let said = match app.my_digits.answer(drawing) {
        None => String::new(),
        Some(answer) if wrong => format!("read as {}", answer.digit),
        Some(_) => "recognised".to_owned(),
    };
    let spoken = format!("Drawing of {digit}, {said}");
    let response = image_sheet::tile(ui, sheet, index, SIDE, [&said, ""], &spoken);
    if wrong {
        cross(ui, &response);
    }
    Popup::menu(&response).show(|ui| {
        ui.label(RichText::new(format!("This is a {digit}. Change it to:")));
        keep::digits(ui, Some(digit), |digit| actions.push(Action::Relabel(Box::new(drawing.kept.clone()), digit)));
        ui.separator();
        if ui.button("Open in Draw").clicked() {
            actions.push(Action::DrawKept(Box::new(drawing.kept.clone())));
            ui.close();
        }
        if ui.button("Delete").on_hover_text("Undo brings it back").clicked() {
            actions.push(Action::DeleteKept(Box::new(drawing.kept.clone())));
            ui.close();
        }
    });
}

/// A cross in the upper right corner.
fn cross(ui: &Ui, tile: &Response) {
    let palette = style::palette(ui);
    let corner = Rect::from_min_size(tile.rect.left_top() + vec2(SIDE - 17.0, 3.0), Vec2::splat(14.0));
    let painter = ui.painter();
    painter.rect_filled(corner.expand(1.0), style::RADIUS_SMALL, palette.background);
    let stroke = Stroke::new(2.0, palette.bad);
    let mark = corner.shrink(3.0);
    painter.line_segment([mark.left_top(), mark.right_bottom()], stroke);
    painter.line_segment([mark.left_bottom(), mark.right_top()], stroke);
}
