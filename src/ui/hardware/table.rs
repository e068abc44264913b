//! Owns how figures are laid out as tables. Must not word them: `bench` does.

use eframe::egui::{Align, Grid, Label, Layout, RichText, Ui, vec2};

use crate::bench::Section;
use crate::ui::style;

/// Draws the tables under each other.
pub fn show(ui: &mut Ui, sections: &[Section]) {
    for section in sections {
        ui.add_space(style::GAP / 2.0);
        style::card(ui).show(ui, |ui| {
            ui.set_min_width(ui.available_width());
            ui.label(RichText::new(section.title).strong().size(15.5)).on_hover_text(style::capitalised(&section.about));
            table(ui, section);
        });
    }
}

fn table(ui: &mut Ui, section: &Section) {
    let grid = Grid::new(section.title).num_columns(section.columns.len()).striped(true).spacing(vec2(style::GAP * 1.5, 5.0));
    grid.show(ui, |ui| {
        for (column, name) in section.columns.iter().enumerate() {
            cell(ui, column, RichText::new(name).weak().small());
        }
        ui.end_row();
        for line in &section.lines {
            for (column, text) in line.cells.iter().enumerate() {
                let text = RichText::new(text);
                cell(ui, column, if column == 0 { text } else { text.monospace() }).on_hover_text(&line.detail);
            }
            ui.end_row();
        }
    });
}

/// Names to the left, figures to the right.
fn cell(ui: &mut Ui, column: usize, text: RichText) -> eframe::egui::Response {
    let layout = if column == 0 { Layout::left_to_right(Align::Center) } else { Layout::right_to_left(Align::Center) };
    ui.with_layout(layout, |ui| ui.add(Label::new(text))).inner
}
