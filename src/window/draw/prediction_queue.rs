//! Matches predictions to drawings: one request at a time, then the newest drawing; stale answers
//! are dropped.

use crate::records::Prediction;

/// The drawing's newest prediction, and the request in flight.
#[derive(Clone, Debug)]
pub struct PredictionQueue<T = Prediction> {
    /// Counts the changes of the drawing; a request carries the count it belongs to.
    newest: u64,
    /// Sent and not answered.
    in_flight: Option<u64>,
    /// Answers to requests up to this one belong to a canvas that was emptied since.
    emptied: u64,
    prediction: Option<(u64, T)>,
}

impl<T> Default for PredictionQueue<T> {
    fn default() -> Self {
        Self {
            newest: 0,
            in_flight: None,
            emptied: 0,
            prediction: None,
        }
    }
}

impl<T> PredictionQueue<T> {
    /// The drawing changed. Gives the request to send now, if any.
    pub fn changed(&mut self, empty: bool) -> Option<u64> {
        self.newest += 1;
        if empty {
            self.emptied = self.newest;
            self.prediction = None;
            return None;
        }
        self.send()
    }

    /// A request was answered; `None` where it failed. Gives the request to send next, if the
    /// drawing changed meanwhile.
    pub fn answered(&mut self, request: u64, prediction: Option<T>) -> Option<u64> {
        if self.in_flight != Some(request) {
            return None;
        }
        self.in_flight = None;
        if let Some(prediction) = prediction
            && request > self.emptied
        {
            self.prediction = Some((request, prediction));
        }
        self.catch_up(request)
    }

    /// Pending requests will not be answered: the engine was replaced.
    pub const fn forget_request(&mut self) {
        self.in_flight = None;
    }

    /// The newest prediction of this drawing.
    pub fn prediction(&self) -> Option<&T> {
        self.prediction.as_ref().map(|(_, prediction)| prediction)
    }

    /// True while the drawing has changed since its prediction.
    pub fn is_behind(&self) -> bool {
        self.newest > self.emptied
            && self
                .prediction
                .as_ref()
                .is_none_or(|(request, _)| *request < self.newest)
    }

    fn send(&mut self) -> Option<u64> {
        if self.in_flight.is_some() {
            return None;
        }
        self.in_flight = Some(self.newest);
        self.in_flight
    }

    fn catch_up(&mut self, answered: u64) -> Option<u64> {
        if self.newest > answered && self.newest > self.emptied {
            self.send()
        } else {
            None
        }
    }
}
