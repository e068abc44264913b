//! The confusion matrix: a heat map with numbers, in which a cell can be selected by pointer or keys.

use eframe::egui::{self, Align2, Color32, Rect, Role, Sense, Stroke, StrokeKind, TextStyle, Ui, WidgetInfo, pos2, vec2};

use crate::math::statistics::{cell_sentence, error_count};
use crate::records::{CLASSES, Evaluation};
use crate::ui::grid_keys;
use crate::ui::style::{self, Palette};

/// A cell: the true digit and the predicted one.
pub type Cell = (usize, usize);

/// Space for the digits at the sides, in points.
const MARGIN: f32 = 44.0;

/// Draws the matrix `side` points wide and updates the chosen cell. Returns the hovered cell, else the chosen one.
pub fn show(ui: &mut Ui, evaluation: &Evaluation, chosen: &mut Option<Cell>, side: f32) -> Option<Cell> {
    let (area, response) = ui.allocate_exact_size(vec2(side, side), Sense::focusable_noninteractive());
    let grid = Rect::from_min_max(area.min + vec2(MARGIN, MARGIN), area.max);
    let size = grid.width() / CLASSES as f32;
    let cell_rect = |(truth, answer): Cell| {
        Rect::from_min_size(grid.min + vec2(answer as f32, truth as f32) * size, egui::Vec2::splat(size)).shrink(1.0)
    };
    titles(ui, area, grid, size);
    let shades = Shades::of(evaluation, style::palette(ui));
    let mut hovered = None;
    for truth in 0..CLASSES {
        for answer in 0..CLASSES {
            let cell = (truth, answer);
            let count = count(evaluation, cell);
            // Cells are reached by the arrow keys once the matrix has the focus: a hundred tab stops would be too many.
            let response = ui.interact(cell_rect(cell), ui.scope_id().with(("confusion", truth, answer)), Sense::CLICK);
            paint_cell(ui, response.rect, count, shades.fill(cell, count), truth == answer);
            if response.hovered() {
                hovered = Some(cell);
            }
            if response.clicked() {
                *chosen = if *chosen == Some(cell) { None } else { Some(cell) };
            }
            let selected = *chosen == Some(cell);
            response.widget_info(|| WidgetInfo::selected(Role::Cell, true, selected, cell_sentence(truth, answer, count)));
        }
    }
    grid_keys::choose(ui, &response, chosen, |from, down, right| {
        let moved = |from: usize, by: isize| from.saturating_add_signed(by).min(CLASSES - 1);
        from.map_or((0, 0), |(truth, answer)| (moved(truth, down), moved(answer, right)))
    });
    let strong = ui.visuals().strong_text_color();
    for (cell, width) in [(hovered, 1.5), (*chosen, 2.5)] {
        if let Some(cell) = cell {
            ui.painter().rect_stroke(cell_rect(cell), style::RADIUS_SMALL, Stroke::new(width, strong), StrokeKind::Outside);
        }
    }
    response.widget_info(|| WidgetInfo {
        current_text_value: Some(match *chosen {
            Some((truth, answer)) => cell_sentence(truth, answer, count(evaluation, (truth, answer))),
            None => format!("{} of {} images misclassified", error_count(evaluation), evaluation.images),
        }),
        ..WidgetInfo::labeled(Role::Grid, true, "True and predicted digits")
    });
    hovered.or(*chosen)
}

/// The number of images in a cell.
pub fn count(evaluation: &Evaluation, (truth, answer): Cell) -> u32 {
    evaluation.confusion.get(truth).and_then(|row| row.get(answer)).copied().unwrap_or_default()
}

fn titles(ui: &Ui, area: Rect, grid: Rect, size: f32) {
    let painter = ui.painter();
    let (small, body) = (TextStyle::Small.resolve(ui.style()), TextStyle::Body.resolve(ui.style()));
    let (weak, text) = (ui.visuals().weak_text_color(), ui.visuals().text_color());
    painter.text(pos2(grid.center().x, area.top()), Align2::CENTER_TOP, "predicted digit", small.clone(), weak);
    let upright = painter.layout_no_wrap("true digit".to_owned(), small, weak);
    let at = pos2(area.left(), grid.center().y + upright.size().x / 2.0);
    painter.add(egui::epaint::TextShape::new(at, upright, weak).with_angle(-std::f32::consts::FRAC_PI_2));
    for digit in 0..CLASSES {
        let middle = (digit as f32 + 0.5) * size;
        painter.text(pos2(grid.left() + middle, grid.top() - 4.0), Align2::CENTER_BOTTOM, digit, body.clone(), text);
        painter.text(pos2(grid.left() - 8.0, grid.top() + middle), Align2::RIGHT_CENTER, digit, body.clone(), text);
    }
}

fn paint_cell(ui: &Ui, rect: Rect, count: u32, fill: Color32, diagonal: bool) {
    let painter = ui.painter();
    painter.rect_filled(rect, style::RADIUS_SMALL, fill);
    if count == 0 && !diagonal {
        return;
    }
    let font = egui::FontId::proportional((rect.width() * 0.34).clamp(8.0, 15.0));
    painter.text(rect.center(), Align2::CENTER_CENTER, count, font, style::readable_on(fill));
}

/// The cells' colours. Correct predictions far outnumber errors, so the diagonal is scaled by the share of its row, and errors by
/// the square root of their share of the largest error count, which keeps single errors visible.
struct Shades {
    palette: Palette,
    rows: [u32; CLASSES],
    worst: u32,
}

impl Shades {
    fn of(evaluation: &Evaluation, palette: Palette) -> Self {
        let rows = evaluation.confusion.map(|row| row.iter().sum());
        let mistakes = evaluation
            .confusion
            .iter()
            .enumerate()
            .flat_map(|(truth, row)| row.iter().enumerate().filter(move |(answer, _)| *answer != truth).map(|(_, &count)| count));
        Self { palette, rows, worst: mistakes.max().unwrap_or_default() }
    }

    fn fill(&self, (truth, answer): Cell, count: u32) -> Color32 {
        let Palette { surface, good, bad, .. } = self.palette;
        if truth == answer {
            let row = self.rows.get(truth).copied().unwrap_or_default().max(1);
            let share = count as f32 / row as f32;
            return surface.lerp_to_gamma(good, 0.15 + 0.65 * share.powi(4));
        }
        if count == 0 {
            return surface;
        }
        surface.lerp_to_gamma(bad, 0.18 + 0.72 * (count as f32 / self.worst.max(1) as f32).sqrt())
    }
}
