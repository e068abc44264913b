//! Images of an evaluation, each with its label, the prediction and its probability. Of a suspected
//! label error it shows the suggestion, and what the person said.

use eframe::egui::{Context, Rect, Sense, Ui, UiBuilder, Vec2, vec2};

use crate::notices::verdict::whole_percent;
use crate::records::{HardImage, Sample};
use crate::run_config::Classes;
use crate::window::style;
use crate::window::style::image_sheet::{self, ImageSheet};

/// The side of an image, in points: three to a pixel.
const IMAGE_SIDE: f32 = 84.0;

/// Images in a texture. A texture for all could be higher than a GPU allows.
const SHEET: usize = 200;

/// The images of an evaluation, in textures that are made once they are seen.
#[derive(Debug, Default)]
pub struct Gallery {
    pub samples: Vec<Sample>,
    sheets: Vec<Option<ImageSheet>>,
}

impl Gallery {
    /// Takes these images; true if they differ from the previous ones.
    pub fn sync(&mut self, samples: &[Sample]) -> bool {
        if self.samples == samples {
            return false;
        }
        self.samples = samples.to_vec();
        self.sheets = vec![None; samples.len().div_ceil(SHEET)];
        true
    }

    /// The texture with this image, and its place there.
    fn sheet(&mut self, ctx: &Context, index: usize) -> Option<(&ImageSheet, usize)> {
        let images = self.samples.chunks(SHEET).nth(index / SHEET)?;
        let sheet = self.sheets.get_mut(index / SHEET)?.get_or_insert_with(|| {
            ImageSheet::new(ctx, "samples", images.iter().map(|sample| &sample.image))
        });
        Some((sheet, index % SHEET))
    }

    /// Paints an image; sides of a whole number of screen pixels per pixel are crisp.
    pub fn paint(&mut self, ui: &Ui, index: usize, rect: Rect) {
        if let Some((sheet, place)) = self.sheet(ui.ctx(), index) {
            image_sheet::framed(ui, sheet, place, rect);
        }
    }

    /// Draws the images at these places with their texts, and returns the one that was clicked.
    /// Those out of sight are left out.
    pub fn show(
        &mut self,
        ui: &mut Ui,
        shown: &[usize],
        texts: impl Fn(&Sample) -> Texts,
    ) -> Option<usize> {
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
                if self.tile(ui, index, &texts) {
                    clicked = Some(index);
                }
            }
        }
        clicked
    }

    /// True when it was clicked.
    fn tile(&mut self, ui: &mut Ui, index: usize, texts: impl Fn(&Sample) -> Texts) -> bool {
        let Some(Texts { lines, spoken }) = self.samples.get(index).map(texts) else {
            return false;
        };
        let Some((sheet, place)) = self.sheet(ui.ctx(), index) else {
            return false;
        };
        let [first, second] = &lines;
        image_sheet::tile(ui, sheet, place, IMAGE_SIDE, [first, second], &spoken)
            .on_hover_text("Click to enlarge")
            .clicked()
    }
}

/// What stands below an image whose label most runs of a record suspect.
const DOUBTFUL: &str = "doubtful label";

/// The texts of an image: two lines below it, and a sentence for screen readers.
pub struct Texts {
    lines: [String; 2],
    spoken: String,
}

impl Texts {
    /// Of the label and the prediction.
    pub fn of_answer(sample: &Sample, classes: &Classes) -> Self {
        let confidence = whole_percent(sample.confidence);
        let [answer, label] = [sample.answer, sample.label].map(|class| classes.name(class));
        let spoken = format!(
            "True {} {label}, predicted {answer}, probability {confidence}",
            classes.noun()
        );
        let lines = match (classes.are_digits(), sample.is_correct()) {
            (true, false) => [format!("{answer} instead of {label}"), confidence],
            // There is room for a name in a line.
            (false, false) => [answer.to_owned(), format!("not {label}")],
            (_, true) => [answer.to_owned(), confidence],
        };
        Self { lines, spoken }
    }

    /// Of an image that is hard for everybody.
    pub fn of_hard(sample: &Sample, classes: &Classes, hard: Option<&HardImage>) -> Self {
        let mut texts = Self::of_answer(sample, classes);
        if hard.is_some_and(|image| image.doubtful) {
            DOUBTFUL.clone_into(&mut texts.lines[1]);
            texts.spoken = format!("{}, {DOUBTFUL}", texts.spoken);
        }
        texts
    }

    /// Of a label that is suspected to be wrong, and what the person said of it.
    pub fn of_suspect(sample: &Sample, classes: &Classes, answer: Option<u8>) -> Self {
        let label = classes.name(sample.label);
        let suggestion = sample.suggestion.map_or_else(String::new, |suggestion| {
            let suggested = classes.name(suggestion.label);
            format!("{suggested}? {}", whole_percent(suggestion.probability))
        });
        let said = match answer {
            None => suggestion,
            Some(answer) if answer == sample.label => "label is right".to_owned(),
            Some(answer) => format!("is {}", classes.name(answer)),
        };
        let spoken = format!("Labeled {label}, {said}");
        Self {
            lines: [format!("labeled {label}"), said],
            spoken,
        }
    }
}
