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

    /// Draws the images of the chosen cell, or all.
    pub fn show(&self, ui: &mut Ui, chosen: Option<Cell>, count: u32) {
        let belongs = |mistake: &Mistake| chosen.is_none_or(|cell| cell == (usize::from(mistake.label), usize::from(mistake.answer)));
        let shown: Vec<(usize, &Mistake)> = self.mistakes.iter().enumerate().filter(|(_, mistake)| belongs(mistake)).collect();
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
            return;
        }
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing = egui::Vec2::splat(style::GAP * 0.75);
            for (index, mistake) in shown {
                self.tile(ui, index, mistake);
            }
        });
    }

    fn tile(&self, ui: &mut Ui, index: usize, mistake: &Mistake) {
        let small = TextStyle::Small.resolve(ui.style());
        let lines = small.size * 2.6 + 6.0;
        let (rect, response) = ui.allocate_exact_size(vec2(IMAGE_SIDE, IMAGE_SIDE + lines), Sense::hover());
        let palette = style::palette(ui);
        let image = Rect::from_min_size(rect.min.round_to_pixels(ui.pixels_per_point()), egui::Vec2::splat(IMAGE_SIDE));
        if let Some(sheet) = &self.sheet {
            sheet.paint(ui.painter(), index, image, palette);
        }
        ui.painter().rect_stroke(image, 0.0, Stroke::new(1.0, palette.line), StrokeKind::Inside);
        let (strong, weak) = (ui.visuals().strong_text_color(), ui.visuals().weak_text_color());
        let first = pos2(rect.left(), image.bottom() + 4.0);
        let at =
            ui.painter().text(first, Align2::LEFT_TOP, format!("{} instead of {}", mistake.answer, mistake.label), small.clone(), strong);
        let confidence = whole_percent(mistake.confidence);
        ui.painter().text(pos2(rect.left(), at.bottom()), Align2::LEFT_TOP, confidence, small, weak);
        let spoken =
            format!("True digit {}, predicted {}, probability {}", mistake.label, mistake.answer, whole_percent(mistake.confidence));
        response.widget_info(|| WidgetInfo::labeled(Role::Image, true, &spoken));
        response.on_hover_text(format!(
            "Test image {}. True digit: {}. Predicted: {}, probability {}. Probability of {}: {}",
            mistake.index,
            mistake.label,
            mistake.answer,
            whole_percent(mistake.confidence),
            mistake.label,
            whole_percent(mistake.label_probability)
        ));
    }
}
