//! The heading of a model's details: its title on one line, and below what can be done with it when
//! and how it was trained, and its note.

use eframe::egui::{Align, Label, Layout, Response, RichText, Role, Sense, Ui, WidgetInfo, vec2};

use super::ModelsView;
use crate::records::{Annotation, RunSummary};
use crate::runs::RunEntry;
use crate::text::format::{count, local_time};
use crate::text::visible;
use crate::window::Action;
use crate::window::style;
use crate::window::style::icons;

/// The height of the title, in points: one line, however long it is, so that what follows is in the
/// same place for every model.
const HEIGHT: f32 = 32.0;

/// Draws the title of a model that cannot be starred.
pub fn title(ui: &mut Ui, title: &str) {
    line(ui, |ui| {
        ui.add(Label::new(RichText::new(title).heading()).truncate());
    });
}

/// Draws a run's title with its star.
pub fn title_with_star(ui: &mut Ui, entry: &RunEntry, actions: &mut Vec<Action>) {
    line(ui, |ui| {
        if star_button(ui, entry.annotation.starred).clicked() {
            actions.push(star(entry));
        }
        ui.add(Label::new(RichText::new(&entry.title).heading()).truncate());
    });
}

fn line(ui: &mut Ui, fill: impl FnOnce(&mut Ui)) {
    ui.allocate_ui_with_layout(
        vec2(ui.available_width(), HEIGHT),
        Layout::left_to_right(Align::Center),
        |ui| {
            ui.set_min_height(HEIGHT);
            fill(ui);
        },
    );
}

/// Draws what is known of a run beside its figures: when and how it was trained, its note and its
/// tags.
pub fn about(ui: &mut Ui, entry: &RunEntry, summary: &RunSummary, view: &mut ModelsView) {
    ui.add(Label::new(RichText::new(origin(entry, summary)).weak()).wrap());
    if !entry.annotation.note.is_empty() {
        ui.add(Label::new(&entry.annotation.note).wrap().selectable(true));
    }
    if entry.annotation.tags.is_empty() {
        return;
    }
    ui.horizontal_wrapped(|ui| {
        for tag in &entry.annotation.tags {
            if ui
                .add(style::small_button(tag.as_str()))
                .on_hover_text("Show the models with this tag")
                .clicked()
            {
                view.order.search_for(tag);
            }
        }
    });
}

fn star_button(ui: &mut Ui, starred: bool) -> Response {
    let (rect, response) = ui.allocate_exact_size(vec2(28.0, 28.0), Sense::click());
    let palette = style::palette(ui);
    let color = if starred || response.hovered() {
        palette.accent
    } else {
        palette.faded
    };
    icons::star(ui.painter(), rect.shrink(4.0), color, starred);
    response.widget_info(|| WidgetInfo::selected(Role::Button, true, starred, "Star"));
    response.on_hover_text(if starred {
        "Remove the star"
    } else {
        "Star this model: starred ones come first in the lists of models"
    })
}

/// Stars this run, or removes its star.
pub fn star(entry: &RunEntry) -> Action {
    Action::Annotate(
        entry.folder.clone(),
        Annotation {
            starred: !entry.annotation.starred,
            ..entry.annotation.clone()
        },
    )
}

/// The button that opens this run's note.
pub const fn note_label(entry: &RunEntry) -> &'static str {
    if entry.annotation.note.is_empty() {
        "Add a note…"
    } else {
        "Edit the note…"
    }
}

/// The button that opens this run's tags.
pub const fn tags_label(entry: &RunEntry) -> &'static str {
    if entry.annotation.tags.is_empty() {
        "Add tags…"
    } else {
        "Edit the tags…"
    }
}

/// Network and data of a run with a name of its own, when it finished, after how many epochs, and
/// where it was imported from.
fn origin(entry: &RunEntry, summary: &RunSummary) -> String {
    let when = local_time(&summary.finished_at);
    let when = if entry.annotation.name.is_empty() {
        when
    } else {
        format!("{} · {when}", summary.config.title())
    };
    let epochs = format!(
        "{} of {}",
        summary.epochs.len(),
        count(summary.config.epochs.into(), "epoch")
    );
    let trained = if summary.stopped {
        format!("{when} · stopped after {epochs}")
    } else {
        format!("{when} · {epochs}")
    };
    match &summary.imported {
        None => trained,
        Some(file) if summary.epochs.is_empty() => {
            format!("{when} · imported from {}", visible::label(file))
        }
        Some(file) => format!("{trained} · imported from {}", visible::label(file)),
    }
}
