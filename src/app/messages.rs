//! Owns the sentences for people: what happened and what to do.
//! Must not know where they are shown.

/// A sentence for what happened and one for what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// What happened.
    pub what: String,
    /// What to do; may be empty.
    pub remedy: String,
}
