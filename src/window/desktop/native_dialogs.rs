//! The system's file dialogs.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::{Duration, Instant};

use rfd::{AsyncFileDialog, FileHandle};

use crate::window::{Answer, Choice, Dialogs};

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

impl Wake for Unpark {
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
