//! Setting a sweep up: what varies, how settings are chosen, and for how long.

use eframe::egui::{Button, Label, RichText, TextEdit, Ui, containers::menu::MenuButton};

use super::row;
use crate::sweep::{Asha, Definition, SamplerKind, Setting};
use crate::text::format::count;
use crate::window::shell::shortcuts;
use crate::window::style;
use crate::window::{Action, App, SweepAction, SweepField, SweepForm, SweepProblem};

/// The width of the fields for the budget, in points.
const NUMBER: f32 = 64.0;

pub fn show(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let (Some(form), Some((definition, problems))) = (&app.sweeps.form, app.sweep_definition())
    else {
        return;
    };
    let about = "Trains many short runs with different settings, and looks for those with the highest validation accuracy.";
    ui.add(Label::new(RichText::new(about).weak()).wrap());
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

fn base(ui: &mut Ui, app: &App, definition: &Definition, actions: &mut Vec<Action>) {
    style::section(ui, "All trials");
    let base = &definition.base;
    let mut facts = vec![base.title(), count(base.epochs.into(), "epoch")];
    facts.extend(
        app.expected_time(base)
            .map(|time| format!("about {time} each when alone")),
    );
    ui.horizontal_wrapped(|ui| {
        ui.label(format!(
            "{}; everything else as under Train.",
            facts.join(", ")
        ));
        if ui
            .link("Change")
            .on_hover_text("Go to the settings under Train")
            .clicked()
        {
            actions.push(Action::Show(crate::window::Screen::Train));
        }
    });
}

fn varying(
    ui: &mut Ui,
    form: &mut SweepForm,
    problems: &[SweepProblem],
    actions: &mut Vec<Action>,
) {
    style::section(ui, "What varies");
    let mut removed = None;
    for row in &mut form.rows {
        ui.push_id(row.setting, |ui| {
            if row::show(ui, row) {
                removed = Some(row.setting);
            }
        });
        below(ui, SweepField::Setting(row.setting), problems);
    }
    form.rows.retain(|row| Some(row.setting) != removed);
    ui.horizontal(|ui| {
        let others: Vec<Setting> = Setting::ALL
            .into_iter()
            .filter(|setting| form.rows.iter().all(|row| row.setting != *setting))
            .collect();
        if !others.is_empty() {
            MenuButton::from_button(Button::new("Add a setting")).ui(ui, |ui| {
                for setting in others {
                    if ui.button(setting.label()).clicked() {
                        actions.push(Action::Sweep(SweepAction::Add(setting)));
                        ui.close();
                    }
                }
            });
        }
        if ui
            .button("Reset")
            .on_hover_text("The usual settings, in ranges around those under Train")
            .clicked()
        {
            actions.push(Action::Sweep(SweepAction::Reset));
        }
    });
}

fn method(ui: &mut Ui, form: &mut SweepForm) {
    style::section(ui, "How settings are chosen");
    for (sampler, name, about) in [
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
    ] {
        ui.horizontal_wrapped(|ui| {
            if ui.radio(form.sampler == sampler, name).clicked() {
                form.sampler = sampler;
            }
            ui.label(style::hint(about));
        });
    }
    let reduction = Asha::DEFAULT.reduction;
    let about = format!(
        "After epochs 1, {reduction}, {}, … only the best 1 in {reduction} goes on (ASHA, Li et al. 2020).",
        reduction * reduction
    );
    ui.horizontal_wrapped(|ui| {
        ui.checkbox(&mut form.ends_early, "End poor trials early");
        ui.label(style::hint(about));
    });
}

fn budget(ui: &mut Ui, form: &mut SweepForm, definition: &Definition, problems: &[SweepProblem]) {
    style::section(ui, "For how long");
    let number = |ui: &mut Ui, text: &mut String, empty: &str, name: &str| {
        ui.add(
            TextEdit::singleline(text)
                .hint_text(empty)
                .desired_width(NUMBER)
                .char_limit(10),
        )
        .accessible_name(name);
    };
    ui.horizontal_wrapped(|ui| {
        ui.label("At most");
        number(
            ui,
            &mut form.trials,
            if form.sampler == SamplerKind::Grid {
                "all"
            } else {
                "any"
            },
            "Trials",
        );
        ui.label("trials, and at most");
        number(ui, &mut form.minutes, "any", "Minutes");
        ui.label("minutes");
    });
    below(ui, SweepField::Trials, problems);
    below(ui, SweepField::Minutes, problems);
    ui.horizontal_wrapped(|ui| {
        number(
            ui,
            &mut form.at_once,
            &definition.at_once.to_string(),
            "Trials at once",
        );
        ui.label("trials at once").on_hover_text(
            "Threads are divided among them. Small networks are searched faster several at once",
        );
    });
    below(ui, SweepField::AtOnce, problems);
}

fn below(ui: &mut Ui, field: SweepField, problems: &[SweepProblem]) {
    for problem in problems.iter().filter(|problem| problem.field == field) {
        style::invalid(ui, &problem.message.to_string());
    }
}

fn start(ui: &mut Ui, app: &App, problems: &[SweepProblem], actions: &mut Vec<Action>) {
    ui.add_space(style::GAP / 2.0);
    let why_not = app.why_not_sweep();
    let enabled = why_not.is_none() && problems.is_empty();
    let button = ui.add_enabled(enabled, style::primary_button(ui, "Start the sweep"));
    let keys = ui.ctx().format_shortcut(&shortcuts::START);
    if button.on_hover_text(keys).clicked() {
        actions.push(Action::Sweep(SweepAction::Start));
    }
    if let Some(reason) = why_not {
        ui.add(Label::new(style::hint(format!("{reason}."))).wrap());
    }
}
