//! The confusion matrix: a heat map with numbers, in which a cell can be selected by pointer or
//! keys.

use eframe::egui::{
    self, Align2, Color32, Rect, Role, Sense, Stroke, StrokeKind, TextStyle, Ui, WidgetInfo, pos2,
    vec2,
};

use crate::math::statistics::{cell_sentence, error_count};
use crate::records::Evaluation;
use crate::run_config::Classes;
use crate::window::style::{self, Palette, image_sheet};

/// A cell: the true digit and the predicted one.
pub type Cell = (usize, usize);

/// Cells smaller than this, in points, have neither numbers nor lines between them.
const DENSE: f32 = 14.0;
/// Space for the digits at the sides, in points.
const MARGIN: f32 = 44.0;

/// Draws the matrix `side` points wide and updates the chosen cell. Returns the hovered cell, else
/// the chosen one.
pub fn show(
    ui: &mut Ui,
    evaluation: &Evaluation,
    classes: &Classes,
    chosen: &mut Option<Cell>,
    side: f32,
) -> Option<Cell> {
    let focusable = Sense::focusable_noninteractive();
    let (area, response) = ui.allocate_exact_size(vec2(side, side), focusable);
    let margin = margin(ui, classes);
    let grid = Rect::from_min_max(area.min + vec2(margin, margin), area.max);
    let size = grid.width() / classes.len() as f32;
    // Lines between cells, unless they are small.
    let gap = if size > DENSE { 1.0 } else { 0.25 };
    let cell_rect = |(truth, answer): Cell| {
        let at = grid.min + vec2(answer as f32, truth as f32) * size;
        Rect::from_min_size(at, egui::Vec2::splat(size)).shrink(gap)
    };
    let sentence = |(truth, answer): Cell| {
        cell_sentence(classes, truth, answer, evaluation.count(truth, answer))
    };
    titles(ui, area, grid, classes);
    let shades = Shades::of(evaluation, style::palette(ui));
    let mut hovered = None;
    for cell in (0..classes.len()).flat_map(|truth| (0..classes.len()).map(move |it| (truth, it))) {
        let (truth, answer) = cell;
        let count = evaluation.count(truth, answer);
        // Cells are reached by the arrow keys once the matrix has the focus: a hundred tab stops
        // would be too many.
        let id = ui.scope_id().with(("confusion", truth, answer));
        let response = ui.interact(cell_rect(cell), id, Sense::CLICK);
        let fill = shades.fill(cell, count);
        paint_cell(ui, response.rect, count, fill, truth == answer);
        if response.hovered() {
            hovered = Some(cell);
        }
        if response.clicked() {
            *chosen = Some(cell).filter(|_| *chosen != Some(cell));
        }
        let selected = *chosen == Some(cell);
        response.widget_info(|| WidgetInfo::selected(Role::Cell, true, selected, sentence(cell)));
    }
    image_sheet::choose_by_keys(ui, &response, chosen, |from, down, right| {
        let moved = |from: usize, by: isize| from.saturating_add_signed(by).min(classes.len() - 1);
        from.map_or((0, 0), |(truth, answer)| {
            (moved(truth, down), moved(answer, right))
        })
    });
    let strong = ui.visuals().strong_text_color();
    for (cell, width) in [(hovered, 1.5), (*chosen, 2.5)] {
        if let Some(cell) = cell {
            let (rect, stroke) = (cell_rect(cell), Stroke::new(width, strong));
            let painter = ui.painter();
            painter.rect_stroke(rect, style::RADIUS_SMALL, stroke, StrokeKind::Outside);
        }
    }
    let told = chosen.map_or_else(
        || {
            let wrong = error_count(evaluation);
            format!("{wrong} of {} images misclassified", evaluation.images)
        },
        sentence,
    );
    let name = format!("True and predicted {}", classes.nouns());
    style::describe(&response, Role::Grid, &name, &told);
    hovered.or(*chosen)
}

/// Whether the names of the classes have room above a column.
fn are_short(classes: &Classes) -> bool {
    matches!(classes, Classes::Digits | Classes::Letters)
}

/// Space for the names of the classes at the sides, in points.
fn margin(ui: &Ui, classes: &Classes) -> f32 {
    if are_short(classes) {
        return MARGIN;
    }
    let font = TextStyle::Body.resolve(ui.style());
    let width = |name: &str| style::text_width(ui, name, &font);
    MARGIN - 10.0 + classes.names().map(width).fold(0.0, f32::max)
}

fn titles(ui: &Ui, area: Rect, grid: Rect, classes: &Classes) {
    let size = grid.width() / classes.len() as f32;
    let painter = ui.painter();
    let [small, body] = [TextStyle::Small, TextStyle::Body].map(|font| font.resolve(ui.style()));
    let (weak, text) = (ui.visuals().weak_text_color(), ui.visuals().text_color());
    let upwards = |at, galley, color| {
        let shape = egui::epaint::TextShape::new(at, galley, color);
        painter.add(shape.with_angle(-std::f32::consts::FRAC_PI_2));
    };
    let at = pos2(grid.center().x, area.top());
    let predicted = format!("predicted {}", classes.noun());
    painter.text(at, Align2::CENTER_TOP, predicted, small.clone(), weak);
    let upright = painter.layout_no_wrap(format!("true {}", classes.noun()), small, weak);
    let at = pos2(area.left(), grid.center().y + upright.size().x / 2.0);
    upwards(at, upright, weak);
    // Of many classes, as many names as there is room for.
    let every = ((body.size * 1.1) / size).ceil().max(1.0) as usize;
    for digit in (0..classes.len()).step_by(every) {
        let middle = (digit as f32 + 0.5) * size;
        let name = classes.name(digit);
        let at = pos2(grid.left() - 8.0, grid.top() + middle);
        painter.text(at, Align2::RIGHT_CENTER, name, body.clone(), text);
        let above = pos2(grid.left() + middle, grid.top() - 4.0);
        if are_short(classes) {
            painter.text(above, Align2::CENTER_BOTTOM, name, body.clone(), text);
        } else {
            // Names are wider than columns: they are written upwards.
            let galley = painter.layout_no_wrap(name.to_owned(), body.clone(), text);
            let at = above - vec2(galley.size().y / 2.0, 2.0);
            upwards(at, galley, text);
        }
    }
}

fn paint_cell(ui: &Ui, rect: Rect, count: u32, fill: Color32, diagonal: bool) {
    let painter = ui.painter();
    painter.rect_filled(rect, style::RADIUS_SMALL, fill);
    if count == 0 && !diagonal || rect.width() < DENSE {
        return;
    }
    // A figure is a little wider than half its height.
    let count = count.to_string();
    let fits = rect.width() * 0.9 / (0.56 * count.len() as f32);
    let font = egui::FontId::proportional(fits.min(rect.width() * 0.4).clamp(8.0, 15.0));
    let color = style::readable_on(fill);
    painter.text(rect.center(), Align2::CENTER_CENTER, count, font, color);
}

/// The cells' colors. Correct predictions far outnumber errors, so the diagonal is scaled by the
/// fraction of its row, and errors by the square root of their fraction of the largest error count,
/// which keeps single errors visible.
struct Shades {
    palette: Palette,
    rows: Vec<u32>,
    worst: u32,
}

impl Shades {
    fn of(evaluation: &Evaluation, palette: Palette) -> Self {
        let matrix = &evaluation.confusion;
        let rows = matrix.iter().map(|row| row.iter().sum()).collect();
        let mut worst = 0;
        for (truth, row) in matrix.iter().enumerate() {
            for (answer, &count) in row.iter().enumerate() {
                if answer != truth {
                    worst = worst.max(count);
                }
            }
        }
        Self {
            palette,
            rows,
            worst,
        }
    }

    fn fill(&self, (truth, answer): Cell, count: u32) -> Color32 {
        let surface = self.palette.surface;
        if truth == answer {
            let row = self.rows.get(truth).copied().unwrap_or_default().max(1);
            let share = count as f32 / row as f32;
            return surface.lerp_to_gamma(self.palette.good, 0.15 + 0.65 * share.powi(4));
        }
        if count == 0 {
            return surface;
        }
        let share = (count as f32 / self.worst.max(1) as f32).sqrt();
        surface.lerp_to_gamma(self.palette.bad, 0.18 + 0.72 * share)
    }
}
