//! The dialog in which a short training finds something out about the next run: what it has found
//! so far, how far it is, and taking what was found.

use eframe::egui::{Align2, RichText, Role, Sense, TextEdit, TextStyle, Ui, pos2, vec2};
use egui_plot::{PlotBounds, PlotPoint, Text, VLine};

use super::profile;
use crate::bench::busy;
use crate::problem::Message;
use crate::protocol::JobResult;
use crate::records::benchmark::BUSY;
use crate::records::{
    LearningRatePoint, SEARCH_RATES, SEARCH_STEPS, TARGET_ACCURACIES, TimeToAccuracy,
};
use crate::text::format::{
    capitalized, duration, grouped, percent, plain, plain_percent, remaining, significant,
};
use crate::window::plots::scale::{Series, YAxis, marks, static_plot};
use crate::window::style::SemiBold as _;
use crate::window::style::{self, NamedBar};
use crate::window::{Action, App, Pushes as _, Search, SearchAction, SearchKind, SearchState};

/// The height of the plot of a search for a learning rate, and what stands around it, in points.
const PLOT_HEIGHT: f32 = 320.0;
const AROUND_PLOT: f32 = 340.0;
/// The highest loss in view, before there is one, and as a multiple of the first.
const HIGHEST: f64 = 3.0;
const ABOVE_FIRST: f64 = 1.3;
/// The height of the bar of a batch size, and where bars start after it, in points.
const BAR_HEIGHT: f32 = 40.0;
const AFTER_SIZES: f32 = 56.0;

/// Shows the dialog while it is open. Escape closes it; a click beside it does not.
pub fn show(ui: &Ui, app: &App, actions: &mut Vec<Action>) {
    let Some(view) = &app.train.search else {
        return;
    };
    let room = ui.ctx().content_rect().size();
    let (width, title) = match view.kind {
        SearchKind::LearningRate => (680.0_f32, "Find a learning rate"),
        SearchKind::BatchSize => (640.0, "Find a batch size"),
        SearchKind::Profile => (860.0, "Where the time goes"),
    };
    let modal = style::dialog(ui, title, width, |ui| {
        ui.heading(title);
        style::weak(ui, about(view));
        ui.add_space(style::GAP / 2.0);
        match view.kind {
            SearchKind::LearningRate => {
                plot(ui, view, (room.y - AROUND_PLOT).min(PLOT_HEIGHT));
                ui.label(style::hint("Loss in nats by learning rate. Thin line: each batch. Thick line: smoothed. Diamond: suggestion."));
                ui.add_space(style::GAP / 2.0);
                said(ui, app, view, 84.0);
                ui.add_space(style::GAP / 2.0);
            }
            SearchKind::BatchSize => {
                batch_sizes(ui, view, actions);
                said(ui, app, view, 92.0);
            }
            SearchKind::Profile => {
                profile::content(ui, room.y, |ui| outcome(ui, app, view));
            }
        }
        ui.horizontal(|ui| match view.kind {
            SearchKind::LearningRate => rate_buttons(ui, view, actions),
            SearchKind::BatchSize => batch_size_buttons(ui, view, actions),
            SearchKind::Profile => {
                profile::buttons(ui, view, actions);
                close(ui, view, actions);
            }
        });
    });
    if style::escaped(&modal) {
        actions.push(SearchAction::Close.into());
    }
}

fn about(view: &Search) -> String {
    match view.kind {
        SearchKind::LearningRate => format!(
            "{}: up to {SEARCH_STEPS} training steps, each with a higher learning rate than the one before. Nothing is saved.",
            view.config.title()
        ),
        SearchKind::BatchSize => format!(
            "{}: trains with each batch size until it reaches a validation accuracy, with the learning rate scaled to the batch size and \
             constant. Nothing is saved.",
            view.config.title()
        ),
        SearchKind::Profile => format!(
            "{}: a few training steps on the built-in digits, layer by layer. Nothing is saved.",
            view.config.network().label()
        ),
    }
}

/// How far it is, or what came of it, in room of this height.
fn said(ui: &mut Ui, app: &App, view: &Search, height: f32) {
    style::room(ui, height, |ui| {
        ui.vertical(|ui| outcome(ui, app, view));
    });
}

fn outcome(ui: &mut Ui, app: &App, view: &Search) {
    let message = |ui: &mut Ui, Message { what, remedy }: Message| {
        style::strong(ui, what);
        style::weak(ui, remedy);
    };
    let name = match view.kind {
        SearchKind::Profile => "recording",
        _ => "search",
    };
    match &view.state {
        SearchState::Ready => {
            let about = "Takes a few seconds per batch size, three minutes at most. Times vary by about 10%.";
            style::weak(ui, about);
        }
        SearchState::Running(id) => {
            let progress = app.ctx.jobs.progress_of(*id).unwrap_or_default();
            let left = progress.remaining_seconds.map(remaining);
            ui.label(match (view.kind, left, view.next()) {
                (SearchKind::Profile, Some(left), _) => format!("Recording, {left} left"),
                (SearchKind::Profile, None, _) => "Recording".to_owned(),
                (SearchKind::LearningRate, Some(left), _) => {
                    format!("Searching, at most {left} left")
                }
                (SearchKind::BatchSize, Some(left), Some(size)) => {
                    format!("Training with batch size {size}, about {left} left")
                }
                _ => "Preparing the data…".to_owned(),
            });
            ui.add(style::progress_bar(ui, progress.fraction).desired_height(10.0))
                .accessible_name(capitalized(&format!("{name} progress")));
            if view.kind == SearchKind::BatchSize && progress.background_load > BUSY {
                style::caution(ui, &busy(progress.background_load));
            }
        }
        SearchState::Done(result) => match &**result {
            JobResult::FindLearningRate(finding) => {
                message(ui, Message::learning_rate_found(finding));
            }
            JobResult::FindBatchSize(finding) => {
                let accuracy = view.accuracy().unwrap_or_default();
                message(ui, Message::batch_size_found(&view.rows, accuracy, finding));
                if finding.background_load > BUSY {
                    let busy = busy(finding.background_load);
                    style::caution(ui, &format!("{busy} These times are not reliable."));
                }
            }
            JobResult::Profile {
                profile,
                background_load,
            } => profile::result(ui, profile, *background_load),
            _ => {}
        },
        SearchState::Cancelled => drop(ui.label(format!("The {name} was canceled."))),
        SearchState::Failed(message) => drop(style::invalid(ui, &message.to_string())),
    }
}

/// The button that closes the dialog, and so cancels what is in progress.
fn close(ui: &mut Ui, view: &Search, actions: &mut Vec<Action>) {
    let name = if view.is_running() { "Cancel" } else { "Close" };
    let close = ui
        .add(style::secondary_button(name))
        .on_hover_text("Escape");
    style::focus_first(ui, &close);
    close.pushes(actions, || SearchAction::Close);
}

fn rate_buttons(ui: &mut Ui, view: &Search, actions: &mut Vec<Action>) {
    let suggested = view.suggested();
    let text = suggested.map_or_else(|| "Use".to_owned(), |rate| format!("Use {}", plain(rate)));
    let button = style::primary_button(text).min_size(vec2(120.0, 34.0));
    let used = ui.add_enabled(suggested.is_some(), button);
    let about = "Puts it into the field “Learning rate”";
    if used.on_hover_text(about).clicked() {
        actions.extend(suggested.map(|rate| SearchAction::UseRate(rate).into()));
    }
    close(ui, view, actions);
}

fn batch_size_buttons(ui: &mut Ui, view: &Search, actions: &mut Vec<Action>) {
    let wide = vec2(120.0, 34.0);
    let found = view.recommended();
    let found = found.and_then(|size| view.rows.iter().find(|row| row.batch_size == size));
    let can_start = view.accuracy().is_some();
    if view.is_running() {
        let cancel = ui.add(style::secondary_button("Cancel").min_size(wide));
        cancel.pushes(actions, || SearchAction::Cancel);
    } else if let Some(row) = found {
        let button = style::primary_button(format!("Use {}", row.batch_size)).min_size(wide);
        let about = "Puts the batch size and its learning rate into their fields";
        style::ask(ui, button, None, about).pushes(actions, || SearchAction::UseBatchSize(*row));
        let again = ui.add_enabled(can_start, style::secondary_button("Search again"));
        again.pushes(actions, || SearchAction::Start);
    } else {
        let button = style::primary_button("Start search").min_size(wide);
        let start = ui.add_enabled(can_start, button);
        style::focus_first(ui, &start);
        start.pushes(actions, || SearchAction::Start);
    }
    style::ask(ui, style::secondary_button("Close"), None, "Escape")
        .pushes(actions, || SearchAction::Close);
}

/// The loss by learning rate, and where the suggestion is.
fn plot(ui: &mut Ui, view: &Search, height: f32) {
    let palette = style::palette(ui);
    let points = view.steps.points();
    let curve = |of: fn(&LearningRatePoint) -> f64| -> Vec<[f64; 2]> {
        let points = points.iter();
        points
            .map(|point| [point.learning_rate.log10(), of(point)])
            .collect()
    };
    let (losses, smoothed) = (curve(|point| point.loss), curve(|point| point.smoothed));
    let [left, right] = SEARCH_RATES.map(f64::log10);
    let top = points
        .first()
        .map_or(HIGHEST, |first| ABOVE_FIRST * first.loss);
    // On the smoothed curve, at the point next to the suggestion.
    let marked = view.suggested().and_then(|rate| {
        let distance = |point: &&LearningRatePoint| (point.learning_rate / rate).ln().abs();
        let nearest =
            |a: &&LearningRatePoint, b: &&LearningRatePoint| distance(a).total_cmp(&distance(b));
        let point = points.iter().min_by(nearest)?;
        Some(([rate.log10(), point.smoothed], rate))
    });
    let suggestion: Vec<[f64; 2]> = marked.iter().map(|(at, _)| *at).collect();
    let size = vec2(ui.available_width(), height);
    let shown = static_plot("learning rates", size, &palette)
        .x_grid_spacer(|input| YAxis::log_marks(&input))
        .y_grid_spacer(|input| marks(&input, 32.0))
        .x_axis_formatter(|mark, _| {
            if mark.step_size < 1.0 {
                String::new()
            } else {
                plain(10f64.powi(mark.value.round() as i32))
            }
        })
        // Where the axes meet, the lowest rate has the room.
        .y_axis_formatter(|mark, _| {
            if mark.value == 0.0 {
                String::new()
            } else {
                plain((mark.value * 1e3).round() / 1e3)
            }
        })
        .show(ui, |plot| {
            plot.set_plot_bounds(PlotBounds::from_min_max([left, 0.0], [right, top]));
            Series("loss", &losses, palette.train.gamma_multiply(0.35)).line(plot, 1.0);
            Series("smoothed loss", &smoothed, palette.train).line(plot, 2.0);
            if let Some(([x, _], rate)) = marked {
                let color = palette.validation;
                plot.vline(VLine::new("suggestion", x).color(color).width(1.5));
                Series("suggestion", &suggestion, color).diamonds(plot, 6.0);
                let name = RichText::new(plain(rate)).semibold().color(color);
                let at = PlotPoint::new(x, top * 0.94);
                plot.text(Text::new("suggestion", at, name).anchor(Align2::LEFT_CENTER));
            }
        });
    let value = match (view.suggested(), points.last()) {
        (Some(rate), _) => format!("suggested learning rate {}", plain(rate)),
        (None, Some(last)) => format!(
            "loss {} at learning rate {:.1e}",
            significant(last.smoothed),
            last.learning_rate
        ),
        (None, None) => "no steps yet".to_owned(),
    };
    let name = "Loss by learning rate";
    style::describe(&shown.response, Role::Figure, name, &value);
}

/// The accuracy that is asked for, and a bar for the time of each batch size.
fn batch_sizes(ui: &mut Ui, view: &Search, actions: &mut Vec<Action>) {
    target(ui, view, actions);
    ui.add_space(style::GAP / 2.0);
    let seconds = view.rows.iter().map(|row| row.seconds);
    let slowest = seconds.fold(f64::MIN_POSITIVE, f64::max);
    for size in view.batch_sizes() {
        match view.rows.iter().find(|row| row.batch_size == size) {
            Some(row) => bar(ui, view, row, slowest, actions),
            None => waiting(ui, size),
        }
    }
    ui.add_space(style::GAP / 2.0);
}

/// The accuracy to be reached.
fn target(ui: &mut Ui, view: &Search, actions: &mut Vec<Action>) {
    let mut text = view.percent.clone();
    ui.horizontal(|ui| {
        let label = ui.label("Validation accuracy to reach");
        let field = TextEdit::singleline(&mut text)
            .desired_width(64.0)
            .char_limit(8);
        if ui
            .add_enabled(!view.is_running(), field)
            .labelled_by(label.id)
            .changed()
        {
            actions.push(SearchAction::TypeAccuracy(text).into());
        }
        ui.label("%");
        if view.accuracy().is_none() {
            let [low, high] =
                [TARGET_ACCURACIES.start(), TARGET_ACCURACIES.end()].map(|end| plain(end * 100.0));
            style::invalid(ui, &format!("Enter a number from {low} to {high}."));
        }
    });
}

/// A batch size in two lines: its time, and the parts of that.
fn lines(view: &Search, row: &TimeToAccuracy) -> [String; 2] {
    let target = view.accuracy().map_or_else(String::new, plain_percent);
    let is_best = view.recommended() == Some(row.batch_size);
    let recommended = if is_best { ", recommended" } else { "" };
    let best = percent(row.best_accuracy, 1);
    let time = match row.reached {
        Some(reached) => format!("{} to {target}{recommended}", duration(reached.seconds)),
        None if row.diverged => format!("diverged after {}", duration(row.seconds)),
        None => format!("not reached in {}; highest {best}", duration(row.seconds)),
    };
    let work = row.reached.map_or_else(String::new, |reached| {
        let images = grouped(reached.images.round() as u64);
        let steps = grouped(reached.steps.ceil() as u64);
        format!("{images} images in {steps} steps, ")
    });
    let speed = grouped(row.images_per_second.round() as u64);
    let rate = plain(row.learning_rate);
    let work = format!("{work}{speed} images/s, learning rate {rate}");
    [time, work]
}

/// The bar of a batch size, its length the time; a click uses the batch size.
fn bar(ui: &mut Ui, view: &Search, row: &TimeToAccuracy, slowest: f64, actions: &mut Vec<Action>) {
    let size = vec2(ui.available_width(), BAR_HEIGHT);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    let [time, work] = lines(view, row);
    let seconds = row.reached.map_or(row.seconds, |reached| reached.seconds);
    let bar = NamedBar {
        left: AFTER_SIZES,
        name: &row.batch_size.to_string(),
        share: (seconds / slowest).clamp(0.0, 1.0) as f32,
        strength: match row.reached {
            None => 0.08,
            Some(_) if view.recommended() == Some(row.batch_size) => 0.38,
            Some(_) => 0.18,
        },
        lines: [&time, &work],
        margin: 8.0,
        second: 0.71,
        fonts: [TextStyle::Body, TextStyle::Small],
    };
    bar.paint(ui, rect);
    if response.has_focus() {
        style::focus_ring(ui, rect);
    }
    let name = format!("Batch size {}: {time}; {work}", row.batch_size);
    style::name(&response, Role::Button, &name);
    response
        .on_hover_text("Click to use this batch size and its learning rate")
        .pushes(actions, || SearchAction::UseBatchSize(*row));
}

/// The place of a batch size that has not been timed.
fn waiting(ui: &mut Ui, size: u32) {
    let room = vec2(ui.available_width(), BAR_HEIGHT);
    let (rect, response) = ui.allocate_exact_size(room, Sense::hover());
    let (font, weak) = (
        TextStyle::Body.resolve(ui.style()),
        ui.visuals().weak_text_color(),
    );
    let at = pos2(rect.left() + AFTER_SIZES - 8.0, rect.center().y);
    ui.painter()
        .text(at, Align2::RIGHT_CENTER, size, font, weak);
    let name = format!("Batch size {size}: not timed yet");
    style::name(&response, Role::Label, &name);
}
