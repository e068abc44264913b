//! Owns the cards of interrupted runs: what is safe of each, going on with it, forgetting it.
//! Must not do either: it returns actions.

use std::path::PathBuf;

use eframe::egui::{Label, RichText, Ui};

use super::card::title;
use super::confirm_delete;
use crate::app::{Action, App};
use crate::runs::InterruptedRun;
use crate::text::format::{local_time, percent};
use crate::ui::{icons, style};

/// Draws a card for each.
pub fn show(ui: &mut Ui, app: &App, confirming: &mut Option<PathBuf>, actions: &mut Vec<Action>) {
    for run in &app.interrupted {
        card(ui, app, run, confirming, actions);
    }
}

fn card(ui: &mut Ui, app: &App, run: &InterruptedRun, confirming: &mut Option<PathBuf>, actions: &mut Vec<Action>) {
    let card = &run.card;
    style::card(ui).show(ui, |ui| {
        ui.set_min_width(ui.available_width());
        ui.horizontal(|ui| {
            icons::icon(ui, icons::Icon::Note);
            ui.add(Label::new(RichText::new(title(&card.config)).strong()).truncate());
        });
        let validation = card.epochs.last().map_or(0.0, |record| f64::from(record.validation_accuracy));
        let safe =
            format!("{} of {} epochs are safe, {} validation accuracy", card.epochs.len(), card.config.epochs, percent(validation, 2));
        ui.add(Label::new(style::hint(format!("Broke off on {} · {safe}", local_time(&card.made_at)))).wrap());
        ui.horizontal(|ui| {
            let go_on = ui.add_enabled(!app.is_training(), style::primary_button(ui, "Continue"));
            let about = "Goes on after its last full epoch, and comes to the same weights as if it had not been interrupted";
            if go_on.on_hover_text(about).on_disabled_hover_text("Another run is under way").clicked() {
                actions.push(Action::ResumeInterrupted(run.folder.clone()));
            }
            if confirming.as_ref() != Some(&run.folder) {
                if ui.button("Forget…").clicked() {
                    *confirming = Some(run.folder.clone());
                }
                return;
            }
            if confirm_delete::buttons(ui, "Forget for good", confirming) {
                actions.push(Action::ForgetInterrupted(run.folder.clone()));
            }
        });
    });
    ui.add_space(style::GAP / 2.0);
}
