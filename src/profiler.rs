//! Where time goes on a thread: spans that are recorded while somebody asks for them. Otherwise a span costs one look at a flag of the thread.

use std::cell::RefCell;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use crate::records::{Span, SpanKind};

/// Spans that are kept at most: some hundred steps of the largest network.
const MOST_SPANS: usize = 200_000;

/// The spans of all threads that record for the same profile. Clones share them.
#[derive(Clone, Debug)]
pub struct Recording {
    began: Instant,
    spans: Arc<Mutex<Vec<Span>>>,
}

/// A recording as one thread adds to it.
struct OfThread {
    recording: Recording,
    thread: u32,
    /// The layer that is being computed.
    name: Option<Arc<str>>,
}

thread_local! {
    static CURRENT: RefCell<Option<OfThread>> = const { RefCell::new(None) };
}

impl Default for Recording {
    fn default() -> Self {
        Self { began: Instant::now(), spans: Arc::default() }
    }
}

impl Recording {
    /// What the calling thread records, if it does.
    pub fn current() -> Option<Self> {
        CURRENT.with_borrow(|current| current.as_ref().map(|current| current.recording.clone()))
    }

    /// Records what the calling thread does from here on, as thread number `thread`.
    pub fn record_this_thread(&self, thread: u32) {
        CURRENT.set(Some(OfThread { recording: self.clone(), thread, name: None }));
    }

    /// Microseconds since it began.
    pub fn now(&self) -> f64 {
        self.began.elapsed().as_secs_f64() * 1e6
    }

    /// What was recorded so far, which is then recorded no more.
    pub fn take(&self) -> Vec<Span> {
        std::mem::take(&mut *self.spans.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn add(&self, span: Span) {
        let mut spans = self.spans.lock().unwrap_or_else(PoisonError::into_inner);
        if spans.len() < MOST_SPANS {
            spans.push(span);
        }
    }
}

/// Records nothing more of what the calling thread does.
pub fn stop() {
    CURRENT.take();
}

/// True while the calling thread is recorded.
pub fn is_recording() -> bool {
    CURRENT.with_borrow(Option::is_some)
}

/// The layer that is being computed, where that is recorded.
pub fn current_name() -> Option<Arc<str>> {
    CURRENT.with_borrow(|current| current.as_ref()?.name.clone())
}

/// Does this work, and records it as a span with the layer of this name. `bytes` is asked for what the result moved.
pub fn span<T>(kind: SpanKind, name: impl FnOnce() -> Arc<str>, work: impl FnOnce() -> T, bytes: impl FnOnce(&T) -> u64) -> T {
    if !is_recording() {
        return work();
    }
    let name = name();
    let Some((recording, thread)) = enter(&name) else { return work() };
    let start = recording.now();
    let done = work();
    let length = recording.now() - start;
    CURRENT.with_borrow_mut(|current| current.iter_mut().for_each(|current| current.name = None));
    recording.add(Span { kind, name: name.to_string(), thread, start, length, bytes: bytes(&done) });
    done
}

fn enter(name: &Arc<str>) -> Option<(Recording, u32)> {
    CURRENT.with_borrow_mut(|current| {
        let current = current.as_mut()?;
        current.name = Some(Arc::clone(name));
        Some((current.recording.clone(), current.thread))
    })
}
