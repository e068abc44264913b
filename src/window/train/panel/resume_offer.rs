//! The offer to resume the run that was interrupted, above its curves.

use eframe::egui::{Align, Label, Layout, RichText, Ui};

use super::controls::resume_label;
use crate::text::format::percent;
use crate::window::style;
use crate::window::style::icons;
use crate::window::{Action, App, Phase};

/// What it means to save an interrupted run.
pub const ABOUT_SAVING: &str = "Ends the run and saves the weights of its last completed epoch, as Stop does. It cannot be resumed afterwards";

/// Draws it; nothing where there is no such run.
pub fn show(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let (Some(run), Some(last)) = (&app.train.run, app.interrupted_checkpoint()) else {
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
    style::card(ui).show(ui, |ui| {
        ui.set_min_width(ui.available_width());
        ui.horizontal(|ui| {
            icons::icon(ui, icons::Icon::Note);
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                let about = "Gives the same weights as an uninterrupted run. You can also resume it, or discard it, under Models";
                let label = resume_label(last.position);
                let button = if app.run_to_resume().is_some() { style::primary_button(ui, label) } else { style::secondary_button(label) };
                if ui.add(button).on_hover_text(about).clicked() {
                    actions.push(Action::ResumeInterrupted(last.folder.clone()));
                }
                if run.has_completed_epoch() && ui.button("Save as a model").on_hover_text(ABOUT_SAVING).clicked() {
                    actions.push(Action::SaveInterrupted(last.folder.clone()));
                }
                ui.with_layout(Layout::top_down(Align::Min), |ui| {
                    ui.spacing_mut().item_spacing.y = 2.0;
                    ui.add(Label::new(RichText::new(title).strong()).truncate());
                    ui.add(Label::new(style::hint(saved)).wrap());
                });
            });
        });
    });
    ui.add_space(style::GAP / 2.0);
}
