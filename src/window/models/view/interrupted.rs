//! The cards of interrupted runs: what was saved of each, and buttons to resume or discard it.

use std::path::PathBuf;

use eframe::egui::{Label, RichText, Ui};

use super::confirm_delete;
use crate::runs::InterruptedRun;
use crate::text::format::{local_time, percent};
use crate::window::style;
use crate::window::style::icons;
use crate::window::train::panel::resume_offer::ABOUT_SAVING;
use crate::window::{Action, App, Phase};

/// Draws a card for each interrupted run.
pub fn show(ui: &mut Ui, app: &App, confirming: &mut Option<PathBuf>, actions: &mut Vec<Action>) {
    for run in &app.train.interrupted {
        card(ui, app, run, confirming, actions);
    }
}

fn card(
    ui: &mut Ui,
    app: &App,
    run: &InterruptedRun,
    confirming: &mut Option<PathBuf>,
    actions: &mut Vec<Action>,
) {
    let card = &run.card;
    style::card(ui).show(ui, |ui| {
        ui.set_min_width(ui.available_width());
        ui.horizontal(|ui| {
            icons::icon(ui, icons::Icon::Note);
            ui.add(Label::new(RichText::new(card.config.title()).strong()).truncate());
        });
        let validation = card
            .epochs
            .last()
            .map_or_else(String::new, |record| format!(", validation accuracy {}", percent(f64::from(record.validation_accuracy), 2)));
        let saved = format!("saved after {} of {}{validation}", card.position(), card.config.epochs);
        // The checkpoint alone does not tell; the run in this window does.
        let was_stopped = app.train.run.as_ref().is_some_and(|last| last.phase == Phase::Discarded)
            && app.interrupted_checkpoint().is_some_and(|last| last.folder == run.folder);
        let how = if was_stopped { "Stopped" } else { "Interrupted" };
        ui.add(Label::new(style::hint(format!("{how} on {} · {saved}", local_time(&card.made_at)))).wrap());
        ui.horizontal(|ui| {
            let resume = ui.add_enabled(!app.is_training(), style::primary_button(ui, "Resume"));
            let about = "Resumes from where the run was last saved and gives the same weights as an uninterrupted run";
            if resume.on_hover_text(about).on_disabled_hover_text("Unavailable while another run is in progress").clicked() {
                actions.push(Action::ResumeInterrupted(run.folder.clone()));
            }
            if !card.epochs.is_empty() {
                let save = ui.add_enabled(!app.is_training(), style::secondary_button("Save as a model"));
                if save.on_hover_text(ABOUT_SAVING).on_disabled_hover_text("Unavailable while another run is in progress").clicked() {
                    actions.push(Action::SaveInterrupted(run.folder.clone()));
                }
            }
            if confirming.as_ref() != Some(&run.folder) {
                if ui.button("Discard…").clicked() {
                    *confirming = Some(run.folder.clone());
                }
                return;
            }
            if confirm_delete::buttons(ui, "Discard permanently", confirming) {
                actions.push(Action::ForgetInterrupted(run.folder.clone()));
            }
        });
    });
    ui.add_space(style::GAP / 2.0);
}
