//! The bottom of the run panel: Start, Pause, Resume and Stop, and the run's progress. Above the
//! curves, the offer to resume a run that was interrupted; in the panel, the runs that wait.

use eframe::egui::{
    Align, Button, Frame, KeyboardShortcut, Label, Layout, Margin, Panel, Response, RichText, Ui,
};

use super::fields;
use crate::problem::Message;
use crate::records::RunPosition;
use crate::run_config::RunConfig;
use crate::text::format::{count, duration, percent};
use crate::text::visible;
use crate::window::shell::shortcuts;
use crate::window::style::{self, icons};
use crate::window::{Action, App, Phase, Pushes as _, RunView, Screen, TrainAction};

/// Draws the buttons at the bottom and the run's progress in a panel above them: lines that come
/// and go there must not move a button under the pointer.
pub fn show(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let bottom = |name: &'static str| {
        Panel::bottom(name).frame(Frame::new().inner_margin(Margin {
            top: 8,
            ..Margin::ZERO
        }))
    };
    bottom("run controls")
        .show_separator_line(false)
        .show(ui, |ui| buttons(ui, app, actions));
    bottom("run state")
        .show_separator_line(false)
        .show(ui, |ui| {
            ui.separator();
            if let Some(run) = &app.train.run {
                state(ui, app, run);
            }
            if app.train.run.as_ref().is_some_and(RunView::is_active) {
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
                let what = &obstacle.message.what;
                let reason = if index == 0 {
                    format!("Cannot start. {what}")
                } else {
                    what.clone()
                };
                let Some(setting) = obstacle.setting else {
                    style::invalid(ui, &reason);
                    continue;
                };
                if style::invalid_link(ui, &reason)
                    .on_hover_text("Go to this setting")
                    .clicked()
                {
                    fields::look_for(ui, setting);
                }
            }
        });
}

fn buttons(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let width = ui.available_width();
    match app.train.run.as_ref().filter(|run| run.is_active()) {
        None => start(ui, app, actions),
        Some(run) if run.phase == Phase::NotSaved => save(ui, run, actions),
        Some(run) => {
            ui.horizontal(|ui| {
                let half = (width - ui.spacing().item_spacing.x) / 2.0;
                let pause = match run.phase {
                    Phase::Paused => (
                        style::primary_button(ui, "Resume"),
                        Action::Train(TrainAction::Resume),
                    ),
                    _ => (
                        style::secondary_button("Pause"),
                        Action::Train(TrainAction::Pause),
                    ),
                };
                let stopping = run.phase == Phase::Stopping;
                let can_pause = matches!(run.phase, Phase::Training | Phase::Paused);
                let response = ui.add_enabled(can_pause, pause.0.min_size([half, 36.0].into()));
                with_keys(ui, response, shortcuts::START).pushes(actions, || pause.1);
                let response = ui.add_enabled(
                    !stopping,
                    style::secondary_button("Stop").min_size([half, 36.0].into()),
                );
                with_keys(ui, response, shortcuts::STOP).pushes(actions, || TrainAction::Stop);
            });
        }
    }
}

/// The run waits until it can be saved.
fn save(ui: &mut Ui, run: &RunView, actions: &mut Vec<Action>) {
    let size = [ui.available_width(), 36.0];
    ui.add(style::primary_button(ui, "Save in another folder…").min_size(size.into()))
        .pushes(actions, || TrainAction::ChooseRunFolder);
    ui.horizontal(|ui| {
        let half = [(size[0] - ui.spacing().item_spacing.x) / 2.0, size[1]];
        ui.add(style::secondary_button("Try again").min_size(half.into()))
            .pushes(actions, || TrainAction::SaveRun);
        let (stop, about) = match &run.checkpoint {
            Some(last) => (
                "Stop",
                format!(
                    "The run can be resumed after {}, and saved, later.",
                    last.position
                ),
            ),
            None => ("Save what fits", RunView::about_rescue()),
        };
        let response = ui.add(style::secondary_button(stop).min_size(half.into()));
        with_keys(ui, response, shortcuts::STOP)
            .on_hover_text(about)
            .pushes(actions, || TrainAction::Stop);
    });
}

fn start(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let free = !app.ctx.is_sweeping();
    let startable = free && app.validation_errors().is_empty();
    let size = [ui.available_width(), 40.0];
    // In a horizontal layout the label is centered in its button.
    let button = |ui: &mut Ui, enabled, button: Button<'static>| {
        ui.horizontal(|ui| ui.add_enabled(enabled, button.min_size(size.into())))
            .inner
    };
    // The keys go with the primary button; the order stays, so that none moves under the pointer.
    let style_of = |ui: &Ui, primary, name| {
        if primary {
            style::primary_button(ui, name)
        } else {
            style::secondary_button(name)
        }
    };
    let resumes = app.train.run_to_resume().is_some();
    let offered = app.train.interrupted_checkpoint();
    if let Some(last) = offered {
        let response = button(ui, free, style_of(ui, resumes, resume_label(last.position)));
        let response = if resumes {
            with_keys(ui, response, shortcuts::START)
        } else {
            response
        };
        response.pushes(actions, || {
            TrainAction::ResumeInterrupted(last.folder.clone())
        });
    }
    let name = if offered.is_some() {
        "Start new run"
    } else {
        "Start"
    };
    let response = button(ui, startable, style_of(ui, !resumes, name.to_owned()));
    let response = if resumes {
        response
    } else {
        with_keys(ui, response, shortcuts::START)
    };
    response.pushes(actions, || TrainAction::Start);
}

pub(super) fn resume_label(position: RunPosition) -> String {
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
    ui.strong(run.state());
    if run.is_active() {
        ui.add(style::progress_bar(ui, run.fraction()).desired_height(10.0))
            .accessible_name("Run progress");
    }
    let mut figures = run.pace();
    if let Phase::Training | Phase::Paused = run.phase {
        figures.insert(0, format!("{:.0} %", run.fraction() * 100.0));
    }
    if let Phase::Finished(summary) = &run.phase {
        figures.push(format!("trained in {}", duration(summary.train_seconds)));
    }
    if !figures.is_empty() {
        ui.label(style::hint(figures.join(", ")));
    }
    if run.is_active() && run.plan.is_some() && !run.has_completed_epoch() {
        style::note(
            ui,
            "No epoch is complete yet: if you stop now, there is no model, but you can resume the run.",
        );
    }
    if app.shell.stays_awake() {
        ui.label(style::hint(
            "Sleep is disabled until training has finished.",
        ))
        .on_hover_text("The display may still turn off.");
    }
    if let Some(scaling) = run.scaling() {
        let about = "The loss is scaled up so that small gradients do not underflow in f16. If gradients overflow, the step is skipped and the scale is halved.";
        ui.label(style::hint(scaling)).on_hover_text(about);
    }
    for intervention in &run.interventions {
        let message = Message::intervened(intervention);
        ui.horizontal_top(|ui| {
            icons::icon(ui, icons::Icon::Note);
            style::note(ui, message.what).on_hover_text(message.remedy);
        });
    }
}

/// What it means to save an interrupted run.
pub const ABOUT_SAVING: &str = "Ends the run and saves the weights of its last completed epoch, as Stop does. It cannot be resumed afterwards";

/// Draws it; nothing where there is no such run.
pub fn resume_offer(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let (Some(run), Some(last)) = (&app.train.run, app.train.interrupted_checkpoint()) else {
        return;
    };
    let what = if run.phase == Phase::Discarded {
        "stopped"
    } else {
        "interrupted"
    };
    let title = format!("{} was {what}", run.config.title());
    let validation = run
        .history
        .epochs
        .last()
        .map_or_else(String::new, |record| {
            format!(
                ", with a validation accuracy of {}",
                percent(f64::from(record.validation_accuracy), 2)
            )
        });
    let model = if run.has_completed_epoch() {
        ""
    } else {
        "No epoch was complete, so there is no model yet. "
    };
    let saved = format!(
        "{model}It was saved after {} of {}{validation}, and continues from there.",
        last.position, run.config.epochs
    );
    style::full_card(ui, |ui| {
        ui.horizontal(|ui| {
            icons::icon(ui, icons::Icon::Note);
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                let about = "Gives the same weights as an uninterrupted run. You can also resume it, or discard it, under Models";
                let label = resume_label(last.position);
                let button = if app.train.run_to_resume().is_some() { style::primary_button(ui, label) } else { style::secondary_button(label) };
                ui.add(button).on_hover_text(about).pushes(actions, || TrainAction::ResumeInterrupted(last.folder.clone()));
                if run.has_completed_epoch() && ui.button("Save as a model").on_hover_text(ABOUT_SAVING).clicked() {
                    actions.push(Action::Train(TrainAction::SaveInterrupted(last.folder.clone())));
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
    ui.add(Label::new(run_name(&run.config)).wrap());
    let details = format!(
        "Batch size {batch_size}, {}, learning rate {learning_rate}, {precision}, seed {seed}.",
        optimizer.label()
    );
    style::note(ui, details);
    ui.add_space(style::GAP / 2.0);
    ui.separator();
}

/// Draws the runs that wait, and what adds another.
pub fn queue(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    if app.ctx.is_training() {
        let ready = app.validation_errors().is_empty();
        let add = ui.add_enabled(ready, style::secondary_button("Add to queue"));
        add.on_hover_text("Train with these settings once the run in progress has finished")
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
                if index == 0 && !app.ctx.is_training() && ui.button("Start this run").clicked() {
                    actions.push(Action::Train(TrainAction::StartQueued));
                }
                ui.button(RichText::new("Remove"))
                    .pushes(actions, || TrainAction::RemoveQueued(index));
            });
        });
    }
}

/// "Balanced on Built-in digits: Speedrun, 12 epochs".
fn run_name(config: &RunConfig) -> String {
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
