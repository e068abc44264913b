//! Setting a sweep up: what varies, how settings are chosen, and for how long. Beside that, earlier
//! sweeps: those that were interrupted first, to be resumed.

use eframe::egui::containers::menu::MenuButton;
use eframe::egui::{Align, Button, Layout, Response, TextEdit, Ui, vec2};

use crate::problem::Explain;
use crate::run_config::{Kind, Setting};
use crate::sweep::{Asha, SamplerKind, SweepCard, SweepDefinition, SweepEntry};
use crate::text::format::{NAME_TIME, count, percent};
use crate::text::visible;
use crate::window::shell::shortcuts;
use crate::window::{
    Action, App, Pushes as _, Screen, SettingRow, SweepAction, SweepField, SweepForm,
    SweepFormError, style,
};

/// The width of the fields for the budget, in points.
const NUMBER: f32 = 64.0;

pub fn show(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let (Some(form), Some((definition, problems))) = (
        &app.sweeps.form,
        app.sweeps.definition(&app.ctx, &app.train, &app.my_digits),
    ) else {
        return;
    };
    let about = "Hyperparameter search: trains many short runs with different settings to find the highest validation accuracy.";
    style::weak(ui, about);
    let mut form = form.clone();
    base(ui, app, &definition, actions);
    varying(ui, &mut form, &problems, actions);
    method(ui, &mut form);
    budget(ui, &mut form, &definition, &problems);
    for problem in problems
        .iter()
        .filter(|problem| problem.field == SweepField::Other)
    {
        style::invalid(ui, &problem.message.to_string());
    }
    start(ui, app, &problems, actions);
    if Some(&form) != app.sweeps.form.as_ref() {
        actions.push(Action::Sweep(SweepAction::Change(Box::new(form))));
    }
}

fn base(ui: &mut Ui, app: &App, definition: &SweepDefinition, actions: &mut Vec<Action>) {
    style::section(ui, "All trials");
    let base = &definition.base;
    let time = app.expected_time(base);
    let time = time.map_or_else(String::new, |time| {
        format!(", about {time} each when alone")
    });
    let epochs = count(base.epochs.into(), "epoch");
    ui.horizontal_wrapped(|ui| {
        let title = base.title();
        ui.label(format!(
            "{title}, {epochs}{time}; everything else as under Train."
        ));
        ui.link("Change")
            .on_hover_text("Go to the settings under Train")
            .pushes(actions, || Action::Show(Screen::Train));
    });
}

fn varying(
    ui: &mut Ui,
    form: &mut SweepForm,
    problems: &[SweepFormError],
    actions: &mut Vec<Action>,
) {
    style::section(ui, "What varies");
    let mut removed = None;
    for row in &mut form.rows {
        ui.push_id(row.setting, |ui| {
            if setting_row(ui, row) {
                removed = Some(row.setting);
            }
        });
        below(ui, SweepField::Setting(row.setting), problems);
    }
    form.rows.retain(|row| Some(row.setting) != removed);
    ui.horizontal(|ui| {
        let others: Vec<Setting> = Setting::sweepable()
            .filter(|setting| form.rows.iter().all(|row| row.setting != *setting))
            .collect();
        if !others.is_empty() {
            MenuButton::from_button(Button::new("Add a setting")).ui(ui, |ui| {
                for setting in others {
                    if ui.button(setting.row().label).clicked() {
                        actions.push(Action::Sweep(SweepAction::Add(setting)));
                        ui.close();
                    }
                }
            });
        }
        ui.button("Reset")
            .on_hover_text("The usual settings, in ranges around those under Train")
            .pushes(actions, || SweepAction::Reset);
    });
}

fn method(ui: &mut Ui, form: &mut SweepForm) {
    const SAMPLERS: [(SamplerKind, &str, &str); 3] = [
        (
            SamplerKind::Tpe,
            "Learn from the trials so far",
            "Best for few trials: each follows what did well before (TPE, Bergstra et al. 2011).",
        ),
        (
            SamplerKind::Random,
            "At random",
            "Each trial independently of the others.",
        ),
        (
            SamplerKind::Grid,
            "Every combination",
            "A grid: for a few values of one or two settings.",
        ),
    ];
    style::section(ui, "How settings are chosen");
    for (sampler, name, about) in SAMPLERS {
        ui.horizontal_wrapped(|ui| {
            ui.radio_value(&mut form.sampler, sampler, name);
            ui.label(style::hint(about));
        });
    }
    let reduction = Asha::DEFAULT.reduction;
    let about = format!(
        "After epochs 1, {reduction}, {}, … only the best 1 in {reduction} continues (ASHA, Li et al. 2020).",
        reduction * reduction
    );
    ui.horizontal_wrapped(|ui| {
        ui.checkbox(&mut form.ends_early, "End poor trials early");
        ui.label(style::hint(about));
    });
}

fn budget(
    ui: &mut Ui,
    form: &mut SweepForm,
    definition: &SweepDefinition,
    problems: &[SweepFormError],
) {
    style::section(ui, "For how long");
    let number = |ui: &mut Ui, text: &mut String, empty: &str, name: &str| {
        let field = TextEdit::singleline(text).hint_text(empty);
        ui.add(field.desired_width(NUMBER).char_limit(10))
            .accessible_name(name);
    };
    ui.horizontal_wrapped(|ui| {
        ui.label("At most");
        let is_grid = form.sampler == SamplerKind::Grid;
        let empty = if is_grid { "all" } else { "any" };
        number(ui, &mut form.trials, empty, "Trials");
        ui.label("trials, and at most");
        number(ui, &mut form.minutes, "any", "Minutes");
        ui.label("minutes");
    });
    below(ui, SweepField::Trials, problems);
    below(ui, SweepField::Minutes, problems);
    ui.horizontal_wrapped(|ui| {
        let usual = definition.parallel.to_string();
        number(ui, &mut form.parallel, &usual, "Parallel trials");
        ui.label("trials in parallel").on_hover_text(
            "Threads are divided among them. Small networks are searched faster in parallel",
        );
    });
    below(ui, SweepField::Parallel, problems);
}

fn below(ui: &mut Ui, field: SweepField, problems: &[SweepFormError]) {
    for problem in problems.iter().filter(|problem| problem.field == field) {
        style::invalid(ui, &problem.message.to_string());
    }
}

fn start(ui: &mut Ui, app: &App, problems: &[SweepFormError], actions: &mut Vec<Action>) {
    ui.add_space(style::GAP / 2.0);
    let why_not = app.ctx.why_not_sweep();
    let enabled = why_not.is_none() && problems.is_empty();
    let keys = ui.ctx().format_shortcut(&shortcuts::START);
    ui.add_enabled(enabled, style::primary_button("Start the sweep"))
        .on_hover_text(keys)
        .pushes(actions, || SweepAction::Start);
    if let Some(reason) = why_not {
        style::note(ui, format!("{reason}."));
    }
}

pub fn resume(ui: &mut Ui, why_not: Option<&str>) -> Response {
    let button = style::primary_button("Resume");
    style::ask(ui, button, why_not, "Unfinished trials start again")
}

/// The width of the settings' names and of a number, in points.
const NAME: f32 = 116.0;
const VALUE: f32 = 84.0;
/// The width of the button that removes it.
const REMOVE: f32 = 32.0;

/// Draws it; true when it is to be removed.
fn setting_row(ui: &mut Ui, row: &mut SettingRow) -> bool {
    let label = row.setting.row().label;
    let height = ui.spacing().interact_size.y;
    ui.horizontal_top(|ui| {
        style::row(ui, vec2(NAME, height), |ui| {
            ui.set_min_width(NAME);
            ui.label(label);
        });
        let width = ui.available_width() - REMOVE - ui.spacing().item_spacing.x;
        let wrapped = Layout::left_to_right(Align::Center).with_main_wrap(true);
        ui.allocate_ui_with_layout(vec2(width, height), wrapped, |ui| {
            ui.set_min_width(width);
            match (row.setting.row().kind, row.setting) {
                (Kind::Choice | Kind::Switch, _) => names(ui, row),
                (Kind::Real | Kind::Whole, _) => numbers(ui, row),
                (Kind::Text, Setting::Layers) => values(ui, row, "32C3-MP2, 32C3-MP2-128"),
                (Kind::Text, _) => values(ui, row, "64, 128, 128-64"),
            }
        });
        ui.add_sized(vec2(REMOVE, height), style::small_button("×"))
            .on_hover_text("Do not vary it")
            .accessible_name(format!("Remove {label}"))
            .clicked()
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

fn values(ui: &mut Ui, row: &mut SettingRow, example: &str) {
    let field = TextEdit::singleline(&mut row.values);
    ui.add(field.desired_width(2.0 * VALUE).char_limit(200))
        .on_hover_text(format!("Separated by commas, such as {example}"))
        .accessible_name(format!("{}: values", row.setting.row().label));
}

fn numbers(ui: &mut Ui, row: &mut SettingRow) {
    let label = row.setting.row().label;
    for (listed, text, about) in [
        (false, "Range", "Any value in between may be tried"),
        (true, "Values", "Only these values are tried"),
    ] {
        let toggle = style::toggle(text, row.listed == listed);
        let toggle = style::ask(ui, toggle, None, about);
        if toggle.accessible_name(format!("{label}: {text}")).clicked() {
            row.listed = listed;
        }
    }
    if row.listed {
        return values(ui, row, "32, 64, 128");
    }
    let end = |ui: &mut Ui, text: &mut String, name: &str| {
        let field = TextEdit::singleline(text).desired_width(VALUE);
        ui.add(field.char_limit(24))
            .accessible_name(format!("{label}: {name}"));
    };
    end(ui, &mut row.low, "from");
    ui.label("to");
    end(ui, &mut row.high, "to");
    let about = "Log-uniform: for values that span orders of magnitude";
    ui.checkbox(&mut row.log, "logarithmic")
        .on_hover_text(about)
        .accessible_name(format!("{label}: logarithmic"));
}

pub fn stored(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    style::section(ui, "Earlier sweeps");
    let Some(listed) = &app.sweeps.listed else {
        ui.label(style::hint("Loading…"));
        return;
    };
    if listed.is_empty() {
        let none = "None yet. A sweep is kept with all its trials, and can be resumed after an interruption.";
        style::note(ui, none);
    }
    let (resumable, others): (Vec<_>, Vec<_>) =
        listed.iter().partition(|entry| entry.is_resumable());
    for entry in resumable.into_iter().chain(others) {
        style::full_card(ui, |ui| card(ui, app, entry, actions));
        ui.add_space(style::GAP / 2.0);
    }
}

fn card(ui: &mut Ui, app: &App, entry: &SweepEntry, actions: &mut Vec<Action>) {
    let (when, folder) = (when(entry), || entry.folder.clone());
    match &entry.card {
        Ok(card) => {
            style::strong_line(ui, card.definition.base.title());
            style::note(ui, facts(&when, card));
        }
        Err(error) => {
            style::strong_line(ui, &when);
            style::invalid(ui, &error.message().to_string());
        }
    }
    ui.horizontal_wrapped(|ui| {
        if let Ok(card) = &entry.card {
            if !card.complete {
                resume(ui, app.ctx.why_not_sweep())
                    .accessible_name(format!("Resume the sweep of {when}"))
                    .pushes(actions, || SweepAction::Resume(folder()));
            }
            ui.add(style::secondary_button("Show"))
                .accessible_name(format!("Show the sweep of {when}"))
                .pushes(actions, || SweepAction::Open(folder()));
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.button("Delete")
                .accessible_name(format!("Delete the sweep of {when}"))
                .pushes(actions, || SweepAction::Delete(folder()));
        });
    });
}

/// "24 Nov 2026, 04:01 · paused after 12 of 30 trials · best 98.20%".
fn facts(when: &str, card: &SweepCard) -> String {
    let ended = count(card.ended.into(), "trial");
    let state = match card.definition.max_trials() {
        _ if card.complete => format!("complete, {ended}"),
        Some(most) => {
            let most = count(most.into(), "trial");
            format!("paused after {} of {most}", card.ended)
        }
        None => format!("paused after {ended}"),
    };
    let best = card
        .best
        .map(|best| format!(" · best {}", percent(best, 2)));
    format!("{when} · {state}{}", best.unwrap_or_default())
}

/// When it was begun, from its folder's name.
fn when(entry: &SweepEntry) -> String {
    let name = entry.folder.file_name().unwrap_or_default();
    let name = name.to_string_lossy();
    let begun = name
        .get(..19)
        .and_then(|time| jiff::civil::DateTime::strptime(NAME_TIME, time).ok());
    begun.map_or_else(
        || visible::label(&name),
        |time| time.strftime("%-d %b %Y, %H:%M").to_string(),
    )
}
