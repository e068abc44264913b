//! The dialog of the search for a batch size: the accuracy to be reached, a bar for the time of
//! each batch size, and taking one.

use eframe::egui::{
    Align2, Id, Label, Modal, Rect, RichText, Role, Sense, TextEdit, TextStyle, Ui, WidgetInfo,
    pos2, vec2,
};

use crate::bench::busy;
use crate::records::benchmark::BUSY;
use crate::records::{TARGET_ACCURACIES, TimeToAccuracy};
use crate::text::format::{duration, grouped, percent, plain, plain_percent, remaining};
use crate::window::messages::Message;
use crate::window::{Action, App, BatchSizeSearchState, BatchSizeSearchView, style};

/// The dialog's width, the height of a bar, and where bars start after the batch size, in points.
const WIDTH: f32 = 640.0;
const HEIGHT: f32 = 40.0;
const AFTER_SIZES: f32 = 56.0;
/// Room for what is said below the bars, so that nothing moves when it changes.
const SAID: f32 = 92.0;

/// Shows the dialog while it is open. Escape closes it; a click beside it does not.
pub fn show(ui: &Ui, app: &App, actions: &mut Vec<Action>) {
    let Some(view) = &app.train.batch_size_search else {
        return;
    };
    let room = ui.ctx().content_rect().size();
    let modal = Modal::new(Id::unique("batch size")).frame(style::dialog_frame(ui)).show(ui.ctx(), |ui| {
        ui.set_width(WIDTH.min(room.x - 80.0));
        ui.label(RichText::new("Find a batch size").heading());
        let about = format!(
            "{}: trains with each batch size until it reaches a validation accuracy, with the learning rate scaled to the batch size and \
             constant. Nothing is saved.",
            view.config.title()
        );
        ui.add(Label::new(RichText::new(about).weak()).wrap());
        ui.add_space(style::GAP / 2.0);
        target(ui, view, actions);
        ui.add_space(style::GAP / 2.0);
        let slowest = view.rows.iter().map(|row| row.seconds).fold(f64::MIN_POSITIVE, f64::max);
        for size in view.batch_sizes() {
            match view.rows.iter().find(|row| row.batch_size == size) {
                Some(row) => bar(ui, view, row, slowest, actions),
                None => waiting(ui, size),
            }
        }
        ui.add_space(style::GAP / 2.0);
        ui.allocate_ui(vec2(ui.available_width(), SAID), |ui| {
            ui.set_min_height(SAID);
            ui.vertical(|ui| said(ui, app, view));
        });
        buttons(ui, view, actions);
    });
    if style::escaped(&modal) {
        actions.push(Action::CloseBatchSizeSearch);
    }
}

/// The accuracy to be reached.
fn target(ui: &mut Ui, view: &BatchSizeSearchView, actions: &mut Vec<Action>) {
    let running = matches!(view.state, BatchSizeSearchState::Running(_));
    let mut text = view.percent.clone();
    ui.horizontal(|ui| {
        let label = ui.label("Validation accuracy to reach");
        let field = TextEdit::singleline(&mut text)
            .desired_width(64.0)
            .char_limit(8);
        if ui
            .add_enabled(!running, field)
            .labelled_by(label.id)
            .changed()
        {
            actions.push(Action::TypeTargetAccuracy(text));
        }
        ui.label("%");
        if view.accuracy().is_none() {
            let [low, high] =
                [TARGET_ACCURACIES.start(), TARGET_ACCURACIES.end()].map(|end| plain(end * 100.0));
            style::invalid(ui, &format!("Enter a number from {low} to {high}."));
        }
    });
}

/// What is known of a batch size, in two lines: its time, and what that is made of.
fn lines(view: &BatchSizeSearchView, row: &TimeToAccuracy) -> [String; 2] {
    let target = view.accuracy().map_or_else(String::new, plain_percent);
    let recommended = if view.recommended() == Some(row.batch_size) {
        ", recommended"
    } else {
        ""
    };
    let time = match row.reached {
        Some(reached) => format!("{} to {target}{recommended}", duration(reached.seconds)),
        None if row.diverged => format!("diverged after {}", duration(row.seconds)),
        None => format!(
            "not reached in {}; highest {}",
            duration(row.seconds),
            percent(row.best_accuracy, 1)
        ),
    };
    let work = row.reached.map_or_else(String::new, |reached| {
        format!(
            "{} images in {} steps, ",
            grouped(reached.images.round() as u64),
            grouped(reached.steps.ceil() as u64)
        )
    });
    let speed = grouped(row.images_per_second.round() as u64);
    [
        time,
        format!(
            "{work}{speed} images/s, learning rate {}",
            plain(row.learning_rate)
        ),
    ]
}

/// The bar of a batch size, its length the time; a click uses the batch size.
fn bar(
    ui: &mut Ui,
    view: &BatchSizeSearchView,
    row: &TimeToAccuracy,
    slowest: f64,
    actions: &mut Vec<Action>,
) {
    let palette = style::palette(ui);
    let (rect, response) =
        ui.allocate_exact_size(vec2(ui.available_width(), HEIGHT), Sense::click());
    let [time, work] = lines(view, row);
    let best = view.recommended() == Some(row.batch_size);
    let fonts = [TextStyle::Body, TextStyle::Small].map(|font| font.resolve(ui.style()));
    let (color, weak) = (ui.visuals().text_color(), ui.visuals().weak_text_color());
    let painter = ui.painter().with_clip_rect(rect.intersect(ui.clip_rect()));
    let full = Rect::from_min_max(
        pos2(rect.left() + AFTER_SIZES, rect.top() + 2.0),
        pos2(rect.right(), rect.bottom() - 2.0),
    );
    let share = (row.reached.map_or(row.seconds, |reached| reached.seconds) / slowest)
        .clamp(0.0, 1.0) as f32;
    let filled = Rect::from_min_size(full.min, vec2(full.width() * share, full.height()));
    let strength = if row.reached.is_none() {
        0.08
    } else if best {
        0.38
    } else {
        0.18
    };
    painter.rect_filled(filled, 3.0, palette.accent.gamma_multiply(strength));
    let [body, small] = fonts;
    painter.text(
        pos2(full.left() - 8.0, rect.center().y),
        Align2::RIGHT_CENTER,
        row.batch_size,
        body.clone(),
        color,
    );
    painter.text(
        pos2(full.left() + 8.0, rect.top() + rect.height() * 0.31),
        Align2::LEFT_CENTER,
        &time,
        body,
        color,
    );
    painter.text(
        pos2(full.left() + 8.0, rect.top() + rect.height() * 0.71),
        Align2::LEFT_CENTER,
        &work,
        small,
        weak,
    );
    if response.has_focus() {
        style::focus_ring(ui, rect);
    }
    let name = format!("Batch size {}: {time}; {work}", row.batch_size);
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &name));
    if response
        .on_hover_text("Click to use this batch size and its learning rate")
        .clicked()
    {
        actions.push(Action::UseBatchSize(*row));
    }
}

/// The place of a batch size that has not been timed.
fn waiting(ui: &mut Ui, size: u32) {
    let (rect, response) =
        ui.allocate_exact_size(vec2(ui.available_width(), HEIGHT), Sense::hover());
    let font = TextStyle::Body.resolve(ui.style());
    let at = pos2(rect.left() + AFTER_SIZES - 8.0, rect.center().y);
    ui.painter().text(
        at,
        Align2::RIGHT_CENTER,
        size,
        font,
        ui.visuals().weak_text_color(),
    );
    response.widget_info(|| {
        WidgetInfo::labeled(
            Role::Label,
            true,
            format!("Batch size {size}: not timed yet"),
        )
    });
}

/// How far it is, or what came of it.
fn said(ui: &mut Ui, app: &App, view: &BatchSizeSearchView) {
    match &view.state {
        BatchSizeSearchState::Ready => {
            let about = "Takes some seconds for each batch size, three minutes at most in all. There is one run for each, so that times scatter by some 10 %.";
            ui.add(Label::new(RichText::new(about).weak()).wrap());
        }
        BatchSizeSearchState::Running(_) => {
            let progress = app
                .ctx
                .jobs
                .batch_size_search()
                .map(|running| running.progress)
                .unwrap_or_default();
            let doing = match (progress.remaining_seconds, view.next()) {
                (Some(seconds), Some(size)) => format!(
                    "Training with batch size {size}, about {} left",
                    remaining(seconds)
                ),
                _ => "Preparing the data…".to_owned(),
            };
            ui.label(doing);
            ui.add(style::progress_bar(ui, progress.fraction).desired_height(10.0))
                .accessible_name("Search progress");
            if progress.background_load > BUSY {
                style::caution(ui, &busy(progress.background_load));
            }
        }
        BatchSizeSearchState::Done(finding) => {
            let Message { what, remedy } =
                Message::batch_size_found(&view.rows, view.accuracy().unwrap_or_default(), finding);
            ui.add(Label::new(RichText::new(what).strong()).wrap());
            ui.add(Label::new(RichText::new(remedy).weak()).wrap());
            if finding.background_load > BUSY {
                style::caution(
                    ui,
                    &format!(
                        "{} These times are not reliable.",
                        busy(finding.background_load)
                    ),
                );
            }
        }
        BatchSizeSearchState::Cancelled => drop(ui.label("The search was cancelled.")),
        BatchSizeSearchState::Failed(message) => drop(style::invalid(ui, &message.to_string())),
    }
}

fn buttons(ui: &mut Ui, view: &BatchSizeSearchView, actions: &mut Vec<Action>) {
    let found = view
        .recommended()
        .and_then(|size| view.rows.iter().find(|row| row.batch_size == size));
    ui.horizontal(|ui| {
        let wide = vec2(120.0, 34.0);
        if let BatchSizeSearchState::Running(_) = view.state {
            let cancel = ui.add(style::secondary_button("Cancel").min_size(wide));
            if cancel.clicked() {
                actions.push(Action::CancelBatchSizeSearch);
            }
        } else if let Some(row) = found {
            let used =
                ui.add(style::primary_button(ui, format!("Use {}", row.batch_size)).min_size(wide));
            if used
                .on_hover_text("Puts the batch size and its learning rate into their fields")
                .clicked()
            {
                actions.push(Action::UseBatchSize(*row));
            }
            if ui
                .add_enabled(
                    view.accuracy().is_some(),
                    style::secondary_button("Search again"),
                )
                .clicked()
            {
                actions.push(Action::FindBatchSize);
            }
        } else {
            let start = ui.add_enabled(
                view.accuracy().is_some(),
                style::primary_button(ui, "Start search").min_size(wide),
            );
            // Whoever opened the dialog by keyboard goes on in it.
            if ui.memory(|memory| memory.focused().is_none()) {
                start.request_focus();
            }
            if start.clicked() {
                actions.push(Action::FindBatchSize);
            }
        }
        if ui
            .add(style::secondary_button("Close"))
            .on_hover_text("Escape")
            .clicked()
        {
            actions.push(Action::CloseBatchSizeSearch);
        }
    });
}
