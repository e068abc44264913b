//! Notices, each a card until it is dismissed. They lie over the screen, so that nothing moves when
//! one comes or goes, and not over what people work with.

use eframe::egui::{
    Align, Align2, Area, Frame, Id, Label, Layout, Margin, Order, Rect, RichText, Stroke, Ui, vec2,
};

use crate::window::style;
use crate::window::style::icons;
use crate::window::{Action, App, Notice, Severity};

/// A card's greatest width, and its distance from the edges of the screen, in points.
const WIDTH: f32 = 460.0;
const DISTANCE: f32 = 12.0;

/// Draws them in the lower right corner of this part of the screen, the newest at the bottom; below
/// dialogs, which want an answer first.
pub fn show(ui: &Ui, place: Rect, app: &App, actions: &mut Vec<Action>) {
    if app.ctx.notices.is_empty() {
        return;
    }
    let corner = place.right_bottom() - vec2(DISTANCE, DISTANCE);
    let area = Area::new(Id::unique("notices"))
        .order(Order::Middle)
        .pivot(Align2::RIGHT_BOTTOM)
        .fixed_pos(corner)
        .constrain_to(place);
    area.show(ui.ctx(), |ui| {
        ui.set_width(WIDTH.min(place.width() - 2.0 * DISTANCE));
        for notice in &app.ctx.notices {
            card(ui, notice, actions);
        }
    });
}

fn card(ui: &mut Ui, notice: &Notice, actions: &mut Vec<Action>) {
    let palette = style::palette(ui);
    let (sign, color) = match notice.severity {
        Severity::Info => (icons::Icon::Note, palette.accent),
        Severity::Error => (icons::Icon::Problem, palette.bad),
    };
    let frame = Frame::new()
        .fill(palette.raised)
        .stroke(Stroke::new(1.0, color))
        .corner_radius(style::RADIUS_SMALL)
        .shadow(ui.visuals().popup_shadow)
        .inner_margin(Margin::symmetric(12, 8));
    frame.show(ui, |ui| {
        ui.horizontal_top(|ui| {
            icons::icon(ui, sign);
            ui.with_layout(Layout::right_to_left(Align::Min), |ui| {
                if ui.button("Dismiss").clicked() {
                    actions.push(Action::Dismiss(notice.id));
                }
                if let Some(offer) = &notice.offer
                    && ui.button(offer.label).clicked()
                {
                    actions.push(offer.action.clone());
                }
                ui.with_layout(Layout::top_down(Align::Min), |ui| {
                    ui.spacing_mut().item_spacing.y = 2.0;
                    ui.add(
                        Label::new(RichText::new(&notice.message.what).strong())
                            .wrap()
                            .selectable(true),
                    );
                    if !notice.message.remedy.is_empty() {
                        ui.add(
                            Label::new(RichText::new(&notice.message.remedy).weak())
                                .wrap()
                                .selectable(true),
                        );
                    }
                });
            });
        });
    });
}
