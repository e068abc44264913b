//! The file dialogs the app needs, as a trait, so that tests can replace them.

use std::path::PathBuf;

/// Waits for the person's choice; `None` when the dialog was cancelled or could not be shown.
pub type Choice = Box<dyn FnOnce() -> Option<PathBuf> + Send>;

/// Opens dialogs. Called on the window's thread, as some systems demand; the choice is waited for on another.
pub trait Dialogs {
    /// A folder that exists.
    fn folder(&self, title: &str) -> Choice;
    /// A file that exists; those with one of these endings are shown first, and named `what`.
    fn open(&self, title: &str, what: &str, endings: &[&str]) -> Choice;
    /// A file to write, with the name that is offered.
    fn save(&self, title: &str, name: &str) -> Choice;
}
