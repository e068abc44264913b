//! The run panel: the settings of the next run, and starting, pausing and stopping it. Typed text
//! is held by [`App`].

mod blocks;
mod comparisons;
pub mod controls;
pub mod data;
pub mod descriptions;
mod fields;
pub mod learning;
mod one_line;
pub mod presets;
pub mod preview;
mod profile;
pub mod search;
mod steering;
mod weights;

use eframe::egui::{Align, CollapsingHeader, CollapsingResponse, ScrollArea, Ui};

use crate::run_config::{RunConfig, Section, Setting};
use crate::window::shell::help::{self, Topic};
use crate::window::{Action, App, TrainAction, style};

pub fn show(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    controls::show(ui, app, actions);
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        // Space for the scroll bar, so that it never covers a field.
        ui.set_max_width(ui.available_width() - 8.0);
        if let Some(run) = app.train.run.as_ref().filter(|run| run.is_active()) {
            controls::this_run(ui, run, actions);
        }
        let title = if app.ctx.is_training() {
            "Next run: training data"
        } else {
            "Training data"
        };
        help::beside(ui, Topic::Settings, |ui| {
            style::section(ui, title);
        });
        settings(ui, app, actions);
        controls::queue(ui, app, actions);
    });
}

fn settings(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    data::show(ui, app, actions);
    presets::show(ui, app, actions);
    style::section(ui, Section::Main.label());
    let mut config = app.ctx.config.clone();
    ui.vertical(|ui| fields::initial_weights(ui, app, &mut config));
    for setting in Section::Main.settings() {
        match setting {
            // They have separate rows, above.
            Setting::Data | Setting::InitialWeights => {}
            _ => fields::setting(ui, app, setting, &mut config, actions),
        }
        if setting == Setting::BatchSize {
            ui.vertical(|ui| comparisons::show(ui, app, actions));
        }
    }
    more_settings(ui, app, &mut config, actions);
    one_line::show(ui, app, actions);
    ui.add_space(style::GAP / 2.0);
    if config != app.ctx.config {
        actions.push(Action::Train(TrainAction::Configure(Box::new(config))));
    }
}

/// Draws the advanced settings, collapsed at first; an invalid value opens them.
fn more_settings(ui: &mut Ui, app: &App, config: &mut RunConfig, actions: &mut Vec<Action>) {
    let invalid = app.validation_errors().iter().any(|obstacle| {
        obstacle
            .setting
            .is_some_and(|setting| setting.row().section != Section::Main)
    });
    let shown = CollapsingHeader::new("More settings")
        .open(invalid.then_some(true))
        .show_unindented(ui, |ui| {
            for section in [
                Section::Optimization,
                Section::Regularization,
                Section::Execution,
            ] {
                style::section(ui, section.label());
                if section == Section::Execution {
                    fields::machine(ui, app, actions);
                }
                for setting in section.settings() {
                    fields::setting(ui, app, setting, config, actions);
                }
            }
        });
    scroll_to_opened(ui, &shown);
}

/// Scrolls to the settings while they unfold, once somebody has opened them: they begin at the
/// panel's lower edge.
fn scroll_to_opened<T>(ui: &Ui, shown: &CollapsingResponse<T>) {
    let (header, openness) = (&shown.header_response, shown.openness);
    let id = header.id.with("unfolding");
    let (before, unfolding) = ui
        .data(|data| data.get_temp::<(f32, bool)>(id))
        .unwrap_or_default();
    let unfolding = unfolding || (header.clicked() && before < 0.5);
    if unfolding {
        header.scroll_to_me(Some(Align::TOP));
    }
    ui.data_mut(|data| {
        data.insert_temp(
            id,
            (openness, unfolding && openness < 1.0 && openness >= before),
        )
    });
}
