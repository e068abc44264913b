//! The dialog of the search for a learning rate: the loss by rate while it is searched, the
//! suggestion and why, and taking it.

use eframe::egui::{Id, Label, Modal, Rangef, RichText, Role, Ui, WidgetInfo, vec2};
use egui_plot::{Line, MarkerShape, PlotBounds, PlotPoint, PlotPoints, Points, Text, VLine};

use crate::records::{RatePoint, SEARCH_RATES, SEARCH_STEPS};
use crate::text::format::{plain, remaining, significant};
use crate::window::messages::Message;
use crate::window::plots::scale::{GRID, YAxis, marks, static_plot};
use crate::window::{Action, App, RateSearchState, RateSearchView, style};

/// The dialog's width, and what stands around the plot, in points.
const WIDTH: f32 = 680.0;
const AROUND_PLOT: f32 = 340.0;
const PLOT_HEIGHT: f32 = 320.0;
/// Room for what is said below the plot, so that nothing moves when it changes.
const SAID: f32 = 84.0;
/// The highest loss in view, before there is one, and as a multiple of the first.
const HIGHEST: f64 = 3.0;
const ABOVE_FIRST: f64 = 1.3;

/// Shows the dialog while it is open. Escape closes it; a click beside it does not.
pub fn show(ui: &Ui, app: &App, actions: &mut Vec<Action>) {
    let Some(view) = &app.train.rate_search else {
        return;
    };
    let room = ui.ctx().content_rect().size();
    let modal = Modal::new(Id::unique("learning rate")).frame(style::dialog_frame(ui)).show(ui.ctx(), |ui| {
        ui.set_width(WIDTH.min(room.x - 80.0));
        ui.label(RichText::new("Find a learning rate").heading());
        let about = format!(
            "{}: up to {SEARCH_STEPS} training steps, each with a higher learning rate than the one before. Nothing is saved.",
            view.title
        );
        ui.add(Label::new(RichText::new(about).weak()).wrap());
        ui.add_space(style::GAP / 2.0);
        plot(ui, view, (room.y - AROUND_PLOT).min(PLOT_HEIGHT));
        ui.label(style::hint("Loss in nats by learning rate. Thin line: each batch. Thick line: smoothed. Diamond: suggestion."));
        ui.add_space(style::GAP / 2.0);
        ui.allocate_ui(vec2(ui.available_width(), SAID), |ui| {
            ui.set_min_height(SAID);
            ui.vertical(|ui| said(ui, app, view));
        });
        ui.add_space(style::GAP / 2.0);
        buttons(ui, view, actions);
    });
    if style::escaped(&modal) {
        actions.push(Action::CloseRateSearch);
    }
}

fn plot(ui: &mut Ui, view: &RateSearchView, height: f32) {
    let palette = style::palette(ui);
    let points = view.search.points();
    let at = |rate: f64, loss: f64| [rate.log10(), loss];
    let curve = |of: fn(&RatePoint) -> f64| {
        points
            .iter()
            .map(|point| at(point.learning_rate, of(point)))
            .collect::<PlotPoints<'_>>()
    };
    let [left, right] = SEARCH_RATES.map(f64::log10);
    let top = points
        .first()
        .map_or(HIGHEST, |first| ABOVE_FIRST * first.loss);
    let marked = view.suggested().and_then(|rate| {
        let nearest = |a: &&RatePoint, b: &&RatePoint| {
            (a.learning_rate / rate)
                .ln()
                .abs()
                .total_cmp(&(b.learning_rate / rate).ln().abs())
        };
        points
            .iter()
            .min_by(nearest)
            .map(|point| (rate, point.smoothed))
    });
    let shown = static_plot(
        "learning rates",
        vec2(ui.available_width(), height),
        &palette,
    )
    .grid_spacing(Rangef::new(GRID, 3.0 * GRID))
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
    .show(ui, |plot_ui| {
        plot_ui.set_plot_bounds(PlotBounds::from_min_max([left, 0.0], [right, top]));
        plot_ui.line(
            Line::new("loss", curve(|point| point.loss))
                .color(palette.train.gamma_multiply(0.35))
                .width(1.0),
        );
        plot_ui.line(
            Line::new("smoothed loss", curve(|point| point.smoothed))
                .color(palette.train)
                .width(2.0),
        );
        if let Some((rate, loss)) = marked {
            plot_ui.vline(
                VLine::new("suggestion", rate.log10())
                    .color(palette.validation)
                    .width(1.5),
            );
            let [x, y] = at(rate, loss);
            let mark = Points::new("suggestion", vec![[x, y]])
                .radius(6.0)
                .color(palette.validation);
            plot_ui.points(mark.shape(MarkerShape::Diamond));
            let name = RichText::new(plain(rate))
                .strong()
                .color(palette.validation);
            plot_ui.text(
                Text::new("suggestion", PlotPoint::new(x, top * 0.94), name)
                    .anchor(eframe::egui::Align2::LEFT_CENTER),
            );
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
    let info = || WidgetInfo {
        current_text_value: Some(value.clone()),
        ..WidgetInfo::labeled(Role::Figure, true, "Loss by learning rate")
    };
    shown.response.widget_info(info);
}

/// How far it is, or what came of it.
fn said(ui: &mut Ui, app: &App, view: &RateSearchView) {
    match &view.state {
        RateSearchState::Running => {
            let progress = app
                .ctx
                .jobs
                .rate_search()
                .map(|running| running.progress)
                .unwrap_or_default();
            let doing = match progress.remaining_seconds {
                Some(seconds) => format!("Searching, at most {} left", remaining(seconds)),
                None => "Preparing the data…".to_owned(),
            };
            ui.label(doing);
            ui.add(style::progress_bar(ui, progress.fraction).desired_height(10.0))
                .accessible_name("Search progress");
        }
        RateSearchState::Done(finding) => {
            let Message { what, remedy } = Message::learning_rate_found(finding);
            ui.add(Label::new(RichText::new(what).strong()).wrap());
            ui.add(Label::new(RichText::new(remedy).weak()).wrap());
        }
        RateSearchState::Cancelled => drop(ui.label("The search was cancelled.")),
        RateSearchState::Failed(message) => drop(style::invalid(ui, &message.to_string())),
    }
}

fn buttons(ui: &mut Ui, view: &RateSearchView, actions: &mut Vec<Action>) {
    ui.horizontal(|ui| {
        let suggested = view.suggested();
        let text =
            suggested.map_or_else(|| "Use".to_owned(), |rate| format!("Use {}", plain(rate)));
        let used = ui.add_enabled(
            suggested.is_some(),
            style::primary_button(ui, text).min_size(vec2(120.0, 34.0)),
        );
        if used
            .on_hover_text("Puts it into the field “Learning rate”")
            .clicked()
        {
            actions.extend(suggested.map(Action::UseLearningRate));
        }
        let running = view.state == RateSearchState::Running;
        let close = ui
            .add(style::secondary_button(if running {
                "Cancel"
            } else {
                "Close"
            }))
            .on_hover_text("Escape");
        // Whoever opened the dialog by keyboard goes on in it.
        if ui.memory(|memory| memory.focused().is_none()) {
            close.request_focus();
        }
        if close.clicked() {
            actions.push(Action::CloseRateSearch);
        }
    });
}
