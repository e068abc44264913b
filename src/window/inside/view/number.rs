//! One number: what is multiplied, what each product adds, and the steps to the number, with the
//! numbers themselves.

use eframe::egui::{
    Align, Align2, FontId, Layout, Rect, RichText, Role, Sense, TextStyle, Ui, pos2, vec2,
};

use super::maps::{Scale, cell, ink_over, place_at, square};
use super::unit::Open;
use super::words;
use crate::records::{LayerKind, StepKind, Term, pooled_places};
use crate::window::style;
use crate::window::style::SemiBold as _;

/// The sides of a number's cell, and of one that is shown without its number, in points.
pub const CELL: std::ops::RangeInclusive<f32> = 26.0..=40.0;
pub const PIXEL: std::ops::RangeInclusive<f32> = 3.0..=14.0;
/// The greatest width of the calculation, in points.
const LEDGER: f32 = 560.0;
/// Numbers in a row that have room for their digits.
pub const READABLE: usize = 7;

pub fn show(ui: &mut Ui, open: &Open<'_>) {
    // Wider, its numbers would be far from their names.
    let width = ui.available_width().min(LEDGER);
    style::wide_column(ui, vec2(width, 0.0), |ui| ledger(ui, open));
    let unit = open.unit;
    let mut terms: Vec<usize> = (0..unit.terms.len()).collect();
    let kind = unit.steps.first().map(|step| step.kind);
    if !matches!(kind, Some(StepKind::WeightedSum | StepKind::Mean)) {
        return;
    }
    let sum = |term: &usize| unit.terms.get(*term).map_or(0.0, Term::sum);
    terms.sort_by(|a, b| sum(b).abs().total_cmp(&sum(a).abs()));
    style::section(
        ui,
        match open.layer.kind {
            LayerKind::Convolution { .. } => "Patch times filter, number by number",
            LayerKind::Attention { .. } => "Each patch's number times the attention to it",
            _ => "Each number times its weight",
        },
    );
    if terms.len() > 1 {
        style::note(ui, "The largest contributions first, whatever their sign.");
    }
    let width = ui.available_width();
    // All are as wide as the widest, so that they stand in columns.
    let font = TextStyle::Body.resolve(ui.style());
    let sums = terms
        .iter()
        .map(|term| style::text_width(ui, equals(sum(term)), &font));
    let beside = sums.fold(0.0, f32::max) + 70.0;
    ui.horizontal_wrapped(|ui| {
        for term in terms {
            product(ui, open, term, (width, beside));
        }
    });
}

/// The calculation from top to bottom.
fn ledger(ui: &mut Ui, open: &Open<'_>) {
    let (unit, steps) = (open.unit, &open.unit.steps);
    let Some(first) = steps.first() else { return };
    let row = |ui: &mut Ui, name: &str, how: &str, value: f32, strong: bool| {
        let value = RichText::new(words::number(value));
        let value = if strong { value.semibold() } else { value };
        let texts = [RichText::new(name), style::hint(how), value.clone()];
        let taken: f32 = texts.map(|text| style::text_size(ui, text).x).iter().sum();
        let fits = taken + 3.0 * style::GAP < ui.available_width();
        ui.horizontal(|ui| {
            ui.label(name);
            if fits {
                ui.label(style::hint(how));
            }
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| ui.label(value));
        });
        if !fits {
            style::note(ui, how);
        }
    };
    style::full_card(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 2.0;
        ui.spacing_mut().interact_size.y = 20.0;
        let sums: Vec<f32> = unit.terms.iter().map(Term::sum).collect();
        match (first.kind, open.layer.kind) {
            (StepKind::Sum, LayerKind::Residual) => {
                for (sum, input) in sums.iter().zip(&open.inputs) {
                    row(
                        ui,
                        &input.name,
                        &words::place(first.side, first.place),
                        *sum,
                        false,
                    );
                }
            }
            (StepKind::Sum, _) => {
                for (sum, name) in sums.iter().zip(["Number", "Position"]) {
                    row(ui, name, "", *sum, false);
                }
            }
            (StepKind::WeightedSum, _) => {
                let how = match sums.len() {
                    1 => "all products added up".to_owned(),
                    maps => format!("the sum of the products of all {maps} maps"),
                };
                row(ui, "Products", &how, sums.iter().sum(), false);
            }
            _ => {}
        }
        if let Some(bias) = unit.bias {
            row(ui, "Bias", "", bias, false);
        }
        let one = steps.len() == 1;
        row(ui, words::step(first.kind), "", first.value(), one);
        for (index, pair) in steps.windows(2).enumerate() {
            let [before, step] = pair else { continue };
            let candidates = pooled_places(before.side, step.side, step.place)
                .map(|place| before.values.get(place).copied().unwrap_or_default());
            let how = words::calculation(step, before, &candidates);
            let is_last = index + 2 == steps.len();
            row(ui, words::step(step.kind), &how, step.value(), is_last);
        }
    });
}

/// Paints numbers as colored cells in rows of this length; with the numbers, in this unit, if there
/// is one.
pub fn cells(
    ui: &Ui,
    rect: Rect,
    columns: usize,
    (values, scale): (&[f32], Scale),
    unit: Option<f32>,
) {
    let palette = style::palette(ui);
    let rows = values.len().div_ceil(columns.max(1));
    let color_of = scale.colors(palette);
    let side = rect.width() / columns.max(1) as f32;
    for (place, value) in values.iter().enumerate() {
        let cell = cell(rect, [columns, rows], place);
        let fill = color_of(*value);
        ui.painter().rect_filled(cell, 0.0, fill);
        if let Some(unit) = unit {
            let text = words::short(*value / unit);
            let font = FontId::proportional((side * 0.29).clamp(8.5, 11.5));
            let color = style::readable_on(fill);
            ui.painter()
                .text(cell.center(), Align2::CENTER_CENTER, text, font, color);
        }
    }
    style::outline_outside(ui.painter(), rect, 1.0, palette.line);
}

/// "= 0.619", beside the products that add up to it.
fn equals(sum: f32) -> String {
    format!("= {}", words::number(sum))
}

/// The numbers of a term beside their weights, and what they add up to, no wider than `width`, of
/// which the text takes `beside`.
fn product(ui: &mut Ui, open: &Open<'_>, index: usize, (width, beside): (f32, f32)) {
    let Some(term) = open.unit.terms.get(index) else {
        return;
    };
    let (columns, rows) = (term.width, term.inputs.len().div_ceil(term.width.max(1)));
    let sum = equals(term.sum());
    let font = TextStyle::Body.resolve(ui.style());
    let room = (width - beside) / (2 * columns.max(1)) as f32;
    let shows_numbers = columns <= READABLE && room >= *CELL.start();
    let range = if shows_numbers { CELL } else { PIXEL };
    let side = room.clamp(*range.start(), *range.end()).floor();
    let size = vec2(columns as f32, rows as f32) * side;
    let whole = vec2(2.0 * size.x + beside, size.y + 8.0);
    let (area, response) = ui.allocate_exact_size(whole, Sense::hover());
    if !ui.is_rect_visible(area) {
        return;
    }
    let middle = area.center().y;
    let palette = style::palette(ui);
    let color = ui.visuals().text_color();
    let right = area.left() + size.x + 24.0;
    let places = [area.left(), right].map(|left| {
        let corner = square(ui, pos2(left, middle - size.y / 2.0), side).min;
        Rect::from_min_size(corner, size)
    });
    let input = open.input(index);
    let scales = [input.scale, open.weights];
    for ((rect, values), scale) in places.iter().zip([&term.inputs, &term.weights]).zip(scales) {
        let unit = shows_numbers.then_some(1.0);
        cells(ui, *rect, columns, (values, scale), unit);
    }
    if let (LayerKind::Attention { .. }, [_, weights]) = (open.layer.kind, places) {
        ink_over(ui, weights, open.shown.inspection.layers.first());
    }
    let name = open.term_name(index);
    let small = TextStyle::Small.resolve(ui.style());
    let end = pos2(right + size.x + 10.0, middle);
    let (times, below) = (pos2(right - 12.0, middle), end + vec2(0.0, font.size * 1.2));
    let weak = ui.visuals().weak_text_color();
    let texts = [
        (times, Align2::CENTER_CENTER, "×", font.clone(), color),
        (end, Align2::LEFT_CENTER, sum.as_str(), font, color),
        (below, Align2::LEFT_CENTER, name.as_str(), small, weak),
    ];
    for (at, align, text, font, color) in texts {
        ui.painter().text(at, align, text, font, color);
    }
    let spoken = format!("{name} times its weights");
    style::describe(&response, Role::Image, &spoken, &sum);
    let at = response.hover_pos();
    let hovered = at.and_then(|at| {
        places
            .iter()
            .find_map(|rect| place_at(*rect, [columns, rows], at))
    });
    let both =
        hovered.and_then(|place| Some((place, term.inputs.get(place)?, term.weights.get(place)?)));
    if let Some((place, input, weight)) = both {
        for rect in places {
            let cell = cell(rect, [columns, rows], place);
            style::outline_outside(ui.painter(), cell, 2.0, palette.accent);
        }
        let product = words::number(input * weight);
        let (input, weight) = (words::number(*input), words::bracketed(*weight));
        response.on_hover_text_at_pointer(format!("{name}: {input} × {weight} = {product}"));
    }
}
