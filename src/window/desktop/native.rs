//! Desktop services: keeping the machine awake, notifications, opening folders, and the system's
//! file dialogs.

use std::any::Any;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::thread::Thread;
use std::time::{Duration, Instant};

use notify_rust::Notification;
use rfd::{AsyncFileDialog, FileHandle};

use crate::problem::{Explain, Message, Problem, sentence};
use crate::window::desktop::motion;
use crate::window::{Answer, Choice, Desktop, Dialogs};

/// The application's identifier, as the packages register it.
const IDENTIFIER: &str = "app.inkling.Inkling";

/// The system's desktop. If it lacks a service (a bare window manager, a container), the call
/// does nothing.
#[derive(Clone, Copy, Debug)]
pub struct SystemDesktop;

impl Desktop for SystemDesktop {
    fn keep_awake(&self) -> Option<Box<dyn Any>> {
        // Only sleep is prevented; the display may turn off.
        let asked = keepawake::Builder::default()
            .idle(true)
            .sleep(true)
            .reason("Training a model")
            .app_name("Inkling")
            .app_reverse_domain(IDENTIFIER)
            .create();
        match asked {
            Ok(kept) => Some(Box::new(kept)),
            Err(error) => {
                tracing::info!(%error, "sleep cannot be inhibited");
                None
            }
        }
    }

    fn notify(&self, message: &Message, chosen: Arc<dyn Fn() + Send + Sync>) {
        let mut notification = Notification::new();
        notification
            .appname("Inkling")
            .summary(&message.what)
            .body(&message.remedy);
        #[cfg(all(unix, not(target_os = "macos")))]
        notification
            .icon("inkling")
            .hint(notify_rust::Hint::DesktopEntry("inkling".to_owned()))
            .action("default", "Show");
        // Takes effect only for an installed application; otherwise the system picks a name, or
        // shows nothing.
        #[cfg(target_os = "macos")]
        let _ = notify_rust::set_application(IDENTIFIER);
        #[cfg(windows)]
        notification.app_id(IDENTIFIER);
        match notification.show() {
            #[cfg(all(unix, not(target_os = "macos")))]
            Ok(shown) => shown.wait_for_action(|action| {
                if action == "default" {
                    chosen();
                }
            }),
            // On other systems a click on the notification brings the application to the front by
            // itself.
            #[cfg(not(all(unix, not(target_os = "macos"))))]
            Ok(_) => drop(chosen),
            Err(error) => tracing::info!(%error, "the notification could not be shown"),
        }
    }

    fn show_folder(&self, folder: &Path) -> Result<(), Problem> {
        let program = if cfg!(target_os = "windows") {
            "explorer"
        } else if cfg!(target_os = "macos") {
            "open"
        } else {
            "xdg-open"
        };
        let problem = |reason: String| NotShown {
            path: folder.to_owned(),
            reason,
        };
        let mut child = std::process::Command::new(program)
            .arg(folder)
            .spawn()
            .map_err(|error| problem(error.to_string()))?;
        let status = child.wait().map_err(|error| problem(error.to_string()))?;
        // Windows' explorer exits with 1 even on success.
        if status.success() || cfg!(target_os = "windows") {
            Ok(())
        } else {
            Err(problem(format!("{program} exited with {status}")).into())
        }
    }

    fn reduces_motion(&self) -> bool {
        motion::is_reduced()
    }
}

#[derive(Clone, Copy, Debug)]
pub struct SystemDialogs;

impl Dialogs for SystemDialogs {
    fn folder(&self, title: &str) -> Choice {
        let asked = AsyncFileDialog::new().set_title(title).pick_folder();
        Box::new(|| answer(asked))
    }

    fn open(&self, title: &str, what: &str, endings: &[&str]) -> Choice {
        let dialog = AsyncFileDialog::new()
            .set_title(title)
            .add_filter(what, endings)
            .add_filter("All files", &["*"]);
        let asked = dialog.pick_file();
        Box::new(|| answer(asked))
    }

    fn save(&self, title: &str, name: &str) -> Choice {
        let asked = AsyncFileDialog::new()
            .set_title(title)
            .set_file_name(name)
            .save_file();
        Box::new(|| answer(asked))
    }
}

/// Nobody cancels a dialog faster than this after asking for it: there was none.
const FASTEST_PERSON: Duration = Duration::from_millis(400);

fn answer(asked: impl Future<Output = Option<FileHandle>>) -> Answer {
    let start = Instant::now();
    match wait_for(asked) {
        Some(chosen) => Answer::Chosen(chosen.path().to_owned()),
        None if start.elapsed() < FASTEST_PERSON => Answer::NotShown,
        None => Answer::Cancelled,
    }
}

/// Wakes the thread that waits for the dialog.
struct Unpark(Thread);

impl std::task::Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Runs the future to completion, blocking this thread.
fn wait_for<T>(answer: impl Future<Output = T>) -> T {
    let mut answer = pin!(answer);
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(value) = answer.as_mut().poll(&mut context) {
            return value;
        }
        std::thread::park();
    }
}

#[derive(Debug, thiserror::Error)]
#[error("{path} could not be opened: {}", sentence(reason))]
struct NotShown {
    path: PathBuf,
    reason: String,
}

impl Explain for NotShown {
    fn remedy(&self) -> String {
        "Open the folder in your file manager.".to_owned()
    }
}
