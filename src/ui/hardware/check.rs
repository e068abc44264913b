//! Owns the part of the hardware screen, and of the wizard, that says whether this machine computes rightly.
//! Must not check; it returns actions.

use eframe::egui::{CollapsingHeader, Label, RichText, Ui};

use super::table;
use crate::app::messages::Message;
use crate::app::{Action, App};
use crate::run_config::Precision;
use crate::self_test::sections;
use crate::ui::{signs, style};

/// Draws it.
pub fn show(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    style::card(ui).show(ui, |ui| {
        ui.set_min_width(ui.available_width());
        ui.spacing_mut().item_spacing.y = 3.0;
        ui.label(style::hint("Correctness"));
        if app.checking.under_way {
            ui.horizontal(|ui| {
                ui.spinner();
                ui.label(RichText::new("Checking every calculation that training uses…").strong());
            });
            return;
        }
        match &app.checking.last {
            None => {
                ui.add(Label::new(RichText::new("Not checked yet").strong()).wrap());
                ui.add(Label::new(RichText::new(WHAT).weak()).wrap());
            }
            Some(Ok(report)) => {
                let sound = report.failed() == 0;
                verdict(ui, sound, &report.verdict());
                if sound {
                    ui.add(Label::new(RichText::new(SOUND).weak()).wrap());
                }
                for reason in Precision::ALL.iter().filter_map(|&precision| app.why_not_precision(precision)) {
                    ui.add(Label::new(style::hint(reason)).wrap());
                }
            }
            Some(Err(problem)) => {
                let message = Message::from(problem);
                verdict(ui, false, &message.what);
                ui.add(Label::new(RichText::new(message.remedy).weak()).wrap());
            }
        }
        ui.add_space(4.0);
        let again = if app.checking.last.is_none() { "Check" } else { "Check again" };
        if ui.button(again).on_hover_text(WHAT).clicked() {
            actions.push(Action::CheckMachine);
        }
        if let Some(Ok(report)) = &app.checking.last {
            CollapsingHeader::new("Each check").default_open(report.failed() > 0).show(ui, |ui| table::show(ui, &sections(report)));
        }
    });
}

const WHAT: &str = "Compares every operation and its gradient with another way to compute it, in every number format, trains for a moment, and \
                    reads some digits. Takes a few seconds.";
const SOUND: &str = "Every operation and its gradient, a short training and a reading came out right in every number format.";

fn verdict(ui: &mut Ui, sound: bool, words: &str) {
    ui.horizontal_top(|ui| {
        signs::sign(ui, if sound { signs::Sign::Done } else { signs::Sign::Problem });
        ui.add(Label::new(RichText::new(words).strong()).wrap());
    });
}
