//! The bottom of the run panel: Start, Pause, Resume and Stop, and the run's progress. Above the
//! curves, the run that was interrupted; in the panel, the runs that wait.

use eframe::egui::{
    Align, Button, Frame, KeyboardShortcut, Label, Layout, Margin, Panel, Response, Ui, vec2,
};

use super::{fields, steering};
use crate::problem::Message;
use crate::records::RunPosition;
use crate::run_config::{RunConfig, Setting};
use crate::text::format::{count, duration, percent};
use crate::text::visible;
use crate::window::shell::shortcuts;
use crate::window::style::{self, icons};
use crate::window::{Action, App, Phase, Pushes as _, RunView, Screen, TrainAction};

/// Draws the buttons at the bottom and the run's progress in a panel above them: lines that come
/// and go there must not move a button under the pointer.
pub fn show(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let bottom = |name: &'static str| {
        let mut margin = Margin::ZERO;
        margin.top = 8;
        let panel = Panel::bottom(name).frame(Frame::new().inner_margin(margin));
        panel.show_separator_line(false)
    };
    bottom("run controls").show(ui, |ui| buttons(ui, app, actions));
    bottom("run state").show(ui, |ui| {
        ui.separator();
        if let Some(run) = &app.train.run {
            state(ui, app, run);
        }
        if app.train.active().is_some() {
            return;
        }
        if app.ctx.is_sweeping() {
            let reason =
                "Cannot start: a sweep is in progress. Pause it, or wait until it has ended.";
            style::invalid_link(ui, reason)
                .on_hover_text("Go to the sweep")
                .pushes(actions, || Action::Show(Screen::Sweep));
        }
        for (index, obstacle) in app.validation_errors().iter().enumerate() {
            let first = if index == 0 { "Cannot start. " } else { "" };
            let what = match obstacle.setting {
                Some(Setting::Data) => "Fix the data set.",
                _ => &obstacle.message.what,
            };
            let reason = format!("{first}{what}");
            let Some(setting) = obstacle.setting else {
                style::invalid(ui, &reason);
                continue;
            };
            let link = style::invalid_link(ui, &reason);
            if link.on_hover_text("Go to this setting").clicked() {
                fields::look_for(ui, setting);
            }
        }
    });
}

fn buttons(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let width = ui.available_width();
    let Some(run) = app.train.active() else {
        return start(ui, app, actions);
    };
    if run.phase == Phase::NotSaved {
        return save(ui, run, actions);
    }
    ui.horizontal(|ui| {
        let half = vec2((width - ui.spacing().item_spacing.x) / 2.0, 36.0);
        let (pause, action) = match run.phase {
            Phase::Paused => (style::primary_button("Resume"), TrainAction::Resume),
            _ => (style::secondary_button("Pause"), TrainAction::Pause),
        };
        let can_pause = matches!(run.phase, Phase::Training | Phase::Paused);
        let response = ui.add_enabled(can_pause, pause.min_size(half));
        with_keys(ui, response, shortcuts::START).pushes(actions, || action);
        let can_stop = run.phase != Phase::Stopping;
        let stop = style::secondary_button("Stop").min_size(half);
        let response = ui.add_enabled(can_stop, stop);
        with_keys(ui, response, shortcuts::STOP).pushes(actions, || TrainAction::Stop);
    });
}

/// The run waits until it can be saved.
fn save(ui: &mut Ui, run: &RunView, actions: &mut Vec<Action>) {
    let whole = vec2(ui.available_width(), 36.0);
    let half = vec2((whole.x - ui.spacing().item_spacing.x) / 2.0, whole.y);
    let elsewhere = style::primary_button("Save in another folder…");
    ui.add(elsewhere.min_size(whole))
        .pushes(actions, || TrainAction::ChooseRunFolder);
    ui.horizontal(|ui| {
        ui.add(style::secondary_button("Try again").min_size(half))
            .pushes(actions, || TrainAction::SaveRun);
        let (stop, about) = match &run.checkpoint {
            Some(last) => {
                let position = &last.position;
                let later = format!("The run can be resumed after {position}, and saved, later.");
                ("Stop", later)
            }
            None => ("Save what fits", RunView::about_rescue()),
        };
        let response = ui.add(style::secondary_button(stop).min_size(half));
        with_keys(ui, response, shortcuts::STOP)
            .on_hover_text(about)
            .pushes(actions, || TrainAction::Stop);
    });
}

fn start(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let free = !app.ctx.is_sweeping();
    let startable = free && app.validation_errors().is_empty();
    let size = vec2(ui.available_width(), 40.0);
    // The keys go with the primary button; the order stays, so that none moves under the pointer.
    let in_lesson = app.lessons.current().is_some();
    let button = |ui: &mut Ui, enabled, primary, name: String| {
        let button = if primary && !in_lesson {
            style::primary_button(name)
        } else {
            style::secondary_button(name)
        };
        // In a horizontal layout the label is centered in its button.
        let row = ui.horizontal(|ui| ui.add_enabled(enabled, button.min_size(size)));
        if primary {
            with_keys(ui, row.inner, shortcuts::START)
        } else {
            row.inner
        }
    };
    let resumes = app.train.run_to_resume().is_some();
    let offered = app.train.interrupted_checkpoint();
    if let Some(last) = offered {
        button(ui, free, resumes, resume_label(last.position))
            .on_hover_text(ABOUT_RESUMING)
            .pushes(actions, || {
                TrainAction::ResumeInterrupted(last.folder.clone())
            });
    }
    let name = offered.map_or("Start", |_| "Start new run");
    button(ui, startable, !resumes, name.to_owned()).pushes(actions, || TrainAction::Start);
}

fn resume_label(position: RunPosition) -> String {
    let RunPosition { epochs, steps, .. } = position;
    if steps == 0 && epochs > 0 {
        format!("Resume after epoch {epochs}")
    } else {
        format!("Resume in epoch {}", epochs + 1)
    }
}

fn with_keys(ui: &Ui, response: Response, keys: KeyboardShortcut) -> Response {
    response.on_hover_text(ui.ctx().format_shortcut(&keys))
}

fn state(ui: &mut Ui, app: &App, run: &RunView) {
    style::semibold(ui, run.state());
    if run.is_active() {
        ui.add(style::progress_bar(ui, run.fraction()).desired_height(10.0))
            .accessible_name("Run progress");
    }
    let mut figures = run.pace();
    if let Phase::Training | Phase::Paused = run.phase {
        figures.insert(0, percent(run.fraction().into(), 0));
    }
    if let Some(summary) = run.summary() {
        figures.push(format!("Trained in {}", duration(summary.train_seconds)));
    }
    if !figures.is_empty() {
        ui.label(style::hint(figures.join(", ")));
    }
    if run.is_active() && run.plan.is_some() && !run.has_completed_epoch() {
        let none = "No epoch is complete yet: if you stop now, there is no model, but you can resume the run.";
        style::note(ui, none);
    }
    if app.shell.stays_awake() {
        let awake = style::hint("Sleep is disabled until training has finished.");
        ui.label(awake)
            .on_hover_text("The display may still turn off.");
    }
    if let Some(scaling) = run.scaling() {
        let about = "The loss is scaled up so that small gradients do not underflow in f16. If gradients overflow, the step is skipped and the scale is halved.";
        ui.label(style::hint(scaling)).on_hover_text(about);
    }
    for intervention in &run.interventions {
        let message = Message::intervened(intervention);
        style::note_with_icon(ui, message.what).on_hover_text(message.remedy);
    }
}

const ABOUT_RESUMING: &str = "Gives the same weights as an uninterrupted run. You can also resume it, or discard it, under Models";

/// Describes saving an interrupted run.
pub const ABOUT_SAVING: &str = "Ends the run and saves the weights of its last completed epoch, as Stop does. It cannot be resumed afterwards";

/// Draws what became of the run that was interrupted; nothing if there is no such run. It is resumed
/// in the run panel.
pub fn interrupted(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let (Some(run), Some(last)) = (&app.train.run, app.train.interrupted_checkpoint()) else {
        return;
    };
    let what = if run.phase == Phase::Discarded {
        "Stopped"
    } else {
        "Interrupted"
    };
    let title = format!("{what}: {}", run.config.title());
    let record = run.history.epochs.last();
    let validation = record.map_or_else(String::new, |record| {
        let accuracy = percent(f64::from(record.validation_accuracy), 2);
        format!(", with a validation accuracy of {accuracy}")
    });
    let has_model = run.has_completed_epoch();
    let none = "No epoch was complete, so there is no model yet. ";
    let model = if has_model { "" } else { none };
    let (position, epochs) = (&last.position, run.config.epochs);
    let saved = format!(
        "{model}It was saved after {position} of {epochs}{validation}, and continues from there."
    );
    style::full_card(ui, |ui| {
        ui.horizontal(|ui| {
            icons::icon(ui, icons::Icon::Note);
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                if has_model {
                    style::ask(ui, Button::new("Save as a model"), None, ABOUT_SAVING)
                        .pushes(actions, || {
                            TrainAction::SaveInterrupted(last.folder.clone())
                        });
                }
                ui.with_layout(Layout::top_down(Align::Min), |ui| {
                    ui.spacing_mut().item_spacing.y = 2.0;
                    style::strong_line(ui, title);
                    style::note(ui, saved);
                });
            });
        });
    });
    ui.add_space(style::GAP / 2.0);
}

/// Draws the settings of the run in progress, and what can be changed of them.
pub fn this_run(ui: &mut Ui, run: &RunView, actions: &mut Vec<Action>) {
    let config = &run.config;
    style::section(ui, "This run");
    ui.add(Label::new(run_name(config)).wrap());
    let details = format!(
        "Batch size {}, {}, learning rate {}, {}, seed {}.",
        config.batch_size,
        config.optimizer.label(),
        config.learning_rate,
        config.precision,
        config.seed
    );
    style::note(ui, details);
    steering::show(ui, run, actions);
    ui.add_space(style::GAP / 2.0);
    ui.separator();
}

/// Draws the runs that wait, and what adds another.
pub fn queue(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let training = app.ctx.is_training();
    if training {
        let ready = app.validation_errors().is_empty();
        ui.add_enabled(ready, style::secondary_button("Add to queue"))
            .on_hover_text("Train with these settings once the run in progress has finished")
            .pushes(actions, || TrainAction::QueueRun);
    }
    if app.train.queue.is_empty() {
        return;
    }
    style::section(ui, "Queue");
    for (index, config) in app.train.queue.iter().enumerate() {
        ui.push_id(("queued", index), |ui| {
            ui.add(Label::new(format!("{}. {}", index + 1, run_name(config))).wrap());
            ui.horizontal(|ui| {
                if index == 0 && !training {
                    ui.button("Start this run")
                        .pushes(actions, || TrainAction::StartQueued);
                }
                ui.button("Remove")
                    .pushes(actions, || TrainAction::RemoveQueued(index));
            });
        });
    }
}

/// "Balanced on Built-in digits: Speedrun, 12 epochs".
fn run_name(config: &RunConfig) -> String {
    let preset = config.preset;
    let preset = preset.map_or("Custom settings", |preset| preset.label());
    let epochs = count(u64::from(config.epochs), "epoch");
    let repetition = config.repetition.as_ref();
    let repetition = repetition.map(|run| format!(", run {} of {}", run.number, config.repeats));
    let repetition = repetition.unwrap_or_default();
    let (data, network) = (
        visible::label(&config.data.label()),
        config.network().label(),
    );
    format!("{preset} on {data}: {network}, {epochs}{repetition}")
}
