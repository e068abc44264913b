//! How long work reports its progress and how it is cancelled: one trait and one type for every module.

use serde::{Deserialize, Serialize};

/// The work was cancelled by whoever waits for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("cancelled")]
pub struct Cancelled;

/// Whoever waits for long work. Any closure from a fraction to a result will do.
pub trait Progress {
    /// Called often with the share that is done, from 0 to 1; an error means that the work is to end.
    fn report(&mut self, fraction: f32) -> Result<(), Cancelled>;

    /// The same listener for one part of the work, which goes from `start` to `end` of the whole.
    fn part(&mut self, start: f32, end: f32) -> impl FnMut(f32) -> Result<(), Cancelled>
    where
        Self: Sized,
    {
        move |fraction| self.report(start + (end - start) * fraction)
    }
}

impl<F: FnMut(f32) -> Result<(), Cancelled>> Progress for F {
    fn report(&mut self, fraction: f32) -> Result<(), Cancelled> {
        self(fraction)
    }
}

/// For work that nobody waits for and nobody cancels.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl Progress for Unwatched {
    fn report(&mut self, _fraction: f32) -> Result<(), Cancelled> {
        Ok(())
    }
}
