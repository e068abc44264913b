//! The Sweep screen: setting a sweep up beside the list of earlier ones, or the sweep that is
//! shown: what it searches, how far it is, and its trials as a table and three plots, side by side
//! if there is room, otherwise one view at a time.

mod parallel;
mod plots;
mod set_up;
mod table;

use eframe::egui::{Align, Label, Layout, RichText, ScrollArea, Ui, UiBuilder, Vec2, vec2};

use crate::sweep::SweepEntry;
use crate::text::format::percent;
use crate::text::visible;
use crate::window::shell::help::{self, Topic};
use crate::window::style::SemiBold as _;
use crate::window::style::icons::Icon;
use crate::window::{
    Action, App, ModelsAction, Pushes as _, SweepAction, SweepPhase, SweepView, style,
};

#[derive(Debug, Default)]
pub struct SweepScreen {
    part: Part,
    order: table::Order,
}

/// Below this width, in points, the list stands below the form, and the plots below the table.
const TWO_COLUMNS: f32 = 960.0;
/// The fraction of the width that the form has beside the list.
const FORM_SHARE: f32 = 0.56;

pub fn show(ui: &mut Ui, app: &App, view: &mut SweepScreen, actions: &mut Vec<Action>) {
    if let Some(sweep) = &app.sweeps.shown {
        progress(ui, app, sweep, actions);
        ui.add_space(style::GAP / 2.0);
        trials(ui, app, sweep, view, actions);
        return;
    }
    ui.horizontal(|ui| {
        ui.heading("Sweep");
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            help::button(ui, Topic::Sweep);
        });
    });
    if ui.available_width() < TWO_COLUMNS {
        ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
            ui.set_max_width(ui.available_width() - 8.0);
            // What can be resumed should be seen without scrolling.
            let mut listed = app.sweeps.listed.iter().flatten();
            let resumable = listed.any(SweepEntry::is_resumable);
            if resumable {
                set_up::stored(ui, app, actions);
                ui.add_space(style::GAP);
            }
            set_up::show(ui, app, actions);
            if !resumable {
                ui.add_space(style::GAP);
                set_up::stored(ui, app, actions);
            }
        });
        return;
    }
    let size = ui.available_size();
    let form = (size.x * FORM_SHARE).min(style::TEXT_WIDTH * 1.3).floor();
    ui.horizontal_top(|ui| {
        style::column(ui, vec2(form, size.y), |ui| {
            style::scroll(ui, "set up a sweep", |ui| {
                ui.set_max_width(ui.available_width() - 8.0);
                set_up::show(ui, app, actions);
            });
        });
        ui.add_space(style::GAP);
        ui.vertical(|ui| {
            style::scroll(ui, "earlier sweeps", |ui| {
                ui.set_max_width((ui.available_width() - 8.0).min(style::TEXT_WIDTH));
                set_up::stored(ui, app, actions);
            });
        });
    });
}

/// Trials more that a sweep that is complete can go on for.
const MORE: u32 = 10;

fn progress(ui: &mut Ui, app: &App, sweep: &SweepView, actions: &mut Vec<Action>) {
    ui.horizontal(|ui| {
        ui.heading("Sweep");
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            help::button(ui, Topic::Sweep);
            let about = "Go back to setting one up, and to the earlier ones";
            let busy = "Available once the sweep has ended or is paused";
            let why_not = sweep.is_active().then_some(busy);
            style::ask(ui, style::quiet_button("All sweeps"), why_not, about)
                .pushes(actions, || SweepAction::Close);
            let about = "Writes all trials to a CSV file";
            style::ask(ui, style::quiet_button("Save table…"), None, about)
                .pushes(actions, || SweepAction::SaveTable);
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                let title = RichText::new(sweep.definition.base.title()).size(17.0);
                ui.add(Label::new(title.semibold()).truncate());
            });
        });
    });
    ui.horizontal_wrapped(|ui| {
        buttons(ui, app, sweep, actions);
        style::semibold(ui, sweep.state());
        ui.label(sweep.figures().join(", "));
    });
    if sweep.phase != SweepPhase::Complete {
        ui.add(style::progress_bar(ui, sweep.fraction()).desired_height(10.0))
            .accessible_name("Sweep progress");
    }
    settings(ui, app, sweep, actions);
    for done in &sweep.data_notes {
        style::note(ui, done);
    }
}

fn buttons(ui: &mut Ui, app: &App, sweep: &SweepView, actions: &mut Vec<Action>) {
    if sweep.is_active() {
        let can = matches!(sweep.phase, SweepPhase::Starting | SweepPhase::Running);
        let about = "It can be resumed, even after Inkling was closed. Trials that are training now start again";
        ui.add_enabled(can, style::secondary_button("Pause"))
            .on_hover_text(about)
            .pushes(actions, || SweepAction::Pause);
        let about = "Ends the sweep with the trials that have ended by now";
        ui.add_enabled(can, style::secondary_button("Stop"))
            .on_hover_text(about)
            .pushes(actions, || SweepAction::Stop);
        return;
    }
    let Some(folder) = &sweep.folder else { return };
    let why_not = app.ctx.why_not_sweep();
    if sweep.phase == SweepPhase::Complete {
        let is_exhausted = sweep.definition.is_exhausted(sweep.trials.len());
        let exhausted = is_exhausted.then_some("Every combination of these values has been tried");
        let more = style::secondary_button(format!("{MORE} more trials"));
        let about = "Continues from the trials so far";
        style::ask(ui, more, exhausted.or(why_not), about)
            .pushes(actions, || SweepAction::Extend(folder.clone(), MORE));
    } else {
        set_up::resume(ui, why_not).pushes(actions, || SweepAction::Resume(folder.clone()));
    }
}

/// The settings of the selected trial or of the best, and what can be done with them.
fn settings(ui: &mut Ui, app: &App, sweep: &SweepView, actions: &mut Vec<Action>) {
    let selected = sweep.selected.and_then(|number| sweep.trial(number));
    let shown = selected.or_else(|| sweep.best());
    ui.horizontal_wrapped(|ui| match shown {
        None => drop(ui.label(style::hint("No trial has been completed yet."))),
        Some(trial) => {
            let which = selected.map(|trial| format!("Trial {}", trial.number));
            let accuracy = trial.accuracy().map(|accuracy| percent(accuracy, 2));
            let accuracy = accuracy.map(|accuracy| format!(": {accuracy} validation accuracy"));
            let which = which.unwrap_or_else(|| "Best".to_owned());
            style::semibold(ui, which + &accuracy.unwrap_or_default());
            ui.label(format!("with {}", sweep.values(trial)));
        }
    });
    ui.horizontal_wrapped(|ui| {
        let text = "Use these settings";
        // Pause and Stop are the buttons of a sweep that is at work.
        let button = match sweep.phase {
            SweepPhase::Complete => style::primary_button(text),
            _ if sweep.is_active() => style::small_button(text),
            _ => style::secondary_button(text),
        };
        let used = ui.add_enabled(shown.is_some(), button);
        if used.on_hover_text("Copies them to Train").clicked() {
            actions.extend(shown.map(|trial| SweepAction::Use(trial.number).into()));
        }
        if let Some((trial, tested)) = &sweep.tested {
            let data = sweep.definition.base.data.tested().label();
            let named = |accuracy| format!("Test accuracy on {data}: {}", percent(accuracy, 2));
            let accuracy = tested.test_accuracy.map(named);
            style::semibold(ui, accuracy.unwrap_or_else(|| "The data has no test images".to_owned()));
            ui.label(format!("with the settings of trial {trial}"));
            ui.link("Show the model")
                .on_hover_text(visible::path(&tested.run))
                .pushes(actions, || ModelsAction::ShowModel(tested.run.clone()));
            return;
        }
        if sweep.is_active() {
            return;
        }
        let about = "Retrains the best settings, saves the model and evaluates it once on the test set, which the sweep itself never uses";
        let test = style::secondary_button("Retrain best and test");
        style::ask(ui, test, app.sweeps.why_not_test_best(&app.ctx), about)
            .pushes(actions, || SweepAction::Test);
    });
}

/// From this size on, in points, everything is shown at once.
const ALL_AT_ONCE: Vec2 = vec2(960.0, 430.0);
/// The fraction of the width that the table and the parallel coordinates have, and the fraction of
/// the height above them.
const LEFT: f32 = 0.64;
const TOP: f32 = 0.5;

/// The part that is shown if there is no room for everything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Part {
    #[default]
    Table,
    /// The best accuracy so far, and the importance of each setting.
    Progress,
    Parallel,
}

/// Draws them in what is left of the screen.
fn trials(
    ui: &mut Ui,
    app: &App,
    sweep: &SweepView,
    view: &mut SweepScreen,
    actions: &mut Vec<Action>,
) {
    let SweepScreen { part, order } = view;
    if sweep.trials.is_empty() {
        let title = "The first trials are being started";
        let body = "Each trial will be a line here, and a point in the plots.";
        // Pause and Stop are above.
        return style::empty_state(ui, Icon::Sweep, title, body, |_| {});
    }
    let size = ui.available_size();
    if size.x >= ALL_AT_ONCE.x && size.y >= ALL_AT_ONCE.y {
        return quarters(ui, app, sweep, order, actions);
    }
    ui.horizontal(|ui| {
        for (which, name) in [
            (Part::Table, "Table"),
            (Part::Progress, "Progress and importance"),
            (Part::Parallel, "Parallel coordinates"),
        ] {
            style::choose(ui, part, which, name);
        }
    });
    let half = vec2(
        ui.available_width() / 2.0 - style::GAP,
        ui.available_height(),
    );
    match part {
        Part::Table => table::show(ui, app, sweep, order, actions),
        Part::Progress => {
            ui.horizontal_top(|ui| {
                style::wide_column(ui, half, |ui| plots::best_so_far(ui, sweep));
                ui.add_space(style::GAP);
                style::wide_column(ui, half, |ui| plots::importance(ui, sweep));
            });
        }
        Part::Parallel => parallel::show(ui, sweep, actions),
    }
}

/// The table above the parallel coordinates, and the best so far above the importance.
fn quarters(
    ui: &mut Ui,
    app: &App,
    sweep: &SweepView,
    order: &mut table::Order,
    actions: &mut Vec<Action>,
) {
    let area = ui.available_rect_before_wrap();
    let (left, right) = area.split_left_right_at_fraction(LEFT);
    let columns = [left.with_max_x(left.right() - style::GAP), right];
    for (index, column) in columns.into_iter().enumerate() {
        let (top, bottom) = column.split_top_bottom_at_fraction(TOP);
        let rows = [top.with_max_y(top.bottom() - style::GAP), bottom];
        for (row, place) in rows.into_iter().enumerate() {
            let place = UiBuilder::new().id_salt((index, row)).max_rect(place);
            ui.scope_builder(place, |ui| match (index, row) {
                (0, 0) => table::show(ui, app, sweep, order, actions),
                (0, _) => parallel::show(ui, sweep, actions),
                (_, 0) => plots::best_so_far(ui, sweep),
                _ => plots::importance(ui, sweep),
            });
        }
    }
    ui.advance_cursor_after_rect(area);
}
