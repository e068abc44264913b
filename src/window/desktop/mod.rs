//! The desktop services the app needs, as a trait, so that tests can replace them. The machine
//! stays awake during training, and a notification reports the end of a run.

mod dialogs;
pub mod motion;
pub mod native;
#[cfg(target_os = "macos")]
pub mod opened_by_finder;
mod opening;

use std::any::Any;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};

use crate::ink::Image;
use crate::problem::{Message, Problem};
use crate::window::{Ctx, Phase, RunView, Severity, Shell};

pub use dialogs::{Answer, Choice, Dialogs, PathQuestion, Purpose};

/// The desktop. Called on threads that may wait, never on the window's.
pub trait Desktop: Send + Sync {
    /// Keeps this machine from falling asleep for as long as what is given lives, on this thread;
    /// `None` if it cannot be asked to.
    fn keep_awake(&self) -> Option<Box<dyn Any>>;

    /// Shows a notification, and calls `chosen` when it is clicked. May return at once or when it
    /// is gone.
    fn notify(&self, message: &Message, chosen: Arc<dyn Fn() + Send + Sync>);

    /// Shows a folder in the system's file manager.
    fn show_folder(&self, folder: &Path) -> Result<(), Problem>;

    /// Whether the person has turned animations off in the system's settings.
    fn reduces_motion(&self) -> bool;
}

/// Requests of the app to its window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WindowRequest {
    /// A sign that something has happened: a bouncing icon, a marked entry in the taskbar.
    Attention,
    /// To be in front of the others.
    Front,
    /// To put this text on the clipboard.
    Copy(String),
    /// To put this image on the clipboard.
    CopyImage(Box<Image>),
}

#[derive(Debug, Default)]
pub struct DesktopState {
    /// Kept while the machine is to stay awake: dropping it ends that.
    until: Option<Sender<()>>,
    /// True once the machine said that it stays awake.
    awake: bool,
    /// True if a run or a sweep was in progress at the last update.
    was_training: bool,
    /// A request to the window.
    wants: Option<WindowRequest>,
}

impl Ctx {
    /// Asks the system whether anything may move, which the person may have changed elsewhere.
    pub fn ask_about_motion(&self) {
        let desktop = Arc::clone(&self.deps.desktop);
        self.background.run(
            move || desktop.reduces_motion(),
            |app, reduced| app.ctx.motion_is_reduced = reduced,
        );
    }
}

impl Shell {
    /// Follows the run: keeps the machine awake while it trains, and announces its end.
    pub fn update(&mut self, ctx: &mut Ctx, run: Option<&RunView>) {
        let trains = |run: &RunView| run.is_active() && run.phase != Phase::Paused;
        let works = ctx.is_sweeping() || run.is_some_and(trains);
        let state = &mut self.desktop_state;
        match (works, state.until.is_some()) {
            (true, false) => self.stay_awake(ctx),
            (false, true) => (state.until, state.awake) = (None, false),
            _ => {}
        }
        let training = ctx.is_at_long_work();
        let was_training = std::mem::replace(&mut self.desktop_state.was_training, training);
        if was_training && !training && !ctx.focused {
            self.call(ctx, run);
        }
    }

    /// Announces how the run ended to somebody who looks elsewhere.
    fn call(&mut self, ctx: &Ctx, run: Option<&RunView>) {
        let Some(message) = run.and_then(ending) else {
            return;
        };
        self.desktop_state.wants = Some(WindowRequest::Attention);
        let (desktop, sender) = (Arc::clone(&ctx.deps.desktop), ctx.background.sender());
        let clicked = move || sender(Box::new(|app| app.shell.raise_window()));
        ctx.background.run(
            move || desktop.notify(&message, Arc::new(clicked)),
            |_, ()| {},
        );
    }
    /// True while this machine is kept from falling asleep.
    pub const fn stays_awake(&self) -> bool {
        self.desktop_state.awake && self.desktop_state.until.is_some()
    }

    /// A request to the window, carried out once.
    pub const fn take_window_request(&mut self) -> Option<WindowRequest> {
        self.desktop_state.wants.take()
    }

    /// Asks for the window to come to the front.
    pub fn raise_window(&mut self) {
        self.desktop_state.wants = Some(WindowRequest::Front);
    }

    /// Copies a text to the clipboard, with a notice.
    pub fn copy(&mut self, ctx: &mut Ctx, text: String) {
        self.desktop_state.wants = Some(WindowRequest::Copy(text));
        ctx.show_notice(Severity::Info, Message::diagnostics_copied());
    }

    /// Copies an image to the clipboard, with a notice.
    pub fn copy_image(&mut self, ctx: &mut Ctx, image: Box<Image>) {
        self.desktop_state.wants = Some(WindowRequest::CopyImage(image));
        ctx.show_notice(Severity::Info, Message::image_copied());
    }

    /// If the system cannot be asked to stay awake, nothing is reported.
    fn stay_awake(&mut self, ctx: &mut Ctx) {
        let (until, over) = channel();
        let desktop = Arc::clone(&ctx.deps.desktop);
        ctx.background.run_with_updates(move |tell| {
            let kept = desktop.keep_awake();
            let awake = kept.is_some();
            tell(Box::new(move |app| app.shell.on_awake(awake)));
            // Blocks until the other side is dropped; only then may the machine sleep again.
            let _ = over.recv();
        });
        self.desktop_state.until = Some(until);
    }

    pub fn on_awake(&mut self, awake: bool) {
        self.desktop_state.awake = awake;
    }
}

/// How a run ended; `None` for one that was discarded.
fn ending(run: &RunView) -> Option<Message> {
    match &run.phase {
        Phase::Finished(summary) => Some(Message::run_finished(summary)),
        Phase::Failed => Some(Message::run_interrupted()),
        _ => None,
    }
}
