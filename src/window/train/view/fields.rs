//! The rows of the run panel: a label, a control, and below it the reason if its value is invalid.

use eframe::egui::{
    Align, Button, ComboBox, Id, Label, Layout, Response, TextEdit, Ui, Vec2, vec2,
};

use super::descriptions;
use crate::run_config::{CnnLayers, DeviceChoice, Kind, Range, RunConfig, Setting};
use crate::text::visible;
use crate::window::style::{self, icons};
use crate::window::{
    Action, App, MachineAction, Pushes as _, SearchAction, SearchKind, TrainAction, device_name,
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
    let label = setting.row().label;
    let current = setting.text(config);
    let choices = setting.choices();
    let shown = choices
        .iter()
        .find(|(name, _)| *name == current)
        .map_or("", |(_, label)| *label);
    let is_offered = |name: &str| match setting {
        Setting::Device => name
            .parse()
            .is_ok_and(|device| device == app.ctx.config.device || app.ctx.can_exist(device)),
        Setting::Precision => name
            .parse()
            .is_ok_and(|precision| app.ctx.precisions().contains(&precision)),
        _ => true,
    };
    let why_not = |name: &str| match setting {
        Setting::Device => app.ctx.why_not_device(name.parse().ok()?),
        Setting::Precision => app.ctx.why_not_precision(name.parse().ok()?),
        _ => None,
    };
    let response = row(ui, label, |ui| {
        let width = ui.available_width();
        let list = ComboBox::from_id_salt(label)
            .width(width)
            .truncate()
            .selected_text(shown);
        list.show_ui(ui, |ui| {
            for &(name, label) in choices.iter().filter(|(name, _)| is_offered(name)) {
                if entry(ui, name == current, label, why_not(name).as_deref()) {
                    choose(setting, config, name);
                }
            }
        })
        .response
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

/// What the automatic choice of a device comes to.
fn chosen_device(ui: &mut Ui, app: &App) {
    if app.ctx.config.device == DeviceChoice::Auto {
        let device = app
            .ctx
            .device_for(DeviceChoice::Auto, app.ctx.config.precision);
        let device = device_name(device, true);
        let machine = app
            .ctx
            .other_machine
            .as_ref()
            .map_or("this machine", |machine| machine.host.name());
        ui.label(style::hint(format!(
            "Automatic: uses {device} on {machine}."
        )));
    }
}

/// The row with the machine that is trained on: this one, those that were used before, or another.
pub fn machine(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    const HERE: &str = "This machine";
    let used = app
        .ctx
        .other_machine
        .as_ref()
        .map(|machine| machine.host.to_string());
    let shown = app
        .ctx
        .other_machine
        .as_ref()
        .map_or(HERE, |machine| machine.host.name())
        .to_owned();
    let why_not = app.ctx.why_not_move();
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
    row(ui, &label, |ui| {
        let search = Searched::of(setting);
        let space = search
            .as_ref()
            .map_or(0.0, |_| FIND_WIDTH + ui.spacing().item_spacing.x);
        let size = vec2(ui.available_width() - space, ui.spacing().interact_size.y);
        let response = text_field(ui, app, setting, size, actions).on_hover_text(about);
        if let Some(search) = search {
            search.button(ui, app, actions);
        }
        response
    })
}

/// A field for the hidden layers of a CNN, below its label: it is as wide as the panel, since there
/// may be a dozen.
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
            let usual = app
                .ctx
                .config
                .model
                .widths()
                .iter()
                .map(ToString::to_string);
            usual.collect::<Vec<_>>().join("-")
        }
        Setting::Layers => CnnLayers::DEFAULT.to_string(),
        _ => setting.row().placeholder.to_owned(),
    };
    let limit = if setting == Setting::Layers { 128 } else { 48 };
    let mut text = app.train.text(&app.ctx, setting);
    let field = TextEdit::singleline(&mut text)
        .hint_text(placeholder)
        .char_limit(limit);
    let response = ui.add_sized(size, field);
    if response.changed() {
        actions.push(Action::Train(TrainAction::Type(setting, text)));
    }
    response
}

/// The search for a setting's value.
struct Searched {
    /// What the button is called for screen readers, and what it does.
    name: &'static str,
    explanation: &'static str,
    kind: SearchKind,
}

impl Searched {
    fn of(setting: Setting) -> Option<Self> {
        match setting {
            Setting::LearningRate => Some(Self {
                name: "Find a learning rate…",
                explanation: "Searches for a good learning rate in some seconds of training",
                kind: SearchKind::LearningRate,
            }),
            Setting::BatchSize => Some(Self {
                name: "Find a batch size…",
                explanation: "Compares how long each batch size takes to reach an accuracy",
                kind: SearchKind::BatchSize,
            }),
            _ => None,
        }
    }

    fn button(self, ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
        let why_not = app.why_not_search(self.kind);
        let find = ui.add_enabled(
            why_not.is_none(),
            Button::new("Find…").min_size(vec2(FIND_WIDTH, 0.0)),
        );
        let find = find
            .on_hover_text(self.explanation)
            .accessible_name(self.name);
        find.on_disabled_hover_text(why_not.unwrap_or_default())
            .pushes(actions, || SearchAction::Open(self.kind));
    }
}

/// What is below a field: the reason why its value is invalid, if it is, or what to know about it.
/// Comes into view where it is looked for.
pub fn below(ui: &mut Ui, app: &App, setting: Setting, control: &Response) {
    let frame = ui.ctx().cumulative_frame_nr();
    if ui
        .data(|data| data.get_temp::<(Setting, u64)>(looked_for()))
        .is_some_and(|(wanted, since)| wanted == setting && since < frame)
    {
        ui.data_mut(|data| data.remove::<(Setting, u64)>(looked_for()));
        control.request_focus();
        control.scroll_to_me(Some(Align::Center));
    }
    for obstacle in app
        .validation_errors()
        .iter()
        .filter(|obstacle| obstacle.setting == Some(setting))
    {
        style::invalid(ui, &obstacle.message.to_string());
    }
    if let Some(note) = app.ctx.field_note(setting) {
        ui.horizontal_top(|ui| {
            icons::icon(ui, icons::Icon::Note);
            style::note(ui, note);
        });
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
    Id::unique("the setting that is looked for")
}

/// The weights the run starts from, unless they are random.
pub fn initial_weights(ui: &mut Ui, app: &App, config: &mut RunConfig) {
    let Some(path) = &app.ctx.config.initial_weights else {
        return;
    };
    let name = app
        .models
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
    style::note(
        ui,
        "Training continues from these weights. They are dropped if you choose another network.",
    );
}
