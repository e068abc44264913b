//! The trials as a table: sorted by any column, the selected one highlighted.

use std::cmp::Ordering;

use eframe::egui::{
    Align2, Key, Rect, Response, Role, ScrollArea, Sense, Shape, Stroke, TextStyle, Ui, WidgetInfo,
    pos2, vec2,
};

use crate::protocol::Urgency;
use crate::sweep::{Outcome, Trial, Value};
use crate::text::format::{duration, percent};
use crate::window::{Action, App, SweepAction, SweepView, style};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    column: Column,
    /// Largest or last first.
    descending: bool,
}

impl Default for Order {
    fn default() -> Self {
        Self {
            column: Column::Rank,
            descending: false,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Rank,
    Trial,
    Accuracy,
    Epochs,
    Time,
    /// The setting with this index.
    Setting(usize),
}

/// Between columns, and before the first, in points.
const GAP: f32 = 16.0;
const MARGIN: f32 = 18.0;
const RANKED_LAST: &str = "Trials that ended early rank after all completed ones.";
const ABOUT_RANK: &str = "Completed trials come first, by validation accuracy. Trials that ended early follow, however accurate they were, those with more epochs first: had they gone on, their accuracy would have changed";
/// Seconds between two beats of the mark of a trial in progress.
const BEAT: f64 = 1.6;

pub fn show(
    ui: &mut Ui,
    app: &App,
    sweep: &SweepView,
    order: &mut Order,
    actions: &mut Vec<Action>,
) {
    let ended_early = |trial: &Trial| trial.outcome == Some(Outcome::Pruned);
    if sweep.trials.iter().any(ended_early) {
        style::note(ui, RANKED_LAST);
    }
    let columns = columns(sweep);
    let beat = beat(ui, app, sweep);
    let ranked = sweep.ranked().into_iter().enumerate();
    let mut rows: Vec<(Option<usize>, &Trial)> = ranked
        .map(|(index, trial)| (trial.outcome.is_some().then_some(index + 1), trial))
        .collect();
    match order.column {
        // Those in progress are seen without scrolling.
        Column::Rank => rows.sort_by_key(|(_, trial)| !is_running(sweep, trial)),
        column => rows.sort_by(|a, b| compare(column, a.1, b.1)),
    }
    if order.descending {
        rows.reverse();
    }
    let texts = |&(rank, trial): &(Option<usize>, &Trial)| -> Vec<String> {
        columns
            .iter()
            .map(|column| cell(*column, rank, trial))
            .collect()
    };
    let cells: Vec<Vec<String>> = rows.iter().map(texts).collect();
    let widths = widths(ui, sweep, &columns, &cells);
    let height = ui.spacing().interact_size.y.max(24.0);
    let whole = widths.iter().sum::<f32>() + GAP * columns.len() as f32 + MARGIN;
    let area = ScrollArea::horizontal().id_salt("columns of trials");
    area.auto_shrink([false, false]).show(ui, |ui| {
        ui.set_min_width(whole);
        ui.spacing_mut().item_spacing.y = 0.0;
        head(ui, sweep, &columns, &widths, order, height);
        let area = ScrollArea::vertical().id_salt("trials");
        let area = area.auto_shrink([false, false]);
        area.show_rows(ui, height, rows.len(), |ui, shown| {
            for index in shown {
                let trial = rows[index].1;
                let response = row(ui, sweep, trial, &columns, &cells[index], &widths, beat);
                let select = |trial| Action::Sweep(SweepAction::Select(trial));
                if response.clicked() {
                    let chosen = (sweep.selected != Some(trial.number)).then_some(trial.number);
                    actions.push(select(chosen));
                }
                if response.double_clicked() {
                    actions.push(SweepAction::Use(trial.number).into());
                }
                if response.has_focus() {
                    let pressed = |key| i64::from(ui.input(|input| input.key_pressed(key)));
                    let moved = pressed(Key::ArrowDown) - pressed(Key::ArrowUp);
                    let next = usize::try_from(index as i64 + moved).ok();
                    let next = next.and_then(|next| rows.get(next));
                    if let Some((_, trial)) = next.filter(|_| moved != 0) {
                        actions.push(select(Some(trial.number)));
                    }
                }
            }
        });
    });
}

/// How strong the marks of trials in progress are now, from 0 to 1. While there are any, the window
/// is painted as often as for other progress.
fn beat(ui: &Ui, app: &App, sweep: &SweepView) -> f32 {
    let runs = sweep.trials.iter().any(|trial| is_running(sweep, trial));
    if !runs || style::motion(ui).calm == 0.0 {
        return 1.0;
    }
    (app.ctx.deps.wake)(Urgency::Soon);
    let beats = ui.input(|input| input.time) / BEAT;
    (0.6 + 0.4 * (beats * std::f64::consts::TAU).cos()) as f32
}

fn is_running(sweep: &SweepView, trial: &Trial) -> bool {
    sweep.is_active() && trial.outcome.is_none()
}

fn columns(sweep: &SweepView) -> Vec<Column> {
    let settings = (0..sweep.definition.space.len()).map(Column::Setting);
    [Column::Rank, Column::Trial, Column::Accuracy]
        .into_iter()
        .chain(settings)
        .chain([Column::Epochs, Column::Time])
        .collect()
}

fn name(sweep: &SweepView, column: Column) -> &'static str {
    match column {
        Column::Rank => "Rank",
        Column::Trial => "Trial",
        Column::Accuracy => "Validation",
        Column::Epochs => "Epochs",
        Column::Time => "Time",
        Column::Setting(index) => sweep
            .definition
            .space
            .get(index)
            .map_or("", |dimension| dimension.setting.row().label),
    }
}

fn cell(column: Column, rank: Option<usize>, trial: &Trial) -> String {
    let dash = || "–".to_owned();
    match column {
        Column::Rank => rank.map_or_else(dash, |rank| rank.to_string()),
        Column::Trial => trial.number.to_string(),
        Column::Accuracy => trial
            .accuracy()
            .map_or_else(dash, |accuracy| percent(accuracy, 2)),
        Column::Epochs => {
            let how = match trial.outcome {
                Some(Outcome::Pruned) => ", ended early",
                Some(Outcome::Failed { .. }) => ", failed",
                Some(Outcome::Completed) | None => "",
            };
            format!("{} of {}{how}", trial.epochs.len(), trial.config.epochs)
        }
        Column::Time if trial.epochs.is_empty() => dash(),
        Column::Time => duration(trial.seconds()),
        Column::Setting(index) => trial
            .values
            .get(index)
            .map(Value::in_brief)
            .unwrap_or_default(),
    }
}

/// The alignment of a column: numbers at its right edge, below each other.
fn anchor(sweep: &SweepView, column: Column) -> Align2 {
    let is_number = match column {
        Column::Rank | Column::Trial | Column::Accuracy | Column::Time => true,
        Column::Epochs => false,
        Column::Setting(index) => {
            let dimension = sweep.definition.space.get(index);
            dimension.is_some_and(|dimension| dimension.setting.row().kind.is_number())
        }
    };
    if is_number {
        Align2::RIGHT_CENTER
    } else {
        Align2::LEFT_CENTER
    }
}

fn compare(column: Column, a: &Trial, b: &Trial) -> Ordering {
    match column {
        Column::Rank => Ordering::Equal,
        Column::Trial => a.number.cmp(&b.number),
        Column::Accuracy => a
            .accuracy()
            .unwrap_or(-1.0)
            .total_cmp(&b.accuracy().unwrap_or(-1.0)),
        Column::Epochs => a.epochs.len().cmp(&b.epochs.len()),
        Column::Time => a.seconds().total_cmp(&b.seconds()),
        Column::Setting(index) => match (a.values.get(index), b.values.get(index)) {
            (Some(Value::Number(a)), Some(Value::Number(b))) => a.total_cmp(b),
            (a, b) => a.map(Value::to_string).cmp(&b.map(Value::to_string)),
        },
    }
}

/// As wide as the longest text. Of a long table a part is measured: its figures are all alike.
fn widths(ui: &Ui, sweep: &SweepView, columns: &[Column], cells: &[Vec<String>]) -> Vec<f32> {
    const MEASURED: usize = 100;
    let font = TextStyle::Body.resolve(ui.style());
    let width = |text: &str| style::text_width(ui, text, &font);
    let of = |(index, column): (usize, &Column)| {
        let measured = cells.iter().take(MEASURED).map(|row| width(&row[index]));
        measured.fold(width(name(sweep, *column)), f32::max).ceil()
    };
    columns.iter().enumerate().map(of).collect()
}

fn head(
    ui: &mut Ui,
    sweep: &SweepView,
    columns: &[Column],
    widths: &[f32],
    order: &mut Order,
    height: f32,
) {
    let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), height), Sense::hover());
    let font = TextStyle::Small.resolve(ui.style());
    let palette = style::palette(ui);
    let mut left = rect.left() + MARGIN;
    for (&column, &width) in columns.iter().zip(widths) {
        let place = Rect::from_min_size(pos2(left, rect.top()), vec2(width, height));
        let name = name(sweep, column);
        let sort = format!("Sort by {}", name.to_lowercase());
        let about = match column {
            Column::Rank => format!("{sort}. {ABOUT_RANK}"),
            _ => sort.clone(),
        };
        let response = ui.interact(place, ui.scope_id().with(("sort by", name)), Sense::click());
        let response = response.on_hover_text(about);
        style::name(&response, Role::Button, &sort);
        let is_order = order.column == column;
        let is_strong = is_order || response.hovered();
        let color = if is_strong {
            palette.ink
        } else {
            palette.faded
        };
        let anchor = anchor(sweep, column);
        let (at, painter) = (anchor.pos_in_rect(&place), ui.painter());
        let text = painter.text(at, anchor, name, font.clone(), color);
        if is_order {
            // In the gap behind the name, pointing to where values grow.
            let middle = text.right_center() + vec2(7.0, 0.0);
            let up = if order.descending { 3.0 } else { -3.0 };
            let corners =
                [vec2(0.0, up), vec2(-4.0, -up), vec2(4.0, -up)].map(|corner| middle + corner);
            painter.add(Shape::convex_polygon(corners.into(), color, Stroke::NONE));
        }
        if response.clicked() {
            // The best first, if there is a best.
            let best_first = column == Column::Accuracy;
            let descending = if is_order {
                !order.descending
            } else {
                best_first
            };
            *order = Order { column, descending };
        }
        left = place.right() + GAP;
    }
    let line = (1.0, palette.line);
    ui.painter().hline(rect.x_range(), rect.bottom(), line);
}

fn row(
    ui: &mut Ui,
    sweep: &SweepView,
    trial: &Trial,
    columns: &[Column],
    cells: &[String],
    widths: &[f32],
    beat: f32,
) -> Response {
    let height = ui.spacing().interact_size.y.max(24.0);
    let size = vec2(ui.available_width(), height);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    let palette = style::palette(ui);
    let selected = sweep.selected == Some(trial.number);
    if selected || response.hovered() {
        let share = if selected { 0.22 } else { 0.08 };
        let fill = palette.accent.gamma_multiply(share);
        ui.painter().rect_filled(rect, style::RADIUS_SMALL, fill);
    }
    let color = match trial.outcome {
        Some(Outcome::Completed) => palette.ink,
        Some(Outcome::Failed { .. }) => palette.bad,
        None if is_running(sweep, trial) => palette.ink,
        Some(Outcome::Pruned) | None => palette.faded,
    };
    let font = TextStyle::Body.resolve(ui.style());
    let mut left = rect.left() + MARGIN;
    if is_running(sweep, trial) {
        let at = pos2(rect.left() + MARGIN / 2.0, rect.center().y);
        let color = palette.accent.gamma_multiply(beat);
        ui.painter().circle_filled(at, 4.0, color);
    }
    for ((&column, text), &width) in columns.iter().zip(cells).zip(widths) {
        let place = Rect::from_min_size(pos2(left, rect.top()), vec2(width, height));
        let anchor = anchor(sweep, column);
        let at = anchor.pos_in_rect(&place);
        ui.painter().text(at, anchor, text, font.clone(), color);
        left += width + GAP;
    }
    let sentence = sweep.sentence(trial);
    response.widget_info(|| WidgetInfo::selected(Role::Button, true, selected, &sentence));
    match &trial.outcome {
        Some(Outcome::Failed { reason }) => response.on_hover_text(reason),
        Some(Outcome::Pruned) => response.on_hover_text(ABOUT_RANK),
        _ => response,
    }
}
