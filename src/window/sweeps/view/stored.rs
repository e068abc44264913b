//! Earlier sweeps: those that were interrupted first, to be resumed.

use eframe::egui::{Align, Label, Layout, RichText, Ui};

use crate::sweep::{SweepCard, SweepEntry};
use crate::text::format::{count, percent};
use crate::text::visible;
use crate::window::messages::Message;
use crate::window::style;
use crate::window::{Action, App, SweepAction};

pub fn show(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    style::section(ui, "Earlier sweeps");
    let Some(listed) = &app.sweeps.listed else {
        ui.label(style::hint("Loading…"));
        return;
    };
    if listed.is_empty() {
        ui.add(Label::new(style::hint("None yet. A sweep is kept with all its trials, and can be resumed after an interruption.")).wrap());
    }
    let (resumable, others): (Vec<_>, Vec<_>) =
        listed.iter().partition(|entry| entry.is_resumable());
    for entry in resumable.into_iter().chain(others) {
        style::card(ui).show(ui, |ui| {
            ui.set_min_width(ui.available_width());
            card(ui, app, entry, actions);
        });
        ui.add_space(style::GAP / 2.0);
    }
}

fn card(ui: &mut Ui, app: &App, entry: &SweepEntry, actions: &mut Vec<Action>) {
    let mut act = |action| actions.push(Action::Sweep(action));
    let when = when(entry);
    match &entry.card {
        Ok(card) => {
            ui.add(Label::new(RichText::new(card.definition.base.title()).strong()).truncate());
            ui.add(Label::new(style::hint(facts(&when, card))).wrap());
        }
        Err(error) => {
            ui.add(Label::new(RichText::new(&when).strong()).truncate());
            style::invalid(ui, &Message::from(error).to_string());
        }
    }
    ui.horizontal_wrapped(|ui| {
        if let Ok(card) = &entry.card {
            if !card.complete {
                let why_not = app.why_not_sweep();
                let resume = ui.add_enabled(why_not.is_none(), style::primary_button(ui, "Resume"));
                let resume = resume
                    .on_hover_text("Trials that were cut short begin again")
                    .accessible_name(format!("Resume the sweep of {when}"));
                if resume
                    .on_disabled_hover_text(why_not.unwrap_or_default())
                    .clicked()
                {
                    act(SweepAction::Resume(entry.folder.clone()));
                }
            }
            if ui
                .add(style::secondary_button("Show"))
                .accessible_name(format!("Show the sweep of {when}"))
                .clicked()
            {
                act(SweepAction::Open(entry.folder.clone()));
            }
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if ui
                .button("Delete")
                .accessible_name(format!("Delete the sweep of {when}"))
                .clicked()
            {
                act(SweepAction::Delete(entry.folder.clone()));
            }
        });
    });
}

/// "24 Nov 2026, 04:01 · paused after 12 of 30 trials · best 98.20 %".
fn facts(when: &str, card: &SweepCard) -> String {
    let trials = match card.definition.max_trials() {
        Some(most) => format!("{} of {}", card.ended, count(most.into(), "trial")),
        None => count(card.ended.into(), "trial"),
    };
    let state = if card.complete {
        format!("complete, {}", count(card.ended.into(), "trial"))
    } else {
        format!("paused after {trials}")
    };
    let best = card.best.map(|best| format!("best {}", percent(best, 2)));
    [Some(when.to_owned()), Some(state), best]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(" · ")
}

/// When it was begun, from its folder's name.
fn when(entry: &SweepEntry) -> String {
    let name = entry
        .folder
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    let begun = name
        .get(..17)
        .and_then(|time| jiff::civil::DateTime::strptime("%Y-%m-%d-%H%M%S", time).ok());
    begun.map_or_else(
        || visible::label(&name),
        |time| time.strftime("%-d %b %Y, %H:%M").to_string(),
    )
}
