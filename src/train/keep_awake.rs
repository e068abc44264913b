//! Threads that are awake when a layer has work for them. A small network's layer takes a few
//! hundredths of a millisecond, and waking a thread takes as long.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use rayon::Yield;

/// Looks for work in a row, a millisecond or two in all. If they find none, the run is paused or
/// does something else, and the thread sleeps before each further look.
const LOOKS: u32 = 2_000;
const SLEEP: Duration = Duration::from_millis(1);

/// Until it is dropped, the other threads of the current pool look for work instead of going to
/// sleep.
pub struct KeepAwake {
    over: Arc<AtomicBool>,
}

impl KeepAwake {
    /// To be called between tasks: it waits until the other threads of the pool have nothing else
    /// to do.
    pub fn start() -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let awake = Arc::new(AtomicUsize::new(0));
        let caller = rayon::current_thread_index();
        let (is_over, entered) = (over.clone(), awake.clone());
        rayon::spawn_broadcast(move |thread| {
            if Some(thread.index()) == caller {
                return;
            }
            entered.fetch_add(1, Ordering::Relaxed);
            let mut looks = 0;
            while !is_over.load(Ordering::Relaxed) {
                match rayon::yield_now() {
                    Some(Yield::Executed) => looks = 0,
                    _ if looks < LOOKS => {
                        looks += 1;
                        thread::yield_now();
                    }
                    _ => thread::sleep(SLEEP),
                }
            }
        });
        // A thread that began to look while it waits for a part of a task would not return to it.
        while awake.load(Ordering::Relaxed) + 1 < rayon::current_num_threads() {
            thread::yield_now();
        }
        Self { over }
    }
}

impl Drop for KeepAwake {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
    }
}
