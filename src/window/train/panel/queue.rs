//! While a run is in progress: its settings, to read, and the runs that wait for its end.

use eframe::egui::{Label, RichText, Ui};

use crate::run_config::RunConfig;
use crate::text::format::count;
use crate::text::visible;
use crate::window::style;
use crate::window::{Action, App, RunView};

/// Draws the settings of the run in progress.
pub fn this_run(ui: &mut Ui, run: &RunView) {
    style::section(ui, "This run");
    let RunConfig {
        batch_size,
        learning_rate,
        precision,
        optimizer,
        seed,
        ..
    } = &run.config;
    ui.add(Label::new(name(&run.config)).wrap());
    let details = format!(
        "Batch size {batch_size}, {}, learning rate {learning_rate}, {precision}, seed {seed}.",
        optimizer.label()
    );
    ui.add(Label::new(style::hint(details)).wrap());
    ui.add_space(style::GAP / 2.0);
    ui.separator();
}

/// Draws the runs that wait, and what adds another.
pub fn show(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    if app.is_training() {
        let ready = app.validation_errors().is_empty();
        let add = ui.add_enabled(ready, style::secondary_button("Add to queue"));
        if add
            .on_hover_text("Train with these settings once the run in progress has finished")
            .clicked()
        {
            actions.push(Action::QueueRun);
        }
    }
    if app.train.queue.is_empty() {
        return;
    }
    style::section(ui, "Queue");
    for (index, config) in app.train.queue.iter().enumerate() {
        ui.push_id(("queued", index), |ui| {
            ui.add(Label::new(format!("{}. {}", index + 1, name(config))).wrap());
            ui.horizontal(|ui| {
                if index == 0 && !app.is_training() && ui.button("Start this run").clicked() {
                    actions.push(Action::StartQueued);
                }
                if ui.button(RichText::new("Remove")).clicked() {
                    actions.push(Action::RemoveQueued(index));
                }
            });
        });
    }
}

/// "Balanced on Built-in digits: Speedrun, 12 epochs".
fn name(config: &RunConfig) -> String {
    let preset = config
        .preset
        .map_or("Custom settings", |preset| preset.label());
    let epochs = count(u64::from(config.epochs), "epoch");
    let repetition = config
        .repetition
        .as_ref()
        .map(|run| format!(", run {} of {}", run.number, config.repeats))
        .unwrap_or_default();
    format!(
        "{preset} on {}: {}, {epochs}{repetition}",
        visible::label(&config.data.label()),
        config.network().label()
    )
}
