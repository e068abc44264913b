//! Threads: starting them, what they share, and which of them the operating system prefers: those
//! that draw, then those that somebody waits for, then training.

use std::io;
use std::panic::resume_unwind;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle, scope};

#[cfg(target_os = "linux")]
use thread_priority::unix::{
    NormalThreadSchedulePolicy, ThreadSchedulePolicy, set_thread_priority_and_policy,
    thread_native_id,
};
use thread_priority::{ThreadPriority, ThreadPriorityValue};

/// Does this work on a thread of this name; an error if there can be no further one.
pub fn spawn<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    Builder::new().name(name.to_owned()).spawn(work)
}

/// Locks the shared value, also after another thread panicked while it had it.
pub fn lock<T: ?Sized>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// On a scale of 0 to 99 whose middle is normal: the nearest to that which Windows calls below
/// normal. On Linux it is a nice value of 3, a third of a core beside another program that takes
/// all it can get; somebody waits for the work.
const BELOW_NORMAL: u8 = 39;

/// Schedules this thread, and those that it starts, after threads of normal priority.
pub fn below_normal() {
    let lower = ThreadPriorityValue::try_from(BELOW_NORMAL)
        .map_or(ThreadPriority::Min, ThreadPriority::Crossplatform);
    #[cfg(target_os = "linux")]
    let set = set_thread_priority_and_policy(
        thread_native_id(),
        lower,
        ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Other),
    );
    #[cfg(not(target_os = "linux"))]
    let set = thread_priority::set_current_thread_priority(lower);
    if let Err(error) = set {
        tracing::debug!(?error, "a thread keeps its priority");
    }
}

/// Does this work on a thread that runs, with those that it starts, only while nothing else wants
/// the processor. An error if there can be no further thread.
///
/// Idle scheduling beats the lowest nice value: a thread that draws never waits for the end of a
/// training thread's slice. But a thread cannot leave it again without special rights, so it is not
/// for the thread that recognizes drawings. Alone on the machine, the work is as fast as ever.
pub fn while_idle<R: Send>(work: impl FnOnce() -> R + Send) -> io::Result<R> {
    scope(|threads| {
        let thread = Builder::new()
            .name("idle".to_owned())
            .spawn_scoped(threads, || {
                idle();
                work()
            })?;
        Ok(thread.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })
}

fn idle() {
    #[cfg(target_os = "linux")]
    let set = set_thread_priority_and_policy(
        thread_native_id(),
        ThreadPriority::Min,
        ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Idle),
    );
    #[cfg(not(target_os = "linux"))]
    let set = thread_priority::set_current_thread_priority(ThreadPriority::Min);
    if let Err(error) = set {
        tracing::debug!(?error, "training keeps its priority");
    }
}
