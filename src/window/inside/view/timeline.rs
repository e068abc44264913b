//! The slider along the run of the network in use, and a table of what the network made of the same
//! images at each position.

use std::time::Duration;

use eframe::egui::{
    Align, Align2, Color32, Layout, Pos2, Rect, RichText, Role, ScrollArea, Sense, Slider,
    TextStyle, Ui, Vec2, pos2, vec2,
};

use super::maps::{Atlas, Picture, Scale, crisp, square};
use crate::ink::{Image, SIDE};
use crate::records::{FilterImages, ModelRef, RunSummary};
use crate::text::format::{grouped, percent};
use crate::window::style::SemiBold as _;
use crate::window::style::image_sheet::{Cached, framed};
use crate::window::timeline::{file, positions, words};
use crate::window::{Action, App, DrawAction, Pushes as _, style};

/// How long it plays from end to end, in seconds.
const PLAYS: f64 = 6.0;
/// A network that is not in use after this time, in seconds, could not be loaded.
const LOADS: f64 = 2.0;
/// The width of the first column and of a label in it, in points, and the limits of the others.
const NAMES: f32 = 84.0;
const LABEL: f32 = 18.0;
const COLUMN: std::ops::RangeInclusive<f32> = 22.0..=120.0;
/// The least distance of two numbers of steps, in points.
const BETWEEN: f32 = 6.0;
/// The height of a line of text in the table, in points.
const LINE: f32 = 18.0;
/// The largest side of an image in the table, in points.
const IMAGE: f32 = 28.0;

#[derive(Debug, Default)]
pub struct TimelineView {
    /// The position whose network is to be used, and since when.
    asked: Option<(usize, f64)>,
    /// When the next position is due, while it plays.
    next: Option<f64>,
    filters: Atlas,
    images: Cached<Vec<Image>>,
}

/// The run in use and the position of the network in use.
type InUse<'a> = (&'a RunSummary, usize);

/// Uses the network at this position.
fn use_network(run: &RunSummary, position: usize, actions: &mut Vec<Action>) {
    let model = ModelRef::File(file(run, position));
    actions.push(DrawAction::UseModel(model).into());
}

/// The slider with what is known of its position.
pub fn bar(
    ui: &mut Ui,
    app: &App,
    (run, in_use): InUse<'_>,
    view: &mut TimelineView,
    actions: &mut Vec<Action>,
) {
    let (now, end) = (ui.input(|input| input.time), positions(run) - 1);
    view.asked
        .take_if(|(asked, since)| *asked == in_use || now > *since + LOADS);
    let shown = view.asked.map_or(in_use, |(asked, _)| asked);
    let mut position = shown;
    ui.horizontal(|ui| {
        let name = if view.next.is_some() { "Stop" } else { "Play" };
        let play = ui.add(style::secondary_button(name));
        if play
            .on_hover_text("Watch the network learn, from its first step to the end of its run")
            .clicked()
        {
            view.next = view.next.is_none().then_some(now);
            if view.next.is_some() && shown == end {
                position = 0;
            }
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            super::views(ui, app, actions);
            ui.spacing_mut().slider_width = ui.available_width() - 4.0;
            let slider = Slider::new(&mut position, 0..=end);
            let slider = ui.add(slider.show_value(false).step_by(1.0));
            style::describe(&slider, Role::Slider, "Step of the run", &words(run, shown));
            if slider.changed() {
                view.next = None;
            }
        });
    });
    if let Some(due) = view.next {
        let pause = PLAYS / end as f64;
        if now >= due && view.asked.is_none() {
            if position == shown && position < end {
                position += 1;
            }
            view.next = (position < end).then_some(now + pause);
        }
        ui.ctx()
            .request_repaint_after(Duration::from_secs_f64(pause));
    }
    if position != shown {
        view.asked = Some((position, now));
        use_network(run, position, actions);
    }
    ui.horizontal(|ui| {
        if position == end {
            let line = format!(
                "{}. Move the slider to see how it got here.",
                words(run, end)
            );
            ui.label(style::hint(line));
            return;
        }
        let accent = style::palette(ui).accent;
        ui.label(RichText::new(words(run, position)).semibold().color(accent));
        ui.add(style::small_button("Back to the end"))
            .on_hover_text("Use the finished network again")
            .pushes(actions, || {
                DrawAction::UseModel(ModelRef::File(run.model_path.clone()))
            });
    });
}

/// Shows that an early network is in use, with the way back; false if none is.
pub fn back_to_end(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) -> bool {
    let in_use = app.run_in_use();
    let Some((run, record)) = in_use.and_then(|(run, at)| Some((run, run.snapshots.get(at)?)))
    else {
        return false;
    };
    ui.horizontal(|ui| {
        let line = RichText::new(format!("As it was at step {}", grouped(record.step)));
        ui.label(line.semibold().color(style::palette(ui).accent));
        ui.add(style::small_button("Back to the end"))
            .on_hover_text("Use the finished network again")
            .pushes(actions, || {
                DrawAction::UseModel(ModelRef::File(run.model_path.clone()))
            });
    });
    true
}

/// A column for each position: how well the network did, what it made of each image, and the first
/// of its filters.
pub fn table(
    ui: &mut Ui,
    app: &App,
    in_use: InUse<'_>,
    view: &mut TimelineView,
    actions: &mut Vec<Action>,
) {
    let (run, _) = in_use;
    let timeline = &app.draw.timeline;
    let (filters, filter_width) = filters(app, run);
    let width = ((ui.available_width() - NAMES - 10.0) / positions(run) as f32)
        .clamp(*COLUMN.start(), *COLUMN.end())
        .floor();
    let small = TextStyle::Small.resolve(ui.style());
    let steps = (0..positions(run)).map(|at| style::text_width(ui, heads(run, at).0, &small));
    let table = Table {
        app,
        in_use,
        width,
        numbers_every_second: steps.fold(0.0, f32::max) + BETWEEN > width,
        row: 0.0,
        images: timeline.images().len(),
        filters,
        filter_width,
    };
    let table = table.fitting(ui.available_height());
    let of_filters = match filters {
        0 => String::new(),
        _ => format!(" Below: the first {filters} filters of the first layer."),
    };
    let about = format!(
        "One column per step: the network's answers for the same ten images. Their labels are on the left; red frames mark wrong answers.{of_filters} Click a column to go to its step."
    );
    style::note(ui, &about);
    let images = timeline.images().iter().map(|(image, _)| image);
    let sheet = view.images.of_images(ui, "timeline", images).clone();
    let pictures = table.pictures();
    view.filters.update(ui, timeline.version(), || {
        let pictures = pictures.iter().map(|values| Picture {
            width: filter_width,
            values,
            scale: Scale::of(&[-1.0, 1.0]),
        });
        pictures.collect()
    });
    ScrollArea::both()
        .id_salt("timeline")
        .auto_shrink(false)
        .show(ui, |ui| {
            let size = vec2(
                NAMES + table.width * positions(run) as f32,
                table.top(table.images + table.filters),
            );
            let (area, _) = ui.allocate_exact_size(size, Sense::hover());
            let corner = area.min;
            table.names(ui, corner, |ui, row, rect| framed(ui, &sheet, row, rect));
            for position in 0..positions(run) {
                table.column(ui, corner, position, &view.filters, actions);
            }
        });
}

/// How many filters the networks of this run have that can be shown, and the numbers in a row of
/// one.
fn filters(app: &App, run: &RunSummary) -> (usize, usize) {
    let mut looks = (0..positions(run)).filter_map(|at| app.draw.timeline.look(run, at));
    let layer = looks.find_map(|look| look.first_layer.as_ref());
    layer.map_or((0, 1), |layer| (layer.images.len(), layer.width.into()))
}

struct Table<'a> {
    app: &'a App,
    in_use: InUse<'a>,
    /// The width of a column, in points.
    width: f32,
    /// Whether the numbers of steps have room above every second column alone.
    numbers_every_second: bool,
    /// The height of a row, in points.
    row: f32,
    /// The rows with images.
    images: usize,
    /// The rows with filters, below those.
    filters: usize,
    /// The numbers in a row of a filter.
    filter_width: usize,
}

impl Table<'_> {
    /// The same with rows as high as there is room for in this height, if they are no higher than
    /// wide.
    fn fitting(self, height: f32) -> Self {
        let heads = self.top(0) + 2.0 * LINE;
        let least = self.width.clamp(24.0, IMAGE + 4.0);
        let row = (height - heads) / (self.images + self.filters).max(1) as f32;
        let row = row.clamp(least, self.width.max(least)).floor();
        Self { row, ..self }
    }

    /// Where a row begins below the heads.
    fn top(&self, row: usize) -> f32 {
        let gap = if row >= self.images { 6.0 } else { 0.0 };
        2.0 * LINE + 4.0 + gap + row as f32 * self.row
    }

    /// The filters of all positions in their order, as many for each, as numbers from -1 to 1.
    fn pictures(&self) -> Vec<Vec<f32>> {
        let (run, _) = self.in_use;
        let filters = |position: usize| {
            let look = self.app.draw.timeline.look(run, position);
            let layer = look.and_then(|look| look.first_layer.as_ref());
            (0..self.filters).map(move |unit| {
                let image = layer.and_then(|layer: &FilterImages| layer.images.get(unit));
                let grays = image.map_or(&[][..], Vec::as_slice).iter();
                grays
                    .map(|gray| (f32::from(*gray) - 128.0) / 127.0)
                    .collect()
            })
        };
        (0..positions(run)).flat_map(filters).collect()
    }

    /// The first column: the true class of each image, and the image, which is painted by its row.
    fn names(&self, ui: &Ui, corner: Pos2, image: impl Fn(&Ui, usize, Rect)) {
        let font = TextStyle::Small.resolve(ui.style());
        let color = ui.visuals().weak_text_color();
        let text = |y: f32, text: &str| {
            let at = corner + vec2(0.0, y);
            ui.painter()
                .text(at, Align2::LEFT_CENTER, text, font.clone(), color);
        };
        text(LINE * 0.5, "Step");
        text(LINE * 1.5, "Validation, %");
        let side = crisp(ui, SIDE, (self.row - 2.0).min(NAMES - LABEL - 6.0));
        let (classes, images) = (&self.in_use.0.plan.classes, self.app.draw.timeline.images());
        for (row, (_, label)) in images.iter().enumerate() {
            let name = classes.name(*label);
            let fits = style::text_width(ui, name, &font) < LABEL;
            let start: String = name.chars().take(2).collect();
            text(
                self.top(row) + self.row / 2.0,
                if fits { name } else { &start },
            );
            let at = corner + vec2(LABEL, self.top(row) + (self.row - side) / 2.0);
            image(ui, row, square(ui, at, side));
        }
        for unit in 0..self.filters {
            let y = self.top(self.images + unit) + self.row / 2.0;
            text(y, &format!("Filter {}", unit + 1));
        }
    }

    fn column(
        &self,
        ui: &Ui,
        corner: Pos2,
        position: usize,
        filters: &Atlas,
        actions: &mut Vec<Action>,
    ) {
        let (run, in_use) = self.in_use;
        let palette = style::palette(ui);
        let left = corner.x + NAMES + position as f32 * self.width;
        let size = vec2(self.width, self.top(self.images + self.filters));
        let rect = Rect::from_min_size(pos2(left, corner.y), size);
        let id = ui.scope_id().with(("position", position));
        let response = ui.interact(rect, id, Sense::click());
        if position == in_use {
            let fill = palette.accent.gamma_multiply(0.14);
            ui.painter().rect_filled(rect, 3.0, fill);
        }
        let small = TextStyle::Small.resolve(ui.style());
        let (step, right) = heads(run, position);
        let last = positions(run) - 1;
        for (line, text) in [(0.5, step), (1.5, right)] {
            // If the numbers of steps are too wide, every second column has one.
            if self.numbers_every_second && (last - position) % 2 == 1 && line < 1.0 {
                continue;
            }
            let at = pos2(rect.center().x, rect.top() + LINE * line);
            let color = ui.visuals().text_color();
            ui.painter()
                .text(at, Align2::CENTER_CENTER, text, small.clone(), color);
        }
        let cell = |row: usize| {
            let at = pos2(rect.left(), rect.top() + self.top(row));
            Rect::from_min_size(at, vec2(self.width, self.row)).shrink(1.0)
        };
        let look = self.app.draw.timeline.look(run, position);
        let labels = self.app.draw.timeline.images().iter();
        let answers = look.iter().flat_map(|look| &look.digits);
        let mut said = Vec::new();
        for (row, ((_, label), answer)) in labels.zip(answers).enumerate() {
            said.push(self.verdict(ui, cell(row), *label, *answer));
        }
        for unit in 0..self.filters {
            let cell = cell(self.images + unit);
            let numbers = self.filter_width;
            let side = crisp(ui, numbers, cell.width().min(cell.height()) - 2.0);
            let at = cell.center() - Vec2::splat(side / 2.0);
            filters.paint(
                ui.painter(),
                position * self.filters + unit,
                square(ui, at, side),
            );
        }
        if response.hovered() || response.has_focus() || position == in_use {
            style::outline(ui.painter(), rect, 2.0, palette.accent);
        }
        style::describe(
            &response,
            Role::Button,
            &words(run, position),
            &said.join(", "),
        );
        if response.clicked() {
            use_network(run, position, actions);
        }
        response.on_hover_text(words(run, position));
    }

    /// Paints what an image with this label was taken for; returns it in words.
    fn verdict(&self, ui: &Ui, cell: Rect, label: u8, digit: u8) -> String {
        let palette = style::palette(ui);
        let classes = &self.in_use.0.plan.classes;
        let [label, name] = [label, digit].map(|class| classes.name(class));
        let (fill, frame, text) = if name == label {
            (palette.good, Color32::TRANSPARENT, palette.ink)
        } else {
            (palette.bad, palette.bad, palette.bad)
        };
        ui.painter()
            .rect_filled(cell, 2.0, fill.gamma_multiply(0.12));
        style::outline(ui.painter(), cell, 1.5, frame);
        let fonts = [TextStyle::Body, TextStyle::Small];
        let [body, small] = fonts.map(|font| font.resolve(ui.style()));
        let fits = |font| style::text_width(ui, name, font) < cell.width() - 4.0;
        let (shown, font) = if fits(&body) {
            (name.to_owned(), body)
        } else if fits(&small) {
            (name.to_owned(), small)
        } else {
            (name.chars().take(3).collect(), small)
        };
        let center = cell.center();
        ui.painter()
            .text(center, Align2::CENTER_CENTER, shown, font, text);
        if name == label {
            format!("{label} right")
        } else {
            format!("{label} taken for {name}")
        }
    }
}

/// The text above a column: the step and the percentage of validation images that were right.
fn heads(run: &RunSummary, position: usize) -> (String, String) {
    let whole = |accuracy: f32| percent(accuracy.into(), 0).trim_end_matches('%').to_owned();
    match (run.snapshots.get(position), run.kept()) {
        (Some(record), _) => (short(record.step), whole(record.accuracy)),
        (None, Some(kept)) => ("End".to_owned(), whole(kept.validation_accuracy)),
        (None, None) => ("End".to_owned(), String::new()),
    }
}

/// A count of steps in four characters: "500", "1k", "2.3k", "47k".
fn short(step: u64) -> String {
    let thousands = step as f64 / 1e3;
    match step {
        0..1_000 => step.to_string(),
        1_000..10_000 => format!("{thousands:.1}k").replace(".0", ""),
        10_000..1_000_000 => format!("{thousands:.0}k"),
        _ => format!("{:.0}M", thousands / 1e3),
    }
}
