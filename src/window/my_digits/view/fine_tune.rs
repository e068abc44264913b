//! Fine-tuning: the button, its progress, and what came of it.

use eframe::egui::{Button, Label, RichText, Ui};

use crate::text::format::{percent, remaining};
use crate::window::messages::Message;
use crate::window::style;
use crate::window::style::icons;
use crate::window::{Action, App, Collection};

/// The buttons, or the progress; from the left or the right, as the layout goes.
pub fn buttons(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    if let Some(running) = app.ctx.jobs.fine_tuning() {
        if ui
            .add_enabled(!running.cancelling, style::secondary_button("Cancel"))
            .on_hover_text("The model stays as it is")
            .clicked()
        {
            actions.push(Action::CancelJob(running.id));
        }
        ui.add(
            style::progress_bar(ui, running.progress.fraction)
                .desired_width(200.0)
                .desired_height(12.0),
        )
        .accessible_name("Fine-tuning");
        let doing = if running.cancelling {
            "Cancelling…".to_owned()
        } else {
            let done = percent(running.progress.fraction.into(), 0);
            match running.progress.remaining_seconds {
                Some(seconds) => format!("Fine-tuning, {done}, {} left", remaining(seconds)),
                None => format!("Fine-tuning, {done}"),
            }
        };
        ui.label(RichText::new(doing).weak())
            .on_hover_text("It learns from your drawings, among images that the model knows");
        return;
    }
    let why_not = app.why_not_fine_tune();
    let about = "Trains the model in use for a few seconds on your drawings, mixed with images that it knows. It takes the place of the model in use only if \
                 it loses no more than 0.2 points on those";
    let button = ui.add_enabled(
        why_not.is_none(),
        style::primary_button(ui, "Fine-tune on mine"),
    );
    if button
        .on_hover_text(about)
        .on_disabled_hover_text(why_not.unwrap_or_default())
        .clicked()
    {
        actions.push(Action::FineTune);
    }
    let usual = Collection::ROUNDS[0];
    collect(
        ui,
        style::secondary_button(collection_name(usual)),
        usual,
        actions,
    );
}

/// What the button for the guided collection with this many rounds is called.
pub fn collection_name(rounds: usize) -> String {
    format!(
        "Draw each digit {} times",
        if rounds == 3 { "three" } else { "five" }
    )
}

/// The button that starts the guided collection with this many rounds.
pub fn collect(ui: &mut Ui, button: Button<'_>, rounds: usize, actions: &mut Vec<Action>) {
    let time = if rounds == 3 {
        "one to two minutes"
    } else {
        "two to three minutes"
    };
    let about = format!("{} drawings, {time}", Collection::new(rounds).total());
    if ui.add(button).on_hover_text(about).clicked() {
        actions.push(Action::Collect(rounds));
    }
}

/// What came of the last fine-tuning, and the way back from it while its model is in use.
pub fn result(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let Some(result) = &app.my_digits.fine_tuned else {
        return;
    };
    ui.add_space(style::GAP / 3.0);
    style::card(ui).show(ui, |ui| {
        ui.set_width(ui.available_width());
        let message = Message::fine_tuned(&result.tuned);
        ui.horizontal_top(|ui| {
            icons::icon(
                ui,
                if result.tuned.saved.is_some() {
                    icons::Icon::Done
                } else {
                    icons::Icon::Note
                },
            );
            ui.add(Label::new(RichText::new(&message.what).strong()).wrap());
        });
        ui.add(Label::new(RichText::new(&message.remedy).weak()).wrap());
        let back = Button::new(format!("Go back to {}", app.model_name(&result.before)));
        if app.can_undo_fine_tune()
            && ui
                .add(back)
                .on_hover_text("The fine-tuned model stays under Models")
                .clicked()
        {
            actions.push(Action::UndoFineTune);
        }
    });
}
