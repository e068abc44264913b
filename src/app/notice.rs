//! Notices: shown until they are dismissed or, if they report no error, for a limited time.

use std::time::{Duration, Instant};

use super::messages::Message;

/// How long good news stays.
const INFO_DURATION: Duration = Duration::from_secs(12);

/// How much a notice matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// Good to know.
    Info,
    /// Something went wrong.
    Error,
}

/// One notice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// For dismissing it.
    pub id: u64,
    /// How much it matters.
    pub severity: Severity,
    /// What happened and what to do.
    pub message: Message,
    /// When it was put up.
    pub since: Instant,
}

impl Notice {
    /// When it goes by itself; errors stay until they are dismissed.
    pub fn expires(&self) -> Option<Instant> {
        (self.severity == Severity::Info).then(|| self.since + INFO_DURATION)
    }
}
