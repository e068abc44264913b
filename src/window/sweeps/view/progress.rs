//! The head of a sweep: what it searches, how far it is, and pausing, stopping and resuming it.

use eframe::egui::{Align, Button, Label, Layout, RichText, Ui};

use crate::sweep::Trial;
use crate::text::format::percent;
use crate::text::visible;
use crate::window::shell::help;
use crate::window::shell::help::Topic;
use crate::window::style;
use crate::window::{Action, App, SweepAction, SweepPhase, SweepView};

/// Trials more that a sweep that is complete can go on for.
const MORE: u32 = 10;

pub fn show(ui: &mut Ui, app: &App, sweep: &SweepView, actions: &mut Vec<Action>) {
    ui.horizontal(|ui| {
        ui.heading("Sweep");
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            help::button(ui, Topic::Sweep);
            let back = ui.add_enabled(!sweep.is_active(), Button::new("All sweeps"));
            let about = "Go back to setting one up, and to the earlier ones";
            if back
                .on_hover_text(about)
                .on_disabled_hover_text("Available once the sweep has ended or is paused")
                .clicked()
            {
                actions.push(Action::Sweep(SweepAction::Close));
            }
            if ui
                .button("Save table…")
                .on_hover_text("Writes all trials to a CSV file")
                .clicked()
            {
                actions.push(Action::Sweep(SweepAction::SaveTable));
            }
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                ui.add(Label::new(RichText::new(sweep.title()).size(17.0).strong()).truncate());
            });
        });
    });
    ui.horizontal_wrapped(|ui| {
        buttons(ui, app, sweep, actions);
        ui.label(RichText::new(sweep.state()).strong());
        ui.label(sweep.figures().join(", "));
    });
    ui.add(style::progress_bar(ui, sweep.fraction()).desired_height(10.0))
        .accessible_name("Sweep progress");
    settings(ui, app, sweep, actions);
}

fn buttons(ui: &mut Ui, app: &App, sweep: &SweepView, actions: &mut Vec<Action>) {
    let mut act = |action| actions.push(Action::Sweep(action));
    if sweep.is_active() {
        let can = matches!(sweep.phase, SweepPhase::Starting | SweepPhase::Running);
        let about = "It can be resumed, even after Inkling was closed. Trials that are training now begin again then";
        if ui
            .add_enabled(can, style::secondary_button("Pause"))
            .on_hover_text(about)
            .clicked()
        {
            act(SweepAction::Pause);
        }
        let about = "Ends the sweep with the trials that have ended by now";
        if ui
            .add_enabled(can, style::secondary_button("Stop"))
            .on_hover_text(about)
            .clicked()
        {
            act(SweepAction::Stop);
        }
        return;
    }
    let Some(folder) = &sweep.folder else { return };
    let why_not = app.why_not_sweep();
    let reason = why_not.unwrap_or_default();
    if sweep.phase == SweepPhase::Complete {
        let is_exhausted = sweep.definition.is_exhausted(sweep.trials.len());
        let reason = if is_exhausted {
            "Every combination of these values has been tried"
        } else {
            reason
        };
        let more = ui.add_enabled(
            why_not.is_none() && !is_exhausted,
            style::secondary_button(format!("{MORE} more trials")),
        );
        if more
            .on_hover_text("Goes on from the trials so far")
            .on_disabled_hover_text(reason)
            .clicked()
        {
            act(SweepAction::Extend(folder.clone(), MORE));
        }
    } else {
        let resume = ui.add_enabled(why_not.is_none(), style::primary_button(ui, "Resume"));
        if resume
            .on_hover_text("Trials that were cut short begin again")
            .on_disabled_hover_text(reason)
            .clicked()
        {
            act(SweepAction::Resume(folder.clone()));
        }
    }
}

/// The settings of the selected trial or of the best, and what can be done with them.
fn settings(ui: &mut Ui, app: &App, sweep: &SweepView, actions: &mut Vec<Action>) {
    let selected = sweep.selected.and_then(|number| sweep.trial(number));
    let shown = selected.or_else(|| sweep.best());
    ui.horizontal_wrapped(|ui| match shown {
        None => drop(ui.label(style::hint("No trial has trained to its end yet."))),
        Some(trial) => {
            let which = if selected.is_some() {
                format!("Trial {}", trial.number)
            } else {
                "Best".to_owned()
            };
            let accuracy = trial
                .accuracy()
                .map(|accuracy| format!(": {} validation accuracy", percent(accuracy, 2)));
            ui.label(RichText::new(format!("{which}{}", accuracy.unwrap_or_default())).strong());
            ui.label(format!("with {}", values(sweep, trial)));
        }
    });
    ui.horizontal_wrapped(|ui| {
        let text = "Use these settings";
        let primary = sweep.phase == SweepPhase::Complete;
        let button = if primary { style::primary_button(ui, text) } else { style::secondary_button(text) };
        let used = ui.add_enabled(shown.is_some(), button).on_hover_text("Puts them into the run panel and goes to Train");
        if used.clicked() {
            actions.extend(shown.map(|trial| Action::Sweep(SweepAction::Use(trial.number))));
        }
        if let Some((trial, tested)) = &sweep.tested {
            let data = sweep.definition.base.data.tested().label();
            let named = |accuracy| format!("Test accuracy on {data}: {}", percent(accuracy, 2));
            let accuracy = tested.test_accuracy.map_or_else(|| "The data has no test images".to_owned(), named);
            ui.label(RichText::new(accuracy).strong());
            ui.label(format!("with the settings of trial {trial}"));
            if ui.link("Show the model").on_hover_text(visible::path(&tested.run)).clicked() {
                actions.push(Action::ShowModel(tested.run.clone()));
            }
            return;
        }
        let why_not = app.why_not_test_best();
        let test = ui.add_enabled(why_not.is_none(), style::secondary_button("Train the best and read its test accuracy"));
        let about =
            "Trains the best settings once more as a run that is saved. The sweep itself never sees test images: this reads them once";
        if test.on_hover_text(about).on_disabled_hover_text(why_not.unwrap_or_default()).clicked() {
            actions.push(Action::Sweep(SweepAction::Test));
        }
    });
}

/// "learning rate 0.003, batch size 64".
fn values(sweep: &SweepView, trial: &Trial) -> String {
    let each = sweep.definition.space.iter().zip(&trial.values);
    each.map(|(dimension, value)| format!("{} {value}", dimension.setting.label().to_lowercase()))
        .collect::<Vec<_>>()
        .join(", ")
}
