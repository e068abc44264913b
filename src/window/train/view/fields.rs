//! The rows of the run panel: a label, a control, and below it the reason if its value is invalid.

use eframe::egui::{
    Align, Button, CollapsingHeader, Id, Label, Layout, Response, TextEdit, Ui, Vec2, vec2,
};

use super::descriptions;
use crate::run_config::{DeviceChoice, HiddenLayers, Kind, Range, RunConfig, Setting};
use crate::text::visible;
use crate::window::{
    Action, App, MachineAction, Pushes as _, SearchAction, SearchKind, TrainAction, device_name,
    style,
};

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

/// The row of a setting, as its kind asks for, if the other settings leave it a meaning.
pub fn setting(
    ui: &mut Ui,
    app: &App,
    setting: Setting,
    config: &mut RunConfig,
    actions: &mut Vec<Action>,
) {
    let row = setting.row();
    if !(row.applies)(&app.ctx.config) || setting == Setting::Autotune && !can_autotune(app) {
        return;
    }
    let about = descriptions::setting(setting, &app.ctx.config);
    let response = match row.kind {
        Kind::Choice => choice(ui, app, setting, config, &about),
        Kind::Switch => switch(ui, setting, config).on_hover_text(about),
        Kind::Text if setting == Setting::Layers => layers(ui, app, actions).on_hover_text(about),
        Kind::Real | Kind::Whole | Kind::Text => number(ui, app, setting, &about, actions),
    };
    below(ui, app, setting, &response);
    match setting {
        Setting::Device => {
            ui.vertical(|ui| chosen_device(ui, app));
        }
        Setting::Precision => {
            ui.vertical(|ui| {
                if let Some(note) = app
                    .machine
                    .precision_note(&app.ctx, app.ctx.config.precision)
                {
                    style::note(ui, note);
                }
            });
        }
        _ => {}
    }
}

fn can_autotune(app: &App) -> bool {
    let RunConfig {
        device, precision, ..
    } = app.ctx.config;
    app.ctx.config.autotune || app.ctx.device_for(device, precision) == DeviceChoice::Cuda
}

/// A row with a drop-down list. Unavailable choices are listed too, with the reason.
fn choice(
    ui: &mut Ui,
    app: &App,
    setting: Setting,
    config: &mut RunConfig,
    about: &str,
) -> Response {
    let ctx = &app.ctx;
    let label = setting.row().label;
    let current = setting.text(config);
    let choices = setting.choices();
    let mut shown = choices.iter().filter(|(name, _)| *name == current);
    let shown = shown.next().map_or("", |(_, label)| *label);
    let is_offered = |name: &str| match setting {
        Setting::Device => name
            .parse()
            .is_ok_and(|device| device == ctx.config.device || ctx.can_exist(device)),
        Setting::Precision => name
            .parse()
            .is_ok_and(|precision| ctx.precisions().contains(&precision)),
        _ => true,
    };
    let why_not = |name: &str| match setting {
        Setting::Device => ctx.why_not_device(name.parse().ok()?),
        Setting::Precision => ctx.why_not_precision(name.parse().ok()?),
        _ => None,
    };
    let response = row(ui, label, |ui| {
        style::drop_down(ui, label, ui.available_width(), shown, |ui| {
            for &(name, label) in choices.iter().filter(|(name, _)| is_offered(name)) {
                if entry(ui, name == current, label, why_not(name).as_deref()) {
                    choose(setting, config, name);
                }
            }
        })
    });
    style::explain_list(response, shown, about)
}

/// Takes one of the setting's own choices, which is always a value of it.
fn choose(setting: Setting, config: &mut RunConfig, name: &str) {
    let taken = setting.set(config, name);
    debug_assert!(taken.is_ok(), "{name} is not a choice of {setting}");
}

fn switch(ui: &mut Ui, setting: Setting, config: &mut RunConfig) -> Response {
    let mut ticked = setting.text(config) == "on";
    let response = row(ui, setting.row().label, |ui| ui.checkbox(&mut ticked, ""));
    if response.changed() {
        choose(setting, config, if ticked { "on" } else { "off" });
    }
    response
}

/// The device that the automatic choice stands for.
fn chosen_device(ui: &mut Ui, app: &App) {
    let config = &app.ctx.config;
    if config.device == DeviceChoice::Auto {
        let device = device_name(
            app.ctx.device_for(DeviceChoice::Auto, config.precision),
            true,
        );
        let other = app.ctx.other_machine.as_ref();
        let machine = other.map_or("this machine", |machine| machine.host.name());
        ui.label(style::hint(format!(
            "Automatic: uses {device} on {machine}."
        )));
    }
}

/// The row with the machine that is trained on: this one, those that were used before, or another.
pub fn machine(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    const HERE: &str = "This machine";
    const ABOUT: &str = "Where runs are computed and drawings are recognized: here, or on another machine over SSH.";
    let other = app.ctx.other_machine.as_ref();
    let used = other.map(|machine| machine.host.to_string());
    let shown = other.map_or(HERE, |machine| machine.host.name());
    let why_not = app.ctx.why_not_move();
    let mut ask = |action| actions.push(Action::Machine(action));
    let response = row(ui, "Machine", |ui| {
        let name = visible::label(shown);
        style::drop_down(ui, "Machine", ui.available_width(), &name, |ui| {
            if entry(ui, used.is_none(), HERE, why_not) {
                ask(MachineAction::UseThis);
            }
            for host in &app.ctx.settings.hosts {
                let is_used = used.as_ref() == Some(host);
                if entry(ui, is_used, &visible::label(host), why_not) && !is_used {
                    ask(MachineAction::Ask(Some(host.clone())));
                }
            }
            if entry(ui, false, "Another machine…", why_not) {
                ask(MachineAction::Ask(None));
            }
        })
    });
    style::explain_list(response, shown, ABOUT);
}

/// One entry of a drop-down list; true when it was chosen.
pub(super) fn entry(ui: &mut Ui, chosen: bool, name: &str, why_not: Option<&str>) -> bool {
    let button = ui.add_enabled(why_not.is_none(), Button::selectable(chosen, name));
    if button.clicked() {
        // The list closes with a click of the pointer by itself, but not with one of a screen
        // reader.
        ui.close();
    }
    if let Some(reason) = why_not {
        below_entry(ui, reason);
    }
    button.clicked()
}

/// The tooltip of an entry of a drop-down list.
pub(super) fn below_entry(ui: &mut Ui, about: &str) {
    ui.horizontal(|ui| {
        ui.add_space(ui.spacing().button_padding.x);
        style::note(ui, about);
    });
}

/// A row with a field to type in, and beside it the button that searches for its value, if there is
/// one.
fn number(
    ui: &mut Ui,
    app: &App,
    setting: Setting,
    about: &str,
    actions: &mut Vec<Action>,
) -> Response {
    let label = setting.row().label;
    let label = match setting.row().range {
        Some(Range { unit, .. }) if !unit.is_empty() => format!("{label} ({unit})"),
        _ => label.to_owned(),
    };
    let search = match setting {
        Setting::LearningRate => Some((
            SearchKind::LearningRate,
            "Find a learning rate…",
            "Searches for a good learning rate in a few seconds of training",
        )),
        Setting::BatchSize => Some((
            SearchKind::BatchSize,
            "Find a batch size…",
            "Compares how long each batch size takes to reach an accuracy",
        )),
        _ => None,
    };
    row(ui, &label, |ui| {
        let beside = FIND_WIDTH + ui.spacing().item_spacing.x;
        let space = if search.is_some() { beside } else { 0.0 };
        let size = vec2(ui.available_width() - space, ui.spacing().interact_size.y);
        let response = text_field(ui, app, setting, size, actions).on_hover_text(about);
        if let Some((kind, name, about)) = search {
            let button = Button::new("Find…").min_size(vec2(FIND_WIDTH, 0.0));
            style::ask(ui, button, app.why_not_search(kind), about)
                .accessible_name(name)
                .pushes(actions, || SearchAction::Open(kind));
        }
        response
    })
}

/// A field for the hidden layers, below its label: it is as wide as the panel, since there may be
/// two dozen.
fn layers(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) -> Response {
    ui.vertical(|ui| {
        let label = ui.label(Setting::Layers.row().label).id;
        let size = vec2(ui.available_width(), ui.spacing().interact_size.y);
        text_field(ui, app, Setting::Layers, size, actions).labelled_by(label)
    })
    .inner
}

fn text_field(
    ui: &mut Ui,
    app: &App,
    setting: Setting,
    size: Vec2,
    actions: &mut Vec<Action>,
) -> Response {
    let placeholder = match setting {
        Setting::Widths => {
            let usual = app.ctx.config.model.widths().iter();
            usual.map(ToString::to_string).collect::<Vec<_>>().join("-")
        }
        Setting::Layers => HiddenLayers::DEFAULT.to_string(),
        _ => setting.row().placeholder.to_owned(),
    };
    let limit = if setting == Setting::Layers { 256 } else { 48 };
    let mut text = app.train.text(&app.ctx, setting);
    let field = TextEdit::singleline(&mut text).hint_text(placeholder);
    let response = ui.add_sized(size, field.char_limit(limit));
    if response.changed() {
        actions.push(Action::Train(TrainAction::Type(setting, text)));
    }
    response
}

/// The line below a field: the reason why its value is invalid, or a note on it.
/// Comes into view where it is looked for.
pub fn below(ui: &mut Ui, app: &App, setting: Setting, control: &Response) {
    let frame = ui.ctx().cumulative_frame_nr();
    let wanted = ui.data(|data| data.get_temp::<(Setting, u64)>(looked_for()));
    if wanted.is_some_and(|(wanted, since)| wanted == setting && since < frame) {
        ui.data_mut(|data| data.remove::<(Setting, u64)>(looked_for()));
        control.request_focus();
        control.scroll_to_me(Some(Align::Center));
    }
    for obstacle in app.errors_of(setting) {
        let message = &obstacle.message;
        // What to do about data is too long for the panel.
        if setting == Setting::Data {
            style::invalid(ui, &message.what);
            let fold = CollapsingHeader::new(style::hint("What to do"));
            fold.show_unindented(ui, |ui| style::note(ui, &message.remedy));
        } else {
            style::invalid(ui, &message.to_string());
        }
    }
    if let Some(note) = app.ctx.field_note(setting) {
        style::note_with_icon(ui, note);
    }
}

/// Brings this field into view, with the keyboard's focus, in the next frame: a click in this one
/// would take the focus away again.
pub fn look_for(ui: &Ui, setting: Setting) {
    let frame = ui.ctx().cumulative_frame_nr();
    ui.data_mut(|data| data.insert_temp(looked_for(), (setting, frame)));
    ui.ctx().request_repaint();
}

fn looked_for() -> Id {
    Id::unique("setting to find")
}

/// The weights the run starts from, unless they are random.
pub fn initial_weights(ui: &mut Ui, app: &App, config: &mut RunConfig) {
    let Some(path) = &app.ctx.config.initial_weights else {
        return;
    };
    let saved = app.models.saved_model_name(path);
    let name = saved.map_or_else(|| visible::path(path), str::to_owned);
    ui.horizontal(|ui| {
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let clear = ui.button("Clear");
            if clear
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
    style::note(
        ui,
        "Training continues from these weights. They are dropped if you choose another network.",
    );
}
