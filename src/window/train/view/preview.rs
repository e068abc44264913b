//! The next run: samples of its data, its network, and its extent.

use eframe::egui::emath::GuiRounding as _;
use eframe::egui::{self, Label, Rect, Role, ScrollArea, Sense, Ui, UiBuilder, vec2};

use super::blocks::{self, BlocksView};
use crate::data::{Issue, Part};
use crate::run_config::DataSpec;
use crate::window::style::image_sheet::{ImageSheet, framed};
use crate::window::{Action, App, Samples, style};

/// In wider windows, in points, lines would be too long to read.
const WIDEST: f32 = 1400.0;
const COLUMNS: usize = 10;
/// The side of an image with an issue, in points.
const EXAMPLE: f32 = 36.0;

/// View state: the samples in a texture, and what is being changed of the network.
#[derive(Debug, Default)]
pub struct Preview {
    samples: Option<Sheets>,
    blocks: BlocksView,
}

/// The images that are shown of a data set.
#[derive(Debug)]
struct Sheets {
    data: DataSpec,
    samples: ImageSheet,
    count: usize,
    issues: Vec<ImageSheet>,
}

impl Sheets {
    fn new(ui: &Ui, shown: &Samples) -> Self {
        let issues = shown.overview.iter().flat_map(|overview| &overview.issues);
        let of_issue = |(index, issue): (usize, &Issue)| {
            let images = issue.examples.iter().map(|example| &example.image);
            ImageSheet::new(ui.ctx(), &format!("issue {index}"), images)
        };
        Self {
            data: shown.data.clone(),
            samples: ImageSheet::new(ui.ctx(), "samples", shown.images.iter()),
            count: shown.images.len(),
            issues: issues.enumerate().map(of_issue).collect(),
        }
    }
}

pub fn show(ui: &mut Ui, app: &App, view: &mut Preview, actions: &mut Vec<Action>) {
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        // Space for the scroll bar, so that it never covers a card.
        ui.set_max_width((ui.available_width() - 12.0).min(WIDEST));
        ui.heading("Your next run");
        let advice = if app.ctx.is_training() {
            "Add it to the queue, or start it once the run in progress has ended."
        } else {
            "Press Start to watch it train."
        };
        let intro = format!("{}. {advice}", app.ctx.config.title());
        style::weak(ui, intro);
        ui.add_space(style::GAP);
        style::section(ui, "Data");
        data(ui, app, view);
        ui.add_space(style::GAP);
        style::section(ui, "Network");
        blocks::show(ui, app, &mut view.blocks, actions);
        ui.add_space(style::GAP);
        style::section(ui, "The run");
        for line in app.run_outline() {
            ui.add(Label::new(line).wrap());
        }
    });
}

fn data(ui: &mut Ui, app: &App, view: &mut Preview) {
    const ROWS: f32 = 4.0;
    let chosen = &app.ctx.config.data;
    let pixels = ui.pixels_per_point();
    let room = ui.available_width();
    let width = (room / 2.0).max(520.0).min(room);
    let size = ((width / COLUMNS as f32).floor() - 4.0).round_to_pixels(pixels);
    let room = vec2(width, ROWS * (size + 4.0));
    let (area, response) = ui.allocate_exact_size(room, Sense::hover());
    let name = format!("Samples of {}", chosen.label());
    style::name(&response, Role::Image, &name);
    let Some(samples) = app.train.samples(&app.ctx) else {
        // Built-in digits are there immediately.
        if app.train.is_looking_at_data(&app.ctx, &app.my_digits) && *chosen != DataSpec::builtin()
        {
            ui.scope_builder(UiBuilder::new().max_rect(area), |ui| {
                ui.label(style::hint("Looking at the images…"))
            });
        }
        return;
    };
    view.samples.take_if(|sheets| sheets.data != samples.data);
    let sheets = view.samples.get_or_insert_with(|| Sheets::new(ui, samples));
    let palette = style::palette(ui);
    // Class by class, as many of each: a column for each of ten, else one after the other.
    let of_each = sheets.count.div_ceil(COLUMNS).max(1);
    let classes = app.train.data_classes(&app.ctx);
    let ten = classes.len() == COLUMNS;
    for index in 0..sheets.count {
        let by_class = (index / of_each, index % of_each);
        let in_order = (index % COLUMNS, index / COLUMNS);
        let (column, row) = if ten { by_class } else { in_order };
        let at = area.min + vec2(column as f32, row as f32) * (size + 4.0);
        let rect = Rect::from_min_size(at, egui::Vec2::splat(size)).round_to_pixels(pixels);
        sheets.samples.paint(ui.painter(), index, rect, palette);
        style::outline_outside(ui.painter(), rect, 1.0, palette.line);
    }
    let Some(overview) = &samples.overview else {
        return;
    };
    for part in [Part::Training, Part::Test] {
        style::note(ui, format!("{}.", overview.summary(part)));
    }
    for done in &overview.notes {
        style::note(ui, done);
    }
    if let Some(sentence) = overview.imbalance_sentence(&classes) {
        style::caution(ui, &sentence);
    }
    for (issue, sheet) in overview.issues.iter().zip(&sheets.issues) {
        style::caution(ui, &issue.sentence());
        examples(ui, issue, sheet);
    }
}

/// The first images with an issue; hovering shows where they are and how they are labeled.
fn examples(ui: &mut Ui, issue: &Issue, sheet: &ImageSheet) {
    ui.horizontal_wrapped(|ui| {
        let size = egui::Vec2::splat(EXAMPLE);
        for (index, example) in issue.examples.iter().enumerate() {
            let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
            let place = rect.round_to_pixels(ui.pixels_per_point());
            framed(ui, sheet, index, place);
            let text = issue.place_of(example);
            style::name(&response, Role::Image, &text);
            response.on_hover_text(text);
        }
    });
}
