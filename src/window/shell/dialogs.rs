//! The dialogs of the window itself: About, with versions, the machine and the licenses of all
//! bundled software; what becomes of the run or the sweep when the window closes meanwhile; and the
//! question for a path, on desktops where no file dialog can be shown.

use eframe::egui::{
    Button, Grid, Label, RichText, ScrollArea, Sense, TextEdit, TextStyle, Ui, vec2,
};

use crate::diagnostics;
use crate::text::licenses;
use crate::window::style::{self, icons};
use crate::window::{Action, App, Phase, RunView};

#[derive(Debug, Default)]
pub enum About {
    /// Not shown.
    #[default]
    Closed,
    /// Versions and the machine; true once they have been copied.
    Facts(bool),
    /// The lines of the license texts: tens of thousands, of which only the visible ones are laid
    /// out.
    Licenses(Vec<String>),
}

/// Shows the dialog while it is open.
pub fn about_dialog(ui: &Ui, app: &App, about: &mut About) {
    if matches!(about, About::Closed) {
        return;
    }
    let ctx = ui.ctx();
    let room = ctx.content_rect().size();
    let modal = style::dialog(ui, "about", 660.0, |ui| {
        heading(ui);
        ui.add_space(style::GAP / 2.0);
        let height = (room.y - 260.0).min(340.0);
        style::room(ui, height, |ui| match about {
            About::Licenses(lines) => texts(ui, lines),
            _ => facts(ui, app),
        });
        ui.add_space(style::GAP / 2.0);
        buttons(ui, app, about)
    });
    if modal.inner || modal.should_close() {
        *about = About::Closed;
    }
}

fn heading(ui: &mut Ui) {
    ui.horizontal(|ui| {
        let (rect, _) = ui.allocate_exact_size(vec2(30.0, 40.0), Sense::hover());
        icons::drop(ui.painter(), rect.center(), 38.0, style::palette(ui).accent);
        ui.vertical(|ui| {
            ui.spacing_mut().item_spacing.y = 1.0;
            ui.heading("About Inkling");
            ui.weak(concat!(env!("CARGO_PKG_DESCRIPTION"), "."));
        });
    });
}

fn facts(ui: &mut Ui, app: &App) {
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        ui.spacing_mut().interact_size.y = 0.0;
        let width = ui.available_width() - 170.0;
        Grid::new("facts")
            .num_columns(2)
            .spacing([16.0, 6.0])
            .min_col_width(140.0)
            .show(ui, |ui| {
                for (name, value) in diagnostics::facts(app.ctx.hardware.as_ref()) {
                    ui.weak(name);
                    ui.scope(|ui| {
                        ui.set_max_width(width);
                        ui.add(Label::new(value).wrap().selectable(true));
                    });
                    ui.end_row();
                }
                ui.weak("License");
                ui.label("MIT or Apache-2.0, at your option");
                ui.end_row();
            });
        if app.ctx.hardware.is_none() {
            ui.label(style::hint("Detecting hardware…"));
        }
    });
}

fn texts(ui: &mut Ui, lines: &[String]) {
    let height = ui.text_style_height(&TextStyle::Monospace);
    ui.spacing_mut().item_spacing.y = 0.0;
    ScrollArea::both()
        .auto_shrink(false)
        .show_rows(ui, height, lines.len(), |ui, seen| {
            for line in &lines[seen] {
                ui.add(
                    Label::new(RichText::new(line).monospace())
                        .extend()
                        .selectable(true),
                );
            }
        });
}

/// Returns true when Close was clicked.
fn buttons(ui: &mut Ui, app: &App, about: &mut About) -> bool {
    let row = ui.horizontal(|ui| {
        let close = ui.add(style::primary_button("Close")).clicked();
        let copied = matches!(about, About::Facts(true));
        let copying = "Copy versions and hardware as text, for example for a bug report";
        if style::ask(ui, style::secondary_button("Copy"), None, copying).clicked() {
            ui.ctx()
                .copy_text(diagnostics::about(app.ctx.hardware.as_ref()));
            *about = About::Facts(true);
        }
        if let About::Licenses(_) = about {
            if ui.add(style::secondary_button("Versions")).clicked() {
                *about = About::Facts(false);
            }
        } else {
            let licenses = style::secondary_button("Licenses");
            let all = "Licenses of all software bundled with Inkling";
            if style::ask(ui, licenses, None, all).clicked() {
                *about = About::Licenses(licenses::text().lines().map(str::to_owned).collect());
            }
        }
        if copied {
            ui.label(style::hint("Copied"));
        }
        close
    });
    row.inner
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloseAnswer {
    StayOpen,
    /// The window stays open and shows what could be saved of the run.
    SaveFirst,
    /// The run or the sweep is interrupted, to be resumed at the next start.
    ResumeLater,
    /// The run is stopped and saved as a model.
    StopAndSave,
}

/// Asks what is to become of the run or the sweep; `None` while there is no answer. Escape keeps
/// the window open.
pub fn confirm_close(ui: &Ui, app: &App) -> Option<CloseAnswer> {
    let sweeping = app.ctx.is_sweeping();
    let run = app.train.run.as_ref().filter(|_| !sweeping);
    let unsaved = run.filter(|run| run.phase == Phase::NotSaved);
    let has_model = unsaved.is_none() && run.is_some_and(RunView::has_completed_epoch);
    // Without a checkpoint there is nothing to resume.
    let is_lost = unsaved.is_some_and(|run| run.checkpoint.is_none());
    let (title, stay) = match (sweeping, unsaved) {
        (true, _) => ("A sweep is in progress", "Keep searching"),
        (false, None) => ("Training is in progress", "Keep training"),
        (false, Some(_)) => ("The run is not saved yet", "Keep waiting"),
    };
    let modal = style::dialog(ui, "before closing", 440.0, |ui| {
        ui.heading(title);
        ui.label(if is_lost {
            "It has ended, and neither the run nor a checkpoint of it could be saved: it cannot be resumed the next time you open Inkling."
        } else if unsaved.is_some() {
            "It has ended, but could not be saved. You can resume it from its checkpoint the next time you open Inkling, and save it then."
        } else if sweeping {
            "Resume it the next time you open Inkling, under Sweep. All trials that have ended are kept; those that are training now start again."
        } else if has_model {
            "Resume it the next time you open Inkling, or stop it now and save the weights of its last completed epoch as a model."
        } else {
            "You can resume it the next time you open Inkling. It cannot be saved as a model yet: its first epoch is not complete."
        });
        ui.add_space(style::GAP);
        let mut answer = None;
        let mut offer = |ui: &mut Ui, button: Button<'_>, about: &str, meaning| {
            if style::ask(ui, button, None, about).clicked() {
                answer = Some(meaning);
            }
        };
        ui.horizontal_wrapped(|ui| {
            if is_lost {
                let save = style::primary_button("Save what fits");
                offer(ui, save, &RunView::about_rescue(), CloseAnswer::SaveFirst);
                let about = "Closes the window. The run is lost if nothing of it can be saved";
                let close = style::secondary_button("Close anyway");
                offer(ui, close, about, CloseAnswer::ResumeLater);
            } else {
                let resume = style::primary_button("Resume next time");
                offer(ui, resume, "Closes the window", CloseAnswer::ResumeLater);
            }
            if has_model {
                let stop = style::secondary_button("Stop and save");
                offer(ui, stop, "Closes the window", CloseAnswer::StopAndSave);
            }
            let stay = style::secondary_button(stay);
            offer(ui, stay, "Escape", CloseAnswer::StayOpen);
        });
        answer
    });
    let escaped = modal.should_close().then_some(CloseAnswer::StayOpen);
    modal.inner.or(escaped)
}

/// Shows it while it is asked: Enter confirms, Escape cancels. A click beside it does not: what was
/// typed would be lost.
pub fn path_question(ui: &Ui, app: &App, actions: &mut Vec<Action>) {
    let Some(question) = &app.shell.path_question else {
        return;
    };
    let modal = style::dialog(ui, "path", 520.0, |ui| {
        let heading = ui.heading(&question.title);
        let why = "This desktop offers no file dialogs, so please type the path.";
        style::weak(ui, why);
        ui.add_space(style::GAP / 2.0);
        let mut text = question.text.clone();
        let field = TextEdit::singleline(&mut text).desired_width(f32::INFINITY);
        let field = ui.add(field.cursor_at_end(true)).labelled_by(heading.id);
        let entered = style::entered(ui, &field);
        if text != question.text {
            actions.push(Action::TypePath(text));
        }
        if let Some(refused) = &question.refused {
            style::invalid(ui, &refused.to_string());
        }
        ui.add_space(style::GAP);
        let row = ui.horizontal(|ui| {
            if ui.add(style::primary_button("OK")).clicked() || entered {
                actions.push(Action::ConfirmPath);
            }
            ui.add(style::secondary_button("Cancel")).clicked()
        });
        row.inner
    });
    if modal.inner || style::escaped(&modal) {
        actions.push(Action::ClosePathQuestion);
    }
}
