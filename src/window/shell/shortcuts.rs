//! Keyboard shortcuts and their overview. A shortcut becomes the same action as the button it
//! stands for.

use eframe::egui::{
    Context, Event, Key, KeyboardShortcut, Label, Modifiers, RichText, ScrollArea, Ui, vec2,
};

use super::bars;
use crate::window::draw::view::tools::{CANVAS_CHOICE, OPEN, STEPS};
use crate::window::{Action, App, Phase, Screen, SweepAction, TrainAction, style};

pub const START: KeyboardShortcut = KeyboardShortcut::new(Modifiers::COMMAND, Key::Enter);
pub const STOP: KeyboardShortcut =
    KeyboardShortcut::new(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::Enter);
/// The screens, in the order of the tabs.
pub const SCREENS: [KeyboardShortcut; Screen::ALL.len()] = [
    KeyboardShortcut::new(Modifiers::COMMAND, Key::Num1),
    KeyboardShortcut::new(Modifiers::COMMAND, Key::Num2),
    KeyboardShortcut::new(Modifiers::COMMAND, Key::Num3),
    KeyboardShortcut::new(Modifiers::COMMAND, Key::Num4),
    KeyboardShortcut::new(Modifiers::COMMAND, Key::Num5),
    KeyboardShortcut::new(Modifiers::COMMAND, Key::Num6),
    KeyboardShortcut::new(Modifiers::COMMAND, Key::Num7),
    KeyboardShortcut::new(Modifiers::COMMAND, Key::Num8),
    KeyboardShortcut::new(Modifiers::COMMAND, Key::Num9),
];
pub const MONITOR: KeyboardShortcut =
    KeyboardShortcut::new(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::M);
/// Shows or hides the canvas and the validation images on Train.
pub const SIDE_PANEL: KeyboardShortcut =
    KeyboardShortcut::new(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::D);
/// Shows the next run on Train, or the current or last one.
pub const NEXT_RUN: KeyboardShortcut =
    KeyboardShortcut::new(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::N);
pub const RENAME: KeyboardShortcut = KeyboardShortcut::new(Modifiers::NONE, Key::F2);
pub const UNDO: KeyboardShortcut = KeyboardShortcut::new(Modifiers::COMMAND, Key::Z);
pub const REDO: KeyboardShortcut =
    KeyboardShortcut::new(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::Z);
const OVERVIEW: KeyboardShortcut = KeyboardShortcut::new(Modifiers::NONE, Key::F1);

/// From this width, in points, the overview has two columns.
const TWO_COLUMNS: f32 = 780.0;
/// The width of the keys beside their meanings, in points.
const KEYS: f32 = 196.0;

/// A topic's name, and its keys with their effects.
type Topic = (&'static str, Vec<(String, &'static str)>);

/// Turns key presses into actions; F1 and ? toggle the overview.
pub fn listen(ui: &Ui, app: &App, overview: &mut bool, actions: &mut Vec<Action>) {
    let ctx = ui.ctx();
    let typing = ctx.text_edit_focused();
    let pressed =
        |shortcut: &KeyboardShortcut| ctx.input_mut(|input| input.consume_shortcut(shortcut));
    for (screen, shortcut) in Screen::ALL.into_iter().zip(&SCREENS) {
        if pressed(shortcut) {
            actions.push(Action::Show(screen));
        }
    }
    if pressed(&MONITOR) {
        actions.push(Action::ShowMonitor(!app.ctx.settings.monitor));
    }
    if app.ctx.screen == Screen::Train && pressed(&NEXT_RUN) {
        actions.push(Action::Train(TrainAction::ShowNextRun(
            !app.train.shows_next_run(),
        )));
    }
    // The longer one first: the shorter matches it too.
    if pressed(&STOP) {
        actions.push(if app.ctx.is_sweeping() {
            Action::Sweep(SweepAction::Stop)
        } else {
            Action::Train(TrainAction::Stop)
        });
    }
    if pressed(&START) {
        actions.extend(sweep(app).or_else(|| {
            Some(
                match app
                    .train
                    .run
                    .as_ref()
                    .filter(|run| run.is_active())
                    .map(|run| &run.phase)
                {
                    None => app
                        .train
                        .run_to_resume()
                        .map_or(Action::Train(TrainAction::Start), |last| {
                            Action::Train(TrainAction::ResumeInterrupted(last.folder.clone()))
                        }),
                    Some(Phase::Paused) => Action::Train(TrainAction::Resume),
                    Some(_) => Action::Train(TrainAction::Pause),
                },
            )
        }));
    }
    let asked = !typing
        && ctx.input(|input| {
            input
                .events
                .iter()
                .any(|event| matches!(event, Event::Text(text) if text == "?"))
        });
    if pressed(&OVERVIEW) || asked {
        *overview = !*overview;
    }
}

/// The action that starts, pauses or resumes a sweep, if that is meant and not a run.
fn sweep(app: &App) -> Option<Action> {
    let shown = app.sweeps.shown.as_ref();
    let action = match shown.map(|sweep| &sweep.phase) {
        Some(_) if app.ctx.is_sweeping() => SweepAction::Pause,
        _ if app.ctx.screen != Screen::Sweep || app.ctx.is_training() => return None,
        None => SweepAction::Start,
        Some(_) => SweepAction::Resume(shown?.folder.clone()?),
    };
    Some(Action::Sweep(action))
}

/// Undo and redo by keyboard, unless a text field has the focus.
pub fn undo_and_redo<A: Into<Action>>(ui: &Ui, undo: A, redo: A, actions: &mut Vec<Action>) {
    if ui.ctx().text_edit_focused() {
        return;
    }
    ui.input_mut(|input| {
        if input.consume_key(Modifiers::COMMAND | Modifiers::SHIFT, Key::Z)
            || input.consume_key(Modifiers::COMMAND, Key::Y)
        {
            actions.push(redo.into());
        }
        if input.consume_key(Modifiers::COMMAND, Key::Z) {
            actions.push(undo.into());
        }
    });
}

fn all(ctx: &Context) -> Vec<Topic> {
    let command = Modifiers::COMMAND;
    let keys = |modifiers, key| ctx.format_shortcut(&KeyboardShortcut::new(modifiers, key));
    let with_command = |key| keys(command, key);
    let known = |shortcut: &KeyboardShortcut, meaning| (ctx.format_shortcut(shortcut), meaning);
    let named = |keys: &str, meaning| (keys.to_owned(), meaning);
    let zoom = [Key::Plus, Key::Minus, Key::Num0].map(with_command);
    let redo = [
        keys(command.plus(Modifiers::SHIFT), Key::Z),
        with_command(Key::Y),
    ];
    let screens = Screen::ALL.into_iter().zip(&SCREENS);
    let mut everywhere: Vec<_> = screens
        .map(|(screen, shortcut)| known(shortcut, bars::named(screen).0))
        .collect();
    everywhere.extend([
        known(&MONITOR, "Show or hide the monitor"),
        named(&zoom.join(", "), "Zoom in, zoom out, reset zoom"),
        named("Tab, Shift+Tab", "Next and previous control"),
        named("F1, ?", "Show these shortcuts"),
    ]);
    let images = "Show or hide the canvas and the validation images";
    let training = vec![
        known(
            &START,
            "Start, pause or resume the run (on Sweep, the sweep)",
        ),
        known(&STOP, "Stop"),
        known(&NEXT_RUN, "Show this run or the next one"),
        known(&SIDE_PANEL, images),
    ];
    let right = "Keep the drawing as the digit that was recognized";
    let wrong = "Keep the drawing as this digit";
    let by_keys = "Move the pen, put it down or lift it (canvas focused)";
    let drawing = vec![
        (with_command(Key::Z), "Undo the last change to the drawing"),
        named(&redo.join(", "), "Redo"),
        named("E", "Switch between pen and eraser"),
        named("Right mouse button", "Erase"),
        named("Delete", "Clear the canvas"),
        (with_command(Key::S), "Save the drawing as an ink file"),
        named("Enter", right),
        named("0 to 9", wrong),
        known(&OPEN, "Open an image or a drawing"),
        (with_command(Key::V), "Open the image from the clipboard"),
        named("W", "Show why it is recognized as this digit"),
        known(&STEPS, "Show how Inkling sees it"),
        (with_command(Key::C), "Copy the image that the model sees"),
        known(&CANVAS_CHOICE, "Switch between one digit and several"),
        named("Arrow keys, Space", by_keys),
    ];
    let rename = "Rename the selected model, or write its note and tags";
    let label = "Mark the suspected label as right or wrong (image open)";
    let crosshair = "Move the crosshair (plot focused)";
    vec![
        ("Everywhere", everywhere),
        ("Training", training),
        ("Plots", vec![named("Arrow keys", crosshair)]),
        ("Inside", vec![named("Escape", "Go back one level")]),
        ("Drawing", drawing),
        ("Results", vec![named("Y, N", label)]),
        ("Models", vec![known(&RENAME, rename)]),
    ]
}

fn topics(ui: &mut Ui, topics: &[Topic]) {
    for (topic, shortcuts) in topics {
        style::section(ui, topic);
        for (keys, meaning) in shortcuts {
            ui.horizontal_top(|ui| {
                style::wide_column(ui, vec2(KEYS, 0.0), |ui| {
                    ui.add(Label::new(RichText::new(keys).monospace()).wrap());
                });
                style::wrapped(ui, *meaning);
            });
        }
    }
}

pub fn overview(ui: &Ui, open: &mut bool) {
    if !*open {
        return;
    }
    let ctx = ui.ctx();
    let room = ctx.content_rect().size();
    let modal = style::dialog(ui, "shortcuts", 960.0, |ui| {
        ui.heading("Keyboard shortcuts");
        ScrollArea::vertical()
            .max_height(room.y - 180.0)
            .min_scrolled_height(room.y - 180.0)
            .show(ui, |ui| {
                ui.spacing_mut().interact_size.y = 0.0;
                ui.spacing_mut().item_spacing.y = 2.0;
                // Space for the scroll bar.
                ui.set_max_width(ui.available_width() - 10.0);
                let all = all(ctx);
                if ui.available_width() < TWO_COLUMNS {
                    return topics(ui, &all);
                }
                let (first, rest) = all.split_at(4);
                ui.columns(2, |columns| {
                    let width = columns[0].available_width();
                    columns[0].set_max_width(width - style::GAP);
                    topics(&mut columns[0], first);
                    topics(&mut columns[1], rest);
                });
            });
        ui.add_space(style::GAP / 2.0);
        ui.horizontal(|ui| ui.add(style::secondary_button("Close")).clicked())
            .inner
    });
    if modal.inner || modal.should_close() {
        *open = false;
    }
}
