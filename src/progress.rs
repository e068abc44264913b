//! How long work reports its progress and how it is cancelled: one trait and one type for every
//! module.

use crate::problem::{Code, Explain};

/// The work was cancelled by whoever waits for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("The job was canceled.")]
pub struct Cancelled;

impl Explain for Cancelled {
    fn remedy(&self) -> String {
        String::new()
    }

    fn code(&self) -> Code {
        Code::Cancelled
    }
}

/// Whoever waits for long work. Any closure from a fraction to a result will do.
pub trait Progress {
    /// Called often with the fraction that is done, from 0 to 1; an error means that the work is to
    /// end.
    fn report(&mut self, fraction: f32) -> Result<(), Cancelled>;

    /// Called with images that were read or generated just now, a byte for each pixel of 28x28, so
    /// that they can be shown.
    fn images(&mut self, _pixels: &[u8]) {}

    /// The same listener for one part of the work, which goes from `start` to `end` of the whole.
    fn part(&mut self, start: f32, end: f32) -> PartialProgress<'_>
    where
        Self: Sized,
    {
        PartialProgress::of(self, start, end)
    }
}

/// The progress of one part of the work.
pub struct PartialProgress<'p> {
    pub whole: &'p mut dyn Progress,
    /// Where the part begins and ends in the whole, from 0 to 1.
    pub start: f32,
    /// See `start`.
    pub end: f32,
}

impl<'p> PartialProgress<'p> {
    /// The part of `whole` from `start` to `end`.
    pub fn of(whole: &'p mut dyn Progress, start: f32, end: f32) -> Self {
        Self { whole, start, end }
    }
}

impl Progress for PartialProgress<'_> {
    fn report(&mut self, fraction: f32) -> Result<(), Cancelled> {
        self.whole
            .report(self.start + (self.end - self.start) * fraction)
    }

    fn images(&mut self, pixels: &[u8]) {
        self.whole.images(pixels);
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
