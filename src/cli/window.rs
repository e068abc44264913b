//! Owns `inkling` without a command, alone or with files: the window, or one sentence where none can be opened.
//! Must not know what is in the window.

use std::ffi::OsString;
use std::path::{MAIN_SEPARATOR, Path, PathBuf};

use super::failure::Failure;

/// The files the window is to open, in full, where the arguments are files and not a command. What looks like a file but is none counts:
/// better told that it is not there than that there is no such command.
pub fn files(arguments: impl Iterator<Item = OsString>) -> Option<Vec<PathBuf>> {
    let files: Vec<PathBuf> = arguments.map(PathBuf::from).collect();
    let first = files.first()?;
    let name = first.to_string_lossy();
    let is_file = !name.starts_with('-') && (first.is_file() || name.contains(['.', '/', MAIN_SEPARATOR]));
    is_file.then(|| files.iter().map(|file| std::path::absolute(file).unwrap_or_else(|_| file.clone())).collect())
}

/// Opens the window and returns when it is closed; where one is open already, that one takes the files.
#[cfg(feature = "gui")]
pub fn open(files: &[PathBuf]) -> Result<(), Failure> {
    use crate::system::paths::Paths;
    use crate::system::single_instance::{Turn, take_turn};

    there_are(files)?;
    if !may_have_display() {
        return Err(no_display("There is no display (neither DISPLAY nor WAYLAND_DISPLAY is set)"));
    }
    let paths = Paths::find();
    let Turn::Open(post) = take_turn(&paths.local, files) else { return Ok(()) };
    let opened = crate::ui::run(paths, post, files.to_vec()).map_err(|error| match error {
        eframe::Error::Winit(_) | eframe::Error::WinitEventLoop(_) => {
            tracing::info!(%error, "no display");
            no_display("Inkling could not connect to the display")
        }
        error => Failure::Failed(format!(
            "The window could not be opened: {error}. Inkling draws with OpenGL; update the graphics driver, or use the command line (`inkling train`)."
        )),
    });
    if let Err(Failure::Failed(sentence) | Failure::Usage(sentence)) = &opened {
        show(sentence);
    }
    opened
}

#[cfg(feature = "gui")]
fn no_display(why: &str) -> Failure {
    Failure::Usage(format!(
        "{why}, so the window cannot be opened. To train in the terminal, run `inkling train`; `inkling --help` lists all commands."
    ))
}

/// Says that there is no window.
#[cfg(not(feature = "gui"))]
pub fn open(files: &[PathBuf]) -> Result<(), Failure> {
    there_are(files)?;
    Err(Failure::Usage(
        "This build of Inkling has no window. To train, run `inkling train`; `inkling --help` lists all commands.".to_owned(),
    ))
}

/// Whether all of them are there; what is in them, the window finds out.
fn there_are(files: &[PathBuf]) -> Result<(), Failure> {
    let missing = |file: &&PathBuf| !Path::exists(file);
    files.iter().find(missing).map_or(Ok(()), |file| {
        Err(Failure::Usage(format!("The file {} does not exist. Check its name; `inkling --help` lists all commands.", file.display())))
    })
}

/// Says it in a dialog, where a program opened by a double click has nowhere else to say it.
#[cfg(feature = "gui")]
fn show(sentence: &str) {
    use std::io::IsTerminal;
    if cfg!(any(windows, target_os = "macos")) && !std::io::stderr().is_terminal() {
        rfd::MessageDialog::new().set_level(rfd::MessageLevel::Error).set_title("Inkling").set_description(sentence).show();
    }
}

/// False where a display is certainly missing; elsewhere the window finds out.
#[cfg(feature = "gui")]
fn may_have_display() -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !cfg!(target_os = "linux") || ["DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET"].into_iter().any(set)
}
