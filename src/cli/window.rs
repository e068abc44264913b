//! `inkling` without a subcommand, with or without files: opens the window, or reports why it
//! cannot be opened.

use std::ffi::OsString;
use std::path::{MAIN_SEPARATOR, Path, PathBuf};

use super::failure::Failure;
use crate::text::visible;

/// The absolute paths of the files to open, if the arguments are files and not a subcommand. A name
/// that looks like a file but does not exist counts too: the error should be that the file is
/// missing, not that there is no such command.
pub fn files(arguments: impl Iterator<Item = OsString>) -> Option<Vec<PathBuf>> {
    let files: Vec<PathBuf> = arguments.map(PathBuf::from).collect();
    let first = files.first()?;
    let name = first.to_string_lossy();
    let is_file =
        !name.starts_with('-') && (first.is_file() || name.contains(['.', '/', MAIN_SEPARATOR]));
    is_file.then(|| {
        files
            .iter()
            .map(|file| std::path::absolute(file).unwrap_or_else(|_| file.clone()))
            .collect()
    })
}

/// Opens the window and returns when it is closed. If a window is already open, it takes the files
/// instead.
#[cfg(feature = "gui")]
pub fn open(files: &[PathBuf]) -> Result<(), Failure> {
    use crate::system::paths::Paths;
    use crate::system::single_instance::{Instance, claim_window};

    check_exist(files)?;
    if !may_have_display() {
        return Err(no_display(
            "There is no display (neither DISPLAY nor WAYLAND_DISPLAY is set)",
        ));
    }
    let paths = Paths::find();
    let Instance::Window(later_starts) = claim_window(&paths.local, files) else {
        return Ok(());
    };
    let opened = crate::window::run(paths, later_starts, files.to_vec()).map_err(|error| match error {
        eframe::Error::Winit(_) | eframe::Error::WinitEventLoop(_) => {
            tracing::info!(%error, "no display");
            no_display("Inkling could not connect to the display")
        }
        error => Failure::Failed(format!(
            "The window could not be opened: {error}. Inkling draws with OpenGL; update the graphics driver, or use the command line (`inkling train`)."
        )),
    });
    if let Err(Failure::Failed(sentence) | Failure::Usage(sentence)) = &opened {
        show_dialog(sentence);
    }
    match opened? {
        0 => Ok(()),
        status => Err(Failure::Terminated {
            sentence: None,
            status,
        }),
    }
}

#[cfg(feature = "gui")]
fn no_display(why: &str) -> Failure {
    Failure::Usage(format!(
        "{why}, so the window cannot be opened. To train in the terminal, run `inkling train`; `inkling --help` lists all commands."
    ))
}

/// Fails, because this build has no window.
#[cfg(not(feature = "gui"))]
pub fn open(files: &[PathBuf]) -> Result<(), Failure> {
    check_exist(files)?;
    Err(Failure::Usage(
        "This build of Inkling has no window. To train, run `inkling train`; `inkling --help` lists all commands.".to_owned(),
    ))
}

/// Checks that all files exist; the window checks their content.
fn check_exist(files: &[PathBuf]) -> Result<(), Failure> {
    let missing = |file: &&PathBuf| !Path::exists(file);
    files.iter().find(missing).map_or(Ok(()), |file| {
        Err(Failure::Usage(format!(
            "The file {} does not exist. Check its name; `inkling --help` lists all commands.",
            visible::path(file)
        )))
    })
}

/// Shows a message in a dialog if there is no terminal to print it to, as after a double click.
#[cfg(feature = "gui")]
fn show_dialog(sentence: &str) {
    use std::io::IsTerminal;
    if cfg!(any(windows, target_os = "macos")) && !std::io::stderr().is_terminal() {
        rfd::MessageDialog::new()
            .set_level(rfd::MessageLevel::Error)
            .set_title("Inkling")
            .set_description(sentence)
            .show();
    }
}

/// False if a display is certainly missing; otherwise opening the window will tell.
#[cfg(feature = "gui")]
fn may_have_display() -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !cfg!(target_os = "linux")
        || ["DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET"]
            .into_iter()
            .any(set)
}
