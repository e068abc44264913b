//! The lesson in progress: its step, with a question to answer or a run to start, and the figures of
//! the runs so far.

use eframe::egui::{Align, Frame, Label, Layout, Margin, Panel, ScrollArea, Ui, vec2};

use crate::run_config::{RunConfig, differing_settings};
use crate::text::format::percent;
use crate::window::lessons::{Figures, LessonRun, OpenLesson, Outcome, Question, Step};
use crate::window::style::icons::{self, Icon};
use crate::window::{Action, App, LessonsAction, Pushes as _, Screen, style};

/// From this width on, in points, the lesson stands beside the screen instead of below it.
const BESIDE: f32 = 1180.0;
const WIDTH: f32 = 300.0;
const HEIGHT: f32 = 212.0;
/// The height of its buttons, in points.
const BUTTON: f32 = 34.0;

/// Draws it; nothing without a lesson.
pub fn panel(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    if app.lessons.current().is_none() || app.ctx.screen == Screen::Lessons {
        return;
    }
    let beside = ui.available_width() >= BESIDE;
    let panel = if beside {
        Panel::right("lesson beside").exact_size(WIDTH)
    } else {
        Panel::bottom("lesson below").exact_size(HEIGHT)
    };
    panel
        .frame(style::side_frame(ui))
        .resizable(false)
        .show(ui, |ui| contents(ui, app, beside, actions));
}

fn contents(ui: &mut Ui, app: &App, beside: bool, actions: &mut Vec<Action>) {
    let Some((open, lesson, step)) = app.lessons.current() else {
        return;
    };
    ui.horizontal(|ui| {
        icons::icon(ui, Icon::Lessons);
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let end = style::small_quiet_button("End");
            style::ask(ui, end, None, "End the lesson")
                .accessible_name("End the lesson")
                .pushes(actions, || LessonsAction::Close);
            let number = format!("{} of {}", open.step + 1, lesson.steps.len());
            ui.label(style::hint(number));
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                if !beside {
                    style::semibold(ui, step.title.as_str());
                }
                ui.add(Label::new(style::hint(lesson.title.as_str())).truncate());
            });
        });
    });
    Panel::bottom("lesson buttons")
        .show_separator_line(false)
        .frame(Frame::new().inner_margin(Margin::symmetric(0, 4)))
        .show(ui, |ui| {
            let last = open.step + 1 == lesson.steps.len();
            ui.horizontal(|ui| buttons(ui, app, (open, step, last), actions));
        });
    ScrollArea::vertical()
        .id_salt(("lesson", open.index, open.step))
        .auto_shrink(false)
        .show(ui, |ui| {
            // Space for the scroll bar.
            ui.set_max_width(ui.available_width() - 10.0);
            if beside {
                style::section(ui, &step.title);
            }
            for paragraph in &step.paragraphs {
                style::wrapped(ui, paragraph.as_str());
                ui.add_space(2.0);
            }
            if let Some(question) = &step.question {
                ask(ui, question, answer(open), actions);
            }
            if step.shows_runs {
                runs(ui, &open.runs);
            }
        });
}

/// Back, the step's run if it has one, and on.
fn buttons(
    ui: &mut Ui,
    app: &App,
    (open, step, last): (&OpenLesson, &Step, bool),
    actions: &mut Vec<Action>,
) {
    let back = ui.add_enabled(
        open.step > 0,
        style::quiet_button("Back").min_size(vec2(0.0, BUTTON)),
    );
    back.accessible_name("Back in the lesson")
        .pushes(actions, || LessonsAction::GoTo(open.step.saturating_sub(1)));
    // The runs of lessons are watched on Train: there the lesson has the primary button.
    let button = |name: &str, is_next: bool| {
        if is_next && app.ctx.screen == Screen::Train {
            style::primary_button(name)
        } else {
            style::secondary_button(name)
        }
    };
    let started = step.run.is_none() || open.runs.iter().any(|run| run.step == open.step);
    if let Some(config) = &step.run {
        let busy = "A run is in progress. Wait until it has finished, or stop it";
        let busy = app.ctx.is_at_long_work().then_some(busy);
        let start = button("Start this run", !started);
        style::ask(ui, start, busy, &config.command(None)).pushes(actions, || LessonsAction::Start);
    }
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
        let unanswered = step.question.is_some() && answer(open).is_none();
        let why_not = unanswered.then_some("Choose an answer first");
        let (name, action) = if last {
            ("Finish", LessonsAction::Close)
        } else {
            ("Next", LessonsAction::GoTo(open.step + 1))
        };
        style::ask(ui, button(name, started), why_not, "").pushes(actions, || action);
    });
}

fn answer(open: &OpenLesson) -> Option<usize> {
    *open.answers.get(open.step)?
}

fn ask(ui: &mut Ui, question: &Question, answer: Option<usize>, actions: &mut Vec<Action>) {
    ui.spacing_mut().item_spacing.y = 2.0;
    style::strong(ui, question.text.as_str());
    for (index, option) in question.options.iter().enumerate() {
        ui.radio(answer == Some(index), option)
            .pushes(actions, || LessonsAction::Answer(index));
    }
    let Some(answer) = answer else { return };
    ui.add_space(style::GAP / 2.0);
    let verdict = match question.right {
        Some(right) if right == answer => "Right. ".to_owned(),
        Some(right) => question
            .options
            .get(right)
            .map_or_else(String::new, |option| {
                format!("Not quite: “{option}” is right. ")
            }),
        None => String::new(),
    };
    style::note_with_icon(ui, format!("{verdict}{}", question.answer));
}

/// The runs so far, each with its figures.
fn runs(ui: &mut Ui, runs: &[LessonRun]) {
    if runs.is_empty() {
        style::note(ui, "You have started no run in this lesson yet.");
        return;
    }
    let configs: Vec<&RunConfig> = runs.iter().map(|run| &run.config).collect();
    let differing = differing_settings(&configs);
    for (index, run) in runs.iter().enumerate() {
        let settings: Vec<String> = differing
            .iter()
            .filter_map(|(label, values)| Some(format!("{label} {}", values.get(index)?)))
            .collect();
        let name = if settings.is_empty() {
            run.config.title()
        } else {
            settings.join(", ")
        };
        style::strong(ui, name);
        match &run.outcome {
            Outcome::InProgress => _ = style::note(ui, "In progress"),
            Outcome::Without(why) => _ = style::note(ui, *why),
            Outcome::Finished(figures) => _ = style::note(ui, line(figures)),
        }
    }
}

/// "Training 99.12%, validation 97.31%, test 97.50%, validation loss 0.084".
fn line(figures: &Figures) -> String {
    let Figures {
        training,
        validation,
        test,
        loss,
    } = *figures;
    let [training, validation] = [training, validation].map(|share| percent(share, 2));
    let test = test.map_or_else(String::new, |test| format!(", test {}", percent(test, 2)));
    format!("Training {training}, validation {validation}{test}, validation loss {loss:.3}")
}
