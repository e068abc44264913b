//! A misclassified image, large, with what the model said of it and the way to the next one.

use eframe::egui::emath::GuiRounding as _;
use eframe::egui::{Id, Key, Modal, Modifiers, Rect, RichText, Role, Sense, Ui, Vec2, WidgetInfo};

use super::confusion::Cell;
use super::mistakes::Gallery;
use crate::records::Mistake;
use crate::run_config::Classes;
use crate::window::style;
use crate::window::verdict::whole_percent;

/// The side of the image, in points: twelve to a pixel.
const SIDE: f32 = 336.0;

/// Shows the image at `opened`, one of the chosen cell's; the arrow keys go to the others, Escape
/// closes.
pub fn show(
    ui: &Ui,
    gallery: &Gallery,
    classes: &Classes,
    chosen: Option<Cell>,
    opened: &mut Option<usize>,
) {
    let Some(index) = *opened else { return };
    let images = gallery.of_cell(chosen);
    let Some(position) = images.iter().position(|(candidate, _)| *candidate == index) else {
        *opened = None;
        return;
    };
    let at = |position: usize| images.get(position).map(|(index, _)| *index);
    let (before, after) = (position.checked_sub(1).and_then(at), at(position + 1));
    let modal = Modal::new(Id::unique("misclassified image"))
        .frame(style::dialog_frame(ui))
        .show(ui.ctx(), |ui| {
            ui.set_width(SIDE + style::GAP * 2.0 + 210.0);
            ui.horizontal_top(|ui| {
                ui.spacing_mut().item_spacing.x = style::GAP * 2.0;
                let (rect, response) = ui.allocate_exact_size(Vec2::splat(SIDE), Sense::hover());
                gallery.paint(
                    ui,
                    index,
                    Rect::from_min_size(
                        rect.min.round_to_pixels(ui.pixels_per_point()),
                        rect.size(),
                    ),
                );
                response.widget_info(|| {
                    WidgetInfo::labeled(Role::Image, true, "Misclassified image, enlarged")
                });
                if let Some((_, mistake)) = images.get(position) {
                    ui.vertical(|ui| facts(ui, mistake, classes));
                }
            });
            ui.add_space(style::GAP);
            buttons(
                ui,
                &format!("{} of {}", position + 1, images.len()),
                before,
                after,
            )
        });
    let key = |key| {
        ui.ctx()
            .input_mut(|input| input.consume_key(Modifiers::NONE, key))
    };
    let next = if key(Key::ArrowLeft) {
        before
    } else if key(Key::ArrowRight) {
        after
    } else {
        None
    };
    match modal.inner {
        Some(Choice::Close) => *opened = None,
        Some(Choice::Show(index)) => *opened = Some(index),
        None if modal.should_close() => *opened = None,
        None => *opened = next.or(*opened),
    }
}

enum Choice {
    Show(usize),
    Close,
}

fn facts(ui: &mut Ui, mistake: &Mistake, classes: &Classes) {
    let [answer, label] = [mistake.answer, mistake.label].map(|class| classes.name(class));
    ui.label(RichText::new(format!("{answer} instead of {label}")).heading());
    ui.add_space(style::GAP / 2.0);
    ui.label(format!("True {}: {label}", classes.noun()));
    ui.label(format!("Predicted: {answer}"));
    ui.add_space(style::GAP / 2.0);
    ui.label(format!(
        "Probability of {answer}: {}",
        whole_percent(mistake.confidence)
    ));
    ui.label(format!(
        "Probability of {label}: {}",
        whole_percent(mistake.label_probability)
    ));
    ui.add_space(style::GAP / 2.0);
    ui.label(RichText::new(format!("Image {} of the test set", mistake.index)).weak());
}

fn buttons(
    ui: &mut Ui,
    position: &str,
    before: Option<usize>,
    after: Option<usize>,
) -> Option<Choice> {
    let mut choice = None;
    ui.horizontal(|ui| {
        if ui.add(style::primary_button(ui, "Close")).clicked() {
            choice = Some(Choice::Close);
        }
        for (name, index) in [("Previous", before), ("Next", after)] {
            if ui
                .add_enabled(index.is_some(), style::secondary_button(name))
                .clicked()
            {
                choice = index.map(Choice::Show);
            }
        }
        ui.label(RichText::new(position).weak());
    });
    choice
}
