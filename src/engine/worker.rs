//! The engine's main loop: one job at a time, until shutdown.

use std::error::Error;
use std::sync::Arc;

use thread_priority::ThreadPriority;
#[cfg(target_os = "linux")]
use thread_priority::unix::{NormalThreadSchedulePolicy, ThreadSchedulePolicy, set_thread_priority_and_policy, thread_native_id};

use super::command_queue::CommandQueue;
use super::dataset_cache::DatasetCache;
use super::handle::{EngineSettings, no_thread};
use super::jobs::{self, Workspace};
use super::supervisor::WorkerContext;
use crate::protocol::Command;
use crate::runs::CheckpointThread;

/// Works until shutdown.
pub(super) fn work(settings: &EngineSettings, checkpoint_thread: &CheckpointThread, context: WorkerContext<'_>) {
    if settings.background_priority {
        lower_priority();
    }
    // Whatever computes outside of a run uses this pool. Started by its first use, it would panic where there can be no further thread.
    if let Err(error) = rayon::ThreadPoolBuilder::new().build_global()
        && error.source().is_some()
    {
        return context.events.send(no_thread(&error));
    }
    let mut queue = CommandQueue::new(context, Arc::clone(&settings.devices));
    let mut workspace = Workspace { settings, checkpoint_thread, datasets: DatasetCache::default() };
    loop {
        match queue.wait() {
            Command::Submit { id, job } => jobs::run(&mut workspace, &mut queue, id, &job),
            Command::Shutdown | Command::Interrupt => return,
            // The job that was meant is over already.
            _ => {}
        }
    }
}

/// Lowers the priority of this thread, and on Linux of those it starts, below everything else's. Alone on the machine, training is as fast
/// as ever.
fn lower_priority() {
    // Idle scheduling beats the lowest nice value: a thread that draws never waits for the end of a training thread's slice.
    #[cfg(target_os = "linux")]
    let lowered = set_thread_priority_and_policy(
        thread_native_id(),
        ThreadPriority::Min,
        ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Idle),
    );
    #[cfg(not(target_os = "linux"))]
    let lowered = thread_priority::set_current_thread_priority(ThreadPriority::Min);
    if let Err(error) = lowered {
        tracing::debug!(?error, "training keeps its priority");
    }
}
