//! One step of the run in progress: what it did to the loss of its batch, and to the weights of the
//! unit that is open.

use eframe::egui::{Rect, Role, Sense, Ui, vec2};

use super::maps::{Scale, square};
use super::number::{CELL, PIXEL, READABLE, cells};
use super::unit::Open;
use crate::records::{LayerKind, ModelRef, SingleStep, UnitName, UnitUpdate, Update};
use crate::text::format::{count, grouped, significant};
use crate::window::{Action, Phase, Pushes as _, RunView, TrainAction, style};

/// Parts of the weights that are shown: those that changed most.
const SHOWN: usize = 3;

/// Draws the button that takes a step, and what the last one did; nothing unless the network belongs
/// to a run in progress.
pub fn show(ui: &mut Ui, open: &Open<'_>, actions: &mut Vec<Action>) {
    let app = open.shown.app;
    let Some(run) = app.train.run.as_ref().filter(|run| is_training(run)) else {
        return;
    };
    let model = app.ctx.model_in_use.as_ref();
    if model.is_none_or(|model| model.reference != ModelRef::Training(run.id)) {
        return;
    }
    let has_weights = matches!(
        open.layer.kind,
        LayerKind::Convolution { .. } | LayerKind::Dense { .. }
    );
    let name = has_weights.then(|| UnitName {
        layer: open.layer.name.clone(),
        unit: open.unit.look.unit,
    });
    style::section(ui, "One training step");
    ui.horizontal(|ui| {
        let about = "Trains with one batch, shows what that changes here, and pauses the run";
        style::ask(ui, style::secondary_button("Take one step"), None, about)
            .pushes(actions, || TrainAction::TakeStep(name.clone()));
        if run.phase == Phase::Paused {
            let about = "Continue training";
            style::ask(ui, style::quiet_button("Resume the run"), None, about)
                .pushes(actions, || TrainAction::Resume);
        }
    });
    let Some(step) = &run.single_step else { return };
    style::wrapped(ui, sentence(step));
    match &step.unit {
        Some(unit) if Some(&unit.name) == name.as_ref() => weights(ui, open, unit),
        _ if has_weights => {
            style::note(
                ui,
                "Take another step to see what it does to these weights.",
            );
        }
        _ => {}
    }
}

const fn is_training(run: &RunView) -> bool {
    matches!(run.phase, Phase::Training | Phase::Paused)
}

/// What a step did to the loss: "Step 301, learning rate 0.001: the loss of its 128 images fell from
/// 0.4123 to 0.3987."
pub fn sentence(step: &SingleStep) -> String {
    let [before, after] = step.losses.map(|loss| format!("{loss:.4}"));
    let went = if step.losses[1] < step.losses[0] {
        "fell"
    } else {
        "rose"
    };
    let images = count(step.images as u64, "image");
    let (number, rate) = (grouped(step.step), significant(step.learning_rate.into()));
    format!(
        "Step {number}, learning rate {rate}: the loss of its {images} {went} from {before} to {after}."
    )
}

/// Weights, gradient, change and weights after it, side by side, for the maps whose weights changed
/// most.
fn weights(ui: &mut Ui, open: &Open<'_>, unit: &UnitUpdate) {
    let (update, change) = (&unit.weights, unit.weights.change());
    let columns = Columns::of(update, &change);
    if let Some(bias) = &unit.bias
        && let ([before], [gradient], [after]) =
            (&bias.before[..], &bias.gradient[..], &bias.after[..])
    {
        let [before, gradient, after] = [before, gradient, after].map(|x| significant((*x).into()));
        style::note(ui, format!("Bias {before} → {after}, gradient {gradient}."));
    }
    if update.gradient.iter().all(|x| *x == 0.0) {
        let dead = "No image of this batch activates it, so the gradient is zero.";
        style::note(ui, dead);
    }
    let mut start = 0;
    let mut parts: Vec<_> = open
        .unit
        .terms
        .iter()
        .enumerate()
        .map(|(index, term)| {
            let range = start..start + term.weights.len();
            start = range.end;
            (index, term.width, range)
        })
        .filter(|(.., range)| range.end <= change.len())
        .collect();
    let total = parts.len();
    let most = |range: &std::ops::Range<usize>| {
        let changes = change.get(range.clone()).unwrap_or_default();
        changes.iter().fold(0.0_f32, |most, x| most.max(x.abs()))
    };
    parts.sort_by(|(.., a), (.., b)| most(b).total_cmp(&most(a)));
    if total > SHOWN {
        let note = format!("The weights for {SHOWN} of {total} maps: those that changed most.");
        style::note(ui, note);
    }
    for (index, width, range) in parts.into_iter().take(SHOWN) {
        columns.show(ui, &open.term_name(index), width, range);
    }
}

/// What stands side by side: a heading, the numbers with their colors, the unit that they are shown
/// in, and what they are.
struct Columns<'a>([Column<'a>; 4]);

struct Column<'a> {
    name: &'static str,
    values: &'a [f32],
    scale: Scale,
    /// A power of ten.
    unit: f32,
    about: &'static str,
}

impl<'a> Columns<'a> {
    fn of(update: &'a Update, change: &'a [f32]) -> Self {
        let weights = Scale::of(update.before.iter().chain(&update.after));
        let column = |name, values: &'a [f32], about| Column {
            name,
            values,
            scale: Scale::of(values),
            unit: unit_of(values),
            about,
        };
        let of_weights = |name, values: &'a [f32], about| Column {
            scale: weights,
            unit: 1.0,
            ..column(name, values, about)
        };
        Self([
            of_weights("Before", &update.before, "The weights before the step"),
            column(
                "Gradient",
                &update.gradient,
                "How the loss of the batch changes with each weight: if it is positive, a smaller weight lowers the loss",
            ),
            column(
                "Change",
                change,
                "What the optimizer adds: against the gradient, as far as the learning rate and earlier gradients let it go",
            ),
            of_weights("After", &update.after, "The weights after the step"),
        ])
    }

    /// Draws a part of the numbers in rows of this length, under the name of the map.
    fn show(&self, ui: &mut Ui, name: &str, width: usize, range: std::ops::Range<usize>) {
        style::weak(ui, name);
        let width = width.max(1);
        let gap = style::GAP;
        let room = (ui.available_width() - 3.0 * gap) / 4.0;
        let side = room / width as f32;
        let is_readable = width <= READABLE && side >= *CELL.start();
        let sides = if is_readable { CELL } else { PIXEL };
        let side = side.clamp(*sides.start(), *sides.end()).floor();
        let rows = range.len().div_ceil(width) as f32;
        let size = vec2(width as f32, rows) * side;
        ui.horizontal_top(|ui| {
            ui.spacing_mut().item_spacing.x = gap;
            for column in &self.0 {
                let Some(values) = column.values.get(range.clone()) else {
                    continue;
                };
                ui.vertical(|ui| {
                    ui.spacing_mut().item_spacing.y = 2.0;
                    ui.set_width(size.x.max(64.0));
                    style::note(ui, column.heading(is_readable)).on_hover_text(column.about);
                    let (area, response) = ui.allocate_exact_size(size, Sense::hover());
                    let corner = square(ui, area.min, side).min;
                    let rect = Rect::from_min_size(corner, size);
                    let unit = is_readable.then_some(column.unit);
                    cells(ui, rect, width, (values, column.scale), unit);
                    let spoken = range_of(values);
                    let picture = format!("{}: {name}", column.name);
                    style::describe(&response, Role::Image, &picture, &spoken);
                    response.on_hover_text(format!("{}: {spoken}", column.about));
                });
            }
        });
    }
}

impl Column<'_> {
    /// "Change, × 0.001", or the largest number if none are shown.
    fn heading(&self, with_numbers: bool) -> String {
        if !with_numbers {
            let most = self
                .values
                .iter()
                .fold(0.0_f32, |most, x| most.max(x.abs()));
            return format!("{}, up to {}", self.name, significant(most.into()));
        }
        if self.unit == 1.0 {
            return self.name.to_owned();
        }
        format!("{}, × {}", self.name, significant(self.unit.into()))
    }
}

/// "−0.012 to 0.034".
fn range_of(values: &[f32]) -> String {
    let low = values.iter().copied().fold(f32::INFINITY, f32::min);
    let high = values.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    format!(
        "{} to {}",
        significant(low.into()),
        significant(high.into())
    )
}

/// The power of ten in which the largest of these numbers has one digit before the point, or 1 if it
/// has more.
fn unit_of(values: &[f32]) -> f32 {
    let most = values.iter().fold(0.0_f32, |most, x| most.max(x.abs()));
    if most > 0.0 && most < 1.0 {
        10_f32.powf(most.log10().floor())
    } else {
        1.0
    }
}
