//! The list of the wizard's pages at its side; clicking one opens it.

use eframe::egui::{Button, Frame, Margin, Panel, RichText, Sense, Stroke, Ui, vec2};

use crate::window::style;
use crate::window::style::icons;
use crate::window::{Action, WizardStep};

pub fn show(ui: &mut Ui, step: WizardStep, actions: &mut Vec<Action>) {
    let frame = Frame::new()
        .fill(style::palette(ui).surface)
        .inner_margin(Margin::symmetric(22, 30));
    Panel::left("wizard steps")
        .frame(frame)
        .exact_size(220.0)
        .resizable(false)
        .show(ui, |ui| {
            let palette = style::palette(ui);
            ui.horizontal(|ui| {
                let (rect, _) = ui.allocate_exact_size(vec2(28.0, 40.0), Sense::hover());
                icons::drop(ui.painter(), rect.center(), 34.0, palette.accent);
                ui.label(RichText::new("Inkling").size(24.0).strong());
            });
            ui.add_space(style::GAP * 2.0);
            let here = WizardStep::ALL
                .iter()
                .position(|&other| other == step)
                .unwrap_or_default();
            for (index, &page) in WizardStep::ALL.iter().enumerate() {
                entry(ui, index, here, page, actions);
            }
        });
}

fn entry(ui: &mut Ui, index: usize, here: usize, page: WizardStep, actions: &mut Vec<Action>) {
    let palette = style::palette(ui);
    ui.horizontal(|ui| {
        let (rect, _) = ui.allocate_exact_size(vec2(22.0, 30.0), Sense::hover());
        let place = eframe::egui::Rect::from_center_size(rect.center(), vec2(18.0, 18.0));
        if index < here {
            icons::tick(ui.painter(), place.shrink(2.0), palette.good);
        } else {
            let color = if index == here {
                palette.accent
            } else {
                palette.line
            };
            ui.painter()
                .circle_stroke(place.center(), 7.0, Stroke::new(2.0, color));
            if index == here {
                ui.painter().circle_filled(place.center(), 3.5, color);
            }
        }
        let text = RichText::new(short(page));
        let text = if index == here {
            text.strong().color(palette.accent)
        } else {
            text
        };
        if ui
            .add(Button::selectable(index == here, text).frame(false))
            .clicked()
        {
            actions.push(Action::Wizard(page));
        }
    });
}

const fn short(step: WizardStep) -> &'static str {
    match step {
        WizardStep::Welcome => "Welcome",
        WizardStep::Hardware => "Hardware",
        WizardStep::Data => "Data",
        WizardStep::Settings => "Preset",
        WizardStep::Done => "Ready",
    }
}

pub const fn title(step: WizardStep) -> &'static str {
    match step {
        WizardStep::Welcome => "Teach your computer to recognise digits",
        WizardStep::Hardware => "Your hardware",
        WizardStep::Data => "Choose the training data",
        WizardStep::Settings => "Choose a preset",
        WizardStep::Done => "Ready to train",
    }
}
