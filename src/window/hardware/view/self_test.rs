//! The self-test on the Hardware screen and in the wizard: whether each device computes correctly.

use eframe::egui::{CollapsingHeader, Label, RichText, Ui};

use super::table;
use crate::run_config::{DeviceChoice, Precision};
use crate::self_test::{Report, sections};
use crate::window::messages::Message;
use crate::window::style;
use crate::window::style::icons;
use crate::window::{Action, App, Checked};

/// Draws a card for the CPU and for every other device that has been tested.
pub fn show(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    for &device in &[DeviceChoice::Cpu, DeviceChoice::Cuda, DeviceChoice::Metal] {
        let checked = app.machine.checks.get(&device);
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
            "Self-test".to_owned()
        } else {
            format!("Self-test: {}", device.label())
        }));
        let report = match checked {
            Some(Checked::Running) => {
                ui.horizontal(|ui| {
                    ui.spinner();
                    ui.label(RichText::new("Running the self-test…").strong());
                });
                return;
            }
            None => {
                ui.add(Label::new(RichText::new("Not run yet").strong()).wrap());
                ui.add(Label::new(RichText::new(ABOUT).weak()).wrap());
                None
            }
            Some(Checked::Done(found)) => match &**found {
                Ok(report) => {
                    result(ui, report);
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
        let again = if checked.is_none() {
            "Run self-test"
        } else {
            "Run again"
        };
        if ui.button(again).on_hover_text(ABOUT).clicked() {
            actions.push(Action::CheckDevice(device));
        }
        if let Some(report) = report {
            let each = CollapsingHeader::new("All checks")
                .id_salt(device)
                .default_open(report.failed() > 0);
            each.show(ui, |ui| table::show(ui, &sections(report)));
        }
    });
}

fn result(ui: &mut Ui, report: &Report) {
    let passed = report.failed() == 0;
    verdict(ui, passed, &report.verdict());
    if passed {
        ui.add(Label::new(RichText::new(PASSED).weak()).wrap());
    }
    for reason in
        Precision::on(report.device).filter_map(|precision| report.passed(precision).err())
    {
        ui.add(Label::new(style::hint(reason)).wrap());
    }
}

const ABOUT: &str = "Compares every operation and its gradient with a reference computation in every number format, trains a small network and \
                    recognises some digits. Takes a few seconds.";
const PASSED: &str = "All operations, gradients, a short training run and recognition gave correct results in every number format.";

fn verdict(ui: &mut Ui, passed: bool, text: &str) {
    ui.horizontal_top(|ui| {
        icons::icon(
            ui,
            if passed {
                icons::Icon::Done
            } else {
                icons::Icon::Problem
            },
        );
        ui.add(Label::new(RichText::new(text).strong()).wrap());
    });
}
