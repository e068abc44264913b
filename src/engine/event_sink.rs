//! How events leave the engine: at once, but telemetry at most ten times a second. Never blocks.

use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use crate::protocol::Event;
use crate::records::{JobId, StepPoint, Telemetry};

/// Telemetry is sent at most this often: each makes the window draw, and neither the pointer nor,
/// where there is no GPU to draw with, the training should have to wait for that.
const INTERVAL: Duration = Duration::from_millis(100);

/// Sends events to the caller.
pub struct EventSink {
    sender: Sender<Event>,
    wake: Arc<dyn Fn() + Send + Sync>,
    last_telemetry: Option<Instant>,
    waiting: Vec<StepPoint>,
}

impl EventSink {
    pub(super) fn new(sender: Sender<Event>, wake: impl Fn() + Send + Sync + 'static) -> Self {
        Self {
            sender,
            wake: Arc::new(wake),
            last_telemetry: None,
            waiting: Vec::new(),
        }
    }

    /// Another sink for the same caller, for another thread.
    pub(super) fn fork(&self) -> Self {
        Self {
            sender: self.sender.clone(),
            wake: Arc::clone(&self.wake),
            last_telemetry: None,
            waiting: Vec::new(),
        }
    }

    pub fn send(&self, event: Event) {
        // A caller that is gone wants no events; the engine learns of it from its commands.
        if self.sender.send(event).is_ok() {
            (self.wake)();
        }
    }

    /// Sends telemetry of which only the newest value matters, unless some was sent just now.
    pub fn telemetry(&mut self, event: impl FnOnce() -> Event) {
        if self.due() {
            self.send(event());
        }
    }

    /// Keeps a training step and sends all that were kept when it is time.
    pub fn step(&mut self, run: JobId, point: StepPoint, now: Telemetry) {
        self.waiting.push(point);
        if self.due() {
            self.flush(run, now);
        }
    }

    pub fn flush(&mut self, run: JobId, now: Telemetry) {
        if !self.waiting.is_empty() {
            let steps = std::mem::take(&mut self.waiting);
            self.send(Event::Steps { run, steps, now });
        }
    }

    fn due(&mut self) -> bool {
        let now = Instant::now();
        let due = self
            .last_telemetry
            .is_none_or(|last| now.duration_since(last) >= INTERVAL);
        if due {
            self.last_telemetry = Some(now);
        }
        due
    }
}

impl fmt::Debug for EventSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventSink")
            .field("waiting", &self.waiting.len())
            .finish_non_exhaustive()
    }
}
