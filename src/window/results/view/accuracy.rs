//! Accuracy by class as bars with numbers, and by confidence as the reliability diagram: how often
//! answers of each confidence are right.

use eframe::egui::{Align2, Rangef, Rect, Role, Sense, TextStyle, Ui, pos2, vec2};
use egui_plot::{AxisHints, GridMark};

use crate::math::statistics::{calibration_error, class_scores, reliability_sentence};
use crate::records::Evaluation;
use crate::run_config::Classes;
use crate::text::format::{grouped, percent};
use crate::window::plots::scale::{Series, static_plot};
use crate::window::style;

/// Draws a bar for each class. They start at a round percentage below the lowest accuracy, so that
/// small differences are visible.
pub fn per_digit(ui: &mut Ui, evaluation: &Evaluation, classes: &Classes, height: f32) {
    // Where there are many, they scroll: the bar is beside them.
    ui.set_max_width(ui.available_width() - ui.spacing().scroll.bar_width);
    let scores = class_scores(evaluation);
    let weakest = scores
        .iter()
        .filter_map(|score| score.accuracy())
        .fold(1.0, f64::min);
    let start = [0.98, 0.95, 0.9, 0.8, 0.5]
        .into_iter()
        .find(|&start| weakest > start)
        .unwrap_or(0.0);
    let palette = style::palette(ui);
    let font = TextStyle::Body.resolve(ui.style());
    let row = (height / (classes.len() + 1) as f32).clamp(20.0, 40.0);
    let widest = |texts: Vec<String>| {
        let widths = texts
            .into_iter()
            .map(|text| style::text_width(ui, text, &font));
        widths.fold(0.0, f32::max)
    };
    let wrong_text = |wrong| format!("{} wrong", grouped(wrong));
    // As wide as the longest figures, however many images there are.
    let wrongs = scores
        .iter()
        .map(|score| wrong_text(score.images - score.correct));
    let errors = widest(wrongs.collect());
    let accuracies = scores.iter().map(|score| accuracy_text(score.accuracy()));
    let numbers = errors + widest(accuracies.collect()) + 2.0 * style::GAP;
    let names = 22.0_f32.max(widest(classes.names().map(str::to_owned).collect()) + 8.0);
    let track_of = |rect: Rect| {
        Rect::from_min_max(rect.min + vec2(names, 0.0), rect.max - vec2(numbers, 0.0))
            .shrink2(vec2(0.0, rect.height() * 0.2))
    };
    for score in scores {
        let size = vec2(ui.available_width(), row - ui.spacing().item_spacing.y);
        let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
        let text = accuracy_text(score.accuracy());
        let wrong = score.images - score.correct;
        let painter = ui.painter();
        let write = |x, anchor, text: &str, color| {
            painter.text(pos2(x, rect.center().y), anchor, text, font.clone(), color);
        };
        let name = classes.name(score.digit);
        let (of, at, anchor) = if classes.are_digits() {
            (format!("of a {name}"), 8.0, Align2::CENTER_CENTER)
        } else {
            (format!("of the class {name}"), 0.0, Align2::LEFT_CENTER)
        };
        let visuals = ui.visuals();
        write(rect.left() + at, anchor, name, visuals.text_color());
        let track = track_of(rect);
        let share = score.accuracy().map_or(0.0, |accuracy| {
            ((accuracy - start) / (1.0 - start)).clamp(0.0, 1.0) as f32
        });
        style::bar(painter, track, share, palette.good, palette);
        let at = rect.right() - errors - style::GAP;
        write(at, Align2::RIGHT_CENTER, &text, visuals.strong_text_color());
        let (at, weak) = (rect.right(), visuals.weak_text_color());
        write(at, Align2::RIGHT_CENTER, &wrong_text(wrong), weak);
        let images = grouped(score.images);
        let spoken = format!("{text}, {wrong} of {images} wrong");
        let meter = format!("Accuracy for {name}");
        style::describe(&response, Role::Meter, &meter, &spoken);
        let correct = grouped(score.correct);
        response.on_hover_text(format!(
            "{correct} of {images} images {of} classified correctly"
        ));
    }
    axis(ui, track_of, start);
}

/// The ends of the bars' axis, which mostly does not begin at 0.
fn axis(ui: &mut Ui, track_of: impl Fn(Rect) -> Rect, start: f64) {
    let font = TextStyle::Small.resolve(ui.style());
    let size = vec2(ui.available_width(), font.size * 1.3);
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    let track = track_of(rect);
    let ends = [
        (track.left(), Align2::LEFT_TOP, percent(start, 0)),
        (track.right(), Align2::RIGHT_TOP, percent(1.0, 0)),
    ];
    for (x, anchor, text) in &ends {
        let at = pos2(*x, rect.top());
        let color = ui.visuals().weak_text_color();
        ui.painter().text(at, *anchor, text, font.clone(), color);
    }
    let [(.., low), (.., high)] = ends;
    style::name(
        &response,
        Role::Label,
        &format!("Bars go from {low} to {high}."),
    );
}

fn accuracy_text(accuracy: Option<f64>) -> String {
    accuracy.map_or_else(|| "no images".to_owned(), |accuracy| percent(accuracy, 2))
}

/// The plot's height, and the limit of its width, in points.
const HEIGHT: f32 = 150.0;
const MAX_WIDTH: f32 = 420.0;
/// The distance of two labels of an axis from which they begin to show, and from which they show in
/// full, in points.
const LABELS: Rangef = Rangef {
    min: 18.0,
    max: 24.0,
};
/// What the diagram takes with its texts, in points.
pub const TOTAL_HEIGHT: f32 = 250.0;

/// Draws the diagram with its sentence; nothing without images.
pub fn reliability(ui: &mut Ui, evaluation: &Evaluation) {
    let Some(error) = calibration_error(evaluation) else {
        return;
    };
    let bins = &evaluation.reliability;
    let palette = style::palette(ui);
    let points: Vec<[f64; 2]> = bins
        .iter()
        .filter_map(|bin| Some([bin.confidence * 100.0, bin.accuracy()? * 100.0]))
        .collect();
    let diagonal = [[0.0, 0.0], [100.0, 100.0]];
    let gaps: Vec<_> = points.iter().map(|&[x, y]| [[x, x], [x, y]]).collect();
    let sentence = reliability_sentence(evaluation).unwrap_or_default();
    let how = "dots: accuracy by confidence; dashed: perfect calibration";
    style::caption(ui, "Reliability", how);
    let size = vec2(ui.available_width().min(MAX_WIDTH), HEIGHT);
    let shown = static_plot("reliability", size, &palette)
        // Dots at the ends are seen whole.
        .default_x_bounds(-3.0, 103.0)
        .default_y_bounds(-6.0, 106.0)
        .x_grid_spacer(|_| quarters())
        .y_grid_spacer(|_| quarters())
        .custom_x_axes(vec![
            AxisHints::new_x()
                .formatter(|mark, _| percent_mark(mark.value))
                .label_spacing(LABELS),
        ])
        .custom_y_axes(vec![
            AxisHints::new_y()
                .formatter(|mark, _| percent_mark(mark.value))
                .label_spacing(LABELS),
        ])
        .show(ui, |plot| {
            Series("perfect calibration", &diagonal, palette.faded).dashed(plot, 1.0);
            for gap in &gaps {
                Series("difference", gap, palette.validation).line(plot, 1.5);
            }
            Series("accuracy", &points, palette.train).dots(plot, 4.0);
        });
    let value = format!("calibration error {}. {sentence}", percent(error, 2));
    let about = "x: confidence (15 bins), y: accuracy";
    style::describe(&shown.response, Role::Figure, "Reliability diagram", &value);
    shown.response.on_hover_text(about);
    ui.weak(sentence);
}

/// Marks at 0, 25, 50, 75 and 100%.
fn quarters() -> Vec<GridMark> {
    (0..=4)
        .map(|quarter| GridMark {
            value: f64::from(quarter) * 25.0,
            step_size: 25.0,
        })
        .collect()
}

fn percent_mark(value: f64) -> String {
    format!("{value:.0}%")
}
