//! Owns the engine's day: waits for orders, runs and measures one at a time.
//! Must not know how training works inside, nor who listens.

use std::sync::Arc;

use thread_priority::ThreadPriority;
#[cfg(target_os = "linux")]
use thread_priority::unix::{NormalThreadSchedulePolicy, ThreadSchedulePolicy, set_thread_priority_and_policy, thread_native_id};

use super::command_queue::{CommandQueue, Order};
use super::dataset_cache::DatasetCache;
use super::handle::EngineSettings;
use super::jobs::{benchmark, evaluate, export, import, train};
use super::supervisor::WorkerContext;
use crate::protocol::Task;
use crate::runs::Scribe;

/// Works until shutdown.
pub(super) fn work(settings: &EngineSettings, scribe: &Scribe, context: WorkerContext<'_>) {
    if settings.background_priority {
        lower_priority();
    }
    let mut queue = CommandQueue::open(context, Arc::clone(&settings.devices));
    let mut datasets = DatasetCache::default();
    loop {
        match queue.wait() {
            Order::Start { run, config, from } => {
                queue.busy_with(Some(Task::Run(run)));
                train::carry_out(settings, scribe, &mut queue, &mut datasets, run, &config, from.as_deref());
            }
            Order::Evaluate { request, model, data } => {
                queue.busy_with(Some(Task::Evaluation(request)));
                evaluate::carry_out(settings, &mut queue, &mut datasets, request, &model, data);
            }
            Order::Benchmark { request, extent } => {
                queue.busy_with(Some(Task::Benchmark(request)));
                benchmark::carry_out(settings, &mut queue, request, extent);
            }
            Order::Compare { request, config, sides } => {
                queue.busy_with(Some(Task::Benchmark(request)));
                benchmark::compare(settings, &mut queue, request, &config, &sides);
            }
            Order::Export { request, model, spec, to } => {
                queue.busy_with(Some(Task::Export(request)));
                export::carry_out(settings, &mut queue, &mut datasets, request, &model, &spec, &to);
            }
            Order::Import { request, spec } => {
                queue.busy_with(Some(Task::Import(request)));
                import::carry_out(settings, &queue, request, &spec);
            }
            // What they name is over already.
            Order::Pause(_)
            | Order::Resume(_)
            | Order::Stop(_)
            | Order::CancelEvaluation(_)
            | Order::CancelBenchmark(_)
            | Order::CancelExport(_) => {}
            Order::Shutdown => return,
        }
        queue.busy_with(None);
    }
}

/// Has this thread, and on Linux those it starts, take only what nobody else wants of the processor. Alone on the machine,
/// training is as fast as ever.
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
