//! The desktop services the app needs, as a trait, so that tests can replace them.

mod dialogs;
mod integration;
pub mod native;
#[cfg(target_os = "macos")]
pub mod opened_by_finder;
mod opening;

use std::any::Any;
use std::path::Path;

use crate::problem::{Message, Problem};
use crate::window::Wake;

pub use dialogs::{Answer, Choice, Dialogs, PathQuestion, Purpose};
pub use integration::{DesktopState, WindowRequest};

/// The desktop. Called on threads that may wait, never on the window's.
pub trait Desktop: Send + Sync {
    /// Keeps this machine from falling asleep for as long as what is given lives, on this thread;
    /// `None` where it cannot be asked to.
    fn keep_awake(&self) -> Option<Box<dyn Any>>;

    /// Shows a notification, and calls `chosen` when it is clicked. May return at once or when it
    /// is gone.
    fn notify(&self, message: &Message, chosen: Wake);

    /// Shows a folder in the system's file manager.
    fn show_folder(&self, folder: &Path) -> Result<(), Problem>;
}
