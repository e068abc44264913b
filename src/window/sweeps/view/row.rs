//! A setting that varies: the ends of its range, its values, or the names to choose from.

use eframe::egui::{Align, Layout, TextEdit, Ui, vec2};

use crate::sweep::Kind;
use crate::window::SettingRow;
use crate::window::style;

/// The width of the settings' names and of a number, in points.
const NAME: f32 = 116.0;
const NUMBER: f32 = 84.0;
/// The width of the button that removes it.
const REMOVE: f32 = 32.0;

/// Draws it; true when it is to be removed.
pub fn show(ui: &mut Ui, row: &mut SettingRow) -> bool {
    let label = row.setting.label();
    let height = ui.spacing().interact_size.y;
    ui.horizontal_top(|ui| {
        ui.allocate_ui_with_layout(
            vec2(NAME, height),
            Layout::left_to_right(Align::Center),
            |ui| {
                ui.set_min_width(NAME);
                ui.label(label);
            },
        );
        let width = ui.available_width() - REMOVE - ui.spacing().item_spacing.x;
        ui.allocate_ui_with_layout(
            vec2(width, height),
            Layout::left_to_right(Align::Center).with_main_wrap(true),
            |ui| {
                ui.set_min_width(width);
                match row.setting.kind() {
                    Kind::Name => names(ui, row),
                    Kind::Widths => {
                        values(ui, row, "With commas between them, such as 64, 128, 128-64")
                    }
                    Kind::Layers => values(
                        ui,
                        row,
                        "With commas between them, such as 32C3-MP2, 32C3-MP2-128",
                    ),
                    Kind::Real | Kind::Whole => numbers(ui, row),
                }
            },
        );
        let remove = ui
            .add_sized(vec2(REMOVE, height), style::small_button("×"))
            .on_hover_text("Do not vary it");
        remove.accessible_name(format!("Remove {label}")).clicked()
    })
    .inner
}

fn names(ui: &mut Ui, row: &mut SettingRow) {
    for (name, label) in row.setting.choices() {
        let mut chosen = row.chosen().any(|other| other == name);
        if ui.checkbox(&mut chosen, label).changed() {
            row.choose(name, chosen);
        }
    }
}

fn values(ui: &mut Ui, row: &mut SettingRow, about: &str) {
    let field = TextEdit::singleline(&mut row.values)
        .desired_width(2.0 * NUMBER)
        .char_limit(200);
    ui.add(field)
        .on_hover_text(about)
        .accessible_name(format!("{}: values", row.setting.label()));
}

fn numbers(ui: &mut Ui, row: &mut SettingRow) {
    let label = row.setting.label();
    for (listed, text) in [(false, "Range"), (true, "Values")] {
        let about = if listed {
            "Only these values are tried"
        } else {
            "Any value in between may be tried"
        };
        let toggle = ui
            .add(style::toggle(ui, text, row.listed == listed))
            .on_hover_text(about);
        if toggle.accessible_name(format!("{label}: {text}")).clicked() {
            row.listed = listed;
        }
    }
    if row.listed {
        values(ui, row, "With commas between them, such as 32, 64, 128");
        return;
    }
    let field = |text| {
        TextEdit::singleline(text)
            .desired_width(NUMBER)
            .char_limit(24)
    };
    ui.add(field(&mut row.low))
        .accessible_name(format!("{label}: from"));
    ui.label("to");
    ui.add(field(&mut row.high))
        .accessible_name(format!("{label}: to"));
    let about = "As many trials between 0.001 and 0.01 as between 0.01 and 0.1: right for what spans orders of magnitude";
    ui.checkbox(&mut row.log, "logarithmic")
        .on_hover_text(about)
        .accessible_name(format!("{label}: logarithmic"));
}
