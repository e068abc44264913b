//! What can be undone and redone on a canvas: one history of strokes, erasing, clearing and opening
//! another drawing.

use std::collections::VecDeque;

use super::canvas::PenStroke;

const MAX_CHANGES: usize = 500;
/// The most points of strokes that are remembered, in all changes together: some 10 MB.
const MAX_POINTS: usize = 1_000_000;

/// A change that takes another one back.
#[derive(Clone, Debug)]
pub enum Change {
    Remove,
    Add(PenStroke),
    /// Put these strokes in the place of all there are, and with them a pen of this diameter, where
    /// it changed too.
    Replace(Vec<PenStroke>, Option<f32>),
}

impl Change {
    /// Carries it out; gives the change that takes it back.
    fn apply(self, strokes: &mut Vec<PenStroke>, pen: &mut f32) -> Self {
        match self {
            Self::Remove => strokes
                .pop()
                .map_or(Self::Replace(Vec::new(), None), Self::Add),
            Self::Add(stroke) => {
                strokes.push(stroke);
                Self::Remove
            }
            Self::Replace(others, width) => {
                let width = width.map(|width| std::mem::replace(pen, width));
                Self::Replace(std::mem::replace(strokes, others), width)
            }
        }
    }

    fn points(&self) -> usize {
        match self {
            Self::Remove => 0,
            Self::Add(stroke) => stroke.points.len(),
            Self::Replace(strokes, _) => strokes.iter().map(|stroke| stroke.points.len()).sum(),
        }
    }
}

/// Changes that can be taken back, and those that were.
#[derive(Clone, Debug, Default)]
pub struct History {
    past: VecDeque<Change>,
    future: Vec<Change>,
}

impl History {
    /// Remembers how to take a change back that is being made. What was undone before cannot be
    /// redone any more; what was changed longest ago is forgotten.
    pub fn remember(&mut self, change: Change) {
        self.future.clear();
        self.past.push_back(change);
        let mut points: usize = self.past.iter().map(Change::points).sum();
        while self.past.len() > MAX_CHANGES || (points > MAX_POINTS && self.past.len() > 1) {
            points -= self.past.pop_front().map_or(0, |oldest| oldest.points());
        }
    }

    /// Undoes the last change; true if there was one.
    pub fn undo(&mut self, strokes: &mut Vec<PenStroke>, pen: &mut f32) -> bool {
        let change = self
            .past
            .pop_back()
            .map(|change| change.apply(strokes, pen));
        let undone = change.is_some();
        self.future.extend(change);
        undone
    }

    /// Redoes what was undone last; true if there was something.
    pub fn redo(&mut self, strokes: &mut Vec<PenStroke>, pen: &mut f32) -> bool {
        let change = self.future.pop().map(|change| change.apply(strokes, pen));
        let redone = change.is_some();
        self.past.extend(change);
        redone
    }

    /// True if there is something to undo.
    pub fn can_undo(&self) -> bool {
        !self.past.is_empty()
    }

    /// True if there is something to redo.
    pub const fn can_redo(&self) -> bool {
        !self.future.is_empty()
    }
}
