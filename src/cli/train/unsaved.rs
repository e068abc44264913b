//! A run that has ended and cannot be saved: what can be done about it is said, and a folder that
//! is typed is taken.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::thread::Builder;

use crate::cli::engine::Engine;
use crate::cli::format::quoted;
use crate::cli::interrupt;
use crate::cli::progress::Progress;
use crate::records::RunPosition;
use crate::run_config::RunConfig;
use crate::text::visible;

/// What was said about a run that cannot be saved.
#[derive(Debug, Default)]
pub struct Unsaved {
    /// True once Ctrl-C means to end without saving.
    instructed: bool,
    /// True once a folder can be typed.
    reads_folders: bool,
}

impl Unsaved {
    /// Says what Ctrl-C does now, and how another folder is chosen. `checkpoint` is the folder of
    /// the run's checkpoint and how far the run is in it.
    pub fn instruct(
        &mut self,
        engine: &Engine,
        config: &RunConfig,
        checkpoint: Option<(&Path, RunPosition)>,
        progress: &Progress,
    ) {
        // A Ctrl-C that has stopped the training is not one that gives up its result. The next one
        // that fails to save anything is.
        let was_tried = self.instructed && interrupt::requested().is_some();
        if !was_tried {
            interrupt::forget_stop();
        }
        self.instructed = true;
        if !self.reads_folders && is_foreground_terminal() {
            self.reads_folders = read_folders(engine);
        }
        if self.reads_folders {
            progress
                .note("To save it in another folder, type the path of the folder and press Enter.");
        }
        progress.note(&match checkpoint {
            Some((folder, position)) => {
                let then = if position.epochs >= config.epochs {
                    "saves it".to_owned()
                } else {
                    format!("resumes it after {position} of {}", config.epochs)
                };
                format!("Press Ctrl-C to end without saving; `inkling train --resume {}` then {then}.", quoted(folder))
            }
            None if was_tried => "Nothing could be saved anywhere. Press Ctrl-C again to end: the run is then lost.".to_owned(),
            None => format!(
                "Press Ctrl-C to end; Inkling then saves what it can: the run or its model alone, there or in {}.",
                visible::path(&std::env::temp_dir())
            ),
        });
    }
}

/// Takes every line of standard input for a folder to save the run in; false if there can be no
/// thread for it.
fn read_folders(engine: &Engine) -> bool {
    let save = engine.run_saver();
    let read = move || {
        for line in io::stdin().lines().map_while(Result::ok) {
            save(folder_of(line.trim()));
        }
    };
    Builder::new()
        .name("inkling-folders".to_owned())
        .spawn(read)
        .is_ok()
}

/// The folder that was typed: `~` is the home folder, as in a shell. Without one it is tried again.
fn folder_of(typed: &str) -> Option<PathBuf> {
    let home = |rest: &str| {
        Some(
            directories::BaseDirs::new()?
                .home_dir()
                .join(rest.trim_start_matches('/')),
        )
    };
    let folder = match typed.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => {
            home(rest).unwrap_or_else(|| typed.into())
        }
        _ => typed.into(),
    };
    (!typed.is_empty()).then_some(folder)
}

/// Whether somebody can type. From now on this process may go to the background: reading from its
/// terminal is an error there, and does not suspend it.
#[cfg(unix)]
fn is_foreground_terminal() -> bool {
    // SAFETY: numbers are taken and given, and no handler is installed; without a terminal the
    // group is -1.
    let foreground = unsafe {
        libc::signal(libc::SIGTTIN, libc::SIG_IGN);
        libc::tcgetpgrp(libc::STDIN_FILENO) == libc::getpgrp()
    };
    foreground && io::stdin().is_terminal()
}

#[cfg(not(unix))]
fn is_foreground_terminal() -> bool {
    io::stdin().is_terminal()
}
