//! Owns the worst mistakes as pictures, each with the right digit, the answer and how sure the model was.
//! Must not choose which: the evaluation did, and the chosen cell filters them.

use eframe::egui::emath::GuiRounding as _;
use eframe::egui::{self, Align2, Rect, RichText, Role, Sense, Stroke, StrokeKind, TextStyle, Ui, WidgetInfo, pos2, vec2};

use super::confusion::Cell;
use crate::app::verdict::whole_percent;
use crate::math::statistics::cell_sentence;
use crate::records::Mistake;
use crate::ui::image_sheet::ImageSheet;
use crate::ui::style;

/// The side of a picture: three points to a pixel.
const PICTURE: f32 = 84.0;

/// The pictures of an evaluation's mistakes on the graphics device, kept until others are shown.
#[derive(Debug, Default)]
pub struct Gallery {
    mistakes: Vec<Mistake>,
    sheet: Option<ImageSheet>,
}

impl Gallery {
    /// Takes these mistakes; true when they are others than before.
    pub fn sync(&mut self, ctx: &egui::Context, mistakes: &[Mistake]) -> bool {
        if self.sheet.is_some() && self.mistakes == mistakes {
            return false;
        }
        self.mistakes = mistakes.to_vec();
        self.sheet = Some(ImageSheet::new(ctx, "mistakes", self.mistakes.iter().map(|mistake| &mistake.picture)));
        true
    }

    /// Draws those of the chosen cell, or all.
    pub fn show(&self, ui: &mut Ui, chosen: Option<Cell>, count: u32) {
        let belongs = |mistake: &Mistake| chosen.is_none_or(|cell| cell == (usize::from(mistake.label), usize::from(mistake.answer)));
        let shown: Vec<(usize, &Mistake)> = self.mistakes.iter().enumerate().filter(|(_, mistake)| belongs(mistake)).collect();
        if shown.is_empty() {
            let text = match chosen {
                Some((truth, answer)) if truth == answer => {
                    "These were read rightly; choose a cell off the diagonal to see mistakes.".to_owned()
                }
                Some((truth, answer)) if count > 0 => {
                    format!(
                        "{}, but none of them is among the {} surest mistakes that are kept.",
                        cell_sentence(truth, answer, count),
                        self.mistakes.len()
                    )
                }
                Some(_) => "No such mistake was made.".to_owned(),
                None => "Not one mistake was made.".to_owned(),
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
        let (rect, response) = ui.allocate_exact_size(vec2(PICTURE, PICTURE + lines), Sense::hover());
        let palette = style::palette(ui);
        let picture = Rect::from_min_size(rect.min.round_to_pixels(ui.pixels_per_point()), egui::Vec2::splat(PICTURE));
        if let Some(sheet) = &self.sheet {
            sheet.paint(ui.painter(), index, picture, palette);
        }
        ui.painter().rect_stroke(picture, 0.0, Stroke::new(1.0, palette.line), StrokeKind::Inside);
        let (strong, weak) = (ui.visuals().strong_text_color(), ui.visuals().weak_text_color());
        let first = pos2(rect.left(), picture.bottom() + 4.0);
        let at = ui.painter().text(first, Align2::LEFT_TOP, format!("{} read as {}", mistake.label, mistake.answer), small.clone(), strong);
        let sure = format!("{} sure", whole_percent(mistake.confidence));
        ui.painter().text(pos2(rect.left(), at.bottom()), Align2::LEFT_TOP, sure, small, weak);
        let spoken = format!("A {} read as {}, {} sure", mistake.label, mistake.answer, whole_percent(mistake.confidence));
        response.widget_info(|| WidgetInfo::labeled(Role::Image, true, &spoken));
        response.on_hover_text(format!(
            "Image {} of the test split: a {}, read as {} with {} and as {} with {}",
            mistake.index,
            mistake.label,
            mistake.answer,
            whole_percent(mistake.confidence),
            mistake.label,
            whole_percent(mistake.label_probability)
        ));
    }
}
