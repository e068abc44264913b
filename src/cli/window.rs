//! Owns `inkling` without a command: the window, or one sentence where none can be opened.
//! Must not know what is in the window.

use super::failure::Failure;

/// Opens the window and returns when it is closed.
#[cfg(feature = "gui")]
pub fn open() -> Result<(), Failure> {
    let no_display = |why: &str| {
        Failure::Usage(format!(
            "{why}, so the window cannot be opened; to train in the terminal, type `inkling train` (`inkling --help` shows all commands)."
        ))
    };
    if !may_have_display() {
        return Err(no_display("There is no display (neither DISPLAY nor WAYLAND_DISPLAY is set)"));
    }
    crate::ui::run().map_err(|error| match error {
        eframe::Error::Winit(_) | eframe::Error::WinitEventLoop(_) => {
            tracing::info!(%error, "no display");
            no_display("The display could not be reached")
        }
        error => Failure::Failed(format!(
            "The window could not be opened: {error}. Inkling draws with OpenGL; update the graphics driver, or use the command line (`inkling train`)."
        )),
    })
}

/// Says that there is no window.
#[cfg(not(feature = "gui"))]
pub fn open() -> Result<(), Failure> {
    Err(Failure::Usage(
        "This build of Inkling has no window; to train, type `inkling train` (`inkling --help` shows all commands).".to_owned(),
    ))
}

/// False where a display is certainly missing; elsewhere the window finds out.
#[cfg(feature = "gui")]
fn may_have_display() -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !cfg!(target_os = "linux") || ["DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET"].into_iter().any(set)
}
