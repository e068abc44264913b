//! Owns the part of the hardware screen, and of the wizard, that says whether this machine computes rightly.
//! Must not check; it returns actions.

use eframe::egui::{CollapsingHeader, Label, RichText, Ui};

use super::table;
use crate::app::messages::Message;
use crate::app::{Action, App, Checked};
use crate::run_config::{DeviceChoice, Precision};
use crate::self_test::{Report, sections};
use crate::ui::{icons, style};

/// Draws it: the processor, and every other device that was checked.
pub fn show(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    for &device in &[DeviceChoice::Cpu, DeviceChoice::Cuda, DeviceChoice::Metal] {
        let checked = app.checks.get(&device);
        if device == DeviceChoice::Cpu || checked.is_some() {
            card(ui, device, checked, actions);
        }
    }
}

fn card(ui: &mut Ui, device: DeviceChoice, checked: Option<&Checked>, actions: &mut Vec<Action>) {
    style::card(ui).show(ui, |ui| {
        ui.set_min_width(ui.available_width());
        ui.spacing_mut().item_spacing.y = 3.0;
        ui.label(style::hint(if device == DeviceChoice::Cpu {
            "Correctness".to_owned()
        } else {
            format!("Correctness of {}", device.label())
        }));
        let report = match checked {
            Some(Checked::Running) => {
                ui.horizontal(|ui| {
                    ui.spinner();
                    ui.label(RichText::new("Checking every calculation that training uses…").strong());
                });
                return;
            }
            None => {
                ui.add(Label::new(RichText::new("Not checked yet").strong()).wrap());
                ui.add(Label::new(RichText::new(WHAT).weak()).wrap());
                None
            }
            Some(Checked::Done(found)) => match &**found {
                Ok(report) => {
                    found_something(ui, report);
                    Some(report)
                }
                Err(problem) => {
                    let message = Message::from(problem);
                    verdict(ui, false, &message.what);
                    ui.add(Label::new(RichText::new(message.remedy).weak()).wrap());
                    None
                }
            },
        };
        ui.add_space(4.0);
        let again = if checked.is_none() { "Check" } else { "Check again" };
        if ui.button(again).on_hover_text(WHAT).clicked() {
            actions.push(Action::CheckDevice(device));
        }
        if let Some(report) = report {
            let each = CollapsingHeader::new("Each check").id_salt(device).default_open(report.failed() > 0);
            each.show(ui, |ui| table::show(ui, &sections(report)));
        }
    });
}

fn found_something(ui: &mut Ui, report: &Report) {
    let sound = report.failed() == 0;
    verdict(ui, sound, &report.verdict());
    if sound {
        ui.add(Label::new(RichText::new(SOUND).weak()).wrap());
    }
    for reason in Precision::on(report.device).filter_map(|precision| report.passed(precision).err()) {
        ui.add(Label::new(style::hint(reason)).wrap());
    }
}

const WHAT: &str = "Compares every operation and its gradient with another way to compute it, in every number format, trains for a moment, and \
                    reads some digits. Takes a few seconds.";
const SOUND: &str = "Every operation and its gradient, a short training and a reading came out right in every number format.";

fn verdict(ui: &mut Ui, sound: bool, words: &str) {
    ui.horizontal_top(|ui| {
        icons::icon(ui, if sound { icons::Icon::Done } else { icons::Icon::Problem });
        ui.add(Label::new(RichText::new(words).strong()).wrap());
    });
}
