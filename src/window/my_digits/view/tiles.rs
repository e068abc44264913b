//! The drawings by digit. A click on one opens what can be done with it; those that are recognized
//! wrongly, or as no digit, are crossed.

use eframe::egui::{Popup, Rect, Response, RichText, Stroke, TextStyle, Ui, Vec2, vec2};

use super::MyDigitsScreen;
use crate::text::format::count;
use crate::window::draw::view::keep;
use crate::window::style::image_sheet::{self, ImageSheet};
use crate::window::{Action, App, DIGITS, MyDigitsAction, MyDrawing, style};

/// The least and the greatest side of an image, in points.
const SIDES: [f32; 2] = [60.0, 84.0];
/// The distance between images in a row, in points.
const SPACING: f32 = style::GAP / 2.0;
/// Drawings of a digit that are shown: the newest.
const SHOWN: usize = 60;

/// Digits beside each other in this width: all ten always make up a rectangle.
fn columns(width: f32) -> usize {
    match width {
        ..500.0 => 1,
        ..1100.0 => 2,
        _ => 5,
    }
}

pub fn show(ui: &mut Ui, app: &App, view: &mut MyDigitsScreen, actions: &mut Vec<Action>) {
    let digits = &app.my_digits;
    let by_digit = digits.by_digit();
    let shown = |digit: usize| by_digit[digit].iter().rev().take(SHOWN).copied();
    let upload = |_: &u64| {
        let drawings = (0..DIGITS).flat_map(shown);
        let images: Vec<_> = drawings.map(|drawing| &drawing.image).collect();
        ImageSheet::new(ui.ctx(), "my digits", images.into_iter())
    };
    let sheet = view.sheet.of(digits.version, upload);
    let columns = columns(ui.available_width());
    let margins = style::card(ui).total_margin().sum();
    let width = ((ui.available_width() - (columns - 1) as f32 * style::GAP) / columns as f32)
        .floor()
        - margins.x;
    let in_row = ((width + SPACING) / (SIDES[0] + SPACING)).floor().max(1.0);
    let side = ((width + SPACING) / in_row - SPACING).floor().min(SIDES[1]);
    let mut index = 0;
    for first in (0..DIGITS).step_by(columns) {
        let cards = first..first + columns;
        let most = cards
            .clone()
            .map(|digit| shown(digit).len())
            .max()
            .unwrap_or(0);
        let rows = most.div_ceil(in_row as usize).max(1) as f32;
        let height = heading_height(ui) + rows * tile_height(ui, side);
        ui.horizontal_top(|ui| {
            ui.spacing_mut().item_spacing.x = style::GAP;
            for digit in cards {
                style::card(ui).show(ui, |ui| {
                    style::column(ui, vec2(width, height), |ui| {
                        ui.set_min_size(vec2(width, height));
                        heading(ui, app, digit, &by_digit[digit]);
                        ui.horizontal_wrapped(|ui| {
                            ui.spacing_mut().item_spacing = vec2(SPACING, 0.0);
                            for drawing in shown(digit) {
                                tile(ui, app, sheet, (index, side), drawing, actions);
                                index += 1;
                            }
                        });
                    });
                });
            }
        });
        ui.add_space(style::GAP - ui.spacing().item_spacing.y);
    }
}

fn heading_height(ui: &Ui) -> f32 {
    ui.text_style_height(&TextStyle::Body) + 1.5 * style::GAP
}

/// The image and the line below it.
fn tile_height(ui: &Ui, side: f32) -> f32 {
    side + TextStyle::Small.resolve(ui.style()).size * 1.3 + 6.0
}

/// "7  4 of 5 recognized".
fn heading(ui: &mut Ui, app: &App, digit: usize, drawings: &[&MyDrawing]) {
    let digits = &app.my_digits;
    let all = drawings.len();
    let mut text = match digits.correct(drawings.iter().copied()) {
        _ if drawings.is_empty() => "no drawings yet".to_owned(),
        Some(correct) => format!("{correct} of {all} recognized"),
        None => count(all as u64, "drawing"),
    };
    if all > SHOWN {
        text += &format!("; newest {SHOWN} shown");
    }
    ui.horizontal(|ui| {
        style::section(ui, &digit.to_string());
        ui.label(RichText::new(text).weak());
    });
}

/// Image `index` of the sheet, with sides of this length.
fn tile(
    ui: &mut Ui,
    app: &App,
    sheet: &ImageSheet,
    (index, side): (usize, f32),
    drawing: &MyDrawing,
    actions: &mut Vec<Action>,
) {
    let digit = drawing.kept.digit;
    let wrong = app.my_digits.is_wrong(drawing);
    let said = match app.my_digits.answer(drawing) {
        None => String::new(),
        Some(answer) if !answer.is_digit => "not a digit".to_owned(),
        Some(answer) if wrong => format!("recognized as {}", answer.digit),
        Some(_) => "recognized".to_owned(),
    };
    let spoken = format!("Drawing of {digit}, {said}");
    let response = image_sheet::tile(
        ui,
        sheet,
        index,
        side,
        [if wrong { &said } else { "" }],
        &spoken,
    );
    if wrong {
        cross(ui, &response, side);
    }
    Popup::menu(&response).show(|ui| {
        ui.label(RichText::new(format!("This is a {digit}. Change it to:")));
        keep::digits(ui, Some(digit), |digit| {
            actions.push(MyDigitsAction::Relabel(Box::new(drawing.kept.clone()), digit).into());
        });
        ui.separator();
        if ui.button("Open in Draw").clicked() {
            actions.push(MyDigitsAction::DrawKept(Box::new(drawing.kept.clone())).into());
            ui.close();
        }
        if ui
            .button("Delete")
            .on_hover_text("Undo brings it back")
            .clicked()
        {
            actions.push(MyDigitsAction::DeleteKept(Box::new(drawing.kept.clone())).into());
            ui.close();
        }
    });
}

/// A cross in the upper right corner.
fn cross(ui: &Ui, tile: &Response, side: f32) {
    let palette = style::palette(ui);
    let corner = Rect::from_min_size(
        tile.rect.left_top() + vec2(side - 17.0, 3.0),
        Vec2::splat(14.0),
    );
    let painter = ui.painter();
    painter.rect_filled(corner.expand(1.0), style::RADIUS_SMALL, palette.background);
    let stroke = Stroke::new(2.0, palette.bad);
    let mark = corner.shrink(3.0);
    painter.line_segment([mark.left_top(), mark.right_bottom()], stroke);
    painter.line_segment([mark.left_bottom(), mark.right_top()], stroke);
}
