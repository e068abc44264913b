//! Drawings that were on the canvas before the current one.

use std::collections::VecDeque;

use crate::ink::{Image, Ink};
use crate::notices::verdict::Verdict;
use crate::records::Prediction;

const KEPT: usize = 100;

/// A drawing and what the model made of it.
#[derive(Clone, Debug)]
pub struct RecentDrawing {
    pub ink: Ink,
    pub image: Image,
    /// The digits it named, and how sure it was: "4 or 9", "could be either".
    pub verdict: [String; 2],
}

/// The drawings that were cleared since the program started, the newest first.
#[derive(Clone, Debug, Default)]
pub struct RecentDrawings {
    list: VecDeque<RecentDrawing>,
    version: u64,
}

impl RecentDrawings {
    /// Adds a drawing, with its prediction; once, however often it is cleared and brought back.
    pub fn add(&mut self, ink: Ink, prediction: &Prediction) {
        let verdict = Verdict::of(prediction);
        let verdict = [verdict.title(), verdict.confidence];
        self.list.retain(|known| known.ink != ink);
        self.list.push_front(RecentDrawing {
            ink,
            image: prediction.image.clone(),
            verdict,
        });
        self.list.truncate(KEPT);
        self.version += 1;
    }

    /// Takes a drawing out of the list.
    pub fn take(&mut self, index: usize) -> Option<RecentDrawing> {
        self.version += 1;
        self.list.remove(index)
    }

    pub fn iter(&self) -> impl ExactSizeIterator<Item = &RecentDrawing> {
        self.list.iter()
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// A number that differs after every change of the list.
    pub const fn version(&self) -> u64 {
        self.version
    }
}
