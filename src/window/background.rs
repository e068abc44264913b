//! Work outside the engine that takes time: detecting hardware, searching folders, writing files.
//! Each task runs on a separate thread, so the window never waits; what becomes of its result is
//! given beside it, and happens on the window's thread.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use super::state::App;
use crate::protocol::Urgency;
use crate::system::threads;

/// Called from other threads when there is something new to process.
pub type Wake = Arc<dyn Fn(Urgency) + Send + Sync>;

/// Handles a task's result.
pub type Then = Box<dyn FnOnce(&mut App) + Send>;

/// A folder that tasks list and change. Tasks on one folder run one at a time: otherwise what was
/// listed before a change could arrive after it, and a listing that holds a lock could make the
/// change fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharedFolder {
    Runs,
    Checkpoints,
    Sweeps,
}

/// Starts tasks and collects what becomes of their results.
pub struct BackgroundTasks {
    sender: Sender<Then>,
    results: Receiver<Then>,
    wake: Wake,
    /// One for each [`SharedFolder`].
    locks: [Arc<Mutex<()>>; 3],
}

impl BackgroundTasks {
    /// `wake` is called after each result.
    pub fn new(wake: Wake) -> Self {
        let (sender, results) = channel();
        Self {
            sender,
            results,
            wake,
            locks: std::array::from_fn(|_| Arc::default()),
        }
    }

    /// Runs a task, and then this with its result.
    pub fn run<T>(
        &self,
        task: impl FnOnce() -> T + Send + 'static,
        then: impl FnOnce(&mut App, T) + Send + 'static,
    ) where
        T: Send + 'static,
    {
        self.run_with_updates(move |report| {
            let result = task();
            report(Box::new(move |app| then(app, result)));
        });
    }

    /// Runs a task that lists or changes this folder, once no other does.
    pub fn run_on<T>(
        &self,
        folder: SharedFolder,
        task: impl FnOnce() -> T + Send + 'static,
        then: impl FnOnce(&mut App, T) + Send + 'static,
    ) where
        T: Send + 'static,
    {
        let lock = Arc::clone(&self.locks[folder as usize]);
        self.run_with_updates(move |report| {
            let _only = threads::lock(&lock);
            let result = task();
            report(Box::new(move |app| then(app, result)));
        });
    }

    pub fn run_with_updates(&self, task: impl FnOnce(&dyn Fn(Then)) + Send + 'static) {
        let sender = self.sender();
        let spawned = threads::spawn("inkling-task", move || task(&sender));
        if let Err(error) = spawned {
            tracing::error!(%error, "no thread for a background task");
        }
    }

    /// Takes results from elsewhere.
    pub fn sender(&self) -> impl Fn(Then) + Send + Sync + use<> {
        let (sender, wake) = (self.sender.clone(), Arc::clone(&self.wake));
        move |then| {
            if sender.send(then).is_ok() {
                wake(Urgency::Now);
            }
        }
    }

    /// Takes the next result, if one has come.
    pub fn next(&self) -> Option<Then> {
        self.results.try_recv().ok()
    }
}
