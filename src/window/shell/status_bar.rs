//! The status bar: the progress of the sweep, run or job that is at work, and the monitor's switch.

use eframe::egui::{Align, Button, Label, Layout, RichText, Sense, Ui, vec2};

use super::shortcuts;
use crate::window::style;
use crate::window::{Action, App, Screen};

pub fn show(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    ui.horizontal(|ui| {
        at_work(ui, app, actions);
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            monitor(ui, app, actions)
        });
    });
}

fn monitor(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let shown = app.ctx.settings.monitor;
    let about = format!(
        "{} live CPU, memory and GPU usage ({})",
        if shown { "Hide" } else { "Show" },
        ui.ctx().format_shortcut(&shortcuts::MONITOR)
    );
    let button = Button::selectable(shown, RichText::new("Monitor").small())
        .frame_when_inactive(true)
        .small()
        .min_size(vec2(0.0, 24.0));
    if ui.add(button).on_hover_text(about).clicked() {
        actions.push(Action::ShowMonitor(!shown));
    }
}

/// The sweep, the run or the job that is in progress, or how the last run ended.
fn at_work(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    if let Some(sweep) = app.sweeps.shown.as_ref().filter(|sweep| sweep.is_active()) {
        progress(ui, sweep.fraction(), "Sweep progress, in the status bar");
        let text = format!("Sweep: {}", sweep.figures().join(", "));
        link(ui, text, "Show the sweep", Screen::Sweep, actions);
        return;
    }
    let run = app.train.run.as_ref();
    if let Some(run) = run.filter(|run| run.is_active()) {
        progress(ui, run.fraction(), "Run progress, in the status bar");
        let parts: Vec<String> = std::iter::once(run.state()).chain(run.pace()).collect();
        link(ui, parts.join(", "), "Show the run", Screen::Train, actions);
    } else if let Some(job) = app.ctx.jobs.shown() {
        progress(
            ui,
            job.running.progress.fraction,
            "Job progress, in the status bar",
        );
        link(ui, job.state(), "Show it", job.screen, actions);
        if job.can_cancel() {
            let cancel = ui.add_enabled(
                !job.running.cancelling,
                Button::new(RichText::new("Cancel").small()).small(),
            );
            if cancel.accessible_name("Cancel the job").clicked() {
                actions.push(Action::CancelJob(job.running.id));
            }
        }
    } else if let Some(run) = run {
        link(ui, run.state(), "Show the run", Screen::Train, actions);
    } else {
        ui.label(style::hint("No run yet"));
    }
}

fn progress(ui: &mut Ui, fraction: f32, name: &str) {
    ui.add(
        style::progress_bar(ui, fraction)
            .desired_width(120.0)
            .desired_height(8.0),
    )
    .accessible_name(name);
}

/// A line that leads to the screen of what it is about.
fn link(ui: &mut Ui, text: String, about: &str, screen: Screen, actions: &mut Vec<Action>) {
    if ui
        .add(Label::new(RichText::new(text).small()).sense(Sense::click()))
        .on_hover_text(about)
        .clicked()
    {
        actions.push(Action::Show(screen));
    }
}
