//! The misclassified images, each with its true digit, the prediction and its probability. A selected cell of the matrix filters them.

use eframe::egui::emath::GuiRounding as _;
use eframe::egui::{self, Align2, Rect, RichText, Role, Sense, Stroke, StrokeKind, TextStyle, Ui, WidgetInfo, pos2, vec2};

use super::confusion::Cell;
use crate::app::verdict::whole_percent;
use crate::math::statistics::cell_sentence;
use crate::records::Mistake;
use crate::ui::image_sheet::ImageSheet;
use crate::ui::style;

/// The side of an image, in points: three to a pixel.
const IMAGE_SIDE: f32 = 84.0;

/// The misclassified images of an evaluation, in a texture.
#[derive(Debug, Default)]
pub struct Gallery {
    mistakes: Vec<Mistake>,
    sheet: Option<ImageSheet>,
}

impl Gallery {
    /// Loads these mistakes; true if they differ from the previous ones.
    pub fn sync(&mut self, ctx: &egui::Context, mistakes: &[Mistake]) -> bool {
        if self.sheet.is_some() && self.mistakes == mistakes {
            return false;
        }
        self.mistakes = mistakes.to_vec();
        self.sheet = Some(ImageSheet::new(ctx, "mistakes", self.mistakes.iter().map(|mistake| &mistake.image)));
        true
    }

    /// The images of the chosen cell, or all, by index.
    pub fn of_cell(&self, chosen: Option<Cell>) -> Vec<(usize, &Mistake)> {
        let belongs = |mistake: &Mistake| chosen.is_none_or(|cell| cell == (usize::from(mistake.label), usize::from(mistake.answer)));
        self.mistakes.iter().enumerate().filter(|(_, mistake)| belongs(mistake)).collect()
    }

    /// Paints an image; sides of a whole number of screen pixels per pixel are crisp.
    pub fn paint(&self, ui: &Ui, index: usize, rect: Rect) {
        let palette = style::palette(ui);
        if let Some(sheet) = &self.sheet {
            sheet.paint(ui.painter(), index, rect, palette);
        }
        ui.painter().rect_stroke(rect, 0.0, Stroke::new(1.0, palette.line), StrokeKind::Inside);
    }

    /// Draws the images of the chosen cell, or all, and returns the one that was clicked.
    pub fn show(&self, ui: &mut Ui, chosen: Option<Cell>, count: u32) -> Option<usize> {
        let shown = self.of_cell(chosen);
        if shown.is_empty() {
            let text = match chosen {
                Some((truth, answer)) if truth == answer => {
                    "These images were classified correctly. Select a cell off the diagonal to see errors.".to_owned()
                }
                Some((truth, answer)) if count > 0 => {
                    format!(
                        "{}, but none of them is among the {} most confident errors, which are the ones stored.",
                        cell_sentence(truth, answer, count),
                        self.mistakes.len()
                    )
                }
                Some(_) => "There are no such errors.".to_owned(),
                None => "All images were classified correctly.".to_owned(),
            };
            ui.label(RichText::new(text).weak());
            return None;
        }
        let mut clicked = None;
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing = egui::Vec2::splat(style::GAP * 0.75);
            for (index, mistake) in shown {
                if self.tile(ui, index, mistake) {
                    clicked = Some(index);
                }
            }
        });
        clicked
    }

    /// True when it was clicked.
    fn tile(&self, ui: &mut Ui, index: usize, mistake: &Mistake) -> bool {
        let small = TextStyle::Small.resolve(ui.style());
        let lines = small.size * 2.6 + 6.0;
        let (rect, response) = ui.allocate_exact_size(vec2(IMAGE_SIDE, IMAGE_SIDE + lines), Sense::click());
        let image = Rect::from_min_size(rect.min.round_to_pixels(ui.pixels_per_point()), egui::Vec2::splat(IMAGE_SIDE));
        self.paint(ui, index, image);
        if response.hovered() {
            ui.painter().rect_stroke(image, 0.0, Stroke::new(2.0, style::palette(ui).accent), StrokeKind::Inside);
        }
        let (strong, weak) = (ui.visuals().strong_text_color(), ui.visuals().weak_text_color());
        let first = pos2(rect.left(), image.bottom() + 4.0);
        let at =
            ui.painter().text(first, Align2::LEFT_TOP, format!("{} instead of {}", mistake.answer, mistake.label), small.clone(), strong);
        let confidence = whole_percent(mistake.confidence);
        ui.painter().text(pos2(rect.left(), at.bottom()), Align2::LEFT_TOP, confidence, small, weak);
        let spoken =
            format!("True digit {}, predicted {}, probability {}", mistake.label, mistake.answer, whole_percent(mistake.confidence));
        response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &spoken));
        response.on_hover_text("Click to enlarge").clicked()
    }
}
