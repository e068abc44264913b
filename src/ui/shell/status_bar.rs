//! The status bar: the run's progress, and the monitor's switch.

use eframe::egui::{Align, Button, Label, Layout, RichText, Sense, Ui, vec2};

use crate::app::{Action, App, Screen};
use crate::ui::{shortcuts, style};

/// Draws the bar.
pub fn show(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    ui.horizontal(|ui| {
        run(ui, app, actions);
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| monitor(ui, app, actions));
    });
}

fn monitor(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let shown = app.settings.monitor;
    let about = format!(
        "{} live CPU, memory and GPU usage ({})",
        if shown { "Hide" } else { "Show" },
        ui.ctx().format_shortcut(&shortcuts::MONITOR)
    );
    let button = Button::selectable(shown, RichText::new("Monitor").small()).frame_when_inactive(true).small().min_size(vec2(0.0, 24.0));
    if ui.add(button).on_hover_text(about).clicked() {
        actions.push(Action::ShowMonitor(!shown));
    }
}

fn run(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    if let Some(sweep) = app.sweeps.shown.as_ref().filter(|sweep| sweep.is_active()) {
        ui.add(style::progress_bar(ui, sweep.fraction()).desired_width(120.0).desired_height(8.0))
            .accessible_name("Sweep progress, in the status bar");
        let text = format!("Sweep: {}", sweep.figures().join(", "));
        if ui.add(Label::new(RichText::new(text).small()).sense(Sense::click())).on_hover_text("Show the sweep").clicked() {
            actions.push(Action::Show(Screen::Sweep));
        }
        return;
    }
    let Some(run) = &app.run else {
        ui.label(style::hint("No run yet"));
        return;
    };
    if run.is_active() {
        ui.add(style::progress_bar(ui, run.fraction()).desired_width(120.0).desired_height(8.0))
            .accessible_name("Run progress, in the status bar");
    }
    let mut parts = vec![run.state()];
    parts.extend(run.pace());
    let text = RichText::new(parts.join(", ")).small();
    if ui.add(Label::new(text).sense(Sense::click())).on_hover_text("Show the run").clicked() {
        actions.push(Action::Show(Screen::Train));
    }
}
