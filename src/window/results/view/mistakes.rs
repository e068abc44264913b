//! The misclassified images, each with its true digit, the prediction and its probability; and one of
//! them, large, with the way to the next one. A selected cell of the matrix filters them.

use eframe::egui::emath::GuiRounding as _;
use eframe::egui::{
    Context, Id, Key, Modal, Modifiers, Rect, Role, Sense, Ui, UiBuilder, Vec2, vec2,
};

use super::confusion::Cell;
use crate::math::statistics::cell_sentence;
use crate::notices::verdict::whole_percent;
use crate::records::Mistake;
use crate::run_config::Classes;
use crate::text::format::grouped;
use crate::window::style;
use crate::window::style::image_sheet::{self, ImageSheet};

/// The side of an image, in points: three to a pixel.
const IMAGE_SIDE: f32 = 84.0;

/// Images in a texture. A texture for all could be higher than a GPU allows.
const SHEET: usize = 200;

/// The misclassified images of an evaluation, in textures that are made once they are seen.
#[derive(Debug, Default)]
pub struct Gallery {
    mistakes: Vec<Mistake>,
    sheets: Vec<Option<ImageSheet>>,
}

impl Gallery {
    /// Takes these mistakes; true if they differ from the previous ones.
    pub fn sync(&mut self, mistakes: &[Mistake]) -> bool {
        if self.mistakes == mistakes {
            return false;
        }
        self.mistakes = mistakes.to_vec();
        self.sheets = vec![None; mistakes.len().div_ceil(SHEET)];
        true
    }

    /// The images of the chosen cell, or all, by index.
    pub fn of_cell(&self, chosen: Option<Cell>) -> Vec<usize> {
        let cell = |mistake: &Mistake| (usize::from(mistake.label), usize::from(mistake.answer));
        let mistakes = self.mistakes.iter().enumerate();
        mistakes
            .filter(|(_, mistake)| chosen.is_none_or(|chosen| chosen == cell(mistake)))
            .map(|(index, _)| index)
            .collect()
    }

    /// The texture with this image, and its place there.
    fn sheet(&mut self, ctx: &Context, index: usize) -> Option<(&ImageSheet, usize)> {
        let images = self.mistakes.chunks(SHEET).nth(index / SHEET)?;
        let sheet = self.sheets.get_mut(index / SHEET)?.get_or_insert_with(|| {
            ImageSheet::new(ctx, "mistakes", images.iter().map(|mistake| &mistake.image))
        });
        Some((sheet, index % SHEET))
    }

    /// Paints an image; sides of a whole number of screen pixels per pixel are crisp.
    pub fn paint(&mut self, ui: &Ui, index: usize, rect: Rect) {
        if let Some((sheet, place)) = self.sheet(ui.ctx(), index) {
            image_sheet::framed(ui, sheet, place, rect);
        }
    }

    /// Draws the images of the chosen cell, or all, and returns the one that was clicked. Those out
    /// of sight are left out.
    pub fn show(
        &mut self,
        ui: &mut Ui,
        classes: &Classes,
        chosen: Option<Cell>,
        count: u32,
    ) -> Option<usize> {
        let shown = self.of_cell(chosen);
        if shown.is_empty() {
            let text = match chosen {
                Some((truth, answer)) if truth == answer => {
                    "These images were classified correctly. Select a cell off the diagonal to see errors.".to_owned()
                }
                Some((truth, answer)) if count > 0 => {
                    format!(
                        "{}, but none of them is among the {} most confident errors, which are the ones stored.",
                        cell_sentence(classes, truth, answer, count),
                        grouped(self.mistakes.len() as u64)
                    )
                }
                Some(_) => "There are no such errors.".to_owned(),
                None => "All images were classified correctly.".to_owned(),
            };
            ui.weak(text);
            return None;
        }
        let gap = style::GAP * 0.75;
        let tile = image_sheet::tile_size(ui, IMAGE_SIDE, 2);
        let apart = tile + Vec2::splat(gap);
        let columns = ((ui.available_width() + gap) / apart.x).floor().max(1.0) as usize;
        let rows = shown.chunks(columns);
        let size = vec2(ui.available_width(), rows.len() as f32 * apart.y - gap);
        let (area, _) = ui.allocate_exact_size(size, Sense::hover());
        let mut clicked = None;
        for (row, images) in rows.enumerate() {
            let corner = area.min + vec2(0.0, row as f32 * apart.y);
            let place = Rect::from_min_size(corner, vec2(area.width(), tile.y));
            // The rows beside those in sight are there for the keyboard.
            if !ui.is_rect_visible(place.expand2(vec2(0.0, apart.y))) {
                continue;
            }
            for (column, &index) in images.iter().enumerate() {
                let corner = corner + vec2(column as f32 * apart.x, 0.0);
                let place = UiBuilder::new()
                    .id_salt(index)
                    .max_rect(Rect::from_min_size(corner, tile));
                let ui = &mut ui.new_child(place);
                if self.tile(ui, index, classes) {
                    clicked = Some(index);
                }
            }
        }
        clicked
    }

    /// True when it was clicked.
    fn tile(&mut self, ui: &mut Ui, index: usize, classes: &Classes) -> bool {
        let Some(mistake) = self.mistakes.get(index) else {
            return false;
        };
        let confidence = whole_percent(mistake.confidence);
        let [answer, label] = [mistake.answer, mistake.label].map(|class| classes.name(class));
        let spoken = format!(
            "True {} {label}, predicted {answer}, probability {confidence}",
            classes.noun()
        );
        let [first, second] = if classes.are_digits() {
            [format!("{answer} instead of {label}"), confidence]
        } else {
            // There is room for a name in a line.
            [answer.to_owned(), format!("not {label}")]
        };
        let Some((sheet, place)) = self.sheet(ui.ctx(), index) else {
            return false;
        };
        image_sheet::tile(ui, sheet, place, IMAGE_SIDE, [&first, &second], &spoken)
            .on_hover_text("Click to enlarge")
            .clicked()
    }
}

/// The side of the image, in points: twelve to a pixel.
const SIDE: f32 = 336.0;

/// Shows the image at `opened`, one of the chosen cell's; the arrow keys go to the others, Escape
/// closes.
pub fn opened(
    ui: &Ui,
    gallery: &mut Gallery,
    classes: &Classes,
    chosen: Option<Cell>,
    opened: &mut Option<usize>,
) {
    let Some(index) = *opened else { return };
    let images = gallery.of_cell(chosen);
    let Some(position) = images.iter().position(|candidate| *candidate == index) else {
        *opened = None;
        return;
    };
    let at = |position: usize| images.get(position).copied();
    let (before, after) = (position.checked_sub(1).and_then(at), at(position + 1));
    let modal = Modal::new(Id::unique("misclassified image")).frame(style::dialog_frame(ui));
    let modal = modal.show(ui.ctx(), |ui| {
        ui.set_width(SIDE + style::GAP * 2.0 + 210.0);
        ui.horizontal_top(|ui| {
            ui.spacing_mut().item_spacing.x = style::GAP * 2.0;
            let (rect, response) = ui.allocate_exact_size(Vec2::splat(SIDE), Sense::hover());
            let corner = rect.min.round_to_pixels(ui.pixels_per_point());
            gallery.paint(ui, index, Rect::from_min_size(corner, rect.size()));
            style::name(&response, Role::Image, "Misclassified image, enlarged");
            if let Some(mistake) = gallery.mistakes.get(index) {
                ui.vertical(|ui| facts(ui, mistake, classes));
            }
        });
        ui.add_space(style::GAP);
        let position = format!("{} of {}", position + 1, images.len());
        buttons(ui, &position, before, after)
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
    *opened = match modal.inner {
        Some(Choice::Close) => None,
        Some(Choice::Show(index)) => Some(index),
        None if modal.should_close() => None,
        None => next.or(*opened),
    };
}

enum Choice {
    Show(usize),
    Close,
}

fn facts(ui: &mut Ui, mistake: &Mistake, classes: &Classes) {
    let [answer, label] = [mistake.answer, mistake.label].map(|class| classes.name(class));
    ui.heading(format!("{answer} instead of {label}"));
    ui.add_space(style::GAP / 2.0);
    ui.label(format!("True {}: {label}", classes.noun()));
    ui.label(format!("Predicted: {answer}"));
    ui.add_space(style::GAP / 2.0);
    for (name, share) in [
        (answer, mistake.confidence),
        (label, mistake.label_probability),
    ] {
        ui.label(format!("Probability of {name}: {}", whole_percent(share)));
    }
    ui.add_space(style::GAP / 2.0);
    ui.weak(format!("Image {} of the test set", mistake.index));
}

fn buttons(
    ui: &mut Ui,
    position: &str,
    before: Option<usize>,
    after: Option<usize>,
) -> Option<Choice> {
    let mut choice = None;
    ui.horizontal(|ui| {
        if ui.add(style::primary_button("Close")).clicked() {
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
        ui.weak(position);
    });
    choice
}
