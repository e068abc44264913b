//! Owns which reading belongs to which drawing: one request at a time, the newest drawing next, stale answers dropped.
//! Must not know the engine: it says what to send.

use crate::records::Prediction;

/// The line of drawings waiting to be read.
#[derive(Clone, Debug, Default)]
pub struct ReadingLine {
    /// Goes up with every change of the drawing, and is its name in requests.
    newest: u64,
    /// Asked for and not answered.
    in_flight: Option<u64>,
    /// Answers to requests up to this one belong to a canvas that was emptied since.
    emptied: u64,
    reading: Option<(u64, Prediction)>,
}

impl ReadingLine {
    /// The drawing changed. Gives the request to send now, if any.
    pub fn changed(&mut self, empty: bool) -> Option<u64> {
        self.newest += 1;
        if empty {
            self.emptied = self.newest;
            self.reading = None;
            return None;
        }
        self.ask()
    }

    /// A reading came. Gives the request to send next, if the drawing changed meanwhile.
    pub fn answered(&mut self, request: u64, reading: Prediction) -> Option<u64> {
        if self.in_flight != Some(request) {
            return None;
        }
        self.in_flight = None;
        if request > self.emptied {
            self.reading = Some((request, reading));
        }
        self.catch_up(request)
    }

    /// A drawing could not be read. Gives the request to send next, if the drawing changed meanwhile.
    pub fn failed(&mut self, request: u64) -> Option<u64> {
        if self.in_flight != Some(request) {
            return None;
        }
        self.in_flight = None;
        self.catch_up(request)
    }

    /// Nobody will answer what was asked (the engine is another one now).
    pub const fn forget_request(&mut self) {
        self.in_flight = None;
    }

    /// The newest reading of this drawing.
    pub fn reading(&self) -> Option<&Prediction> {
        self.reading.as_ref().map(|(_, reading)| reading)
    }

    /// True while the drawing has changed since it was read.
    pub fn is_behind(&self) -> bool {
        self.newest > self.emptied && self.reading.as_ref().is_none_or(|(request, _)| *request < self.newest)
    }

    fn ask(&mut self) -> Option<u64> {
        if self.in_flight.is_some() {
            return None;
        }
        self.in_flight = Some(self.newest);
        self.in_flight
    }

    fn catch_up(&mut self, answered: u64) -> Option<u64> {
        if self.newest > answered && self.newest > self.emptied { self.ask() } else { None }
    }
}
