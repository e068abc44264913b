//! The monitor's samples of the machine's load: one per second for the last two minutes, taken only while the monitor is shown.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::app::App;
use crate::app::background::BackgroundResult;
use crate::hardware::{LoadSample, Watched};

/// Takes a reading; blocks until it is taken.
pub type SampleLoad = Arc<dyn Fn(&Watched) -> LoadSample + Send + Sync>;

/// The time between two readings.
const INTERVAL: Duration = Duration::from_secs(1);
/// The number of samples kept.
const CAPACITY: usize = 120;
/// After a longer gap than this (the window was out of sight) older readings are no part of the same curve.
const GAP: Duration = Duration::from_secs(5);

/// What was read lately.
#[derive(Clone, Debug, Default)]
pub struct Monitor {
    readings: VecDeque<LoadSample>,
    /// When the last one came.
    last_at: Option<Instant>,
    /// One is asked for.
    pending: bool,
}

impl Monitor {
    /// The readings of the last two minutes, a second apart, oldest first.
    pub const fn readings(&self) -> &VecDeque<LoadSample> {
        &self.readings
    }

    /// How things stood last.
    pub fn newest(&self) -> Option<&LoadSample> {
        self.readings.back()
    }

    /// Takes in the next one.
    pub fn take(&mut self, reading: LoadSample) {
        self.pending = false;
        if self.last_at.replace(Instant::now()).is_some_and(|last_at| last_at.elapsed() > GAP) {
            self.readings.clear();
        }
        if self.readings.len() == CAPACITY {
            self.readings.pop_front();
        }
        self.readings.push_back(reading);
    }
}

impl App {
    /// True while the readings are in sight.
    pub const fn monitor_is_shown(&self) -> bool {
        self.settings.monitor && self.wizard.is_none()
    }

    /// Asks for the next reading, in its time, if somebody looks. Called by what is about to draw: a window out of sight asks for nothing
    /// after the reading that is under way, and each reading is one frame.
    pub(in crate::app) fn sample_monitor(&mut self) {
        if !self.monitor_is_shown() {
            self.monitor.readings.clear();
            return;
        }
        // One that hangs is not asked for again.
        if std::mem::replace(&mut self.monitor.pending, true) {
            return;
        }
        let wait = self.monitor.last_at.map_or(Duration::ZERO, |last_at| INTERVAL.saturating_sub(last_at.elapsed()));
        let watched = Watched {
            processes: std::iter::once(std::process::id()).chain(self.engine.handle.process()).collect(),
            gpus: self.hardware.as_ref().is_some_and(|hardware| !hardware.gpus.is_empty()),
        };
        let read = Arc::clone(&self.deps.sample_load);
        self.background.run(move || {
            std::thread::sleep(wait);
            Some(BackgroundResult::Load(read(&watched)))
        });
    }
}
