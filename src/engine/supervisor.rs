//! Owns the engine thread and what happens when its work panics: the caller is told, and a fresh start is made.
//! Must not know what the work is.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::Receiver;

use super::event_sink::EventSink;
use super::handle::EngineSide;
use crate::problem::Problem;
use crate::protocol::{Command, Event, Task};

/// What work is given: its commands, its way out, and a place to note what it is busy with, so that a panic can be laid at
/// the right door.
#[derive(Debug)]
pub struct WorkerContext<'a> {
    /// What is asked, in order.
    pub commands: &'a mut Receiver<Command>,
    /// Where events go.
    pub events: &'a mut EventSink,
    /// What the work is busy with.
    pub current: &'a mut Option<Task>,
}

/// Runs `work` on a thread of its own until it returns, again after each panic.
pub fn supervise(side: EngineSide, mut work: impl FnMut(WorkerContext<'_>) + Send + 'static) {
    let spawned = std::thread::Builder::new().name("inkling-engine".to_owned()).spawn(move || {
        let EngineSide { mut commands, events } = side;
        loop {
            let (mut sink, mut current) = (events.fork(), None);
            // Nothing the work owned outlives a panic: its state, its models and its half-sent telemetry are dropped here.
            let context = WorkerContext { commands: &mut commands, events: &mut sink, current: &mut current };
            let Err(panic) = catch_unwind(AssertUnwindSafe(|| work(context))) else { return };
            let message = panic_message(panic.as_ref());
            tracing::error!(%message, "the engine panicked");
            events.send(Event::Failed { what: current.unwrap_or(Task::Model), problem: Problem::Panicked { message } });
            events.send(Event::Restarted);
        }
    });
    if let Err(error) = spawned {
        // The caller sees its line go dead, which it reports as the engine being gone.
        tracing::error!(%error, "no thread for the engine");
    }
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
    panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no reason given".to_owned())
}
