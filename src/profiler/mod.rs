//! Where time goes on a thread: spans that are recorded while somebody asks for them. Otherwise a
//! span costs one look at a flag of the thread.
//!
//! A device that computes later what is submitted to it records when it finished each span, so
//! that nothing has to wait for it.

mod worker_threads;

use std::cell::RefCell;
use std::error::Error;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

pub use worker_threads::RecordedIterator;

use self::worker_threads::WorkerSpans;

use crate::records::{Span, SpanKind};

/// Spans that are kept at most: some hundred steps of the largest network.
const MAX_SPANS: usize = 200_000;

/// The spans of all threads that record for the same profile. Clones share them.
#[derive(Clone, Debug)]
pub struct Recording {
    began: Instant,
    recorded: Arc<Mutex<Recorded>>,
}

#[derive(Debug, Default)]
struct Recorded {
    spans: Vec<Span>,
    workers: WorkerSpans,
}

/// The device's message if an event fails.
pub type EventError = Box<dyn Error + Send + Sync>;

/// When a device was done with what one thread submitted to it.
pub trait DeviceEvents {
    fn mark(&mut self) -> Result<(), EventError>;

    /// Waits for the device; then the microseconds of each mark since the first, in their order.
    fn read(&self) -> Result<Vec<f64>, EventError>;
}

/// A recording as one thread adds to it.
struct OfThread {
    recording: Recording,
    thread: u32,
    /// The span that is not over yet: what is done, and with which layer.
    span: Option<(SpanKind, Arc<str>)>,
    spans: u64,
    device: Option<OnDevice>,
}

/// Spans of which only a device knows how long they took.
struct OnDevice {
    events: Box<dyn DeviceEvents>,
    /// When the first event was marked.
    began: f64,
    /// One for each event after the first. Each begins where the one before ended.
    spans: Vec<Span>,
}

impl OnDevice {
    fn finish(self) -> Vec<Span> {
        let times = self
            .events
            .read()
            .inspect_err(|error| tracing::info!(%error, "no times of the device"))
            .unwrap_or_default();
        // In 1,024ths of a microsecond, whose sums are exact: each span ends when the next begins.
        let exact = |microseconds: f64| (microseconds * 1024.0).round() / 1024.0;
        let times: Vec<f64> = times
            .into_iter()
            .map(|time| exact(self.began) + exact(time))
            .collect();
        let between = times.iter().zip(times.iter().skip(1));
        self.spans
            .into_iter()
            .zip(between)
            .map(|(span, (&start, &end))| Span {
                start,
                length: end - start,
                ..span
            })
            .collect()
    }
}

thread_local! {
    static CURRENT: RefCell<Option<OfThread>> = const { RefCell::new(None) };
}

impl Default for Recording {
    fn default() -> Self {
        Self {
            began: Instant::now(),
            recorded: Arc::default(),
        }
    }
}

impl Recording {
    /// The recording of the calling thread, if there is one.
    pub fn current() -> Option<Self> {
        CURRENT.with_borrow(|current| current.as_ref().map(|current| current.recording.clone()))
    }

    /// Records what the calling thread does from here on, as thread number `thread`.
    pub fn record_this_thread(&self, thread: u32) {
        CURRENT.set(Some(OfThread {
            recording: self.clone(),
            thread,
            span: None,
            spans: 0,
            device: None,
        }));
    }

    /// The same for a thread that submits its work to a device, which is idle. With events, spans
    /// are measured on the device, and are known after [`stop`].
    pub fn record_device(
        &self,
        thread: u32,
        events: Option<Box<dyn DeviceEvents>>,
    ) -> Result<(), EventError> {
        let begin = |mut events: Box<dyn DeviceEvents>| {
            events.mark()?;
            Ok::<_, EventError>(OnDevice {
                events,
                began: self.now(),
                spans: Vec::new(),
            })
        };
        let device = events.map(begin).transpose()?;
        CURRENT.set(Some(OfThread {
            recording: self.clone(),
            thread,
            span: None,
            spans: 0,
            device,
        }));
        Ok(())
    }

    /// Microseconds since it began.
    pub fn now(&self) -> f64 {
        self.began.elapsed().as_secs_f64() * 1e6
    }

    /// The spans so far, which are then forgotten; and those of worker threads, which are counted
    /// from 0.
    pub fn take(&self) -> (Vec<Span>, Vec<Span>) {
        let mut recorded = self.lock();
        (std::mem::take(&mut recorded.spans), recorded.workers.take())
    }

    fn lock(&self) -> MutexGuard<'_, Recorded> {
        self.recorded.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, added: impl IntoIterator<Item = Span>) {
        let spans = &mut self.lock().spans;
        let left = MAX_SPANS.saturating_sub(spans.len());
        spans.extend(added.into_iter().take(left));
    }
}

/// Records nothing more of what the calling thread does. Waits for a device that is recorded.
pub fn stop() {
    if let Some(OfThread {
        recording,
        device: Some(device),
        ..
    }) = CURRENT.take()
    {
        recording.add(device.finish());
    }
}

/// True while the calling thread is recorded.
pub fn is_recording() -> bool {
    CURRENT.with_borrow(Option::is_some)
}

/// The layer that is being computed, if that is recorded.
pub fn current_name() -> Option<Arc<str>> {
    CURRENT.with_borrow(|current| {
        current
            .as_ref()?
            .span
            .as_ref()
            .map(|(_, name)| Arc::clone(name))
    })
}

/// True while the calling thread is recorded and a device records how long its work takes: nobody
/// has to wait for it.
pub fn has_device_events() -> bool {
    CURRENT.with_borrow(|current| {
        current
            .as_ref()
            .is_some_and(|current| current.device.is_some())
    })
}

/// Does this work, and records it as a span with the layer of this name. `bytes` is asked for what
/// the result moved.
pub fn span<T>(
    kind: SpanKind,
    name: impl FnOnce() -> Arc<str>,
    work: impl FnOnce() -> T,
    bytes: impl FnOnce(&T) -> u64,
) -> T {
    if !is_recording() {
        return work();
    }
    let name = name();
    let Some((recording, thread)) = enter(kind, &name) else {
        return work();
    };
    let start = recording.now();
    let done = work();
    let length = recording.now() - start;
    let span = Span {
        kind,
        name: name.to_string(),
        thread,
        start,
        length,
        bytes: bytes(&done),
    };
    CURRENT.with_borrow_mut(|current| {
        let Some(current) = current else { return };
        current.span = None;
        match &mut current.device {
            None => recording.add([span]),
            Some(OnDevice { events, spans, .. }) => {
                // After an event that fails, the others have no times either.
                if spans.len() < MAX_SPANS && events.mark().is_ok() {
                    spans.push(span);
                }
            }
        }
    });
    done
}

fn enter(kind: SpanKind, name: &Arc<str>) -> Option<(Recording, u32)> {
    CURRENT.with_borrow_mut(|current| {
        let current = current.as_mut()?;
        current.span = Some((kind, Arc::clone(name)));
        current.spans += 1;
        Some((current.recording.clone(), current.thread))
    })
}
