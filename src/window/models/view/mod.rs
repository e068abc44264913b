//! The Models screen: the starter model, finished and interrupted runs, and what can be done with
//! each.

use std::ops::RangeInclusive;
use std::path::PathBuf;

use eframe::egui::{Align, Button, Key, Layout, Modifiers, Popup, Response, ScrollArea, Ui, vec2};

use self::editor::{Editor, First};
use self::list::Order;
use crate::records::{ModelRef, RunSummary};
use crate::runs::RunEntry;
use crate::window::shell::help::{self, Topic};
use crate::window::shell::shortcuts;
use crate::window::style::icons::Icon;
use crate::window::{Action, Activity, App, DrawAction, ModelsAction, Pushes as _, Screen, style};

mod card;
mod compare;
mod compare_plot;
mod curves;
mod details;
pub mod editor;
mod export;
mod list;
mod offers;

/// A run that is shown, and those that are listed.
#[derive(Clone, Copy)]
pub struct Shown<'a> {
    app: &'a App,
    runs: &'a [RunEntry],
    entry: &'a RunEntry,
    summary: &'a RunSummary,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Selected {
    Starter,
    Run(PathBuf),
}

#[derive(Debug, Default)]
pub struct ModelsView {
    selected: Option<Selected>,
    order: Order,
    /// The run, finished or interrupted, whose deletion waits for confirmation.
    confirming: Option<PathBuf>,
    compared: compare_plot::Choice,
    /// The dialog for a model's name and note, while it is open.
    editor: Option<Editor>,
}

/// Below this width, in points, details are shown below the selected model instead of beside the
/// list.
const TWO_COLUMNS: f32 = 760.0;
/// The list's fraction of the width beside the details, and its limits in points.
const LIST_SHARE: f32 = 0.34;
const LIST_WIDTH: RangeInclusive<f32> = 360.0..=560.0;
/// From this width on, in points, the list has two columns of cards; its fraction of the width, and
/// the greatest width.
const TWO_CARDS: f32 = 1540.0;
const TWO_CARDS_SHARE: f32 = 0.42;
const TWO_CARDS_WIDTH: f32 = 800.0;
/// The greatest width of the details, in points.
const DETAILS_WIDTH: f32 = 1900.0;

pub fn show(ui: &mut Ui, app: &App, view: &mut ModelsView, actions: &mut Vec<Action>) {
    ui.horizontal(|ui| {
        ui.heading("Models");
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            help::button(ui, Topic::Models);
            ui.add(style::icon_button(Icon::Refresh)).accessible_name("Refresh").on_hover_text("Reload the list of models from disk").pushes(actions, || ModelsAction::RefreshRuns);
            let can_import = !app.ctx.is_training() && app.ctx.jobs.doing(Activity::Import).is_none();
            let import = ui.add_enabled(can_import, style::labeled(Icon::Import, "Import…")).accessible_name("Import…");
            let about = "Import weights: safetensors, a PyTorch state dict, or a file exported by Inkling. You can also drop the file on the window";
            let busy = "Unavailable while training or another import is in progress";
            import.on_hover_text(about).on_disabled_hover_text(busy).pushes(actions, || ModelsAction::ChooseImport);
            if let Some(running) = app.ctx.jobs.doing(Activity::Import) {
                ui.add_enabled(!running.cancelling, Button::new("Cancel")).pushes(actions, || Action::CancelJob(running.id));
                ui.label(style::hint("Importing…"));
            }
        });
    });
    let Some(runs) = &app.models.runs else {
        ui.label("Loading models…");
        return;
    };
    if app.models.comparison.is_some() {
        if escape_closes(ui) {
            actions.push(Action::Models(ModelsAction::CloseComparison));
        }
        return compare::show(ui, app, runs, &mut view.compared, actions);
    }
    // A model that has just been imported is selected.
    if let Some(folder) = app
        .models
        .run_to_select
        .as_ref()
        .filter(|folder| runs.iter().any(|entry| entry.folder == **folder))
    {
        view.selected = Some(Selected::Run(folder.clone()));
        actions.push(Action::Models(ModelsAction::RunSelected));
    }
    let chosen = chosen(view, runs);
    content(ui, app, runs, view, &chosen, actions);
    // On a card that has the keyboard's focus the list has seen it.
    if view.editor.is_none()
        && let Selected::Run(folder) = &chosen
        && ui.input_mut(|input| input.consume_shortcut(&shortcuts::RENAME))
    {
        view.editor = runs
            .iter()
            .find(|entry| entry.folder == *folder)
            .and_then(|entry| Editor::open(entry, First::Name));
    }
    editor::editor(ui, app, &mut view.editor, actions);
    if app.models.export.is_some() && escape_closes(ui) {
        actions.push(Action::Models(ModelsAction::CloseExport));
    }
}

/// True once Escape was pressed, and nothing else takes it: neither an open list nor whatever has
/// the keyboard's focus.
fn escape_closes(ui: &Ui) -> bool {
    let is_free = ui
        .memory(|memory| memory.focused().is_none() && memory.top_modal_layer().is_none())
        && !Popup::is_any_open(ui.ctx());
    is_free && ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Escape))
}

/// The list, and the details beside it or below the selected model.
fn content(
    ui: &mut Ui,
    app: &App,
    runs: &[RunEntry],
    view: &mut ModelsView,
    chosen: &Selected,
    actions: &mut Vec<Action>,
) {
    let width = ui.available_width();
    if width < TWO_COLUMNS {
        let shown = Place::WithDetails;
        ScrollArea::vertical()
            .auto_shrink(false)
            .show(ui, |ui| list(ui, app, runs, view, chosen, shown, actions));
        return;
    }
    let height = ui.available_height();
    let (shown, list_width) = if width < TWO_CARDS {
        let list = (width * LIST_SHARE).clamp(*LIST_WIDTH.start(), *LIST_WIDTH.end());
        (Place::BesideDetails { columns: 1 }, list)
    } else {
        let list = (width * TWO_CARDS_SHARE).min(TWO_CARDS_WIDTH);
        (Place::BesideDetails { columns: 2 }, list)
    };
    let list_width = list_width.floor();
    ui.horizontal_top(|ui| {
        style::column(ui, vec2(list_width, height), |ui| {
            let area = ScrollArea::vertical()
                .id_salt("list of models")
                .auto_shrink(false);
            area.show(ui, |ui| list(ui, app, runs, view, chosen, shown, actions));
        });
        ui.add_space(style::GAP);
        ui.vertical(|ui| {
            let area = ScrollArea::vertical()
                .id_salt("details of the model")
                .auto_shrink(false);
            area.show(ui, |ui| {
                ui.set_max_width(ui.available_width().min(DETAILS_WIDTH));
                show_details(ui, app, runs, view, chosen, actions);
            });
        });
    });
}

/// The selected model if it still exists; else the newest run, else the starter model.
fn chosen(view: &ModelsView, runs: &[RunEntry]) -> Selected {
    match &view.selected {
        Some(Selected::Run(folder)) if runs.iter().any(|entry| entry.folder == *folder) => {
            Selected::Run(folder.clone())
        }
        Some(Selected::Starter) => Selected::Starter,
        _ => {
            let newest = runs.iter().find(|entry| entry.summary.is_ok());
            newest.map_or(Selected::Starter, |run| Selected::Run(run.folder.clone()))
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// The details are below the selected card.
    WithDetails,
    BesideDetails {
        columns: usize,
    },
}

fn list(
    ui: &mut Ui,
    app: &App,
    runs: &[RunEntry],
    view: &mut ModelsView,
    chosen: &Selected,
    place: Place,
    actions: &mut Vec<Action>,
) {
    list::interrupted(ui, app, &mut view.confirming, actions);
    view.order.show(ui, runs);
    let listed = view.order.arrange(runs);
    if listed.is_empty() && !runs.is_empty() {
        ui.label(style::hint("No model matches the search."));
    }
    if runs.is_empty() {
        style::full_card(ui, |ui| {
            ui.horizontal_top(|ui| {
                style::picture(ui, Icon::Models, 40.0);
                ui.add_space(style::GAP / 2.0);
                ui.vertical(|ui| {
                    style::strong(ui, "Your trained models will appear here.");
                    style::weak(
                        ui,
                        "Until you have trained one, the starter model recognizes your drawings.",
                    );
                    ui.add_space(style::GAP / 2.0);
                    ui.add(style::secondary_button("Train a model"))
                        .pushes(actions, || Action::Show(Screen::Train));
                });
            });
        });
    }
    let shown = match chosen {
        Selected::Run(folder) => runs
            .iter()
            .find(|entry| entry.folder == *folder)
            .map(|entry| curves::represented_by(runs, entry)),
        Selected::Starter => None,
    };
    let is_shown = |entry: Option<&RunEntry>| match (entry, shown) {
        (Some(entry), shown) => shown.is_some_and(|shown| shown.folder == entry.folder),
        (None, _) => *chosen == Selected::Starter,
    };
    let columns = match place {
        Place::WithDetails => 1,
        Place::BesideDetails { columns } => columns,
    };
    let between = ui.spacing().item_spacing.x * (columns - 1) as f32;
    let width = ((ui.available_width() - between) / columns as f32).floor();
    let listed = listed.into_iter();
    let mut cards: Vec<(Option<String>, Option<&RunEntry>)> = listed
        .map(|entry| (view.order.group(entry), Some(entry)))
        .collect();
    // The starter model comes last.
    let last = cards.last().and_then(|(group, _)| group.clone());
    cards.push((last, None));
    for group in cards.chunk_by(|(one, _), (other, _)| one == other) {
        if let Some((Some(name), _)) = group.first() {
            style::section(ui, name);
        }
        for row in group.chunks(columns) {
            let laid = row.iter().map(|(_, entry)| {
                let card = entry.map_or_else(
                    || card::of_starter(app),
                    |entry| card::of_run(app, runs, entry),
                );
                card.lay_out(ui, width)
            });
            let laid: Vec<_> = laid.collect();
            let height = laid.iter().map(card::Laid::height).fold(0.0, f32::max);
            ui.horizontal_top(|ui| {
                for (&(_, entry), card) in row.iter().zip(laid) {
                    let card = card.show(ui, height, is_shown(entry));
                    match entry {
                        Some(entry) => on_card(ui, app, runs, entry, &card, view, actions),
                        None if card.clicked() => view.selected = Some(Selected::Starter),
                        None => {}
                    }
                }
            });
            if place == Place::WithDetails && row.iter().any(|(_, entry)| is_shown(*entry)) {
                ui.indent("details", |ui| {
                    show_details(ui, app, runs, view, chosen, actions);
                });
            }
        }
    }
}

fn on_card(
    ui: &Ui,
    app: &App,
    runs: &[RunEntry],
    entry: &RunEntry,
    card: &Response,
    view: &mut ModelsView,
    actions: &mut Vec<Action>,
) {
    if card.clicked() {
        view.selected = Some(Selected::Run(entry.folder.clone()));
    }
    let Ok(summary) = &entry.summary else { return };
    if card.double_clicked() {
        let model = ModelRef::File(summary.model_path.clone());
        actions.push(Action::Draw(DrawAction::DrawWith(model)));
    }
    if card.has_focus()
        && view.editor.is_none()
        && ui.input_mut(|input| input.consume_shortcut(&shortcuts::RENAME))
    {
        view.selected = Some(Selected::Run(entry.folder.clone()));
        view.editor = Editor::open(entry, First::Name);
    }
    let shown = Shown {
        app,
        runs,
        entry,
        summary,
    };
    card.context_menu(|ui| offers::context_menu(ui, shown, view, actions));
}

fn show_details(
    ui: &mut Ui,
    app: &App,
    runs: &[RunEntry],
    view: &mut ModelsView,
    chosen: &Selected,
    actions: &mut Vec<Action>,
) {
    let Selected::Run(folder) = chosen else {
        return details::starter(ui, app, actions);
    };
    let Some(entry) = app.models.entry(folder) else {
        return;
    };
    match &entry.summary {
        Ok(summary) => {
            let shown = Shown {
                app,
                runs,
                entry,
                summary,
            };
            details::run(ui, shown, view, actions);
        }
        Err(error) => {
            let problem = error.clone().into();
            details::broken(ui, entry, &problem, &mut view.confirming, actions);
        }
    }
}
