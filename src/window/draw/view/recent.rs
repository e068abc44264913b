//! The drawings that were cleared from the canvas, each with what the model made of it; a click
//! brings one back.

use eframe::egui::{Label, Popup, RichText, ScrollArea, Ui};

use super::keep;
use crate::window::style;
use crate::window::style::image_sheet;
use crate::window::style::image_sheet::ImageSheet;
use crate::window::{Action, App};

/// The side of an image in a narrow and in a wide column, in points: three and five to a pixel.
const SIDES: [f32; 2] = [84.0, 140.0];
const WIDE: f32 = 600.0;

#[derive(Debug, Default)]
pub struct RecentView {
    /// The images, and the version of the list they belong to.
    images: Option<(u64, ImageSheet)>,
}

/// Draws them, the newest first.
pub fn show(ui: &mut Ui, app: &App, view: &mut RecentView, actions: &mut Vec<Action>) {
    style::section(ui, "Recent drawings");
    let recent = &app.draw.recent_drawings;
    if recent.is_empty() {
        let about = "Drawings that you clear are kept here until you close Inkling. Click one to bring it back.";
        ui.add(Label::new(RichText::new(about).weak()).wrap());
        return;
    }
    if view
        .images
        .as_ref()
        .is_none_or(|(version, _)| *version != recent.version())
    {
        let images: Vec<_> = recent.iter().map(|drawing| &drawing.image).collect();
        view.images = Some((
            recent.version(),
            ImageSheet::new(ui.ctx(), "recent drawings", images.into_iter()),
        ));
    }
    let Some((_, sheet)) = &view.images else {
        return;
    };
    let side = if ui.available_width() < WIDE {
        SIDES[0]
    } else {
        SIDES[1]
    };
    ScrollArea::vertical().id_salt("recent drawings").auto_shrink(false).show(ui, |ui| {
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing = eframe::egui::Vec2::splat(style::GAP * 0.75);
            for (index, drawing) in recent.iter().enumerate() {
                let [title, detail] = &drawing.verdict;
                let spoken = format!("Recent drawing: {title}, {detail}");
                let tile = image_sheet::tile(ui, sheet, index, side, [title, detail], &spoken);
                if tile.clicked() {
                    actions.push(Action::RestoreDrawing(index));
                }
                Popup::context_menu(&tile).show(|ui| {
                    ui.label("Keep it as:");
                    keep::digits(ui, None, |digit| actions.push(Action::KeepRecent(index, digit)));
                });
                tile.on_hover_text("Click to bring it back, or with the right button to keep it with its digit");
            }
        });
    });
}
