//! The engine's main loop: one job at a time, until shutdown.

use std::error::Error;
use std::sync::Arc;

use super::command_queue::CommandQueue;
use super::dataset_cache::DatasetCache;
use super::handle::{EngineSettings, no_thread};
use super::jobs::{self, Workspace};
use super::supervisor::WorkerContext;
use crate::protocol::Command;
use crate::runs::CheckpointThread;
use crate::system::priority;

/// Works until shutdown.
pub(super) fn work(
    settings: &EngineSettings,
    checkpoint_thread: &CheckpointThread,
    context: WorkerContext<'_>,
) {
    if settings.background_priority {
        priority::below_normal();
    }
    // Whatever computes outside of a run uses this pool. Started by its first use, it would panic
    // where there can be no further thread.
    if let Err(error) = rayon::ThreadPoolBuilder::new().build_global()
        && error.source().is_some()
    {
        return context.events.send(no_thread(&error));
    }
    let mut queue = CommandQueue::new(context, Arc::clone(&settings.devices));
    let mut workspace = Workspace {
        settings,
        checkpoint_thread,
        datasets: DatasetCache::default(),
    };
    loop {
        match queue.wait() {
            Command::Submit { id, job, data } => {
                workspace.datasets.sent = data;
                jobs::run(&mut workspace, &mut queue, id, &job);
            }
            Command::Shutdown | Command::Interrupt => return,
            // The job that was meant is over already.
            _ => {}
        }
    }
}
