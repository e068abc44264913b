//! The file dialogs the app needs, as a trait, so that tests can replace them; and a question of
//! our own for desktops that have none.

use std::path::{Path, PathBuf};

use crate::problem::Message;
use crate::run_config::DatasetFormat;
use crate::system::files::write_whole;
use crate::window::{App, Ctx, Shell};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    Chosen(PathBuf),
    Cancelled,
    /// None could be shown: some desktops have neither a portal nor zenity.
    NotShown,
}

pub type Choice = Box<dyn FnOnce() -> Answer + Send>;

/// Opens dialogs. Called on the window's thread, as some systems demand; the answer is waited for
/// on another.
pub trait Dialogs {
    fn folder(&self, title: &str) -> Choice;
    /// A file that exists; those with one of these endings are shown first, and named `what`.
    fn open(&self, title: &str, what: &str, endings: &[&str]) -> Choice;
    /// A file to write, with the name that is offered.
    fn save(&self, title: &str, name: &str) -> Choice;
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// The folder of a run that could not be saved where it was to be.
    RunFolder,
    DataFolder,
    CudaFolder,
    /// The file to export the model to.
    Export,
    /// A file of weights to import.
    Import,
    ImportInk,
    /// An image or ink file to open on the canvas.
    OpenInDraw,
    /// A lesson to open.
    Lesson,
    /// The file or folder to export the kept drawings to.
    ExportMyDigits(DatasetFormat),
    /// The file to write these bytes to.
    Save(Vec<u8>),
}

/// The question for a path, if no dialog could be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathQuestion {
    /// The dialog's title.
    pub title: String,
    pub text: String,
    /// The problem with it, once it was confirmed.
    pub refused: Option<Message>,
    purpose: Purpose,
}

impl App {
    pub fn use_path(&mut self, path: PathBuf, purpose: Purpose) {
        self.shell.path_question = None;
        match purpose {
            Purpose::RunFolder => self.train.save_run(&mut self.ctx, Some(path)),
            Purpose::DataFolder => self.train.use_data_folder(&mut self.ctx, path),
            Purpose::CudaFolder => self.machine.use_cuda_folder(&mut self.ctx, Some(path)),
            Purpose::Export => self.models.export_to(&mut self.ctx, path),
            Purpose::Import => self.ctx.import(path),
            Purpose::ImportInk => self.ctx.import_ink(path),
            Purpose::OpenInDraw => self.ctx.open_on_canvas(path),
            Purpose::Lesson => self.open_lesson(path),
            Purpose::ExportMyDigits(format) => self.ctx.export_my_digits(path, format),
            Purpose::Save(bytes) => self.ctx.background.run(
                move || write_whole(&path, &bytes).map(|()| path),
                |app, written| app.ctx.tell_written(written),
            ),
        }
    }
}

impl Ctx {
    pub fn ask_for_folder(&self, title: &str, purpose: Purpose) {
        self.ask(self.deps.dialogs.folder(title), title, "", purpose);
    }

    pub fn ask_for_file(&self, title: &str, what: &str, endings: &[&str], purpose: Purpose) {
        self.ask(
            self.deps.dialogs.open(title, what, endings),
            title,
            "",
            purpose,
        );
    }

    pub fn ask_for_new_file(&self, title: &str, name: &str, purpose: Purpose) {
        self.ask(self.deps.dialogs.save(title, name), title, name, purpose);
    }

    fn ask(&self, choice: Choice, title: &str, name: &str, purpose: Purpose) {
        let (title, name) = (title.to_owned(), name.to_owned());
        self.background.run(choice, |app, answer| match answer {
            Answer::Chosen(path) => app.use_path(path, purpose),
            Answer::Cancelled => {}
            Answer::NotShown => {
                let suggested = std::env::home_dir().unwrap_or_default().join(name);
                app.shell.path_question = Some(PathQuestion {
                    title,
                    text: suggested.display().to_string(),
                    refused: None,
                    purpose,
                });
            }
        });
    }
}

impl Shell {
    pub fn type_path(&mut self, text: String) {
        if let Some(question) = &mut self.path_question {
            (question.text, question.refused) = (text, None);
        }
    }

    /// Uses the path that was typed if it is what was asked for; that is looked up on another
    /// thread, since a disk may keep it waiting.
    pub fn confirm_path(&self, ctx: &Ctx) {
        let Some(question) = self.path_question.clone() else {
            return;
        };
        ctx.background.run(
            move || {
                let path = PathBuf::from(question.text.trim());
                let refused = refusal(&path, &question.purpose);
                (
                    path,
                    PathQuestion {
                        refused,
                        ..question
                    },
                )
            },
            |app, (path, question)| match question.refused {
                None => app.use_path(path, question.purpose),
                Some(_) => app.shell.path_question = Some(question),
            },
        );
    }
}

/// Why the path cannot be used for this, as the system's dialogs would put it.
fn refusal(path: &Path, purpose: &Purpose) -> Option<Message> {
    let is_new = !path.as_os_str().is_empty() && path.parent().is_some_and(Path::is_dir);
    match purpose {
        Purpose::RunFolder | Purpose::DataFolder | Purpose::CudaFolder => {
            (!path.is_dir()).then(|| Message::no_such_folder(path))
        }
        Purpose::Import | Purpose::ImportInk | Purpose::OpenInDraw | Purpose::Lesson => {
            (!path.is_file()).then(|| Message::no_such_file(path))
        }
        Purpose::Export | Purpose::ExportMyDigits(_) | Purpose::Save(_) if path.exists() => {
            Some(Message::file_exists(path))
        }
        Purpose::Export | Purpose::ExportMyDigits(_) | Purpose::Save(_) => {
            (!is_new).then(|| Message::no_such_folder(path.parent().unwrap_or(path)))
        }
    }
}
