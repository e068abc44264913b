//! The status bar: the model in use and its device, the run's progress, and the monitor's switch.

use eframe::egui::{Button, Label, RichText, Sense, Ui, vec2};

use crate::app::verdict::model_sentence;
use crate::app::{Action, App, Screen};
use crate::run_config::DeviceChoice;
use crate::text::format::capitalised;
use crate::ui::{shortcuts, style};

/// Draws the bar.
pub fn show(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    style::row_with_end(
        ui,
        |ui| reader(ui, app),
        |ui| {
            monitor(ui, app, actions);
            run(ui, app, actions);
        },
    );
}

fn reader(ui: &mut Ui, app: &App) {
    let sentence =
        app.model_in_use.as_ref().map_or_else(|| "Loading the model".to_owned(), |reader| model_sentence(reader, app.run.as_ref()));
    let device = app.prediction().map(|reading| reading.device).or_else(|| app.run.as_ref()?.plan.as_ref().map(|plan| plan.device));
    let device = match device.unwrap_or(DeviceChoice::Cpu) {
        DeviceChoice::Auto | DeviceChoice::Cpu => "on the CPU",
        DeviceChoice::Cuda => "on the NVIDIA GPU",
        DeviceChoice::Metal => "on the Apple GPU",
    };
    ui.label(RichText::new(format!("{}, {device}", capitalised(&sentence))).small());
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
    let Some(run) = &app.run else {
        ui.label(style::hint("No run yet"));
        return;
    };
    let mut parts = vec![run.state()];
    parts.extend(run.pace());
    let text = RichText::new(parts.join(", ")).small();
    if ui.add(Label::new(text).sense(Sense::click())).on_hover_text("Show the run").clicked() {
        actions.push(Action::Show(Screen::Train));
    }
    if run.is_active() {
        ui.add(style::progress_bar(ui, run.fraction()).desired_width(120.0).desired_height(8.0))
            .accessible_name("Run progress, in the status bar");
    }
}
