//! The list of the Models screen: which finished runs are listed and in which order, and the cards
//! of interrupted runs.

use std::cmp::Ordering;
use std::path::PathBuf;

use eframe::egui::{Key, Modifiers, TextEdit, Ui};

use super::{card, curves};
use crate::records::RunSummary;
use crate::runs::{InterruptedRun, RunEntry};
use crate::text::format::{local_time, percent};
use crate::window::style::{self, icons};
use crate::window::train::view::controls::ABOUT_SAVING;
use crate::window::{Action, App, Phase, Pushes as _, TrainAction};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum SortBy {
    #[default]
    Newest,
    Starred,
    Accuracy,
    Network,
    Tag,
}

impl SortBy {
    const ALL: [Self; 5] = [
        Self::Newest,
        Self::Starred,
        Self::Accuracy,
        Self::Network,
        Self::Tag,
    ];

    const fn label(self) -> &'static str {
        match self {
            Self::Newest => "Newest first",
            Self::Starred => "Starred first",
            Self::Accuracy => "Most accurate first",
            Self::Network => "By network and data",
            Self::Tag => "Grouped by tag",
        }
    }
}

#[derive(Clone, Debug, Default)]
pub struct Order {
    search: String,
    sort: SortBy,
}

/// From this number of runs on there is something to search.
const WORTH_SEARCHING: usize = 4;

impl Order {
    /// Draws the search field and the choice of the order; nothing if there is little to search.
    pub fn show(&mut self, ui: &mut Ui, runs: &[RunEntry]) {
        if runs.len() < WORTH_SEARCHING {
            *self = Self::default();
            return;
        }
        ui.horizontal(|ui| {
            let gap = ui.spacing().item_spacing.x;
            let width = (ui.available_width() - gap) * 0.5;
            let search = TextEdit::singleline(&mut self.search).hint_text("Search");
            ui.add(search.desired_width(width - 2.0 * gap).char_limit(100))
                .on_hover_text("Name, note, tag, network, data set or date")
                .accessible_name("Search models");
            let (width, shown) = (ui.available_width(), self.sort.label());
            let list = style::drop_down(ui, "order of models", width, shown, |ui| {
                for sort in SortBy::ALL {
                    ui.selectable_value(&mut self.sort, sort, sort.label());
                }
            });
            let list = list.accessible_name("Order of models");
            style::explain_list(list, self.sort.label(), "");
        });
        ui.add_space(style::GAP / 2.0);
    }

    /// Looks for the models with this tag.
    pub fn search_for(&mut self, tag: &str) {
        tag.clone_into(&mut self.search);
    }

    /// The group that this run is listed in, if the list is grouped: its first tag.
    pub fn group(&self, entry: &RunEntry) -> Option<String> {
        let tag = Some(first_tag(entry)).filter(|tag| !tag.is_empty());
        (self.sort == SortBy::Tag).then(|| tag.unwrap_or("Without a tag").to_owned())
    }

    /// The runs that match, in this order, of repeated ones the first; those that cannot be read
    /// come last.
    pub fn arrange<'r>(&self, runs: &'r [RunEntry]) -> Vec<&'r RunEntry> {
        let words: Vec<String> = self
            .search
            .split_whitespace()
            .map(str::to_lowercase)
            .collect();
        let matches = |entry: &&RunEntry| {
            let text = card::searched_text(entry).to_lowercase();
            words.iter().all(|word| text.contains(word))
        };
        let mut listed: Vec<&RunEntry> = runs
            .iter()
            .filter(|entry| !curves::is_represented(runs, entry))
            .filter(matches)
            .collect();
        let by = |order: fn(&RunSummary, &RunSummary) -> Ordering| {
            move |a: &&RunEntry, b: &&RunEntry| match (&a.summary, &b.summary) {
                (Ok(a), Ok(b)) => order(a, b),
                (a, b) => b.is_ok().cmp(&a.is_ok()),
            }
        };
        match self.sort {
            // As they were listed.
            SortBy::Newest => {}
            SortBy::Starred => listed.sort_by_key(|entry| !entry.annotation.starred),
            SortBy::Accuracy => listed.sort_by(by(|a, b| accuracy(b).total_cmp(&accuracy(a)))),
            SortBy::Tag => listed.sort_by_key(|entry| {
                (
                    entry.annotation.tags.is_empty(),
                    first_tag(entry).to_lowercase(),
                )
            }),
            SortBy::Network => listed.sort_by(by(|a, b| a.config.title().cmp(&b.config.title()))),
        }
        listed
    }
}

/// The accuracy that stands for a run's model, or 0.
fn accuracy(summary: &RunSummary) -> f64 {
    summary.accuracy().map_or(0.0, |accuracy| accuracy.value)
}

/// The tag that a run is grouped by; empty if it has none.
fn first_tag(entry: &RunEntry) -> &str {
    entry.annotation.tags.first().map_or("", String::as_str)
}

/// Draws a card for each interrupted run.
pub fn interrupted(
    ui: &mut Ui,
    app: &App,
    confirming: &mut Option<PathBuf>,
    actions: &mut Vec<Action>,
) {
    for run in &app.train.interrupted {
        interrupted_card(ui, app, run, confirming, actions);
    }
}

fn interrupted_card(
    ui: &mut Ui,
    app: &App,
    run: &InterruptedRun,
    confirming: &mut Option<PathBuf>,
    actions: &mut Vec<Action>,
) {
    const BUSY: &str = "Unavailable while another run is in progress";
    let (card, folder) = (&run.card, || run.folder.clone());
    style::full_card(ui, |ui| {
        ui.horizontal(|ui| {
            icons::icon(ui, icons::Icon::Note);
            style::strong_line(ui, card.config.title());
        });
        let validation = card.epochs.last().map_or_else(String::new, |record| {
            let accuracy = percent(f64::from(record.validation_accuracy), 2);
            format!(", validation accuracy {accuracy}")
        });
        // The checkpoint alone does not tell; the run in this window does.
        let was_stopped = app.train.run.as_ref().is_some_and(|last| {
            last.phase == Phase::Discarded && last.is_resumed_from(&run.folder)
        });
        let how = if was_stopped {
            "Stopped"
        } else {
            "Interrupted"
        };
        let (when, position) = (local_time(&card.made_at), card.position());
        let saved = format!(
            "saved after {position} of {}{validation}",
            card.config.epochs
        );
        style::note(ui, format!("{how} on {when} · {saved}"));
        ui.horizontal(|ui| {
            let why_not = app.ctx.is_training().then_some(BUSY);
            let about = "Resumes from where the run was last saved and gives the same weights as an uninterrupted run";
            style::ask(ui, style::primary_button("Resume"), why_not, about)
                .pushes(actions, || TrainAction::ResumeInterrupted(folder()));
            if !card.epochs.is_empty() {
                let save = style::secondary_button("Save as a model");
                style::ask(ui, save, why_not, ABOUT_SAVING)
                    .pushes(actions, || TrainAction::SaveInterrupted(folder()));
            }
            if confirming.as_ref() != Some(&run.folder) {
                if ui.button("Discard…").clicked() {
                    *confirming = Some(folder());
                }
            } else if confirm_delete(ui, "Discard permanently", confirming) {
                actions.push(TrainAction::ForgetInterrupted(folder()).into());
            }
        });
    });
    ui.add_space(style::GAP / 2.0);
}

/// Draws both buttons in the caller's row and returns true when deletion was confirmed. Either
/// button ends the confirmation, as does Escape.
pub fn confirm_delete(ui: &mut Ui, delete: &str, confirming: &mut Option<PathBuf>) -> bool {
    let confirmed = ui.add(style::danger_button(delete)).clicked();
    let escaped = ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Escape));
    if ui.button("Cancel").on_hover_text("Escape").clicked() || escaped || confirmed {
        *confirming = None;
    }
    confirmed
}
