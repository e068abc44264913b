//! Saves the settings shortly after the last change, one write at a time, and on exit. A failure is
//! reported once.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::problem::{Message, Problem};
use crate::protocol::Command;
use crate::runs::Store;
use crate::settings::Settings;
use crate::sweep::SweepStore;
use crate::window::{Action, App, BackgroundTasks, Ctx, Draw, Severity, TrainAction};

/// Settings are written once nothing changed for this long.
const QUIET: Duration = Duration::from_millis(800);
/// How long closing waits for a write in progress.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

/// Which settings are on disk, and which are being written.
#[derive(Debug)]
pub struct Autosave {
    written: Settings,
    seen: Settings,
    changed: Instant,
    writing: Option<Settings>,
    failed: bool,
}

impl Autosave {
    /// `settings` are what was read at launch.
    pub fn new(settings: Settings) -> Self {
        Self {
            written: settings.clone(),
            seen: settings,
            changed: Instant::now(),
            writing: None,
            failed: false,
        }
    }

    /// Writes what changed when it is time; returns how long to wait otherwise.
    fn poll(
        &mut self,
        now: Settings,
        path: &Path,
        background: &BackgroundTasks,
    ) -> Option<Duration> {
        if now != self.seen {
            (self.seen, self.changed) = (now, Instant::now());
        }
        if self.failed || self.writing.is_some() || self.seen == self.written {
            return None;
        }
        let wait = QUIET.saturating_sub(self.changed.elapsed());
        if !wait.is_zero() {
            return Some(wait);
        }
        let (settings, path) = (self.seen.clone(), path.to_owned());
        self.writing = Some(settings.clone());
        background.run(
            move || settings.save(&path),
            |app, saved| {
                if let Some(problem) = app.ctx.autosave.wrote(saved) {
                    let message = Message::settings_not_saved(&problem);
                    app.ctx.show_notice(Severity::Info, message);
                }
            },
        );
        None
    }

    /// A write came back; returns what to say, the first time it failed.
    pub fn wrote(&mut self, outcome: Result<(), Problem>) -> Option<Problem> {
        let settings = self.writing.take()?;
        match outcome {
            Ok(()) => {
                self.written = settings;
                None
            }
            Err(problem) => (!std::mem::replace(&mut self.failed, true)).then_some(problem),
        }
    }
}

impl App {
    /// Ends what is under way and writes what is not written yet; the last thing before the window
    /// goes.
    pub fn close(&mut self) {
        self.apply(Action::Train(TrainAction::Stop));
        self.sweeps.interrupt_sweep(&self.ctx);
        let start = Instant::now();
        // A run that is stopped keeps its last full epoch, if it is given the time to write it.
        while (self.ctx.is_training()
            || self.ctx.is_sweeping()
            || self.ctx.autosave.writing.is_some()
            || self.models.changes.are_pending())
            && start.elapsed() < CLOSE_TIMEOUT
        {
            self.poll();
            std::thread::sleep(Duration::from_millis(5));
        }
        let settings = self.draw.settings_to_save(&self.ctx);
        if settings != self.ctx.autosave.written
            && let Err(problem) = settings.save(&self.ctx.deps.paths.settings)
        {
            tracing::warn!(%problem, "settings were not written");
        }
        Store::new(&self.ctx.deps.paths.runs).empty_deleted();
        SweepStore::new(&self.ctx.deps.paths.sweeps).empty_deleted();
        self.ctx.engine.handle.send(Command::Shutdown);
    }
}

impl Draw {
    /// The settings as they should be found at the next launch.
    pub fn settings_to_save(&self, ctx: &Ctx) -> Settings {
        Settings {
            config: ctx.config.clone(),
            pen: self.one.pen,
            ..ctx.settings.clone()
        }
    }

    pub fn autosave_settings(&mut self, ctx: &mut Ctx) -> Option<Duration> {
        let now = self.settings_to_save(ctx);
        ctx.autosave
            .poll(now, &ctx.deps.paths.settings, &ctx.background)
    }
}
