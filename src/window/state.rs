//! The application's state: creating it, queries of the window, and closing.

use crate::settings::Settings;
use std::path::{Path, PathBuf};

use super::ctx::{AppDeps, Ctx};
use super::desktop::{DesktopState, PathQuestion};
use super::digit_map::MapOfDigits;
use super::draw::Draw;
use super::hardware::Machine;
use super::lessons::Lessons;
use super::models::Models;
use super::my_digits::MyDigitsView;
use super::notice::Severity;
use super::results::Results;
use super::sweeps::Sweeps;
use super::train::Train;
use crate::data::FoundDataset;
use crate::problem::Message;
use crate::run_config::DataSource;

pub struct App {
    pub ctx: Ctx,
    pub shell: Shell,
    pub train: Train,
    pub draw: Draw,
    pub models: Models,
    pub results: Results,
    pub sweeps: Sweeps,
    pub machine: Machine,
    pub my_digits: MyDigitsView,
    pub lessons: Lessons,
    pub map: MapOfDigits,
}

/// Questions for a path if no dialog can be shown, and requests to the system.
#[derive(Default)]
pub struct Shell {
    /// The question for a path, if no dialog could be shown.
    pub path_question: Option<PathQuestion>,
    pub(in crate::window) desktop_state: DesktopState,
}

impl App {
    /// The state at launch. Discovery starts after the first frame, by [`App::start_discovery`].
    ///
    /// `set_aside` is the new name of a settings file that could not be read.
    pub fn new(settings: Settings, set_aside: Option<PathBuf>, deps: AppDeps) -> Self {
        let draw = Draw::new(settings.pen);
        let mut app = Self {
            ctx: Ctx::new(settings, deps),
            shell: Shell::default(),
            train: Train::default(),
            draw,
            models: Models::default(),
            machine: Machine::default(),
            results: Results::default(),
            sweeps: Sweeps::default(),
            my_digits: MyDigitsView::default(),
            lessons: Lessons::default(),
            map: MapOfDigits::default(),
        };
        if let Some(aside) = set_aside {
            app.ctx
                .show_notice(Severity::Info, Message::settings_set_aside(&aside));
        }
        app.send_inference_choice();
        app
    }
}

impl Train {
    /// True while Train shows the next run: if there is no other, or the person has chosen so.
    pub const fn shows_next_run(&self) -> bool {
        self.run.is_none() || self.next_run_shown
    }
}

impl Ctx {
    /// The source of a found data set: its name if the engine finds it by name, else its path.
    pub fn source_of(&self, found: &FoundDataset) -> DataSource {
        let known = self
            .engine
            .data_folders
            .iter()
            .any(|folder| found.folder.starts_with(folder));
        if known {
            DataSource::Named(found.set)
        } else {
            DataSource::Path(found.folder.clone())
        }
    }

    pub fn runs_folder(&self) -> &Path {
        &self.deps.paths.runs
    }
}

impl std::fmt::Debug for App {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("App")
            .field("screen", &self.ctx.screen)
            .field("run", &self.train.run)
            .finish_non_exhaustive()
    }
}
