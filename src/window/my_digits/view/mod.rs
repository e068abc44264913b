//! The My digits screen: the drawings that the person keeps, by digit, what the model in use makes
//! of them, and fine-tuning it on them.

mod tiles;

use eframe::egui::containers::menu::MenuButton;
use eframe::egui::{Align, Button, Layout, RichText, ScrollArea, Ui};

use crate::data::my_digits::Edit;
use crate::problem::Message;
use crate::run_config::DatasetFormat;
use crate::text::format::{count, grouped, percent, remaining};
use crate::window::shell::{help, shortcuts};
use crate::window::style::icons::Icon;
use crate::window::style::image_sheet::Cached;
use crate::window::{
    Action, Activity, App, Collection, DIGITS, MyDigitsAction, Pushes as _, style,
};

/// From this width on the buttons stand beside the figures, in points.
const BESIDE: f32 = 1000.0;

#[derive(Debug, Default)]
pub struct MyDigitsScreen {
    /// The images that are shown, and the version of the drawings they belong to.
    sheet: Cached<u64>,
}

pub fn show(ui: &mut Ui, app: &App, view: &mut MyDigitsScreen, actions: &mut Vec<Action>) {
    let (undo, redo) = (MyDigitsAction::UndoKept, MyDigitsAction::RedoKept);
    shortcuts::undo_and_redo(ui, undo, redo, actions);
    ui.horizontal(|ui| {
        ui.heading("My digits");
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            help::button(ui, help::Topic::MyDigits);
            transfer(ui, app, actions);
        });
    });
    let digits = &app.my_digits;
    if !digits.is_loaded() {
        ui.label("Loading drawings…");
        return;
    }
    if digits.drawings().is_empty() {
        empty(ui, actions);
        return;
    }
    ui.add_space(style::GAP / 3.0);
    overview(ui, app, actions);
    if digits.unreadable > 0 {
        let lines = count(digits.unreadable as u64, "line");
        let said = format!("{lines} of the file could not be read, and stay in it.");
        style::caution(ui, &said);
    }
    fine_tune_result(ui, app, actions);
    ui.add_space(style::GAP / 2.0);
    ScrollArea::vertical()
        .auto_shrink(false)
        .show(ui, |ui| tiles::show(ui, app, view, actions));
}

/// The key figures, and the buttons: beside them if there is room.
fn overview(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let beside = ui.available_width() >= BESIDE;
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 2.0 * style::GAP;
        figures(ui, app);
        if beside {
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                ui.spacing_mut().item_spacing.x = style::GAP;
                fine_tune_buttons(ui, app, actions);
            });
        }
    });
    if !beside {
        ui.add_space(style::GAP / 3.0);
        ui.horizontal(|ui| fine_tune_buttons(ui, app, actions));
    }
}

/// How many drawings there are, of which digits, and how many of them the model in use recognizes.
fn figures(ui: &mut Ui, app: &App) {
    let digits = &app.my_digits;
    let drawings = digits.drawings();
    style::figure(
        ui,
        "Drawings",
        &grouped(drawings.len() as u64),
        "kept on this machine",
    );
    let missing = digits.missing();
    let about = match missing.as_slice() {
        [] => "at least one of each".to_owned(),
        missing => {
            let missing: Vec<String> = missing.iter().map(u8::to_string).collect();
            format!("missing: {}", missing.join(", "))
        }
    };
    style::figure(
        ui,
        "Digits",
        &format!("{} of {DIGITS}", DIGITS - missing.len()),
        &about,
    );
    if let Some(model) = &app.ctx.model_in_use {
        let name = app.model_name(&model.reference);
        if app.machine.may_send_my_digits(&app.ctx) == Some(false) {
            let about = "not checked: the other machine would need your drawings";
            style::figure(ui, "Recognized", "–", about);
            return;
        }
        let (value, about) = match digits.correct(drawings.iter()) {
            Some(correct) => {
                let strange = match digits.not_digits() {
                    0 => String::new(),
                    1 => "; 1 does not look like a digit".to_owned(),
                    several => format!("; {several} do not look like digits"),
                };
                (
                    percent(correct as f64 / drawings.len() as f64, 0),
                    format!("{correct} of {}, by {name}{strange}", drawings.len()),
                )
            }
            None => ("…".to_owned(), format!("classifying with {name}…")),
        };
        style::figure(ui, "Recognized", &value, &about);
    }
}

/// Import, export and undo, from the right.
fn transfer(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let some = !app.my_digits.drawings().is_empty();
    ui.add_enabled_ui(some, |ui| {
        let (menu, _) = MenuButton::new("Export…").ui(ui, |ui| {
            for format in DatasetFormat::ALL {
                if ui.button(format.label()).clicked() {
                    actions.push(MyDigitsAction::ExportMyDigits(*format).into());
                    ui.close();
                }
            }
        });
        menu.on_hover_text("Write the drawings as images, tables or ink");
    });
    ui.button("Import…")
        .on_hover_text("Add the drawings of an ink file with labels")
        .pushes(actions, || MyDigitsAction::ImportInk);
    // From the right: the one that changes its name is last, so that no other moves.
    let keys = |shortcut| ui.ctx().format_shortcut(shortcut);
    let [undo_keys, redo_keys] = [&shortcuts::UNDO, &shortcuts::REDO].map(keys);
    let about = format!("Redo the last undone change ({redo_keys})");
    ui.add_enabled(app.my_digits.can_redo(), Button::new("Redo"))
        .on_hover_text(about)
        .pushes(actions, || MyDigitsAction::RedoKept);
    let last = app.my_digits.undo.last();
    let (name, about) = undo_text(last);
    ui.add_enabled(last.is_some(), Button::new(name))
        .on_hover_text(format!("{about} ({undo_keys})"))
        .pushes(actions, || MyDigitsAction::UndoKept);
}

/// The change that Undo undoes: the button's name, and a sentence.
fn undo_text(last: Option<&Edit>) -> (&'static str, String) {
    let Some(Edit { remove, add }) = last else {
        let about = "Undo the last change";
        return ("Undo", about.to_owned());
    };
    match (remove.as_slice(), add.as_slice()) {
        ([], [kept]) => {
            let about = format!("Remove the last drawing (a {})", kept.digit);
            ("Undo keep", about)
        }
        ([], several) => {
            let drawings = count(several.len() as u64, "drawing");
            (
                "Undo import",
                format!("Remove the {drawings} that were imported"),
            )
        }
        ([deleted], []) => {
            let about = format!("Restore the deleted drawing of a {}", deleted.digit);
            ("Undo delete", about)
        }
        ([before, ..], _) => {
            let about = format!("Change the label back to {}", before.digit);
            ("Undo change", about)
        }
    }
}

fn empty(ui: &mut Ui, actions: &mut Vec<Action>) {
    let body = "Draw each digit three times: 30 drawings, one to two minutes. Or in Draw, press Enter when a digit was recognized correctly, and type the correct digit when it was not. Inkling can then fine-tune its model on your handwriting. Your drawings stay on this machine unless you export them, or agree to send them to another machine that you train on.";
    style::empty_state(ui, Icon::MyDigits, "No drawings yet", body, |ui| {
        collect(ui, style::primary_button(COLLECT), actions);
    });
}

/// The buttons, or the progress; from the left or the right, as the layout goes.
fn fine_tune_buttons(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    if let Some(running) = app.ctx.jobs.doing(Activity::FineTuning) {
        ui.add_enabled(!running.cancelling, style::secondary_button("Cancel"))
            .on_hover_text("The model stays as it is")
            .pushes(actions, || Action::CancelJob(running.id));
        ui.add(
            style::progress_bar(ui, running.progress.fraction)
                .desired_width(200.0)
                .desired_height(12.0),
        )
        .accessible_name("Fine-tuning");
        let doing = if running.cancelling {
            "Canceling…".to_owned()
        } else {
            let done = percent(running.progress.fraction.into(), 0);
            match running.progress.remaining_seconds {
                Some(seconds) => format!("Fine-tuning, {done}, {} left", remaining(seconds)),
                None => format!("Fine-tuning, {done}"),
            }
        };
        ui.label(RichText::new(doing).weak())
            .on_hover_text("Training on your drawings, mixed with original training data");
        return;
    }
    let why_not = app.my_digits.why_not_fine_tune(&app.ctx);
    let about = "Trains the model in use for a few seconds on your drawings, mixed with original training data. The result is used only if accuracy on that data drops by no more than 0.2 points";
    let button = ui.add_enabled(
        why_not.is_none(),
        style::primary_button("Fine-tune on My digits"),
    );
    button
        .on_hover_text(about)
        .on_disabled_hover_text(why_not.unwrap_or_default())
        .pushes(actions, || MyDigitsAction::FineTune);
    collect(ui, style::secondary_button(COLLECT), actions);
}

const COLLECT: &str = "Draw each digit three times";

fn collect(ui: &mut Ui, button: Button<'_>, actions: &mut Vec<Action>) {
    let drawings = Collection::default().total();
    ui.add(button)
        .on_hover_text(format!("{drawings} drawings, one to two minutes"))
        .pushes(actions, || MyDigitsAction::Collect);
}

/// The result of the last fine-tuning, and the way back from it while its model is in use.
fn fine_tune_result(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let Some(result) = &app.my_digits.fine_tuned else {
        return;
    };
    ui.add_space(style::GAP / 3.0);
    style::card(ui).show(ui, |ui| {
        ui.set_width(ui.available_width());
        let message = Message::fine_tuned(&result.tuned);
        ui.horizontal_top(|ui| {
            let icon = match result.tuned.saved {
                Some(_) => Icon::Done,
                None => Icon::Note,
            };
            style::icons::icon(ui, icon);
            style::strong(ui, &message.what);
        });
        style::weak(ui, &message.remedy);
        if app.my_digits.can_undo_fine_tune(&app.ctx) {
            ui.button(format!("Go back to {}", app.model_name(&result.before)))
                .on_hover_text("The fine-tuned model stays under Models")
                .pushes(actions, || MyDigitsAction::UndoFineTune);
        }
    });
}
