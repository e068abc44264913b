//! Tables of figures: names left-aligned, figures right-aligned in their columns.

use eframe::egui::{Align, FontSelection, Label, Layout, Rect, RichText, Sense, TextStyle, Ui, UiBuilder, WidgetText, pos2, vec2};

use crate::text::format::capitalised;
use crate::text::table::{Line, Section};
use crate::ui::style;

/// Space between two columns, in points.
const COLUMN_GAP: f32 = style::GAP * 2.0;
/// Space at both ends of a row, in points.
const MARGIN: f32 = 6.0;

/// Draws the sections below each other, each as a table on a card.
pub fn show(ui: &mut Ui, sections: &[Section]) {
    for section in sections {
        ui.add_space(style::GAP / 2.0);
        style::card(ui).show(ui, |ui| {
            ui.set_min_width(ui.available_width());
            ui.label(RichText::new(section.title).strong().size(15.5)).on_hover_text(format!("{}.", capitalised(&section.about)));
            table(ui, section);
        });
    }
}

fn table(ui: &mut Ui, section: &Section) {
    let widths = widths(ui, section);
    ui.spacing_mut().item_spacing.y = 0.0;
    row(ui, &widths, |ui, column| {
        if let Some(name) = section.columns.get(column) {
            ui.add(Label::new(head(name)));
        }
    });
    for (index, line) in section.lines.iter().enumerate() {
        let row = row(ui, &widths, |ui, column| {
            if let Some(text) = line.cell(column) {
                ui.add(Label::new(figure(column, &text))).on_hover_text(&line.detail);
            }
        });
        separate(ui, row, index + 1 < section.lines.len());
    }
}

/// The width of each column, in points.
fn widths(ui: &Ui, section: &Section) -> Vec<f32> {
    let measured = |text: RichText| {
        let text = WidgetText::from(text).into_galley(ui, None, f32::INFINITY, FontSelection::Default);
        text.size().x
    };
    let cell = |line: &Line, column: usize| line.cell(column).map_or(0.0, |text| measured(figure(column, &text)));
    let widest =
        |(column, name): (usize, &String)| section.lines.iter().map(|line| cell(line, column)).fold(measured(head(name)), f32::max);
    section.columns.iter().enumerate().map(widest).collect()
}

/// Lays out a row of cells, a little higher than its text, and returns its rectangle.
fn row(ui: &mut Ui, widths: &[f32], mut cell: impl FnMut(&mut Ui, usize)) -> Rect {
    let height = ui.text_style_height(&TextStyle::Body) + 9.0;
    let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), height), Sense::hover());
    let mut left = rect.left() + MARGIN;
    for (column, &width) in widths.iter().enumerate() {
        // One point more, so that rounding does not cut off text that just fits.
        let place = Rect::from_min_max(pos2(left, rect.top()), pos2(left + width + 1.0, rect.bottom()));
        let layout = if column == 0 { Layout::left_to_right(Align::Center) } else { Layout::right_to_left(Align::Center) };
        ui.scope_builder(UiBuilder::new().max_rect(place).layout(layout), |ui| cell(ui, column));
        left = place.right() + COLUMN_GAP;
    }
    rect
}

/// A thin line below every row but the last.
fn separate(ui: &Ui, row: Rect, more: bool) {
    if more {
        ui.painter().hline(row.x_range(), row.bottom(), (1.0, style::palette(ui).grid));
    }
}

fn head(name: &str) -> RichText {
    style::hint(name)
}

fn figure(column: usize, text: &str) -> RichText {
    if column == 0 { RichText::new(text) } else { RichText::new(text).monospace() }
}
