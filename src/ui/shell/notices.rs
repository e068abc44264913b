//! Notices, each a card until it is dismissed.

use eframe::egui::{Align, Frame, Label, Layout, Margin, RichText, Stroke, Ui};

use crate::app::{Action, App, Notice, Severity};
use crate::ui::{icons, style};

/// Draws them, the newest first.
pub fn show(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    for notice in app.notices.iter().rev() {
        card(ui, notice, actions);
    }
}

fn card(ui: &mut Ui, notice: &Notice, actions: &mut Vec<Action>) {
    let palette = style::palette(ui);
    let (sign, color) = match notice.severity {
        Severity::Info => (icons::Icon::Note, palette.accent),
        Severity::Error => (icons::Icon::Problem, palette.bad),
    };
    let frame = Frame::new()
        .fill(palette.paper)
        .stroke(Stroke::new(1.0, color))
        .corner_radius(style::RADIUS_SMALL)
        .inner_margin(Margin::symmetric(12, 8));
    frame.show(ui, |ui| {
        ui.horizontal_top(|ui| {
            icons::icon(ui, sign);
            ui.with_layout(Layout::right_to_left(Align::Min), |ui| {
                if ui.button("Dismiss").clicked() {
                    actions.push(Action::Dismiss(notice.id));
                }
                ui.with_layout(Layout::top_down(Align::Min), |ui| {
                    ui.spacing_mut().item_spacing.y = 2.0;
                    ui.add(Label::new(RichText::new(&notice.message.what).strong()).wrap().selectable(true));
                    if !notice.message.remedy.is_empty() {
                        ui.add(Label::new(RichText::new(&notice.message.remedy).weak()).wrap().selectable(true));
                    }
                });
            });
        });
    });
}
