//! Accuracy by class as bars with numbers. A bar can be selected by pointer or keys.

use eframe::egui::{
    Align2, Rect, Role, Sense, Stroke, StrokeKind, TextStyle, Ui, WidgetInfo, pos2, vec2,
};

use crate::math::statistics::{ClassScore, class_scores};
use crate::records::Evaluation;
use crate::run_config::Classes;
use crate::text::format::{grouped, percent};
use crate::window::style::{self, image_sheet};

/// Draws a bar for each class, and updates the chosen class. They start at a round percentage below
/// the lowest accuracy, so that small differences are visible.
pub fn show(
    ui: &mut Ui,
    evaluation: &Evaluation,
    classes: &Classes,
    chosen: &mut Option<usize>,
    height: f32,
) {
    // If there are many, they scroll: the bar is beside them.
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
    axis(ui, track_of, start);
    let size = vec2(ui.available_width(), row * scores.len() as f32);
    let (area, list) = ui.allocate_exact_size(size, Sense::focusable_noninteractive());
    let spoken = |score: &ClassScore| {
        let (wrong, images) = (score.images - score.correct, grouped(score.images));
        let accuracy = accuracy_text(score.accuracy());
        format!("{accuracy}, {wrong} of {images} wrong")
    };
    for (class, score) in scores.iter().enumerate() {
        let top = area.top() + row * class as f32;
        let place = Rect::from_min_size(pos2(area.left(), top), vec2(size.x, row));
        let response = ui.interact(place, list.id.with(class), Sense::CLICK);
        if response.clicked() {
            *chosen = Some(class).filter(|_| *chosen != Some(class));
        }
        let selected = *chosen == Some(class);
        let rect = place.shrink2(vec2(0.0, ui.spacing().item_spacing.y / 2.0));
        if selected || response.hovered() {
            let width = if selected { 2.0 } else { 1.0 };
            let stroke = Stroke::new(width, palette.accent);
            let painter = ui.painter();
            painter.rect_stroke(
                rect.expand(2.0),
                style::RADIUS_SMALL,
                stroke,
                StrokeKind::Inside,
            );
        }
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
        response.widget_info(|| WidgetInfo {
            current_text_value: Some(spoken(score)),
            ..WidgetInfo::selected(Role::Cell, true, selected, format!("Accuracy for {name}"))
        });
        let (correct, images) = (grouped(score.correct), grouped(score.images));
        response.on_hover_text(format!(
            "{correct} of {images} images {of} classified correctly. Click to see the errors"
        ));
    }
    image_sheet::choose_by_keys(ui, &list, chosen, |from, down, right| {
        from.map_or(0, |from| {
            let next = from.saturating_add_signed(down + right);
            next.min(scores.len() - 1)
        })
    });
    let told = chosen.and_then(|class| scores.get(class));
    let told = told.map_or_else(String::new, |score| {
        format!("{}: {}", classes.name(score.digit), spoken(score))
    });
    let name = format!("Accuracy of each {}", classes.noun());
    style::describe(&list, Role::Grid, &name, &told);
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
