//! Owns the notices the window shows until they are dismissed.
//! Must not word them: `messages` does.

use super::messages::Message;

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
}
