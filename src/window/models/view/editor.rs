//! The dialogs of the Models screen: a model's name, note and tags, and how the weights of a file
//! are meant, if trials left doubt.

use std::path::PathBuf;

use eframe::egui::text::{CCursor, CCursorRange};
use eframe::egui::{Key, Label, TextEdit, Ui};

use crate::records::Annotation;
use crate::runs::RunEntry;
use crate::window::{Action, App, ModelsAction, Pushes as _, style};

#[derive(Clone, Debug)]
pub struct Editor {
    folder: PathBuf,
    annotation: Annotation,
    tags: String,
    /// The title of the model without a name.
    unnamed: String,
    /// The field that has the keyboard's focus while nothing else has.
    first: First,
    /// True until the name has been selected, so that a new one replaces it.
    fresh: bool,
}

/// The field that the dialog opens with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum First {
    Name,
    Note,
    Tags,
}

impl Editor {
    /// For this run; nothing for a damaged one.
    pub fn open(entry: &RunEntry, first: First) -> Option<Self> {
        let unnamed = entry.summary.as_ref().ok()?.config.title();
        let (annotation, tags) = (entry.annotation.clone(), entry.annotation.tags.join(", "));
        Some(Self {
            folder: entry.folder.clone(),
            annotation,
            tags,
            unnamed,
            first,
            fresh: true,
        })
    }
}

/// Shows the dialog while it is open: Enter saves, Escape cancels. A click beside it does not: what
/// was typed would be lost.
pub fn editor(ui: &Ui, app: &App, editor: &mut Option<Editor>, actions: &mut Vec<Action>) {
    let Some(open) = editor else { return };
    let modal = style::dialog(ui, "name and note", 460.0, |ui| {
        ui.heading("Name, note and tags");
        ui.add_space(style::GAP / 2.0);
        let mut entered = name_field(ui, open);
        let problem = app.models.name_problem(&open.folder, &open.annotation.name);
        match &problem {
            Some(problem) => style::invalid(ui, &problem.to_string()),
            None => style::note(
                ui,
                "Without a name, the model is called after its network and data.",
            ),
        };
        ui.add_space(style::GAP / 2.0);
        entered |= note_field(ui, open);
        ui.add_space(style::GAP / 2.0);
        entered |= tags_field(ui, open);
        ui.add_space(style::GAP);
        ui.horizontal(|ui| {
            let save = ui.add_enabled(problem.is_none(), style::primary_button("Save"));
            let saved = save.clicked() || (entered && problem.is_none());
            if saved {
                let tags = Annotation::tags_of(&open.tags);
                actions.push(Action::Models(ModelsAction::Annotate(
                    open.folder.clone(),
                    Annotation {
                        tags,
                        ..open.annotation.clone()
                    },
                )));
            }
            saved
                || ui
                    .add(style::secondary_button("Cancel"))
                    .on_hover_text("Escape")
                    .clicked()
        })
        .inner
    });
    if modal.inner || style::escaped(&modal) {
        *editor = None;
    }
}

/// True once Enter was pressed in it.
fn name_field(ui: &mut Ui, editor: &mut Editor) -> bool {
    let label = ui.label("Name");
    let text = &mut editor.annotation.name;
    let field = TextEdit::singleline(text)
        .hint_text(editor.unnamed.clone())
        .char_limit(Annotation::MAX_NAME);
    let mut shown = field.desired_width(f32::INFINITY).show(ui);
    let field = shown.response.response.labelled_by(label.id);
    // Enter takes the focus from the field.
    let entered = field.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
    if editor.first == First::Name && !entered && is_unfocused(ui) {
        field.request_focus();
        if std::mem::take(&mut editor.fresh) {
            let all = CCursorRange::two(
                CCursor::default(),
                CCursor::new(editor.annotation.name.chars().count()),
            );
            shown.state.cursor.set_char_range(Some(all));
            shown.state.store(ui.ctx(), field.id);
        }
    }
    entered
}

/// True once Enter was pressed in it.
fn note_field(ui: &mut Ui, editor: &mut Editor) -> bool {
    let label = ui.label("Note");
    let text = &mut editor.annotation.note;
    // Enter does not begin a line here: it saves, as in the field above.
    let field = TextEdit::multiline(text)
        .return_key(None)
        .desired_rows(2)
        .char_limit(Annotation::MAX_NOTE)
        .cursor_at_end(true);
    let field = ui
        .add(
            field
                .hint_text("For example what you tried with it")
                .desired_width(f32::INFINITY),
        )
        .labelled_by(label.id);
    if editor.first == First::Note && is_unfocused(ui) {
        field.request_focus();
    }
    field.has_focus() && ui.input(|input| input.key_pressed(Key::Enter))
}

/// True once Enter was pressed in it.
fn tags_field(ui: &mut Ui, editor: &mut Editor) -> bool {
    let label = ui.label("Tags");
    let most = Annotation::MAX_TAGS * (Annotation::MAX_TAG + 2);
    let field = TextEdit::singleline(&mut editor.tags)
        .hint_text("Separated by commas: baseline, augmented")
        .char_limit(most);
    let field = ui
        .add(field.desired_width(f32::INFINITY))
        .labelled_by(label.id);
    let entered = field.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
    if editor.first == First::Tags && !entered && is_unfocused(ui) {
        field.request_focus();
    }
    entered
}

fn is_unfocused(ui: &Ui) -> bool {
    ui.memory(|memory| memory.focused().is_none())
}

/// Shows it while it is asked: what was measured, a button for each reading that Inkling can build,
/// and Cancel.
pub fn import_question(ui: &Ui, app: &App, actions: &mut Vec<Action>) {
    let Some(question) = &app.models.import_question else {
        return;
    };
    let modal = style::dialog(ui, "import-question", 560.0, |ui| {
        ui.heading("How was this network built?");
        ui.add(Label::new(&question.what).wrap());
        ui.add_space(style::GAP);
        ui.label("Import it with:");
        for (label, spec) in question.choices() {
            ui.add(style::secondary_button(&label))
                .pushes(actions, || ModelsAction::ImportAs(spec));
        }
        if let Some(otherwise) = question.trials.otherwise() {
            ui.add_space(style::GAP);
            style::note(ui, otherwise);
        }
        ui.add_space(style::GAP);
        ui.add(style::secondary_button("Cancel")).clicked()
    });
    if modal.inner || style::escaped(&modal) {
        actions.push(Action::Models(ModelsAction::CloseImportQuestion));
    }
}
