//! When the window comes to rest: nothing has happened for a while.

use std::time::{Duration, Instant};

#[derive(Debug, Default)]
pub struct Rest {
    last: Option<Instant>,
    rests: bool,
}

impl Rest {
    /// Nothing has happened for as long.
    pub const AFTER: Duration = Duration::from_secs(4);

    /// Something happens now, or it is time to see whether nothing did; true if the rest begins.
    pub fn begins(&mut self, now: Instant) -> bool {
        let before = self.last.replace(now);
        // The system may wake the window a little early.
        let nothing_happened = before.is_some_and(|before| now - before >= Self::AFTER * 9 / 10);
        self.rests = nothing_happened && !self.rests;
        self.rests
    }
}
