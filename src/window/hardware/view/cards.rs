//! The hardware as cards: below each other, or two in a row where there is room.

use eframe::egui::{Align, FontSelection, Label, Layout, RichText, TextWrapMode, Ui, WidgetText};

use crate::hardware::{Line, lines};
use crate::window::App;
use crate::window::style;

/// From this width on, in points, two cards stand in a row.
const TWO_IN_A_ROW: f32 = 560.0;
/// Space between two lines of a card, in points.
const LINE_GAP: f32 = 3.0;

pub fn show(ui: &mut Ui, app: &App) {
    let Some(hardware) = &app.ctx.hardware else {
        ui.horizontal(|ui| {
            ui.spinner();
            ui.label("Detecting hardware…");
        });
        return;
    };
    let in_a_row = if ui.available_width() < TWO_IN_A_ROW {
        1
    } else {
        2
    };
    for row in lines(hardware).chunks(in_a_row) {
        ui.columns(in_a_row, |columns| {
            let text_height = row
                .iter()
                .zip(columns.iter())
                .map(|(line, ui)| text_height(ui, line))
                .fold(0.0, f32::max);
            for (line, ui) in row.iter().zip(columns) {
                card(ui, line, text_height);
            }
        });
    }
}

/// One part, with the height of its text in points, at least.
fn card(ui: &mut Ui, line: &Line, text_height: f32) {
    style::card(ui).show(ui, |ui| {
        ui.set_min_size([ui.available_width(), text_height].into());
        // Columns justify their content; running text is left-aligned.
        ui.with_layout(Layout::top_down(Align::Min), |ui| {
            ui.spacing_mut().item_spacing.y = LINE_GAP;
            for text in texts(line) {
                ui.add(Label::new(text).wrap());
            }
        });
    });
}

/// The height of a part's text in a card as wide as there is room for, in points.
fn text_height(ui: &Ui, line: &Line) -> f32 {
    let width = ui.available_width() - style::card(ui).total_margin().sum().x;
    let height = |text: RichText| {
        WidgetText::from(text)
            .into_galley(ui, Some(TextWrapMode::Wrap), width, FontSelection::Default)
            .size()
            .y
    };
    texts(line).map(height).into_iter().sum::<f32>() + 2.0 * LINE_GAP
}

/// What it is, what was found, and what that means for training.
fn texts(line: &Line) -> [RichText; 3] {
    [
        style::hint(&line.label),
        RichText::new(&line.value).strong(),
        RichText::new(&line.meaning).weak(),
    ]
}
