//! The rows of the run panel: a label, a control, and below it the reason if its value is invalid.

use eframe::egui::{Align, Button, ComboBox, Label, Layout, Response, TextEdit, Ui, vec2};

use crate::app::{Action, App, Field};
use crate::run_config::{DataSource, DataSpec, NamedSet, RunConfig};
use crate::text::visible;
use crate::ui::style;

/// The labels' width, in points, so that the controls line up.
const LABEL_WIDTH: f32 = 112.0;

/// A label and its control, which fills the rest of the row.
fn row(ui: &mut Ui, label: &str, control: impl FnOnce(&mut Ui) -> Response) -> Response {
    ui.horizontal(|ui| {
        let height = ui.spacing().interact_size.y;
        let layout = Layout::left_to_right(Align::Center);
        let label = ui.allocate_ui_with_layout(vec2(LABEL_WIDTH, height), layout, |ui| {
            ui.set_min_width(LABEL_WIDTH);
            ui.label(label)
        });
        control(ui).labelled_by(label.inner.id)
    })
    .inner
}

/// A row with a drop-down list. Unavailable options are listed too, with the reason.
pub fn choice<T: Copy + PartialEq>(
    ui: &mut Ui,
    label: &str,
    current: &mut T,
    all: &[T],
    name: impl Fn(T) -> &'static str,
    why_not: impl Fn(T) -> Option<String>,
) -> Response {
    row(ui, label, |ui| {
        let width = ui.available_width();
        let list = ComboBox::from_id_salt(label).width(width).truncate().selected_text(name(*current));
        list.show_ui(ui, |ui| {
            for &option in all {
                if entry(ui, *current == option, name(option), why_not(option).as_deref()) {
                    *current = option;
                }
            }
        })
        .response
    })
}

/// One entry of a drop-down list; true when it was chosen.
fn entry(ui: &mut Ui, chosen: bool, name: &str, why_not: Option<&str>) -> bool {
    let clicked = ui.add_enabled(why_not.is_none(), Button::selectable(chosen, name)).clicked();
    if let Some(reason) = why_not {
        ui.horizontal(|ui| {
            ui.add_space(ui.spacing().button_padding.x);
            ui.add(Label::new(style::hint(reason)).wrap());
        });
    }
    clicked
}

/// A row with a field for a number.
pub fn number(ui: &mut Ui, app: &App, field: Field, label: &str, about: &str, actions: &mut Vec<Action>) {
    open_number(ui, app, field, label, "", about, actions);
}

/// A row with a field for an optional number; `left_out` is the empty field's placeholder.
pub fn open_number(ui: &mut Ui, app: &App, field: Field, label: &str, left_out: &str, about: &str, actions: &mut Vec<Action>) {
    let mut text = app.text(field);
    row(ui, label, |ui| {
        let response = ui.add(TextEdit::singleline(&mut text).hint_text(left_out).desired_width(f32::INFINITY).char_limit(24));
        if response.changed() {
            actions.push(Action::Type(field, text));
        }
        response
    })
    .on_hover_text(about);
    obstacle(ui, app, field);
}

/// A row with a check box.
pub fn check(ui: &mut Ui, label: &str, ticked: &mut bool) -> Response {
    row(ui, label, |ui| ui.checkbox(ticked, ""))
}

/// The reason why the field's value is invalid, if it is.
pub fn obstacle(ui: &mut Ui, app: &App, field: Field) {
    for obstacle in app.validation_errors().iter().filter(|obstacle| obstacle.field == field) {
        style::invalid(ui, &obstacle.message.to_string());
    }
}

/// The weights the run starts from, unless they are random.
pub fn initial_weights(ui: &mut Ui, app: &App, config: &mut RunConfig) {
    let Some(path) = &app.config.initial_weights else { return };
    let name = app.model_name(path).unwrap_or_else(|| visible::path(path));
    ui.horizontal(|ui| {
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if ui.button("Clear").on_hover_text("Start from random weights instead").clicked() {
                config.initial_weights = None;
            }
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                ui.add(Label::new(format!("From {name}")).truncate()).on_hover_text(visible::path(path));
            });
        });
    });
    ui.add(Label::new(style::hint("Training continues from these weights. They are dropped if you choose another network.")).wrap());
}

/// What to learn from.
pub fn data(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    row(ui, "Data set", |ui| {
        let list = ComboBox::from_id_salt("data").width(ui.available_width()).truncate().selected_text(app.config.data.label());
        list.show_ui(ui, |ui| data_entries(ui, app, actions)).response
    })
    .on_hover_text(app.config.data.to_string());
    ui.label(style::hint(data_description(app)));
}

fn data_entries(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let mut choose = |ui: &mut Ui, source: DataSource, name: &str, why_not: Option<&str>| {
        let spec = DataSpec::single(source);
        if entry(ui, app.config.data == spec, name, why_not) {
            let mut config = app.config.clone();
            config.data = spec;
            actions.push(Action::Configure(Box::new(config)));
        }
    };
    choose(ui, DataSource::Builtin, "Built-in digits", None);
    for set in NamedSet::ALL {
        match app.found.iter().flatten().find(|found| found.set == set) {
            Some(found) => choose(ui, app.source_of(found), set.label(), None),
            None if app.found.is_none() => choose(ui, DataSource::Named(set), set.label(), Some("Searching…")),
            None => choose(ui, DataSource::Named(set), set.label(), Some("Not found on this machine.")),
        }
    }
    for folder in &app.settings.data_folders {
        let source = DataSource::Path(folder.clone());
        let name = source.label();
        choose(ui, source, &name, None);
    }
    ui.separator();
    if ui
        .button("Choose a folder…")
        .on_hover_text("Four IDX files, image folders with one subfolder per digit, a CSV file or ink files")
        .clicked()
    {
        actions.push(Action::ChooseDataFolder);
    }
}

/// What the chosen data is, in a sentence.
pub fn data_description(app: &App) -> String {
    match app.config.data.sources() {
        [DataSource::Builtin] => "60,000 handwritten-style digits generated by Inkling. Ready in seconds.".to_owned(),
        [source] => match app.found.iter().flatten().find(|found| app.source_of(found) == *source) {
            Some(found) => format!(
                "{} training and {} test images, in {}.",
                crate::text::format::grouped(found.train_images),
                crate::text::format::grouped(found.test_images),
                visible::path(&found.folder)
            ),
            None => format!("In {}.", source.name()),
        },
        _ => "Several data sets combined; the first one's test set is used for testing.".to_owned(),
    }
}
