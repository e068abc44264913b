//! Notices: shown until they are dismissed or, if they report no error, for a limited time.

use std::time::{Duration, Instant};

use super::action::Action;
use crate::problem::Message;

const INFO_DURATION: Duration = Duration::from_secs(12);
/// The same if something is offered with it.
const OFFER_DURATION: Duration = Duration::from_secs(30);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// Good to know.
    Info,
    Error,
}

/// A button that is offered with a notice.
#[derive(Clone, Debug, PartialEq)]
pub struct Offer {
    pub label: &'static str,
    pub action: Action,
}

/// After this time, a notice has been read.
const READ: Duration = Duration::from_secs(2);

#[derive(Clone, Debug, PartialEq)]
pub struct Notice {
    pub id: u64,
    pub severity: Severity,
    pub message: Message,
    pub offer: Option<Offer>,
    /// When it was put up.
    pub since: Instant,
}

impl Notice {
    /// True if it is not to cover another screen: what has been read, unless it is an error or
    /// offers something.
    pub fn goes_with_its_screen(&self) -> bool {
        self.severity == Severity::Info && self.offer.is_none() && self.since.elapsed() > READ
    }

    /// When it goes by itself; errors stay until they are dismissed.
    pub fn expires(&self) -> Option<Instant> {
        let duration = if self.offer.is_some() {
            OFFER_DURATION
        } else {
            INFO_DURATION
        };
        (self.severity == Severity::Info).then(|| self.since + duration)
    }
}
