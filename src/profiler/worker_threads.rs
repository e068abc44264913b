//! The work of rayon's pool for a thread that is recorded.

use std::collections::HashMap;
use std::sync::Arc;

use rayon::iter::{IndexedParallelIterator, Map, ParallelIterator};

use super::{CURRENT, MAX_SPANS, Recording};
use crate::records::{Span, SpanKind};

/// Parallel iterators whose tasks are recorded while the thread that starts them is: with the span
/// it is in, as one span of each worker thread.
pub trait RecordedIterator: ParallelIterator {
    /// [`ParallelIterator::for_each`], recorded.
    fn for_each_recorded(self, task: impl Fn(Self::Item) + Send + Sync) {
        match CurrentSpan::get() {
            None => self.for_each(task),
            Some(span) => self.for_each(|item| span.record(|| task(item))),
        }
    }

    /// [`ParallelIterator::map`], recorded.
    fn map_recorded<R: Send>(
        self,
        task: impl Fn(Self::Item) -> R + Send + Sync,
    ) -> Map<Self, impl Fn(Self::Item) -> R + Send + Sync>
    where
        Self: IndexedParallelIterator,
    {
        let span = CurrentSpan::get();
        self.map(move |item| match &span {
            None => task(item),
            Some(span) => span.record(|| task(item)),
        })
    }
}

impl<I: ParallelIterator> RecordedIterator for I {}

/// A span that is not over yet, as the threads that take part in it know it.
struct CurrentSpan {
    recording: Recording,
    number: u64,
    kind: SpanKind,
    name: Arc<str>,
}

impl CurrentSpan {
    /// The one that the calling thread is in, if it computes what it records itself.
    fn get() -> Option<Self> {
        CURRENT.with_borrow(|current| {
            let current = current
                .as_ref()
                .filter(|current| current.device.is_none())?;
            let (kind, name) = current.span.clone()?;
            Some(Self {
                recording: current.recording.clone(),
                number: current.spans,
                kind,
                name,
            })
        })
    }

    fn record<T>(&self, task: impl FnOnce() -> T) -> T {
        let start = self.recording.now();
        let done = task();
        let end = self.recording.now();
        if let Some(thread) = rayon::current_thread_index() {
            self.recording.lock().workers.add(self, thread, start, end);
        }
        done
    }
}

/// The spans of worker threads: for each span of the recorded thread and each of them at most one,
/// from its first task to its last.
#[derive(Debug, Default)]
pub(super) struct WorkerSpans {
    spans: Vec<Span>,
    /// For each worker thread, the number of the span that it worked for last, and where its own
    /// is.
    last: HashMap<usize, (u64, usize)>,
}

impl WorkerSpans {
    fn add(&mut self, of: &CurrentSpan, thread: usize, start: f64, end: f64) {
        let last = self
            .last
            .get(&thread)
            .filter(|(number, _)| *number == of.number);
        if let Some(span) = last.and_then(|(_, index)| self.spans.get_mut(*index)) {
            // A task within another ends first.
            span.length = span.length.max(end - span.start);
        } else if self.spans.len() < MAX_SPANS {
            self.last.insert(thread, (of.number, self.spans.len()));
            self.spans.push(Span {
                kind: of.kind,
                name: of.name.to_string(),
                thread: thread as u32,
                start,
                length: end - start,
                bytes: 0,
            });
        }
    }

    /// Those so far, which are then forgotten.
    pub fn take(&mut self) -> Vec<Span> {
        self.last.clear();
        std::mem::take(&mut self.spans)
    }
}
