//! What a run makes of its validation images while it trains, the images of a class beside each
//! other with its accuracy, and its first layer: below the canvas beside the plots. An image that is
//! selected by pointer or keys is enlarged.

use eframe::egui::{
    Align2, Id, Rect, Role, Sense, Stroke, StrokeKind, TextStyle, Ui, Vec2, WidgetInfo, pos2, vec2,
};

use super::weights;
use super::weights::LayerSheet;
use crate::ink::{Image, SIDE};
use crate::records::JobId;
use crate::run_config::Classes;
use crate::window::inside::view as inside;
use crate::window::style::image_sheet::{self, Cached, ImageSheet};
use crate::window::style::{self, Motion, Palette};
use crate::window::{Action, App, ClassCount, DrawAction, HeldOutView};

#[derive(Debug, Default)]
pub struct HeldOutPanel {
    shown: Shown,
    selected: Option<usize>,
    /// The images of a run, in a texture.
    images: Option<(JobId, ImageSheet)>,
    enlarged: Cached<Vec<Image>>,
    layer: Option<LayerSheet>,
    maps: inside::LayerMaps,
    components: Option<LayerSheet>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Shown {
    #[default]
    Images,
    Filters,
    Maps,
    Start,
}

/// Space for the accuracy of a digit beside its row of images, in points.
const BARS: f32 = 58.0;
/// Lines of small type for what the network says of an image.
const LINES: f32 = 2.0;
/// The smallest and largest side of an image, in points.
const CELL: std::ops::RangeInclusive<f32> = 14.0..=36.0;

pub fn least_height(ui: &Ui) -> f32 {
    beside_images(ui) + 10.0 * CELL.start()
}

/// The height of what is above and below the images, in points.
fn beside_images(ui: &Ui) -> f32 {
    let spacing = ui.spacing();
    spacing.interact_size.y + 3.0 * spacing.item_spacing.y + LINES * line(ui)
}

/// Draws the panel in this height, in points.
pub fn show(
    ui: &mut Ui,
    app: &App,
    view: &mut HeldOutPanel,
    height: f32,
    actions: &mut Vec<Action>,
) {
    let learning = app.train.learning();
    let initialized = app
        .train
        .run
        .as_ref()
        .and_then(|run| run.initialization.as_ref().map(|report| (run.id, report)));
    if initialized.is_none() && view.shown == Shown::Start {
        view.shown = Shown::Images;
    }
    ui.horizontal(|ui| {
        let start = "How the weights were initialized, and why";
        let start = initialized.map(|_| (Shown::Start, "At the start", start));
        for (shown, name, about) in [
            (Shown::Images, "Images", "Validation images: the network does not train on them. A frame marks those it classifies correctly"),
            (Shown::Filters, "Filters", "The weights of the first layer: blue is positive, orange is negative"),
            (Shown::Maps, "Maps", "What every layer makes of your drawing"),
        ]
        .into_iter()
        .chain(start)
        {
            if ui.add(style::toggle(name, view.shown == shown)).on_hover_text(about).clicked() {
                view.shown = shown;
            }
        }
    });
    let shows_maps = view.shown == Shown::Maps;
    if shows_maps != app.draw.maps_in_train {
        actions.push(DrawAction::ShowMapsInTrain(shows_maps).into());
    }
    let width = ui.available_width();
    let room = (width - BARS).min(height - beside_images(ui));
    let side = (room / 10.0).floor().clamp(*CELL.start(), *CELL.end()) * 10.0;
    let words = match (learning, view.shown) {
        (_, Shown::Start) => {
            let Some((run, report)) = initialized else {
                return;
            };
            weights::start(ui, report, run, &mut view.components, side);
            report.summary()
        }
        (_, Shown::Maps) => {
            inside::strip(ui, app, &mut view.maps, vec2(width, side), actions);
            "What each layer makes of your drawing. Click a map to look closer.".to_owned()
        }
        (None, _) => {
            "During a run, 100 validation images appear here. Correctly classified ones turn green."
                .to_owned()
        }
        (Some(learning), Shown::Images) => {
            let run = app.train.run.as_ref().filter(|run| run.id == learning.run);
            let has_ended = run.is_some_and(|run| run.summary().is_some());
            grid(ui, learning, view, side, has_ended);
            let selected = view
                .selected
                .map(|index| learning.sentence(index))
                .filter(|sentence| !sentence.is_empty());
            selected.unwrap_or_else(|| {
                format!("{}. Select one to see the prediction.", learning.total())
            })
        }
        (Some(learning), Shown::Filters) => {
            weights::filters(ui, learning, &mut view.layer, side);
            learning.layer_sentence().unwrap_or_else(|| {
                "The first layer appears after the first steps of the run.".to_owned()
            })
        }
    };
    // The same space whatever the text, so that nothing moves.
    ui.allocate_ui(vec2(width, LINES * line(ui)), |ui| style::note(ui, words));
}

fn line(ui: &Ui) -> f32 {
    ui.text_style_height(&TextStyle::Small)
}

/// The grid's name in the accessibility tree.
const GRID_NAME: &str = "Validation images";

/// Draws the images in a square of this `side`, and beside it a bar for each row, or the image under
/// the pointer or the selected one, enlarged. When the run ends, a wave passes through them.
fn grid(ui: &mut Ui, learning: &HeldOutView, view: &mut HeldOutPanel, side: f32, has_ended: bool) {
    if view
        .images
        .as_ref()
        .is_none_or(|(run, _)| *run != learning.run)
    {
        let images = learning.images.iter().map(|image| &image.image);
        view.images = Some((
            learning.run,
            ImageSheet::thumbnails(ui.ctx(), "validation images", images),
        ));
        view.selected = None;
    }
    let Some((_, sheet)) = &view.images else {
        return;
    };
    let (area, response) = ui.allocate_exact_size(
        vec2(ui.available_width(), side),
        Sense::focusable_noninteractive(),
    );
    let cells = Cells::of(learning);
    let size = side / cells.rows.max(COLUMNS) as f32;
    let palette = style::palette(ui);
    let motion = style::motion(ui);
    // Not of this place, which has another once the run has ended.
    let id = Id::unique(("wave", learning.run));
    let passed = ui
        .ctx()
        .animate_bool_with_time(id, has_ended, motion.celebration);
    let middle = area.min + Vec2::splat(side / 2.0);
    let mut hovered = None;
    for (index, &(row, column)) in cells.places.iter().enumerate() {
        let rect = Rect::from_min_size(
            area.min + vec2(column as f32, row as f32) * size,
            Vec2::splat(size),
        )
        .shrink(1.0);
        let distance = rect.center().distance(middle) / middle.distance(area.min);
        let wave = wave(passed, distance, motion);
        // Images are reached by the arrow keys once the grid has the focus: a hundred tab stops
        // would be too many.
        let response = ui.interact(
            rect,
            ui.scope_id().with(("held-out image", index)),
            Sense::CLICK,
        );
        let correct = learning.is_correct(index);
        paint_image(ui, sheet, index, rect, correct, wave, palette);
        if response.clicked() {
            view.selected = if view.selected == Some(index) {
                None
            } else {
                Some(index)
            };
        }
        let selected = view.selected == Some(index);
        if response.hovered() {
            hovered = Some(index);
        }
        if selected || response.hovered() {
            let width = if selected { 2.5 } else { 1.5 };
            ui.painter().rect_stroke(
                rect,
                2.0,
                Stroke::new(width, ui.visuals().strong_text_color()),
                StrokeKind::Outside,
            );
        }
        response.widget_info(|| {
            WidgetInfo::selected(Role::Cell, true, selected, learning.sentence(index))
        });
        response.on_hover_text(learning.sentence(index));
    }
    image_sheet::choose_by_keys(ui, &response, &mut view.selected, |from, down, right| {
        from.map_or(0, |index| cells.moved(index, down, right))
    });
    style::describe(&response, Role::Grid, GRID_NAME, &learning.total());
    let beside = area.with_min_x(area.left() + side + 8.0);
    let enlarged = hovered.or(view.selected);
    if let Some(image) = enlarged.and_then(|index| learning.images.get(index)) {
        let image = std::iter::once(&image.image);
        let sheet = view.enlarged.of_images(ui, "validation image", image);
        // A whole number of points for each pixel.
        let scale = (beside.size().min_elem() / SIDE as f32).floor().max(1.0);
        let size = Vec2::splat(scale * SIDE as f32);
        image_sheet::framed(ui, sheet, 0, Rect::from_min_size(beside.min, size));
        return;
    }
    // A bar stands beside the images of its class, if these have separate rows.
    let counts = learning.by_class();
    let height = if cells.aligned {
        size * (cells.rows / counts.len().max(1)) as f32
    } else {
        side / counts.len().max(1) as f32
    };
    for (class, count) in counts.into_iter().enumerate() {
        let top = area.top() + class as f32 * height;
        let rect = Rect::from_min_max(pos2(beside.left(), top), pos2(beside.right(), top + height));
        bar(ui, &learning.classes, class, count, rect, !cells.aligned);
    }
}

/// The wave through the images: how strong it is, from 0 to 1, once this fraction of its time has
/// passed, at this distance from the middle, where a corner is at 1. It is at an image for
/// `motion.calm`.
pub fn wave(passed: f32, distance: f32, motion: Motion) -> f32 {
    let begins = distance * (motion.celebration - motion.calm);
    let share = (passed * motion.celebration - begins) / motion.calm;
    if (0.0..1.0).contains(&share) {
        (share * std::f32::consts::PI).sin()
    } else {
        0.0
    }
}

const COLUMNS: usize = 10;

struct Cells {
    places: Vec<(usize, usize)>,
    rows: usize,
    /// Whether each class has separate rows, and all classes as many.
    aligned: bool,
}

impl Cells {
    /// Rows for each class; if there are many classes, several of them in a row.
    fn of(learning: &HeldOutView) -> Self {
        let classes = learning.classes.len();
        let most = learning
            .by_class()
            .iter()
            .map(|count| count.images as usize)
            .max()
            .unwrap_or_default()
            .max(1);
        let aligned = classes <= COLUMNS;
        let (rows_of_each, in_a_row) = if aligned {
            (most.div_ceil(COLUMNS), 1)
        } else {
            (1, (COLUMNS / most).max(1))
        };
        let mut used = vec![0; classes];
        let place = |label: u8| {
            let class = usize::from(label).min(classes - 1);
            let index = used[class];
            used[class] += 1;
            if aligned {
                (class * rows_of_each + index / COLUMNS, index % COLUMNS)
            } else {
                (class / in_a_row, class % in_a_row * most + index)
            }
        };
        let places: Vec<_> = learning
            .images
            .iter()
            .map(|image| image.label)
            .map(place)
            .collect();
        Self {
            places,
            rows: (classes * rows_of_each).div_ceil(in_a_row),
            aligned,
        }
    }

    /// The image that is this many rows and columns further, or the one there is.
    fn moved(&self, from: usize, down: isize, right: isize) -> usize {
        let Some(&(row, column)) = self.places.get(from) else {
            return 0;
        };
        let wanted = (
            row.saturating_add_signed(down),
            column.saturating_add_signed(right),
        );
        self.places
            .iter()
            .position(|&cell| cell == wanted)
            .unwrap_or(from)
    }
}

/// An image in gray, or in green and with a frame if it is classified correctly; under the wave
/// smaller and stronger.
fn paint_image(
    ui: &Ui,
    sheet: &ImageSheet,
    index: usize,
    rect: Rect,
    correct: bool,
    wave: f32,
    palette: Palette,
) {
    let rect = rect.shrink(rect.width() * 0.14 * wave);
    let Palette {
        good,
        groove,
        faded,
        ..
    } = palette;
    let shades = if correct {
        Palette {
            paper: palette.paper.lerp_to_gamma(good, 0.22 + 0.5 * wave),
            ink: palette.ink.lerp_to_gamma(good, 0.35),
            ..palette
        }
    } else {
        Palette {
            paper: groove,
            ink: faded,
            ..palette
        }
    };
    sheet.paint(ui.painter(), index, rect, shades);
    if correct {
        style::outline(ui.painter(), rect, 1.5, good);
    }
}

/// How many of a class's images are classified correctly, with its name if nothing else shows it.
fn bar(ui: &Ui, classes: &Classes, digit: usize, count: ClassCount, rect: Rect, named: bool) {
    let palette = style::palette(ui);
    let response = ui.interact(
        rect,
        ui.scope_id().with(("accuracy", digit)),
        Sense::hover(),
    );
    let spoken = format!("{} of {} correct", count.correct, count.images);
    let name = classes.name(digit);
    let of = if classes.are_digits() {
        format!("of a {name}")
    } else {
        format!("of the class {name}")
    };
    style::describe(
        &response,
        Role::Meter,
        &format!("Validation images {of}"),
        &spoken,
    );
    response.on_hover_text(format!("Images {of}: {spoken}"));
    let font = TextStyle::Small.resolve(ui.style());
    let painter = ui.painter();
    let color = ui.visuals().text_color();
    let has_text = rect.height() >= font.size;
    let mut left = 0.0;
    if named && has_text {
        let width = |name: &str| style::text_width(ui, name, &font);
        left = classes
            .names()
            .map(width)
            .fold(0.0, f32::max)
            .min(rect.width() * 0.4)
            + 6.0;
        let clipped = painter.with_clip_rect(Rect::from_min_max(
            rect.min,
            pos2(rect.left() + left - 4.0, rect.bottom()),
        ));
        clipped.text(
            rect.left_center(),
            Align2::LEFT_CENTER,
            name,
            font.clone(),
            color,
        );
    }
    if has_text {
        let at = pos2(rect.right(), rect.center().y);
        painter.text(at, Align2::RIGHT_CENTER, count.correct, font, color);
    }
    let track = Rect::from_min_max(rect.min + vec2(left, 0.0), rect.max - vec2(22.0, 0.0))
        .shrink2(vec2(0.0, (rect.height() * 0.3).floor()));
    style::bar(
        painter,
        track,
        count.correct as f32 / count.images.max(1) as f32,
        palette.good,
        palette,
    );
}
