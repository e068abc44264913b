//! The rows of the run panel: a label, a control, and below it the reason if its value is invalid.

use eframe::egui::{Align, Button, ComboBox, Id, Label, Layout, Response, TextEdit, Ui, vec2};

use crate::run_config::RunConfig;
use crate::text::visible;
use crate::window::style::icons;
use crate::window::{Action, App, Field, MachineAction, SearchAction, SearchKind, style};

/// The labels' width, in points, so that the controls line up.
const LABEL_WIDTH: f32 = 120.0;

/// The width of the button beside the learning rate, in points.
const FIND_WIDTH: f32 = 64.0;

/// A label and its control, which fills the rest of the row.
pub(super) fn row(ui: &mut Ui, label: &str, control: impl FnOnce(&mut Ui) -> Response) -> Response {
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
    about: &str,
    current: &mut T,
    all: &[T],
    name: impl Fn(T) -> &'static str,
    why_not: impl Fn(T) -> Option<String>,
) -> Response {
    let shown = name(*current);
    let response = row(ui, label, |ui| {
        let width = ui.available_width();
        let list = ComboBox::from_id_salt(label)
            .width(width)
            .truncate()
            .selected_text(shown);
        list.show_ui(ui, |ui| {
            for &option in all {
                if entry(
                    ui,
                    *current == option,
                    name(option),
                    why_not(option).as_deref(),
                ) {
                    *current = option;
                }
            }
        })
        .response
    });
    style::explain_list(response, shown, about)
}

/// The row with the machine that is trained on: this one, those that were used before, or another.
pub fn machine(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    const HERE: &str = "This machine";
    let used = app.other_machine().map(|machine| machine.host.to_string());
    let shown = app
        .other_machine()
        .map_or(HERE, |machine| machine.host.name())
        .to_owned();
    let why_not = app.why_not_move();
    let response = row(ui, "Machine", |ui| {
        let width = ui.available_width();
        let list = ComboBox::from_id_salt("Machine")
            .width(width)
            .truncate()
            .selected_text(visible::label(&shown));
        list.show_ui(ui, |ui| {
            if entry(ui, used.is_none(), HERE, why_not) {
                actions.push(Action::Machine(MachineAction::UseThis));
            }
            for host in &app.ctx.settings.hosts {
                if entry(
                    ui,
                    used.as_ref() == Some(host),
                    &visible::label(host),
                    why_not,
                ) && used.as_ref() != Some(host)
                {
                    actions.push(Action::Machine(MachineAction::Ask(Some(host.clone()))));
                }
            }
            if entry(ui, false, "Another machine…", why_not) {
                actions.push(Action::Machine(MachineAction::Ask(None)));
            }
        })
        .response
    });
    style::explain_list(
        response,
        &shown,
        "Where runs are computed and drawings are recognised: here, or on another machine through SSH.",
    );
}

/// One entry of a drop-down list; true when it was chosen.
pub(super) fn entry(ui: &mut Ui, chosen: bool, name: &str, why_not: Option<&str>) -> bool {
    let clicked = ui
        .add_enabled(why_not.is_none(), Button::selectable(chosen, name))
        .clicked();
    if clicked {
        // The list closes with a click of the pointer by itself, but not with one of a screen
        // reader.
        ui.close();
    }
    if let Some(reason) = why_not {
        below_entry(ui, reason);
    }
    clicked
}

/// What is to be known about an entry of a drop-down list.
pub(super) fn below_entry(ui: &mut Ui, about: &str) {
    ui.horizontal(|ui| {
        ui.add_space(ui.spacing().button_padding.x);
        ui.add(Label::new(style::hint(about)).wrap());
    });
}

/// A row with a field for a number.
pub fn number(
    ui: &mut Ui,
    app: &App,
    field: Field,
    label: &str,
    about: &str,
    actions: &mut Vec<Action>,
) {
    open_number(ui, app, field, label, "", about, actions);
}

/// A row with a field for an optional number; `left_out` is the empty field's placeholder.
pub fn open_number(
    ui: &mut Ui,
    app: &App,
    field: Field,
    label: &str,
    left_out: &str,
    about: &str,
    actions: &mut Vec<Action>,
) {
    let response = row(ui, label, |ui| {
        text_field(ui, app, field, left_out, actions)
    })
    .on_hover_text(about);
    below(ui, app, field, &response);
}

/// A field for the hidden layers of a CNN, below its label: it is as wide as the panel, since there
/// may be a dozen.
pub fn layers(ui: &mut Ui, app: &App, left_out: &str, about: &str, actions: &mut Vec<Action>) {
    let field = |ui: &mut Ui| {
        let label = ui.label("Layers").id;
        text_field(ui, app, Field::Layers, left_out, actions).labelled_by(label)
    };
    let response = ui.vertical(field).inner.on_hover_text(about);
    below(ui, app, Field::Layers, &response);
}

fn text_field(
    ui: &mut Ui,
    app: &App,
    field: Field,
    left_out: &str,
    actions: &mut Vec<Action>,
) -> Response {
    let mut text = app.text(field);
    let limit = if field == Field::Layers { 128 } else { 48 };
    let response = ui.add(
        TextEdit::singleline(&mut text)
            .hint_text(left_out)
            .desired_width(f32::INFINITY)
            .char_limit(limit),
    );
    if response.changed() {
        actions.push(Action::Type(field, text));
    }
    response
}

/// A number whose value can be searched for.
pub struct Searched {
    field: Field,
    label: &'static str,
    /// What the button is called for screen readers, and what it does.
    button: &'static str,
    explanation: &'static str,
    kind: SearchKind,
}

pub const LEARNING_RATE: Searched = Searched {
    field: Field::LearningRate,
    label: "Learning rate",
    button: "Find a learning rate…",
    explanation: "Searches for a good learning rate in some seconds of training",
    kind: SearchKind::LearningRate,
};

pub const BATCH_SIZE: Searched = Searched {
    field: Field::BatchSize,
    label: "Batch size",
    button: "Find a batch size…",
    explanation: "Compares how long each batch size takes to reach an accuracy",
    kind: SearchKind::BatchSize,
};

/// A row with a field for a number, and the button that searches for its value.
pub fn searched(
    ui: &mut Ui,
    app: &App,
    searched: &Searched,
    about: &str,
    actions: &mut Vec<Action>,
) {
    let Searched {
        field,
        label,
        button,
        explanation,
        kind,
    } = searched;
    let mut text = app.text(*field);
    let response = row(ui, label, |ui| {
        let width = ui.available_width() - FIND_WIDTH - ui.spacing().item_spacing.x;
        let size = vec2(width, ui.spacing().interact_size.y);
        let response = ui
            .add_sized(size, TextEdit::singleline(&mut text).char_limit(24))
            .on_hover_text(about);
        if response.changed() {
            actions.push(Action::Type(*field, text));
        }
        let why_not = app.why_not_search(*kind);
        let find = ui.add_enabled(
            why_not.is_none(),
            Button::new("Find…").min_size(vec2(FIND_WIDTH, 0.0)),
        );
        let find = find.on_hover_text(*explanation).accessible_name(*button);
        if find
            .on_disabled_hover_text(why_not.unwrap_or_default())
            .clicked()
        {
            actions.push(Action::Search(SearchAction::Open(*kind)));
        }
        response
    });
    below(ui, app, *field, &response);
}

pub fn check(ui: &mut Ui, label: &str, ticked: &mut bool) -> Response {
    row(ui, label, |ui| ui.checkbox(ticked, ""))
}

/// What is below a field: the reason why its value is invalid, if it is, or what to know about it.
/// Comes into view where it is looked for.
pub fn below(ui: &mut Ui, app: &App, field: Field, control: &Response) {
    let frame = ui.ctx().cumulative_frame_nr();
    if ui
        .data(|data| data.get_temp::<(Field, u64)>(looked_for()))
        .is_some_and(|(wanted, since)| wanted == field && since < frame)
    {
        ui.data_mut(|data| data.remove::<(Field, u64)>(looked_for()));
        control.request_focus();
        control.scroll_to_me(Some(Align::Center));
    }
    for obstacle in app
        .validation_errors()
        .iter()
        .filter(|obstacle| obstacle.field == field)
    {
        style::invalid(ui, &obstacle.message.to_string());
    }
    if let Some(note) = app.field_note(field) {
        ui.horizontal_top(|ui| {
            icons::icon(ui, icons::Icon::Note);
            ui.add(Label::new(style::hint(note)).wrap());
        });
    }
}

/// Brings this field into view, with the keyboard's focus, in the next frame: a click in this one
/// would take the focus away again.
pub fn look_for(ui: &Ui, field: Field) {
    let frame = ui.ctx().cumulative_frame_nr();
    ui.data_mut(|data| data.insert_temp(looked_for(), (field, frame)));
    ui.ctx().request_repaint();
}

fn looked_for() -> Id {
    Id::unique("the setting that is looked for")
}

/// The weights the run starts from, unless they are random.
pub fn initial_weights(ui: &mut Ui, app: &App, config: &mut RunConfig) {
    let Some(path) = &app.ctx.config.initial_weights else {
        return;
    };
    let name = app
        .saved_model_name(path)
        .map_or_else(|| visible::path(path), str::to_owned);
    ui.horizontal(|ui| {
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if ui
                .button("Clear")
                .on_hover_text("Start from random weights instead")
                .clicked()
            {
                config.initial_weights = None;
            }
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                ui.add(Label::new(format!("From {name}")).truncate())
                    .on_hover_text(visible::path(path));
            });
        });
    });
    ui.add(Label::new(style::hint("Training continues from these weights. They are dropped if you choose another network.")).wrap());
}
