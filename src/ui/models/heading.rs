//! The heading of a run's details: its name with what changes it, when and how it was trained, and its note.

use eframe::egui::{Label, Response, RichText, Role, Sense, Ui, WidgetInfo, vec2};

use super::ModelsView;
use super::editor::{Editor, First};
use crate::app::Action;
use crate::records::{Annotation, RunSummary};
use crate::runs::RunEntry;
use crate::text::format::{count, local_time};
use crate::text::visible;
use crate::ui::{icons, shortcuts, style};

/// Draws it.
pub fn show(ui: &mut Ui, entry: &RunEntry, summary: &RunSummary, view: &mut ModelsView, actions: &mut Vec<Action>) {
    ui.horizontal_wrapped(|ui| {
        if star_button(ui, entry.annotation.starred).clicked() {
            actions.push(star(entry));
        }
        ui.add(Label::new(RichText::new(&entry.title).heading()).wrap());
        let keys = ui.ctx().format_shortcut(&shortcuts::RENAME);
        if ui.add(style::small_button("Rename…")).on_hover_text(format!("Give this model a name of its own ({keys})")).clicked() {
            view.editor = Editor::open(entry, First::Name);
        }
        if ui.add(style::small_button(note_label(entry))).clicked() {
            view.editor = Editor::open(entry, First::Note);
        }
        if ui.add(style::small_button(tags_label(entry))).clicked() {
            view.editor = Editor::open(entry, First::Tags);
        }
    });
    ui.add(Label::new(RichText::new(origin(entry, summary)).weak()).wrap());
    if !entry.annotation.note.is_empty() {
        ui.add(Label::new(&entry.annotation.note).wrap().selectable(true));
    }
    ui.horizontal_wrapped(|ui| {
        for tag in &entry.annotation.tags {
            if ui.add(style::small_button(tag.as_str())).on_hover_text("Show the models with this tag").clicked() {
                view.order.search_for(tag);
            }
        }
    });
}

fn star_button(ui: &mut Ui, starred: bool) -> Response {
    let (rect, response) = ui.allocate_exact_size(vec2(28.0, 28.0), Sense::click());
    let palette = style::palette(ui);
    let color = if starred || response.hovered() { palette.accent } else { palette.faded };
    icons::star(ui.painter(), rect.shrink(4.0), color, starred);
    response.widget_info(|| WidgetInfo::selected(Role::Button, true, starred, "Star"));
    response.on_hover_text(if starred { "Remove the star" } else { "Star this model: starred ones come first in the lists of models" })
}

/// Stars this run, or removes its star.
pub fn star(entry: &RunEntry) -> Action {
    Action::Annotate(entry.folder.clone(), Annotation { starred: !entry.annotation.starred, ..entry.annotation.clone() })
}

/// The button that opens this run's note.
pub const fn note_label(entry: &RunEntry) -> &'static str {
    if entry.annotation.note.is_empty() { "Add a note…" } else { "Edit the note…" }
}

/// The button that opens this run's tags.
pub const fn tags_label(entry: &RunEntry) -> &'static str {
    if entry.annotation.tags.is_empty() { "Add tags…" } else { "Edit the tags…" }
}

/// Network and data of a run with a name of its own, when it finished, after how many epochs, and where it was imported from.
fn origin(entry: &RunEntry, summary: &RunSummary) -> String {
    let when = local_time(&summary.finished_at);
    let when = if entry.annotation.name.is_empty() { when } else { format!("{} · {when}", summary.config.title()) };
    let epochs = format!("{} of {}", summary.epochs.len(), count(summary.config.epochs.into(), "epoch"));
    let trained = if summary.stopped { format!("{when} · stopped after {epochs}") } else { format!("{when} · {epochs}") };
    match &summary.imported {
        None => trained,
        Some(file) if summary.epochs.is_empty() => format!("{when} · imported from {}", visible::label(file)),
        Some(file) => format!("{trained} · imported from {}", visible::label(file)),
    }
}
