//! The list of lessons, and the lesson in progress beside the screens.

mod panel;

use eframe::egui::{Ui, vec2};

pub use self::panel::panel;
use crate::text::format::count;
use crate::window::lessons::Lesson;
use crate::window::{Action, App, LessonsAction, Pushes as _, style};

/// The least width of a card, in points, and its height.
const CARD: [f32; 2] = [330.0, 118.0];

/// Draws the list.
pub fn show(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    ui.heading("Lessons");
    style::wrapped(
        ui,
        "Short experiments beside the live program. Each asks what you expect, lets you try, and ends with your own figures.",
    );
    ui.add_space(style::GAP);
    style::scroll(ui, "lessons", |ui| {
        let [least, height] = CARD;
        let columns = (ui.available_width() / least).floor().clamp(1.0, 4.0) as usize;
        let gap = style::GAP;
        let width = (ui.available_width() - gap * columns as f32) / columns as f32;
        let lessons: Vec<(usize, &Lesson)> = app.lessons.all.iter().enumerate().collect();
        for row in lessons.chunks(columns) {
            ui.horizontal_top(|ui| {
                ui.spacing_mut().item_spacing.x = gap;
                for (index, lesson) in row {
                    style::column(ui, vec2(width, height), |ui| {
                        card(ui, app, *index, lesson, actions);
                    });
                }
            });
            ui.add_space(gap);
        }
        let about = "A text file in the format of docs/lessons.md. You can write your own";
        style::ask(ui, style::secondary_button("Open a lesson…"), None, about)
            .pushes(actions, || LessonsAction::ChooseFile);
    });
}

fn card(ui: &mut Ui, app: &App, index: usize, lesson: &Lesson, actions: &mut Vec<Action>) {
    let open = app.lessons.open.as_ref();
    let open = open.filter(|open| open.index == index);
    style::full_card(ui, |ui| {
        ui.set_min_height(CARD[1] - 24.0);
        style::strong_line(ui, lesson.title.as_str());
        style::note(ui, lesson.summary.as_str());
        ui.horizontal(|ui| {
            let action = match open {
                Some(open) => ("Continue", LessonsAction::GoTo(open.step)),
                None => ("Begin", LessonsAction::Open(index)),
            };
            let button = ui.add(style::small_button(action.0));
            let name = format!("{}: {}", action.0, lesson.title);
            button.accessible_name(name).pushes(actions, || action.1);
            ui.label(style::hint(count(lesson.steps.len() as u64, "step")));
        });
    });
}
